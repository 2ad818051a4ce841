package config

import _ "embed"

//go:embed example.yaml
var example string

// Example is the commented configuration that `config init` writes. It is
// valid as it stands.
func Example() string { return example }
