package store

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"example.com/rpctop/internal/fleet"
)

// How rows are grouped into transactions.
const (
	groupAfter = 250 * time.Millisecond // the oldest row waits no longer
	groupRows  = 256                    // nor does it for more rows
	groupMax   = 4096                   // rows in one transaction, after a jam
)

// Back-off after a failed commit.
const (
	firstRetry = 50 * time.Millisecond
	lastRetry  = 5 * time.Second
	// patience is how long a locked file is nobody's concern.
	patience = 2 * time.Second
)

// History is the log as its one writer holds it. Enqueue, Checkpoint and the
// questions about progress never wait for the disk; the methods of Reader read
// what is committed. It is safe for concurrent use.
type History struct {
	*Reader
	o       Options
	db      *sql.DB
	rec     *recorder // the goroutine's
	notices []string

	mu       sync.Mutex
	queue    []item
	closing  bool
	enqueued uint64 // items, ever
	urgent   uint64 // of them: so many are to be committed at once
	settled  uint64 // of them: so many are committed or lost
	losses   uint64 // times that rows were given up
	failure  error  // of the last commit; nil while recording
	since    time.Time
	progress chan struct{} // closed and renewed when settled rises

	wake chan struct{}
	done chan struct{}

	committedSeq, committedEvent atomic.Uint64
}

// OpenHistory opens or creates history.db in dir for writing and starts its
// writer; Close ends it. A corrupt file is set aside, see Notices. The errors
// are *Error; without a history everything but recording works.
func OpenHistory(dir string, o Options) (*History, error) {
	f := historyFile()
	o = o.withDefaults()
	db, path, notices, err := f.openWriter(dir, o)
	if err != nil {
		return nil, err
	}
	h := &History{
		o: o, db: db, notices: notices,
		progress: make(chan struct{}), wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	if err := h.start(path); err != nil {
		if h.Reader != nil {
			_ = h.Reader.Close()
		}
		if h.rec != nil {
			_ = h.rec.close()
		}
		_ = db.Close()
		return nil, f.failure("open history", path, err)
	}
	go h.run()
	return h, nil
}

func (h *History) start(path string) (err error) {
	ctx := context.Background()
	if h.rec, err = newRecorder(ctx, h.db); err != nil {
		return err
	}
	if h.Reader, err = openReader(ctx, path); err != nil {
		return err
	}
	seq, err := h.LastSeq(ctx)
	if err != nil {
		return err
	}
	event, err := h.LastEventSeq(ctx)
	h.committedSeq.Store(seq)
	h.committedEvent.Store(event)
	return err
}

// Notices are standing remarks for the operator about the opening: that a
// corrupt file was set aside, and where.
func (h *History) Notices() []string { return h.notices }

// Enqueue takes a row and the events that it caused, in the order of Seq. It
// never waits for the disk and never drops. With flush the group is committed
// at once.
func (h *History) Enqueue(row fleet.Row, events []fleet.Event, flush bool) {
	h.add(item{row: row, events: events}, flush)
}

// Checkpoint takes the state after row seq, to be written after that row.
func (h *History) Checkpoint(cp Checkpoint) {
	h.add(item{checkpoint: &cp}, false)
}

func (h *History) add(it item, flush bool) {
	h.mu.Lock()
	h.queue = append(h.queue, it)
	h.enqueued++
	if flush {
		h.urgent = h.enqueued
	}
	n := len(h.queue)
	h.mu.Unlock()
	if flush || n == 1 || n == groupRows || n == h.o.QueueLimit+1 {
		h.poke()
	}
}

func (h *History) poke() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// Pending is the number of items that are not on the disk yet. The engine
// refuses samples, before the fold, while it is too high.
func (h *History) Pending() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.queue)
}

// CommittedSeq is the last row on the disk; 0: none.
func (h *History) CommittedSeq() uint64 { return h.committedSeq.Load() }

// CommittedEvent is the last event on the disk; 0: none. An event is shown
// after its commit.
func (h *History) CommittedEvent() uint64 { return h.committedEvent.Load() }

// Status says why nothing is being recorded, and since when; "" while it is.
func (h *History) Status() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failure == nil {
		return ""
	}
	if kindOf(h.failure) == ErrLocked && h.o.Now().Sub(h.since) < patience {
		return ""
	}
	return fmt.Sprintf("not recorded since %s (%s)", h.since.UTC().Format("15:04:05 UTC"), reasonOf(h.failure))
}

// Flush waits until all that was enqueued before is on the disk. It fails with
// ErrLost if rows were given up meanwhile, or when ctx ends.
func (h *History) Flush(ctx context.Context) error {
	h.mu.Lock()
	target, losses := h.enqueued, h.losses
	h.urgent = target
	h.mu.Unlock()
	h.poke()
	for {
		h.mu.Lock()
		settled, lost, progress, failure := h.settled, h.losses != losses, h.progress, h.failure
		h.mu.Unlock()
		if settled >= target {
			if lost {
				return h.failed("flush history", ErrLost)
			}
			return nil
		}
		select {
		case <-progress:
		case <-ctx.Done():
			if failure == nil {
				failure = ctx.Err()
			}
			return h.failed("flush history", failure)
		}
	}
}

// Close commits what is queued, tries once if it fails, and ends the writer.
// It fails with ErrLost if rows could not be written. Enqueue must not be
// called any more.
func (h *History) Close() error {
	h.mu.Lock()
	closed, losses := h.closing, h.losses
	h.closing = true
	h.mu.Unlock()
	if closed {
		<-h.done
		return nil
	}
	h.poke()
	<-h.done
	var err error
	h.mu.Lock()
	if h.losses != losses {
		err = h.failed("close history", fmt.Errorf("%w: %w", ErrLost, h.failure))
	}
	h.mu.Unlock()
	readErr := h.Reader.Close()
	_ = h.rec.close()
	if dbErr := h.db.Close(); err == nil && dbErr != nil {
		err = h.failed("close history", dbErr)
	}
	if err == nil {
		err = readErr
	}
	return err
}

func (h *History) failed(op string, err error) error {
	return historyFile().failure(op, h.path, err)
}
