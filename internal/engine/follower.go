package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"example.com/rpctop/internal/failover"
	"example.com/rpctop/internal/fleet"
)

// followEvery is how often a follower looks for new rows.
const followEvery = 100 * time.Millisecond

// expiresAfter is how long a command may wait for a leader; later it never runs.
const expiresAfter = 5 * time.Second

// ErrNobodyAnswered means that no process gave a verdict in time. The command
// may still run until it expires.
var ErrNobodyAnswered = errors.New("nobody answered the command in time")

// Inbox passes commands to the process that leads.
type Inbox interface {
	// Ask puts a command in; after expires it never runs.
	Ask(ctx context.Context, cmd fleet.Command, expires fleet.Millis) error
	// Await waits for the verdict until ctx ends.
	Await(ctx context.Context, id string) (fleet.Verdict, error)
}

// AskLeader puts a command to the leading process and waits for its verdict,
// until ctx ends.
func AskLeader(ctx context.Context, in Inbox, cmd fleet.Command, now time.Time) (fleet.Verdict, error) {
	if err := PutToLeader(ctx, in, cmd, now); err != nil {
		return fleet.Verdict{}, err
	}
	v, err := in.Await(ctx, cmd.ID)
	if errors.Is(err, context.DeadlineExceeded) {
		return v, ErrNobodyAnswered
	}
	return v, err
}

// PutToLeader puts a command to the leading process, and does not wait.
func PutToLeader(ctx context.Context, in Inbox, cmd fleet.Command, now time.Time) error {
	if err := in.Ask(ctx, cmd, fleet.MillisOf(now.Add(expiresAfter))); err != nil {
		return fmt.Errorf("ask the leading process: %w", err)
	}
	return nil
}

// Follower shows what another process leads, from the rows that it commits.
type Follower struct {
	Reader Reader
	Inbox  Inbox
	Now    func() time.Time
	Log    *slog.Logger
	// Notices are standing remarks, for the screen.
	Notices []string

	state   atomic.Pointer[failover.State]
	view    viewCache
	ring    ring
	trouble atomic.Pointer[string]
}

// Run folds the tail of the history until ctx ends. A history that cannot be
// read for a while is shown as such, and tried again.
func (f *Follower) Run(ctx context.Context) error {
	poll := time.NewTicker(followEvery)
	defer poll.Stop()
	for {
		if err := f.Catch(ctx); err != nil && ctx.Err() == nil {
			text := err.Error()
			f.trouble.Store(&text)
			f.Log.Error("follow the history", "err", err)
		} else {
			f.trouble.Store(nil)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-poll.C:
		}
	}
}

// Catch folds what has been committed since the last call. Where rows are
// missing it waits for the checkpoint behind them.
func (f *Follower) Catch(ctx context.Context) error {
	s := f.state.Load()
	if s == nil {
		restored, err := Restore(ctx, f.Reader)
		if err != nil || restored == nil {
			return err
		}
		evs, err := f.Reader.LastEvents(ctx, keptEvents)
		if err != nil {
			return err
		}
		for _, ev := range evs {
			f.ring.add(ev)
		}
		f.state.Store(restored)
		return nil
	}
	for row, err := range f.Reader.Rows(ctx, s.Seq) {
		if err != nil {
			return err
		}
		if row.Seq != s.Seq+1 {
			return f.resume(ctx, row.Seq)
		}
		next, events := failover.Step(s, row)
		for _, ev := range events {
			f.ring.add(ev)
		}
		s = next
		f.state.Store(s)
	}
	return nil
}

// resume goes on at the checkpoint behind a hole in the rows, with the events
// that were recorded meanwhile; until it is there, the state stays as it was.
func (f *Follower) resume(ctx context.Context, behind uint64) error {
	cp, ok, err := f.Reader.LatestCheckpoint(ctx)
	if err != nil || !ok || cp.Seq < behind {
		return err
	}
	s, err := Restore(ctx, f.Reader)
	if err != nil || s == nil {
		return err
	}
	evs, err := f.Reader.Events(ctx, f.state.Load().Events, keptEvents)
	if err != nil {
		return err
	}
	for _, ev := range evs {
		if ev.Seq <= s.Events {
			f.ring.add(ev)
		}
	}
	f.state.Store(s)
	return nil
}

// State gives the state as far as it was read; nil before the first row.
func (f *Follower) State() *failover.State { return f.state.Load() }

// Snapshot gives the picture of what was read so far.
func (f *Follower) Snapshot() *fleet.Snapshot {
	out := fleet.Snapshot{}
	if s := f.state.Load(); s != nil {
		out = *f.view.of(s, func(*fleet.Snapshot) {})
	}
	out.Following, out.Notices = true, f.Notices
	if t := f.trouble.Load(); t != nil {
		out.Notices = append(out.Notices[:len(out.Notices):len(out.Notices)], "the history cannot be read: "+*t)
	}
	return &out
}

// Events gives the events after since; see Engine.Events.
func (f *Follower) Events(since uint64, limit int) (evs []fleet.Event, missed uint64) {
	return f.ring.since(since, ^uint64(0), limit)
}

// Do puts a command to the leading process.
func (f *Follower) Do(ctx context.Context, cmd fleet.Command) (fleet.Verdict, error) {
	return AskLeader(ctx, f.Inbox, cmd, f.Now())
}
