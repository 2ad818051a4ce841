//go:build !linux

package store

// networkFS cannot tell on this system. SQLite's own check remains: a journal
// mode that does not take is an error.
func networkFS(string) string { return "" }
