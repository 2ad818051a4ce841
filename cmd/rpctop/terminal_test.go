package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"
)

// tmux is the real binary in a real terminal multiplexer.
type tmux struct {
	t      *testing.T
	socket string
	w, h   int
}

// startTmux runs the demo in tmux at a size. It is skipped unless `make
// terminal` asks for it: tmux is no part of the Go toolchain.
func startTmux(t *testing.T, w, h int, args string) *tmux {
	t.Helper()
	bin := os.Getenv("RPCTOP_BIN")
	if os.Getenv("RPCTOP_TMUX") == "" || bin == "" {
		t.Skip("needs tmux and the built binary: run `make terminal`")
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	m := &tmux{t: t, socket: filepath.Join(t.TempDir(), "tmux"), w: w, h: h}
	m.do("new-session", "-d", "-x", fmt.Sprint(w), "-y", fmt.Sprint(h), bin+" "+args+"; echo ended with $?; read x")
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", m.socket, "kill-server").Run() })
	return m
}

func (m *tmux) do(args ...string) string {
	m.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", m.socket}, args...)...).CombinedOutput()
	if err != nil {
		m.t.Fatalf("tmux %s: %v\n%s", args[0], err, out)
	}
	return string(out)
}

func (m *tmux) screen() string { m.t.Helper(); return m.do("capture-pane", "-p") }

func (m *tmux) keys(keys ...string) {
	m.t.Helper()
	m.do(append([]string{"send-keys"}, keys...)...)
}

// shows waits until the screen has a text, and checks that it is whole.
func (m *tmux) shows(text string) string {
	m.t.Helper()
	end := time.Now().Add(patience)
	for {
		s := m.screen()
		if strings.Contains(s, text) {
			m.whole(s)
			return s
		}
		if time.Now().After(end) {
			m.t.Fatalf("at %dx%d the screen never showed %q:\n%s", m.w, m.h, text, s)
		}
		waitABit()
	}
}

// whole: no line wider than the terminal, and none more than it has.
func (m *tmux) whole(s string) {
	m.t.Helper()
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	if len(lines) > m.h {
		m.t.Errorf("at %dx%d the screen has %d lines", m.w, m.h, len(lines))
	}
	for _, l := range lines {
		if n := runewidth.StringWidth(l); n > m.w {
			m.t.Errorf("at %dx%d a line is %d cells wide: %q", m.w, m.h, n, l)
		}
	}
}

func TestTmuxTheConsoleIsWholeAtEverySize(t *testing.T) {
	for _, size := range [][2]int{{200, 50}, {120, 36}, {80, 24}, {40, 10}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			m := startTmux(t, size[0], size[1], "demo healthy --seed 1")
			m.shows("serv")
			m.keys("w")
			m.shows("#1")
			m.keys("Escape")
			m.shows("1 demo") // or the next key would arrive as one with Alt
			m.keys("?")
			m.shows("next line")
			m.keys("Escape")
			m.shows("1 demo") // or the next key would arrive as one with Alt
			m.keys("Enter")
			m.shows("tier 0")
			m.keys("Escape")
			m.shows("1 demo") // or the next key would arrive as one with Alt
			m.keys("q")
			m.shows("ended with 0")
		})
	}
}

func TestTmuxEjectThenEnterEjectsNobody(t *testing.T) {
	m := startTmux(t, 120, 36, "demo healthy --seed 1")
	m.shows("own serves")
	m.keys("e")
	m.keys("Enter")
	m.shows("Eject own") // keys typed while the dialog opens are dropped
	<-time.After(600 * time.Millisecond)
	m.keys("Enter") // Cancel has the focus
	end := time.Now().Add(3 * time.Second)
	for time.Now().Before(end) {
		if s := m.screen(); strings.Contains(s, "ejected") || strings.Contains(s, "eject by") {
			t.Fatalf("somebody was ejected:\n%s", s)
		}
		waitABit()
	}
	m.shows("own serves")
}

func TestTmuxResizingLeavesTheConsoleWhole(t *testing.T) {
	m := startTmux(t, 120, 36, "demo tour --seed 1")
	m.shows("own serves")
	for _, size := range [][2]int{{60, 20}, {200, 50}, {30, 8}, {80, 24}, {120, 36}} {
		m.w, m.h = size[0], size[1]
		m.do("resize-window", "-x", fmt.Sprint(m.w), "-y", fmt.Sprint(m.h))
		m.shows("own")
	}
	m.keys("C-c")
	m.shows("ended with 130")
}
