package engine

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"example.com/rpctop/internal/failover"
	"example.com/rpctop/internal/fleet"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeBook records what the engine hands over.
type fakeBook struct {
	rows        []fleet.Row
	events      []fleet.Event
	flushes     int
	checkpoints []Checkpoint
	pending     int
	status      string
	committed   uint64
}

func (b *fakeBook) Enqueue(row fleet.Row, evs []fleet.Event, flush bool) {
	b.rows, b.events = append(b.rows, row), append(b.events, evs...)
	if flush {
		b.flushes++
	}
}
func (b *fakeBook) Checkpoint(c Checkpoint) { b.checkpoints = append(b.checkpoints, c) }
func (b *fakeBook) Pending() int            { return b.pending }
func (b *fakeBook) CommittedEvent() uint64  { return b.committed }
func (b *fakeBook) Status() string          { return b.status }

type fakeJournal struct {
	saved []fleet.Verdict
	over  []fleet.Override
	err   error
	inbox []fleet.Command
}

func (j *fakeJournal) SaveVerdict(_ context.Context, _ fleet.Command, v fleet.Verdict, over []fleet.Override) error {
	if j.err != nil {
		return j.err
	}
	j.saved, j.over = append(j.saved, v), over
	return nil
}
func (j *fakeJournal) PendingCommands(context.Context, fleet.Millis) ([]fleet.Command, error) {
	in := j.inbox
	j.inbox = nil
	return in, nil
}

func testConfig() fleet.Config {
	return fleet.Config{Policy: fleet.DefaultPolicy(), Seed: 1, Chains: []fleet.ChainSpec{{Name: "main", ChainID: 100, BlockTime: 1_000,
		Endpoints: []fleet.EndpointSpec{{Name: "a", Operator: "x", Every: 1_000}, {Name: "b", Operator: "y", Tier: 1, Every: 1_000}}}}}
}

func sample(name string, n uint64) fleet.Sample {
	return fleet.Sample{Endpoint: fleet.EndpointID{Chain: "main", Name: name}, Start: fleet.MillisOf(time.Now()),
		Outcome: fleet.Outcome{Class: fleet.ClassOK}, Timing: fleet.Timing{Total: 9_000},
		Head: &fleet.Head{Number: n, Hash: fleet.Hash{1, byte(n)}, Parent: fleet.Hash{1, byte(n - 1)}, Time: uint64(time.Now().Unix())}, ChainID: "100", ChainIDClass: fleet.ClassOK}
}

// run starts an engine and stops it at the end of the test.
func run(t *testing.T, o Options) *Engine {
	t.Helper()
	o.Config = testConfig()
	o.Lead = fleet.Lead{PID: 1, Role: "test"}
	e := New(o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return e
}

func TestInputsBecomeRowsInOrderWithTimesThatNeverFall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &fakeBook{}
		e := run(t, Options{History: b})
		for n := range uint64(50) {
			e.Offer(sample("a", 100+n))
			e.Offer(sample("b", 100+n))
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		for i, r := range b.rows {
			if r.Seq != uint64(i+1) || i > 0 && r.At < b.rows[i-1].At {
				t.Fatalf("row %d has seq %d at %d after %d", i, r.Seq, r.At, b.rows[max(0, i-1)].At)
			}
		}
		if e.Snapshot().Chains[0].Incumbent != "a" {
			t.Errorf("%q serves, want a", e.Snapshot().Chains[0].Incumbent)
		}
	})
}

func TestARestartFromACheckpointAndTheRowsAfterItGivesTheSameState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &fakeBook{}
		e := run(t, Options{History: b})
		for n := range uint64(1_000) {
			e.Offer(sample("a", 100+n))
			if n%3 == 0 {
				e.Offer(sample("b", 90+n))
			}
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		if len(b.checkpoints) != 1 {
			t.Fatalf("%d checkpoints in 100 s, want 1", len(b.checkpoints))
		}
		got, err := Restore(t.Context(), memoryReader{b})
		if err != nil {
			t.Fatal(err)
		}
		if a, b := encode(t, e.State()), encode(t, got); a != b {
			t.Errorf("the restored state differs:\n%s\n%s", a, b)
		}
	})
}

func TestASampleIsDroppedAndCountedOnlyWhenTheQueueIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &fakeBook{pending: queueRows + 1}
		e := run(t, Options{History: b})
		if e.Offer(sample("a", 1)) {
			t.Error("an input was taken although the disk is far behind")
		}
		if d := e.Snapshot().Recording.Dropped; d != 1 {
			t.Errorf("%d dropped, want 1", d)
		}
		b.pending = 0
		if !e.Offer(sample("a", 1)) {
			t.Error("an input was refused although the queue is empty")
		}
	})
}

func TestACommandIsRecordedBeforeItIsAcknowledged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, b := &fakeJournal{}, &fakeBook{}
		e := run(t, Options{History: b, Journal: j})
		v, err := e.Do(t.Context(), fleet.Command{ID: "1", Author: "ann", Action: fleet.ActionPin, Chain: "main", Endpoint: "b", Reason: "test"})
		if err != nil || !v.Accepted || !v.Recorded {
			t.Fatalf("verdict %+v, %v", v, err)
		}
		if len(j.over) != 1 || j.over[0].Endpoint != "b" || j.over[0].Author != "ann" {
			t.Errorf("the journal holds %+v", j.over)
		}
		if o := e.Snapshot().Chains[0].Overrides; len(o) != 1 || o[0].Unrecorded {
			t.Errorf("in force: %+v", o)
		}
	})
}

func TestARefusedCommandChangesNothingAndIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &fakeJournal{}
		e := run(t, Options{Journal: j})
		v, err := e.Do(t.Context(), fleet.Command{ID: "1", Author: "ann", Action: fleet.ActionPin, Chain: "main", Endpoint: "zz"})
		if err != nil || v.Accepted || v.Code != "unknown-endpoint" || len(j.over) != 0 {
			t.Fatalf("verdict %+v, %v, overrides %v", v, err, j.over)
		}
		if len(j.saved) != 1 {
			t.Error("the refusal was not recorded, so an asker in another process would wait for it")
		}
	})
}

func TestACommandThatCannotBeRecordedIsInForceAndSaysSo(t *testing.T) {
	for name, j := range map[string]Journal{"no journal": nil, "a journal that fails": &fakeJournal{err: errors.New("disk full")}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := run(t, Options{Journal: j})
				v, err := e.Do(t.Context(), fleet.Command{ID: "1", Author: "ann", Action: fleet.ActionEject, Chain: "main", Endpoint: "b"})
				if err != nil || !v.Accepted || v.Recorded || !strings.Contains(v.Message, "in force, not recorded") {
					t.Fatalf("verdict %+v, %v", v, err)
				}
				if o := e.Snapshot().Chains[0].Overrides; len(o) != 1 || !o[0].Unrecorded {
					t.Errorf("in force: %+v", o)
				}
			})
		})
	}
}

func TestCommandsOfOtherProcessesAreCarriedOutFromTheInbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &fakeJournal{inbox: []fleet.Command{{ID: "7", Author: "bob", Action: fleet.ActionPin, Chain: "main", Endpoint: "b"}}}
		e := run(t, Options{Journal: j})
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		if o := e.Snapshot().Chains[0].Overrides; len(o) != 1 || o[0].Author != "bob" {
			t.Errorf("in force: %+v", o)
		}
	})
}

func TestACommandToAStoppedEngineEndsWithItsContext(t *testing.T) {
	e := New(Options{Config: testConfig(), Lead: fleet.Lead{PID: 1}})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := e.Do(ctx, fleet.Command{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("err %v", err)
	}
}

func TestEventsAreShownOnceTheyAreOnDisk(t *testing.T) {
	b := &fakeBook{}
	e := New(Options{History: b, Config: testConfig(), Lead: fleet.Lead{PID: 1, Role: "test"}})
	if evs, _ := e.Events(0, 0); len(evs) != 0 {
		t.Errorf("%d events are shown before their commit", len(evs))
	}
	b.committed = 1
	if evs, _ := e.Events(0, 0); len(evs) != 1 {
		t.Errorf("%d events are shown after the commit of one", len(evs))
	}
	b.committed, b.status = 0, "the disk is full"
	if evs, _ := e.Events(0, 0); len(evs) == 0 {
		t.Error("a console that does not record shows no events at all")
	}
}

func TestTheRingTellsWhatItHasForgotten(t *testing.T) {
	var r ring
	for n := uint64(1); n <= 3*keptEvents; n++ {
		r.add(fleet.Event{Seq: n})
	}
	evs, missed := r.since(0, ^uint64(0), 0)
	if len(evs) < keptEvents || missed+uint64(len(evs)) != 3*keptEvents || evs[len(evs)-1].Seq != 3*keptEvents {
		t.Errorf("%d events, %d missed", len(evs), missed)
	}
	if evs, _ := r.since(3*keptEvents-2, ^uint64(0), 1); len(evs) != 1 || evs[0].Seq != 3*keptEvents-1 {
		t.Errorf("with a limit: %v", evs)
	}
}

func TestAJumpOfTheWallClockIsARowAndTheFoldsTimeGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &fakeBook{}
		var jump atomic.Int64 // of the wall clock, ms
		e := run(t, Options{History: b, Wall: func() fleet.Millis { return fleet.MillisOf(time.Now()) + fleet.Millis(jump.Load()) }})
		time.Sleep(2500 * time.Millisecond)
		jump.Store(3_600_000)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		n := 0
		for i, r := range b.rows {
			if c, ok := r.Input.(fleet.Clock); ok {
				n++
				if c.Jump < 3_599_000 || c.Jump > 3_601_000 {
					t.Errorf("the row says a jump of %d ms", c.Jump)
				}
			}
			if i > 0 && r.At-b.rows[i-1].At > 2_000 {
				t.Errorf("the fold's time jumped by %d ms", r.At-b.rows[i-1].At)
			}
		}
		if n != 1 {
			t.Errorf("%d clock rows, want 1", n)
		}
		if got := e.State().Wall() - fleet.MillisOf(time.Now()); got < 3_598_000 {
			t.Errorf("the state's wall clock is %d ms ahead", got)
		}
	})
}

// memoryReader reads what a fakeBook holds.
type memoryReader struct{ b *fakeBook }

func (m memoryReader) LatestCheckpoint(context.Context) (Checkpoint, bool, error) {
	if len(m.b.checkpoints) == 0 {
		return Checkpoint{}, false, nil
	}
	return m.b.checkpoints[len(m.b.checkpoints)-1], true, nil
}

func (m memoryReader) Rows(_ context.Context, after uint64) iter.Seq2[fleet.Row, error] {
	return func(yield func(fleet.Row, error) bool) {
		for _, r := range m.b.rows {
			if r.Seq > after && !yield(r, nil) {
				return
			}
		}
	}
}

func (m memoryReader) LastEvents(context.Context, int) ([]fleet.Event, error) { return m.b.events, nil }
func (m memoryReader) Events(context.Context, uint64, int) ([]fleet.Event, error) {
	return m.b.events, nil
}

func encode(t *testing.T, s *failover.State) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
