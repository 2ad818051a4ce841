// Package darkbg keeps terminal queries out of start-up.
//
// bubbletea v1 asks the terminal for its background colour in the init of a
// package, before main runs, and waits five seconds on a terminal that does not
// answer: every verb of the program would, `rpctop version` in a pipeline on a
// pty included. lipgloss asks only if nobody has told it, so this package tells
// it first.
//
// First is a matter of names: Go initialises the packages that are ready in the
// order of their paths. This package imports lipgloss and nothing else, and
// example.com/rpctop sorts before github.com/charmbracelet/bubbletea. A module
// path that sorts later would undo it; the test of this package would tell.
//
// It must not grow: each import that it takes on must be initialised before it.
// The theme does not depend on the value (colours are the terminal's sixteen).
package darkbg

import "github.com/charmbracelet/lipgloss"

func init() { lipgloss.SetHasDarkBackground(true) }
