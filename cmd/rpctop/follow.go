package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"example.com/rpctop/internal/config"
	"example.com/rpctop/internal/engine"
	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/store"
)

// counted says how much a configuration holds.
func counted(cfg *config.Config) string {
	n := 0
	for _, c := range cfg.Chains {
		n += len(c.Endpoints)
	}
	return fmt.Sprintf("%d endpoints on %d chains", n, len(cfg.Chains))
}

// ledBy says who leads a data folder.
func (a *app) ledBy(dir string) string {
	who, err := store.Leader(dir)
	if err != nil || who == nil {
		return "another process leads " + dir
	}
	return fmt.Sprintf("%s is led by `rpctop %s` of %s, pid %d", dir, who.Role, who.Author, who.PID)
}

// openReader opens the history for reading. Without a file there is nothing to
// tell, which is an answer with a hint, and no state.
func (a *app) openReader(dir string) (*store.Reader, error) {
	r, err := store.OpenHistoryReader(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, exit(exitUsage, "nothing has been recorded in %s yet: start `rpctop serve`, or open the console", dir)
	}
	return r, err
}

// following is a process that shows what another one leads.
type following struct {
	*engine.Follower
	reader  *store.Reader
	journal *store.Journal
}

// follow opens the databases of a folder that another process leads.
func (a *app) follow(dir string, notices []string) (*following, error) {
	r, err := a.openReader(dir)
	if err != nil {
		return nil, err
	}
	j, err := store.OpenJournal(dir, store.Options{})
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return &following{Follower: &engine.Follower{Reader: historyReader{r}, Inbox: j, Now: time.Now, Log: a.log, Notices: notices},
		reader: r, journal: j}, nil
}

func (f *following) close() error { return errors.Join(f.reader.Close(), f.journal.Close()) }

// readState restores what the store says now.
func (a *app) readState(ctx context.Context, dir string) (*engine.Follower, error) {
	r, err := a.openReader(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // it was only read
	f := &engine.Follower{Reader: historyReader{r}, Now: time.Now, Log: a.log}
	if err := f.Catch(ctx); err != nil {
		return nil, err
	}
	return f, nil
}

// alive reports whether the leader that a snapshot names is the one that leads
// now.
func alive(dir string, v *fleet.Snapshot) bool {
	who, err := store.Leader(dir)
	return err == nil && who != nil && v.Leader != nil && who.PID == v.Leader.PID
}
