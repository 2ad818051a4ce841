package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"example.com/rpctop/internal/fleet"
)

const (
	leadLock = "lead.lock"   // held by the process that leads
	leadInfo = "leader.json" // who it is; means nothing while nobody holds the lock
)

// Lease is the right to lead: to sequence, to probe, to write the history. The
// system takes it back when the process dies.
type Lease struct {
	lock *flock.Flock
	dir  string
}

// leaderFile is leader.json.
type leaderFile struct {
	fleet.LeaderView
	Since fleet.Millis `json:"since"` // Unix milliseconds
}

// TryLead takes the lead of the folder, if nobody has it, and writes down who
// leads. It reports false when another process leads. The folder is made if it
// is not there.
func TryLead(dir string, who fleet.LeaderView, o Options) (*Lease, bool, error) {
	f := file{what: "lead", without: "until then this process follows"}
	o = o.withDefaults()
	if err := f.prepareFolder("take the lead", dir, o); err != nil {
		return nil, false, err
	}
	path := filepath.Join(dir, leadLock)
	lock := flock.New(path, flock.SetPermissions(o.FileMode))
	// Leader takes the lock for a moment to see whether it is free: somebody
	// who only looks must not make the taking fail.
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	switch ok, err := lock.TryLockContext(ctx, 4*time.Millisecond); {
	case errors.Is(err, context.DeadlineExceeded), err == nil && !ok:
		_ = lock.Close()
		return nil, false, nil
	case err != nil:
		return nil, false, f.failure("take the lead", path, err)
	}
	l := &Lease{lock: lock, dir: dir}
	if err := l.sign(who, o.FileMode); err != nil {
		_ = l.Release()
		return nil, false, f.failure("take the lead", filepath.Join(dir, leadInfo), err)
	}
	return l, true, nil
}

// sign writes leader.json so that a reader sees the old or the new one whole.
func (l *Lease) sign(who fleet.LeaderView, mode fs.FileMode) error {
	text, err := json.Marshal(leaderFile{who, who.Since})
	if err != nil {
		return err
	}
	path := filepath.Join(l.dir, leadInfo)
	if err := os.WriteFile(path+".new", append(text, '\n'), mode); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// Release gives the lead up. Another process can take it at once.
func (l *Lease) Release() error {
	_ = os.Remove(filepath.Join(l.dir, leadInfo)) // a stale one means nothing
	if err := l.lock.Close(); err != nil {
		return fmt.Errorf("release the lead: %w", err)
	}
	return nil
}

// Leader tells who leads the folder; nil: nobody does. A leader that has not
// signed yet has only zero values.
func Leader(dir string) (*fleet.LeaderView, error) {
	path := filepath.Join(dir, leadLock)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	lock := flock.New(path)
	free, err := lock.TryRLock()
	if err != nil {
		return nil, fmt.Errorf("look who leads: %w", err)
	}
	_ = lock.Close()
	if free {
		return nil, nil
	}
	text, err := os.ReadFile(filepath.Join(dir, leadInfo)) //nolint:gosec // the store's own file
	if errors.Is(err, fs.ErrNotExist) {
		return &fleet.LeaderView{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look who leads: %w", err)
	}
	var who leaderFile
	if err := json.Unmarshal(text, &who); err != nil {
		return nil, fmt.Errorf("look who leads: %s: %w", leadInfo, err)
	}
	who.LeaderView.Since = who.Since
	return &who.LeaderView, nil
}
