package engine

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/rpctop/internal/failover"
	"example.com/rpctop/internal/fleet"
)

// listReader reads what a test gives it.
type listReader struct {
	rows   []fleet.Row
	events []fleet.Event
	cp     *Checkpoint
	mu     sync.Mutex // of err, which a test sets meanwhile
	err    error
}

func (r *listReader) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

func (r *listReader) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (r *listReader) LatestCheckpoint(context.Context) (Checkpoint, bool, error) {
	if r.cp == nil {
		return Checkpoint{}, false, r.failure()
	}
	return *r.cp, true, r.failure()
}
func (r *listReader) Rows(_ context.Context, after uint64) iter.Seq2[fleet.Row, error] {
	return func(yield func(fleet.Row, error) bool) {
		if err := r.failure(); err != nil {
			yield(fleet.Row{}, err)
			return
		}
		for _, x := range r.rows {
			if x.Seq > after && !yield(x, nil) {
				return
			}
		}
	}
}
func (r *listReader) Events(_ context.Context, since uint64, _ int) ([]fleet.Event, error) {
	var out []fleet.Event
	for _, e := range r.events {
		if e.Seq > since {
			out = append(out, e)
		}
	}
	return out, r.failure()
}
func (r *listReader) LastEvents(context.Context, int) ([]fleet.Event, error) {
	return r.events, r.failure()
}

type fullJournal struct {
	cmd   fleet.Command
	until time.Time
}

func (j *fullJournal) SaveVerdict(context.Context, fleet.Command, fleet.Verdict, []fleet.Override) error {
	return errors.New("disk full")
}
func (j *fullJournal) PendingCommands(context.Context, fleet.Millis) ([]fleet.Command, error) {
	if time.Now().Before(j.until) {
		return []fleet.Command{j.cmd}, nil
	}
	return nil, nil
}

func TestAHistoryThatCannotBeReadIsShown(t *testing.T) {
	b := &fakeBook{}
	New(Options{History: b, Config: testConfig(), Lead: fleet.Lead{PID: 1}})
	r := &listReader{rows: b.rows, events: b.events}
	f := &Follower{Reader: r, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- f.Run(ctx) }()
		time.Sleep(time.Second)
		f.Snapshot()
		r.fail(errors.New("disk gone"))
		time.Sleep(10 * time.Second)
		if n := strings.Join(f.Snapshot().Notices, " "); !strings.Contains(n, "disk gone") {
			t.Errorf("notices %q after 10 s of failure", n)
		}
		cancel()
		<-done
	})
}

func TestAFollowerWaitsBehindAHoleAndTellsIt(t *testing.T) {
	b := &fakeBook{}
	o := Options{History: b, Config: testConfig(), Lead: fleet.Lead{PID: 1, Role: "test"}}
	e := New(o)
	for n := range uint64(3) {
		e.fold(sample("a", 100+n), false)
		e.fold(sample("b", 100+n), false)
	}
	s0 := len(b.rows)
	ev0 := len(b.events)
	// lost: rows with events (an eject)
	e.fold(fleet.Command{Author: "me", Action: fleet.ActionEject, Chain: "main", Endpoint: "a"}, true)
	lostTo := len(b.rows)
	lostEv := len(b.events)
	// more rows after, committed before the gap row
	e.fold(fleet.Command{Author: "me", Action: fleet.ActionClear, Chain: "main", Endpoint: "b", Reason: "after the hole"}, true)
	afterRows := len(b.rows)
	e.fold(fleet.Gap{From: uint64(s0 + 1), To: uint64(lostTo), Cause: "test"}, true)
	js := []byte(encode(t, e.State()))
	cp := &Checkpoint{Seq: e.State().Seq, At: e.State().At, Fold: failover.FoldVersion, State: js}

	r := &listReader{rows: b.rows[:s0], events: b.events[:ev0]}
	f := &Follower{Reader: r, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	if err := f.Catch(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows := append([]fleet.Row{}, b.rows[:s0]...)
	rows = append(rows, b.rows[lostTo:afterRows]...)
	r.rows = rows
	if err := f.Catch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f.State().Seq > uint64(s0) {
		t.Errorf("rows after the hole were folded onto the state before it (seq %d)", f.State().Seq)
	}
	r.rows = append(rows, b.rows[afterRows:]...)
	r.cp = cp
	r.events = append(append([]fleet.Event{}, b.events[:ev0]...), b.events[lostEv:]...)
	if err := f.Catch(t.Context()); err != nil {
		t.Fatal(err)
	}
	evs, _ := f.Events(uint64(ev0), 0)
	told := false
	for _, ev := range evs {
		told = told || ev.Kind == fleet.EventGap
	}
	if !told {
		t.Errorf("the gap is not told")
	}
}

func TestACommandThatCannotBeRecordedRunsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &fakeBook{}
		j := &fullJournal{fleet.Command{ID: "1", Author: "me", Action: fleet.ActionEject, Chain: "main", Endpoint: "a", Yes: true}, time.Now().Add(5 * time.Second)}
		run(t, Options{History: b, Journal: j})
		time.Sleep(6 * time.Second)
		synctest.Wait()
		n := 0
		for _, r := range b.rows {
			if _, ok := r.Input.(fleet.Command); ok {
				n++
			}
		}
		if n != 1 {
			t.Errorf("folded %d times", n)
		}
	})
}
