package ui

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"example.com/rpctop/internal/fleet"
)

// onPTY runs the console on a pseudo terminal and gives what the terminal was
// sent to see, which is called after each read until it is content.
func onPTY(t *testing.T, ctx context.Context, src Source, see func(screen string, keys *os.File) bool) (raw string, err error) {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo terminal on this machine: %v", err)
	}
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 36, Cols: 120}); err != nil {
		t.Fatal(err)
	}
	o := fixtureOptions(src)
	o.Start = time.Time{}
	o.In, o.Out = tty, tty
	o.Getenv = func(k string) string { return map[string]string{"TERM": "xterm-256color"}[k] }
	got := make(chan string)
	go func() {
		defer close(got)
		buf := make([]byte, 1<<16)
		for {
			n, err := master.Read(buf)
			if n > 0 {
				got <- string(buf[:n])
			}
			if err != nil {
				return
			}
		}
	}()
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, o)
		tty.Close()
	}()
	term := vt.NewEmulator(120, 36)
	defer term.Close()
	deadline := time.After(30 * time.Second)
	content := false
	for {
		select {
		case s, ok := <-got:
			if !ok {
				master.Close()
				return raw, <-ended
			}
			raw += s
			term.WriteString(s)
			if !content {
				content = see(term.String(), master)
			}
		case <-deadline:
			t.Fatalf("the console did not end; it showed:\n%s", term.String())
		}
	}
}

// wantRestored fails unless the terminal was given back as it was.
func wantRestored(t *testing.T, raw string) {
	t.Helper()
	for enter, leave := range map[string]string{"\x1b[?1049h": "\x1b[?1049l", "\x1b[?25l": "\x1b[?25h", "\x1b[?1004h": "\x1b[?1004l"} {
		if strings.Contains(raw, enter) && strings.LastIndex(raw, leave) < strings.LastIndex(raw, enter) {
			t.Errorf("%q was not undone by %q", enter, leave)
		}
	}
}

func TestTheConsoleShowsItselfAndQuits(t *testing.T) {
	raw, err := onPTY(t, context.Background(), newFake(), func(screen string, keys *os.File) bool {
		if !strings.Contains(screen, "official serves") {
			return false
		}
		keys.WriteString("q")
		return true
	})
	if err != nil {
		t.Errorf("error %v", err)
	}
	wantRestored(t, raw)
}

func TestCtrlCInterrupts(t *testing.T) {
	raw, err := onPTY(t, context.Background(), newFake(), func(screen string, keys *os.File) bool {
		if !strings.Contains(screen, "official serves") {
			return false
		}
		keys.WriteString("\x03")
		return true
	})
	if !errors.Is(err, ErrInterrupted) {
		t.Errorf("error %v", err)
	}
	wantRestored(t, raw)
}

func TestTheEndOfTheContextEndsTheConsole(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	raw, err := onPTY(t, ctx, newFake(), func(screen string, keys *os.File) bool {
		if !strings.Contains(screen, "official serves") {
			return false
		}
		cancel()
		return true
	})
	cancel()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	wantRestored(t, raw)
}

// brokenSource panics after its first picture.
type brokenSource struct {
	*fakeSource
	pulls int
}

func (b *brokenSource) Snapshot() *fleet.Snapshot {
	if b.pulls++; b.pulls > 3 {
		panic("no picture")
	}
	return b.fakeSource.Snapshot()
}

func TestAPanicRestoresTheTerminalAndIsReturned(t *testing.T) {
	raw, err := onPTY(t, context.Background(), &brokenSource{fakeSource: newFake()}, func(string, *os.File) bool { return true })
	var p *PanicError
	if !errors.As(err, &p) || p.Value != "no picture" || !strings.Contains(string(p.Stack), "Snapshot") {
		t.Errorf("error %v", err)
	}
	wantRestored(t, raw)
}

func TestADumbTerminalIsRefused(t *testing.T) {
	master, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo terminal on this machine: %v", err)
	}
	defer master.Close()
	defer tty.Close()
	o := fixtureOptions(newFake())
	o.In, o.Out, o.Getenv = tty, tty, func(string) string { return "dumb" }
	if err := Run(context.Background(), o); !errors.Is(err, ErrDumb) {
		t.Errorf("error %v", err)
	}
}
