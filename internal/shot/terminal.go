package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// terminal is a program under a pseudo terminal, with an emulator that keeps
// the screen and answers the program's questions.
type terminal struct {
	cmd  *exec.Cmd
	tty  *os.File
	work sync.WaitGroup

	mu     sync.Mutex // guards the two below
	screen *vt.Emulator
	last   time.Time // of the last output

	changed chan struct{} // has one token if the screen has changed
	exited  chan struct{} // closed when the program has ended, err is set then
	err     error
}

// start runs a program in a terminal of the given size.
func start(argv, env []string, cols, rows int) (*terminal, error) {
	t := &terminal{
		cmd:     exec.Command(argv[0], argv[1:]...),
		screen:  vt.NewEmulator(cols, rows),
		changed: make(chan struct{}, 1),
		exited:  make(chan struct{}),
		last:    time.Now(),
	}
	t.cmd.Env = append(os.Environ(), "TERM=xterm-256color", "COLORTERM=", "NO_COLOR=", "CI=")
	t.cmd.Env = append(t.cmd.Env, env...)
	var err error
	t.tty, err = pty.StartWithSize(t.cmd, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)})
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", argv[0], err)
	}
	t.work.Go(t.show)
	t.work.Go(t.answer)
	t.work.Go(func() {
		t.err = t.cmd.Wait()
		close(t.exited)
	})
	return t, nil
}

// show feeds the program's output to the emulator.
func (t *terminal) show() {
	buf := make([]byte, 1<<16)
	for {
		n, err := t.tty.Read(buf)
		if n > 0 {
			t.mu.Lock()
			_, _ = t.screen.Write(buf[:n])
			t.last = time.Now()
			t.mu.Unlock()
			select {
			case t.changed <- struct{}{}:
			default:
			}
		}
		if err != nil {
			return
		}
	}
}

// answer sends on what the emulator replies to the program's questions. Copying
// ends with the emulator's input; after the program's end nobody reads it.
func (t *terminal) answer() {
	buf := make([]byte, 256)
	for {
		n, err := t.screen.Read(buf)
		if n > 0 {
			_, _ = t.tty.Write(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

// send types bytes.
func (t *terminal) send(s string) error {
	_, err := io.WriteString(t.tty, s)
	return err
}

// await waits until the screen shows a text.
func (t *terminal) await(ctx context.Context, text string) error {
	for {
		shown := t.text()
		if strings.Contains(shown, text) {
			return nil
		}
		select {
		case <-t.changed:
		case <-t.exited:
			t.settle(ctx)
			if shown = t.text(); strings.Contains(shown, text) {
				return nil
			}
			return fmt.Errorf("the program has ended (%s) before it showed %q; the screen:\n%s", t.cmd.ProcessState, text, shown)
		case <-ctx.Done():
			return fmt.Errorf("%q was not shown: %w; the screen:\n%s", text, context.Cause(ctx), shown)
		}
	}
}

// settle waits until a frame is drawn: no output for a moment, and not for ever.
func (t *terminal) settle(ctx context.Context) {
	const quiet, most = 30 * time.Millisecond, time.Second
	for begun := time.Now(); time.Since(begun) < most; {
		t.mu.Lock()
		rest := quiet - time.Since(t.last)
		t.mu.Unlock()
		if rest <= 0 {
			return
		}
		select {
		case <-time.After(rest):
		case <-ctx.Done():
			return
		}
	}
}

// text gives the screen's lines.
func (t *terminal) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return capture(t.screen).text()
}

// grid gives the screen's cells.
func (t *terminal) grid() grid {
	t.mu.Lock()
	defer t.mu.Unlock()
	return capture(t.screen)
}

// wait waits for the program's end, and gives its error.
func (t *terminal) wait(ctx context.Context) error {
	select {
	case <-t.exited:
		return t.err
	case <-ctx.Done():
		return errors.New("the program goes on")
	}
}

// close ends the program if it still runs, politely at first, and leaves no
// goroutine behind.
func (t *terminal) close() {
	select {
	case <-t.exited:
	default:
		_ = t.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-t.exited:
		case <-time.After(5 * time.Second):
			_ = t.cmd.Process.Kill()
		}
	}
	// Not the emulator's Close: it would race with Read.
	if in, ok := t.screen.InputPipe().(io.Closer); ok {
		_ = in.Close()
	}
	_ = t.tty.Close()
	t.work.Wait()
}
