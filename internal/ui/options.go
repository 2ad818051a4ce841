package ui

import (
	"os"
	"time"
)

// ColourMode says when the console uses colour.
type ColourMode string

// The values of --color.
const (
	ColourAuto   ColourMode = "auto" // unless NO_COLOR is set or the terminal is dumb
	ColourAlways ColourMode = "always"
	ColourNever  ColourMode = "never"
)

// Options is what the console is started with. Source is needed; the zero value
// of all else is useful.
type Options struct {
	Source   Source
	ReadOnly bool       // takes the operator's verbs away
	ASCII    bool       // no glyph beyond ASCII
	Colour   ColourMode // "": auto
	Theme    string     // dark, light or mono; "": that of State, else dark
	Title    string     // stands beside the program's name: "demo", a scenario
	Author   string     // the OS user's name, for the operator's commands
	Start    time.Time  // the time until the first tick; zero: the snapshot's
	Notices  []string   // standing remarks of this process
	ProxyURL string     // where programs reach the proxy; "": it is off
	Bell     bool       // rings the terminal for a new alarm
	State    State      // as the last console was left
	// Keep is given the console's state when it ends, after the terminal was
	// restored; nil: it is not kept.
	Keep func(State) error
	// Log gives the last notes of this process, the oldest first, without
	// secrets. It is called while drawing and must not wait. nil: none.
	Log func() []LogLine
	// ConfirmQuit gives what `q` should ask before it quits; "" quits at
	// once. It is called in Update and must not wait. nil: never ask.
	ConfirmQuit func() string
	In, Out     *os.File // the terminal; nil: standard input and output
	// Getenv reads TERM, NO_COLOR and TMUX; nil: the
	// process's environment.
	Getenv func(string) string
}

func (o Options) env(key string) string {
	if o.Getenv == nil {
		return os.Getenv(key)
	}
	return o.Getenv(key)
}

// coloured decides whether any sequence that styles text may be emitted.
func (o Options) coloured() bool {
	switch o.Colour {
	case ColourNever:
		return false
	case ColourAlways:
		return true
	default:
		return o.env("NO_COLOR") == "" && o.env("TERM") != "dumb"
	}
}
