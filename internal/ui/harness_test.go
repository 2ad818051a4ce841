package ui

import (
	"context"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// driver plays a terminal to a console, with a clock of its own.
type driver struct {
	t   testing.TB
	c   *console
	src *fakeSource
	at  time.Time
}

func drive(t testing.TB, src *fakeSource, w, h int, set func(*Options)) *driver {
	t.Helper()
	o := fixtureOptions(src)
	if set != nil {
		set(&o)
	}
	d := &driver{t: t, c: newConsole(context.Background(), o), src: src, at: o.Start}
	d.send(tea.WindowSizeMsg{Width: w, Height: h})
	return d
}

func (d *driver) send(m tea.Msg) tea.Cmd {
	_, cmd := d.c.Update(m)
	if d.c.crash != nil {
		d.t.Fatalf("the console panicked: %v\n%s", d.c.crash, d.c.crash.Stack)
	}
	return cmd
}

// wait lets time pass, in ticks.
func (d *driver) wait(span time.Duration) {
	for end := d.at.Add(span); d.at.Before(end); {
		d.at = d.at.Add(tickFocused)
		d.send(tickMsg{d.c.tickGen, d.at})
	}
}

// keys types, one key each.
func (d *driver) keys(names ...string) tea.Cmd {
	var cmd tea.Cmd
	for _, n := range names {
		cmd = d.send(key(n))
	}
	return cmd
}

// answer runs a command, as the program would, and gives its message back.
func (d *driver) answer(cmd tea.Cmd) {
	d.t.Helper()
	if cmd == nil {
		d.t.Fatal("no command was given to the program")
	}
	d.send(cmd())
}

func key(name string) tea.KeyMsg {
	special := map[string]tea.KeyType{"enter": tea.KeyEnter, "esc": tea.KeyEsc, "tab": tea.KeyTab, "shift+tab": tea.KeyShiftTab,
		"left": tea.KeyLeft, "right": tea.KeyRight, "up": tea.KeyUp, "down": tea.KeyDown, "ctrl+c": tea.KeyCtrlC,
		"ctrl+d": tea.KeyCtrlD, "ctrl+u": tea.KeyCtrlU, "pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp, "backspace": tea.KeyBackspace}
	if k, ok := special[name]; ok {
		return tea.KeyMsg{Type: k}
	}
	if name == " " {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

// screen is what a terminal emulator shows of the frame, row by row.
func (d *driver) screen() []string {
	d.t.Helper()
	w, h := d.c.width, d.c.height
	term := vt.NewEmulator(w, h)
	defer term.Close()
	if _, err := term.WriteString(strings.ReplaceAll(d.c.View(), "\n", "\r\n")); err != nil {
		d.t.Fatalf("emulator: %v", err)
	}
	out := make([]string, h)
	for y := range h {
		var b strings.Builder
		for x := 0; x < w; {
			cell := term.CellAt(x, y)
			if cell == nil || cell.Content == "" {
				b.WriteByte(' ')
				x++
				continue
			}
			b.WriteString(cell.Content)
			x += max(cell.Width, 1)
		}
		out[y] = strings.TrimRight(b.String(), " ")
	}
	return out
}

func (d *driver) text() string { return strings.Join(d.screen(), "\n") + "\n" }

// wantText fails unless the screen holds each of the texts.
func (d *driver) wantText(texts ...string) {
	d.t.Helper()
	screen := d.text()
	for _, s := range texts {
		if !strings.Contains(screen, s) {
			d.t.Errorf("the screen does not show %q:\n%s", s, screen)
		}
	}
}

// wantWhole fails unless the frame has exactly the terminal's lines, none wider
// than the terminal, and the only sequences in it are ours.
func (d *driver) wantWhole() {
	d.t.Helper()
	view := d.c.View()
	w, h := d.c.width, d.c.height
	if w <= 0 || h <= 0 {
		if view != "" {
			d.t.Fatalf("a frame for %dx%d: %q", w, h, view)
		}
		return
	}
	lines := strings.Split(view, "\n")
	if len(lines) != h {
		d.t.Fatalf("%d lines for %dx%d", len(lines), w, h)
	}
	ours := map[string]bool{}
	for k := range inks {
		for _, s := range []string{d.c.theme.open[k], d.c.theme.shut[k]} {
			ours[s] = true
		}
	}
	for i, l := range lines {
		if n := ansi.StringWidth(l); n > w {
			d.t.Fatalf("line %d is %d cells wide on %dx%d: %q", i, n, w, h, l)
		}
		if n := ansi.StringWidthWc(l); n > w {
			d.t.Fatalf("line %d is %d cells wide, counted by runes, on %dx%d: %q", i, n, w, h, l)
		}
		for rest := l; ; {
			at := strings.IndexByte(rest, 0x1b)
			if at < 0 {
				break
			}
			end := strings.IndexByte(rest[at:], 'm')
			if end < 0 || !ours[rest[at:at+end+1]] {
				d.t.Fatalf("line %d holds a sequence that is not ours: %q", i, l)
			}
			rest = rest[at+end+1:]
		}
		for _, r := range l {
			if r != 0x1b && (r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x202e || r == 0x200d || r == 0x200b) {
				d.t.Fatalf("line %d holds %U: %q", i, r, l)
			}
		}
	}
}
