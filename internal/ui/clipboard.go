package ui

import (
	"fmt"
	"io"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"example.com/rpctop/internal/fleet"
)

// copiedMsg says how a copy went.
type copiedMsg struct {
	what string
	err  error
}

// copyLine puts a line about the selected endpoint into the terminal's
// clipboard.
func (c *console) copyLine() tea.Cmd {
	ch, e := c.endpoint(c.sel)
	if e == nil {
		c.say(warn, "nothing is selected that could be copied")
		return nil
	}
	text := summary(ch, e, c.now())
	what, seq, out := clean(e.Name), clipboard(text, c.o.env("TMUX") != ""), c.out
	return func() tea.Msg {
		_, err := io.WriteString(out, seq)
		return copiedMsg{what, err}
	}
}

func (c *console) onCopied(m copiedMsg) {
	if m.err != nil {
		c.say(warn, "copy: the terminal took nothing: "+clean(m.err.Error()))
		return
	}
	c.say(good, "a line about "+m.what+" was sent to the terminal's clipboard")
}

// clipboard is the sequence (OSC 52) that asks a terminal to keep a text. Line
// breaks are dropped, so that pasting it never runs anything. Inside tmux the
// sequence is sent twice: for tmux itself, and through it to the terminal.
func clipboard(text string, tmux bool) string {
	seq := ansi.SetSystemClipboard(oneLine(text))
	if tmux {
		seq += ansi.TmuxPassthrough(seq)
	}
	return seq
}

func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '\n', '\r', '\u0085', '\u2028', '\u2029', '\v', '\f':
			return -1
		}
		return r
	}, s)
}

// summary is one line about an endpoint, to be pasted into a report. It is made
// of what the screen shows; no URL is in it.
func summary(ch *fleet.ChainView, e *fleet.EndpointView, now fleet.Millis) string {
	s := fmt.Sprintf("%s %s/%s %s, %s", now.Time().Format(fleet.RFC3339Millis), clean(ch.Name), clean(e.Name), clean(e.State), clean(e.Role))
	if e.Head != nil {
		s += "; head " + fmt.Sprint(e.Head.Number)
		if e.LagBlocks != nil {
			s += fmt.Sprintf(", %d blocks behind", *e.LagBlocks)
		}
		if e.LagMS != nil {
			s += ", lag " + span(*e.LagMS)
		}
	}
	if e.Successes > 0 {
		s += "; p50 " + latency(e.P50) + " ms, p95 " + latency(e.P95) + " ms"
	}
	if e.Samples > 0 {
		s += "; errors " + percent(e.ErrorRate)
	}
	if e.Cost.Known {
		s += "; cost " + millis(e.Cost.Total) + " ms"
	}
	if why := reason(e); why != "" {
		s += "; " + why
	}
	return s
}
