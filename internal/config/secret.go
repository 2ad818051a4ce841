package config

import (
	"fmt"
	"io"
)

// Hidden stands wherever a secret would.
const Hidden = "•••"

// Secret is a text that is never printed: every way of formatting or encoding
// it gives Hidden. Keep it in exported fields only, since fmt cannot call the
// methods of values in unexported ones.
type Secret string

// Reveal gives the text itself, for the one place that needs it.
func (s Secret) Reveal() string { return string(s) }

// String gives Hidden, or nothing for the empty secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return Hidden
}

// GoString is String, for %#v.
func (s Secret) GoString() string { return s.String() }

// Format prints String for every verb, %x and %d included.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText writes String, for JSON, YAML and logs.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
