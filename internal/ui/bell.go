package ui

import (
	"io"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/rpctop/internal/fleet"
)

// bellPause is the least time between two rings.
const bellPause = 10 * time.Second

// bell rings the terminal for alarms that are new since it was first asked.
type bell struct {
	seen  uint64 // the newest event looked at
	begun bool
	rung  time.Time // zero: never
}

// due reports whether to ring now. Alarms that come within the pause are not
// rung for later: who was rung for looks at the screen.
func (b *bell) due(f *feed, now time.Time) bool {
	alarm, newest := false, b.seen
	for i := range f.lines {
		l := f.at(i)
		if l.Seq <= b.seen {
			break
		}
		newest = max(newest, l.Seq)
		alarm = alarm || l.Kind == fleet.EventAlarm
	}
	b.seen = newest
	if !b.begun {
		b.begun = true
		return false
	}
	if !alarm || !b.rung.IsZero() && now.Sub(b.rung) < bellPause {
		return false
	}
	b.rung = now
	return true
}

// ring rings, if --bell asks for it and an alarm is new.
func (c *console) ring() tea.Cmd {
	if !c.o.Bell || !c.bell.due(&c.feed, c.time) {
		return nil
	}
	out := c.out
	return func() tea.Msg {
		_, _ = io.WriteString(out, "\a") // a terminal that is gone ends the program by itself
		return nil
	}
}
