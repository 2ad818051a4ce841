// Package config turns the configuration file into one validated value, or
// into all that is wrong with it: each error with file, line and column, the
// source line with a caret, and what would be right.
//
// It reads the file, the files that ${file:PATH} names, and the environment
// that it is handed; it opens no connection, resolves no name, asks no clock,
// and does not know who uses the value. Secrets (URLs, header values, tokens)
// leave it as Secret only, and stand in no error, warning or quoted line.
package config
