package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"example.com/rpctop/internal/fleet"
)

// The exit codes, a contract: see docs and `rpctop help`.
const (
	exitGood        = 0
	exitUsage       = 1 // usage, or internal
	exitConfig      = 2
	exitDegraded    = 3
	exitNone        = 4
	exitRefused     = 5 // an operator's verb refused by a safety rule
	exitPanic       = 70
	exitLater       = 75
	exitInterrupted = 130
)

// exitError ends the program with a code; a nil err has been told already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func exit(code int, format string, args ...any) error {
	return &exitError{code, fmt.Errorf(format, args...)}
}

// panicError is a panic of any goroutine that was caught.
type panicError struct {
	value any
	stack []byte
}

func newPanic(v any) *panicError { return &panicError{v, debug.Stack()} }

func (p *panicError) Error() string { return fleet.Sanitize(fmt.Sprintf("panic: %v", p.value)) }

// guard runs a part of the program and turns a panic into an error, so that
// the terminal is restored and the store closed before the program ends.
func guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = newPanic(v)
		}
	}()
	return f()
}

// crashed writes a report that holds no secret and no environment, and tells
// where it is.
func (a *app) crashed(p *panicError) int {
	text := fmt.Sprintf("rpctop %s crashed at %s\n\n%s\n\n%s", version, time.Now().UTC().Format(time.RFC3339), p.Error(), p.stack)
	text = a.redact(text)
	dir := a.flags.data
	if dir == "" {
		dir = os.TempDir()
	}
	path := filepath.Join(dir, "crash-"+time.Now().UTC().Format("20060102T150405.000000000")+".txt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		fmt.Fprintln(a.stderr, "rpctop: "+p.Error()+"; no report could be written: "+err.Error())
		return exitPanic
	}
	fmt.Fprintln(a.stderr, "rpctop: "+p.Error()+"; a report is in "+path)
	return exitPanic
}

// oneLine joins an error of several lines.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

var errNoChains = errors.New("no chain is configured")
