package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"example.com/rpctop/internal/config"
	"example.com/rpctop/internal/devnet"
	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/store"
	"example.com/rpctop/internal/ui"
)

// takeOverEvery is how often a following console tries to take the lead.
const takeOverEvery = 500 * time.Millisecond

// runConsole opens the console on the configuration, or on URLs.
func (a *app) runConsole(cmd *cobra.Command, args []string) error {
	// Said before anything is asked of the network or the disk.
	if !term.IsTerminal(a.stdout.Fd()) || !term.IsTerminal(a.stdin.Fd()) && !fromStdin(args) {
		return exit(exitUsage, "%w", ui.ErrNoTerminal)
	}
	cfg, err := a.configFor(cmd.Context(), args)
	if err != nil {
		return err
	}
	dir := a.dataDir()
	if len(args) > 0 && a.flags.data == "" {
		dir = filepath.Join(dir, "urls")
	}
	return a.console(cmd.Context(), consoleRun{cfg: cfg, dir: dir, role: "console"})
}

func fromStdin(args []string) bool {
	for _, arg := range args {
		if arg == "-" {
			return true
		}
	}
	return false
}

// consoleRun is what a console is opened on.
type consoleRun struct {
	cfg              *config.Config
	dir, role, title string
}

// console shows a data folder: as its leader if nobody leads it, else as a
// follower that takes the lead when it is free.
func (a *app) console(ctx context.Context, r consoleRun) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	src := &source{}
	if err := a.attach(ctx, r, src); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		err := guard(func() error { return a.captain(ctx, r, src) })
		ended <- err
		cancel() // without an engine the screen would show the past
	}()
	if r.role == "demo" {
		var calling sync.WaitGroup
		calling.Go(func() { devnet.KeepCalling(ctx, src.url()) })
		defer calling.Wait()
	}
	colour := ui.ColourMode(a.flags.color)
	left, notices := face(r.dir)
	err := ui.Run(ctx, ui.Options{
		Source: src, Title: r.title, Author: author(), ProxyURL: src.url(), Notices: notices,
		ReadOnly: a.flags.readOnly, ASCII: a.flags.ascii, Colour: colour, Theme: a.flags.theme, Bell: a.flags.bell,
		State: left, Keep: a.keepFace(r.dir), Log: a.notes,
		ConfirmQuit: func() string { return src.confirmQuit(r.role) },
		Start:       time.Now(), Getenv: os.Getenv, In: a.terminalIn(), Out: a.stdout,
	})
	cancel()
	engineErr := <-ended
	var p *ui.PanicError
	switch {
	case errors.As(err, &p):
		return &panicError{p.Value, p.Stack}
	case engineErr != nil:
		return engineErr
	case errors.Is(err, ui.ErrInterrupted):
		return &exitError{code: exitInterrupted}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return nil
	}
	return err
}

// terminalIn is the keyboard: with URLs on standard input it is the terminal
// itself.
func (a *app) terminalIn() *os.File {
	if term.IsTerminal(a.stdin.Fd()) {
		return a.stdin
	}
	if tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err == nil {
		return tty
	}
	return a.stdin
}

// source is what the screen reads from: whoever leads or follows at the moment.
type source struct{ now atomic.Pointer[attached] }

// attached is one way to be attached to a data folder.
type attached struct {
	ui.Source
	run func(context.Context) error
	led *leading // nil: it follows
}

// url is where programs find the proxy; "" if this process does not serve it.
func (s *source) url() string {
	if l := s.now.Load().led; l != nil {
		return l.url()
	}
	return ""
}

// confirmQuit gives the question before a console goes that programs rely on.
func (s *source) confirmQuit(role string) string {
	l := s.now.Load().led
	if l == nil || l.gateway == nil || role == "demo" || !l.gateway.caller.servedWithin(time.Minute) {
		return ""
	}
	return "programs were served by this console within the last minute, and nobody would serve them"
}

func (s *source) Snapshot() *fleet.Snapshot { return s.now.Load().Snapshot() }
func (s *source) Events(since uint64, limit int) ([]fleet.Event, uint64) {
	return s.now.Load().Events(since, limit)
}
func (s *source) Do(ctx context.Context, c fleet.Command) (fleet.Verdict, error) {
	return s.now.Load().Do(ctx, c)
}

// attach takes the lead, or follows who has it.
func (a *app) attach(ctx context.Context, r consoleRun, src *source) error {
	l, err := a.lead(ctx, r.cfg, r.dir, r.role)
	if err != nil {
		return err
	}
	if l != nil {
		if err := l.openGateway(ctx, r.cfg, r.role); err != nil {
			l.offGateway(ctx, r, err)
		}
		src.now.Store(&attached{Source: l, run: l.run, led: l})
		return nil
	}
	f, err := a.follow(r.dir, []string{a.ledBy(r.dir) + "; its configuration holds, this console follows"})
	if err != nil {
		return err
	}
	if err := f.Catch(ctx); err != nil {
		return errors.Join(err, f.close())
	}
	src.now.Store(&attached{Source: f, run: func(ctx context.Context) error { return errors.Join(f.Run(ctx), f.close()) }})
	return nil
}

// captain runs what is attached; when the lead is free it takes over.
func (a *app) captain(ctx context.Context, r consoleRun, src *source) error {
	for {
		at := src.now.Load()
		if at.led != nil {
			return at.run(ctx)
		}
		following, stop := context.WithCancel(ctx)
		done := make(chan error, 1)
		go func() { done <- guard(func() error { return at.run(following) }) }()
		waitForLead(ctx, r.dir)
		stop()
		if err := <-done; err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		default:
		}
		if err := a.attach(ctx, r, src); err != nil {
			return err
		}
	}
}

// waitForLead returns when nobody leads a folder, or ctx ends.
func waitForLead(ctx context.Context, dir string) {
	t := time.NewTicker(takeOverEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if who, err := store.Leader(dir); err == nil && who == nil {
				return
			}
		}
	}
}
