package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/term"

	"example.com/rpctop/internal/fleet"
)

// Errors that Run gives besides those of the terminal.
var (
	// ErrNoTerminal: the console was asked for where nobody can see it.
	ErrNoTerminal = errors.New("console: this is no terminal; use `rpctop status`, `rpctop check` or `rpctop watch` (with --json or --ndjson)")
	// ErrDumb: the terminal cannot move its cursor.
	ErrDumb = errors.New("console: this terminal cannot move its cursor (TERM=dumb); use `rpctop watch`, which prints a line for each change")
	// ErrInterrupted: ctrl-c was pressed.
	ErrInterrupted = errors.New("console: interrupted")
)

// PanicError is a panic of the console. The terminal was restored before Run
// returned it.
type PanicError struct {
	Value any
	Stack []byte
}

func newPanicError(v any) *PanicError { return &PanicError{v, debug.Stack()} }

// Error gives the panic's value, without the stack.
func (p *PanicError) Error() string {
	return fleet.Sanitize(fmt.Sprintf("console: panic: %v", p.Value))
}

// crashMsg brings a panic of a command to Update.
type crashMsg struct{ err *PanicError }

// Run shows the console until the operator quits or ctx ends, and restores the
// terminal in every case. It returns nil after `q`, ErrInterrupted after
// ctrl-c, ctx's error when that ended first, a *PanicError after a panic, and
// ErrNoTerminal or ErrDumb without having written anything.
func Run(ctx context.Context, o Options) error {
	if o.In == nil {
		o.In = os.Stdin
	}
	if o.Out == nil {
		o.Out = os.Stdout
	}
	if !term.IsTerminal(o.In.Fd()) || !term.IsTerminal(o.Out.Fd()) {
		return ErrNoTerminal
	}
	if o.env("TERM") == "dumb" {
		return ErrDumb
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := &sharedOut{File: o.Out}
	c := newConsole(ctx, o)
	c.out = out
	p := tea.NewProgram(c, tea.WithInput(o.In), tea.WithOutput(out), tea.WithAltScreen(),
		tea.WithReportFocus(), tea.WithoutSignalHandler(), tea.WithFPS(30))
	// The end of ctx quits as a key would: bubbletea's own way with a context
	// leaves its reader of keys behind.
	defer context.AfterFunc(ctx, p.Quit)()
	_, err := p.Run()
	if o.Keep != nil && c.crash == nil {
		err = errors.Join(err, o.Keep(c.state()))
	}
	switch {
	case c.crash != nil:
		return c.crash
	case errors.Is(err, tea.ErrProgramPanic):
		return &PanicError{Value: err}
	case c.interrupted:
		return ErrInterrupted
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("console: %w", err)
	}
	return nil
}

// sharedOut is the terminal, written to by the renderer and by copies to the
// clipboard: a sequence is never torn by a frame.
type sharedOut struct {
	*os.File
	mu sync.Mutex
}

// Write writes all of p at once.
func (s *sharedOut) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.File.Write(p)
}

// WriteString keeps os.File's own method from going round the lock.
func (s *sharedOut) WriteString(p string) (int, error) { return s.Write([]byte(p)) }
