package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync/atomic"

	"example.com/rpctop/internal/engine"
	"example.com/rpctop/internal/failover"
	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/store"
)

// restoredEvents is how many past events the line-up begins with.
const restoredEvents = 500

// books are the two databases of the data folder, as far as they could be
// opened.
type books struct {
	dir     string
	history *store.History
	journal *store.Journal
	why     fleet.Recording // why one is nil
	notices []string
	engine  atomic.Pointer[engine.Engine]
}

// openBooks opens what can be opened: the console works without, and says NOT
// RECORDING.
func openBooks(dir string, log *slog.Logger) *books {
	b := &books{dir: dir}
	var err error
	if b.history, err = b.openHistory(); err != nil {
		b.history, b.why.History = nil, oneLine(err)
		log.Error("open the history", "err", err)
	} else {
		b.notices = append(b.notices, b.history.Notices()...)
	}
	if b.journal, err = store.OpenJournal(dir, store.Options{}); err != nil {
		b.journal, b.why.Journal = nil, oneLine(err)
		log.Error("open the journal", "err", err)
	}
	return b
}

func (b *books) openHistory() (*store.History, error) {
	return store.OpenHistory(b.dir, store.Options{OnGap: func(from, to uint64, cause string) {
		if e := b.engine.Load(); e != nil {
			e.Gap(from, to, cause)
		}
	}})
}

// close writes what is queued.
func (b *books) close() error {
	var errs []error
	if b.history != nil {
		errs = append(errs, b.history.Close())
	}
	if b.journal != nil {
		errs = append(errs, b.journal.Close())
	}
	return errors.Join(errs...)
}

// key is the installation's key for fingerprints; one of this run alone if the
// journal cannot keep it.
func (b *books) key(ctx context.Context) []byte {
	if b.journal != nil {
		if key, err := b.journal.InstallationKey(ctx); err == nil {
			return key
		}
	}
	key := make([]byte, 32)
	rand.Read(key)
	return key
}

// restore gives the state and the last events of the history. A history that
// opens and cannot be read back stops nobody: it is set aside, or, where newer
// rules wrote it, left alone and not recorded to.
func (b *books) restore(ctx context.Context, log *slog.Logger) (*failover.State, []fleet.Event) {
	if b.history == nil {
		return nil, nil
	}
	r := historyReader{b.history.Reader}
	s, err := engine.Restore(ctx, r)
	var evs []fleet.Event
	if err == nil {
		evs, err = r.LastEvents(ctx, restoredEvents)
	}
	if err == nil {
		return s, evs
	}
	log.Error("restore the state", "err", err)
	if cerr := b.history.Close(); cerr != nil {
		log.Error("close the history", "err", cerr)
	}
	b.history = nil
	if errors.Is(err, engine.ErrFold) {
		b.why.History = oneLine(err)
		return nil, nil
	}
	aside, asideErr := store.SetAsideHistory(b.dir, store.Options{})
	if asideErr == nil {
		b.history, asideErr = b.openHistory()
	}
	if asideErr != nil {
		b.history, b.why.History = nil, oneLine(errors.Join(err, asideErr))
		return nil, nil
	}
	b.notices = append(b.notices, fmt.Sprintf("the history could not be read back (%s); it is kept as %s, and a new one begins", oneLine(err), aside))
	return nil, nil
}

// overrides gives what is in force: the journal's word, or, without a journal,
// what the history last knew, which is then in force and not recorded. Those
// that have expired meanwhile are ended by the first tick, with an event.
func (b *books) overrides(ctx context.Context, s *failover.State, log *slog.Logger) []fleet.Override {
	if b.journal != nil {
		over, err := b.journal.Overrides(ctx)
		if err == nil {
			return over
		}
		log.Error("read the overrides", "err", err)
		if cerr := b.journal.Close(); cerr != nil {
			log.Error("close the journal", "err", cerr)
		}
		b.journal, b.why.Journal = nil, oneLine(err)
	}
	if s == nil || len(s.Overrides) == 0 {
		return nil
	}
	over := make([]fleet.Override, len(s.Overrides))
	for i, o := range s.Overrides {
		o.Unrecorded = true
		over[i] = o
	}
	b.notices = append(b.notices, "without a journal the overrides are those that the history last knew: in force, not recorded")
	return over
}

// historyBook fits the store's history to what the engine writes.
type historyBook struct{ *store.History }

// Checkpoint implements engine.History.
func (h historyBook) Checkpoint(c engine.Checkpoint) {
	h.History.Checkpoint(store.Checkpoint(c))
}

// historyReader fits the store's reader to what the engine reads.
type historyReader struct{ r *store.Reader }

// LatestCheckpoint implements engine.Reader.
func (h historyReader) LatestCheckpoint(ctx context.Context) (engine.Checkpoint, bool, error) {
	c, err := h.r.LatestCheckpoint(ctx, ^uint64(0))
	if err != nil || c == nil {
		return engine.Checkpoint{}, false, err
	}
	return engine.Checkpoint(*c), true, nil
}

// Rows implements engine.Reader.
func (h historyReader) Rows(ctx context.Context, after uint64) iter.Seq2[fleet.Row, error] {
	return h.r.Rows(ctx, after)
}

// Events implements engine.Reader.
func (h historyReader) Events(ctx context.Context, since uint64, limit int) ([]fleet.Event, error) {
	return h.r.Events(ctx, since, limit)
}

// LastEvents implements engine.Reader.
func (h historyReader) LastEvents(ctx context.Context, n int) ([]fleet.Event, error) {
	return h.r.LastEvents(ctx, n)
}
