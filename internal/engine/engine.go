package engine

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"example.com/rpctop/internal/failover"
	"example.com/rpctop/internal/fleet"
)

// History takes the rows of the fold. Its methods return at once: they queue.
type History interface {
	// Enqueue queues a row and the events that it caused; flush asks for a
	// commit without waiting for the group.
	Enqueue(row fleet.Row, events []fleet.Event, flush bool)
	// Checkpoint queues a state; it is written after the rows up to its Seq.
	Checkpoint(Checkpoint)
	Pending() int           // rows that are queued
	CommittedEvent() uint64 // the last event that is on disk
	Status() string         // "" while recording; else why not
}

// Journal records the operator's word before it is acknowledged.
type Journal interface {
	// SaveVerdict stores a verdict, and with an accepted one the overrides
	// that are in force from then on, in one transaction.
	SaveVerdict(ctx context.Context, cmd fleet.Command, v fleet.Verdict, overrides []fleet.Override) error
	// PendingCommands gives what other processes have asked and nobody has
	// answered; expired ones are not among them.
	PendingCommands(ctx context.Context, now fleet.Millis) ([]fleet.Command, error)
}

// Prober is told what the fold concludes for the probing.
type Prober interface {
	Suspect(id fleet.EndpointID)
	Confirm(id fleet.EndpointID, number uint64)
	SetBackoff(id fleet.EndpointID, every time.Duration)
	Identify(id fleet.EndpointID) // read chain id and genesis anew, at once
	Ask(id fleet.EndpointID, w fleet.Wish)
}

// Bounds of the engine.
const (
	queueInputs  = 4096        // inputs that wait for the loop
	queueRows    = 50_000      // rows that wait for the disk before samples are dropped
	keptEvents   = 4096        // events in memory
	tickEvery    = time.Second // the second hand of the fold
	inboxEvery   = 25 * time.Millisecond
	checkpointed = time.Minute
	wallJump     = fleet.Millis(2_000)
	startSlack   = fleet.Millis(5_000) // between the end of a request and its row
)

// Options are what an Engine starts with.
type Options struct {
	State   *failover.State // restored; nil: none
	Events  []fleet.Event   // restored, for the event line-up
	Lead    fleet.Lead      // Wall and Fold are set by the engine
	Config  fleet.Config    // with the overrides that the journal holds
	History History         // nil: nothing is recorded
	Journal Journal         // nil: commands are in force, and not recorded
	Prober  func() Prober   // asked at each use, since a prober may start later; nil or a nil result: none
	Now     func() time.Time
	// Wall reads the wall clock alone, which may jump; nil: that of Now.
	Wall func() fleet.Millis
	Log  *slog.Logger
	// Unrecorded says why History or Journal is nil, for the screen.
	Unrecorded fleet.Recording
	Notices    []string
	// Decorate adds to each new picture what belongs to the process; nil: nothing.
	Decorate func(*fleet.Snapshot)
}

// Engine sequences and folds. Make one with New, and run it once.
type Engine struct {
	o       Options
	inputs  chan fleet.Input
	asks    chan ask
	saved   chan saved
	dropped atomic.Uint64
	state   atomic.Pointer[failover.State]
	view    viewCache
	ring    ring
	// Owned by the loop.
	base     time.Time    // when the engine was made, with the monotonic clock
	baseAt   fleet.Millis // At at base
	jump     fleet.Millis // of the wall clock since, as folded
	told     map[fleet.EndpointID]told
	wished   map[string]uint64 // by chain: the last wish that was passed on
	askedAll fleet.Millis      // when all endpoints were last asked whether the network is there
	meter    *Meter
	gaps     []fleet.Gap // told by the store, not folded yet
	gapMu    sync.Mutex  // of gaps
	waiting  []ask
	busy     bool
	marked   time.Time // last checkpoint
	writers  sync.WaitGroup
}

// New makes an engine and folds the lead and the config row, so that a first
// snapshot exists before anything runs.
func New(o Options) *Engine {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Wall == nil {
		o.Wall = func() fleet.Millis { return fleet.MillisOf(o.Now()) }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	e := &Engine{o: o, inputs: make(chan fleet.Input, queueInputs), asks: make(chan ask), saved: make(chan saved, 1),
		told: map[fleet.EndpointID]told{}, wished: map[string]uint64{}}
	e.meter = NewMeter(e.Offer)
	e.base = o.Now()
	wall := o.Wall()
	s := o.State
	if s == nil {
		s = &failover.State{}
	}
	e.baseAt = max(wall, s.At)
	e.jump = wall - e.baseAt
	e.state.Store(s)
	for _, ev := range o.Events {
		e.ring.add(ev)
	}
	o.Lead.Wall, o.Lead.Fold = wall, failover.FoldVersion
	e.fold(o.Lead, true)
	e.fold(o.Config, true)
	e.marked = e.base
	return e
}

// Offer hands an input to the loop. It is dropped, and counted, only when the
// disk is so far behind that the queue of rows is full, or the loop is: false
// then. It may be called from any goroutine, and does not block.
func (e *Engine) Offer(in fleet.Input) bool {
	if e.o.History != nil && e.o.History.Pending() > queueRows {
		e.dropped.Add(1)
		return false
	}
	select {
	case e.inputs <- in:
		return true
	default:
		e.dropped.Add(1)
		return false
	}
}

// Notice adds a standing remark for the operator; call it before Run.
func (e *Engine) Notice(text string) { e.o.Notices = append(e.o.Notices, text) }

// Meter gathers what requests outside the probing end as; the loop takes it
// once a second.
func (e *Engine) Meter() *Meter { return e.meter }

// Gap records that rows were lost for good: a gap row, then a checkpoint from
// which every reader resumes.
func (e *Engine) Gap(from, to uint64, cause string) {
	e.gapMu.Lock()
	defer e.gapMu.Unlock()
	// Not through Offer: it drops when rows pile up, which is when rows are lost.
	e.gaps = append(e.gaps, fleet.Gap{From: from, To: to, Cause: cause})
}

// Run folds until ctx ends; what was enqueued stays enqueued, and the caller
// closes the store afterwards. It returns nil when ctx has ended.
func (e *Engine) Run(ctx context.Context) error {
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	inboxCtx, stop := context.WithCancel(ctx)
	var inbox sync.WaitGroup
	if e.o.Journal != nil {
		inbox.Go(func() { e.pollInbox(inboxCtx) })
	}
	defer func() {
		stop()
		inbox.Wait()
		e.writers.Wait()
	}()
	for {
		select {
		case <-ctx.Done():
			e.refuseWaiting()
			e.drain()
			e.checkpoint()
			return nil
		case in := <-e.inputs:
			e.take(in)
		case <-tick.C:
			e.second()
		case a := <-e.asks:
			e.waiting = append(e.waiting, a)
			e.nextCommand(ctx)
		case s := <-e.saved:
			e.finish(s)
			e.nextCommand(ctx)
		}
	}
}

// drain folds what waits in the queue: it was accepted, so it is not lost.
func (e *Engine) drain() {
	for {
		select {
		case in := <-e.inputs:
			e.take(in)
		default:
			for _, t := range e.meter.Drain() {
				e.fold(t, false)
			}
			return
		}
	}
}

func (e *Engine) take(in fleet.Input) {
	e.fold(in, false)
	if _, ok := in.(fleet.Gap); ok {
		e.checkpoint()
	}
}

// second is the tick: a jump of the wall clock, denials, the tick row, a
// checkpoint a minute.
func (e *Engine) second() {
	now := e.o.Now()
	if jump := e.o.Wall() - e.at(now) - e.jump; jump > wallJump || jump < -wallJump {
		e.jump += jump
		e.fold(fleet.Clock{Jump: jump}, false)
	}
	for _, g := range e.takeGaps() {
		e.take(g)
	}
	for _, t := range e.meter.Drain() {
		e.fold(t, false)
	}
	e.fold(fleet.Tick{}, false)
	if now.Sub(e.marked) >= checkpointed {
		e.marked = now
		e.checkpoint()
	}
}

func (e *Engine) takeGaps() []fleet.Gap {
	e.gapMu.Lock()
	defer e.gapMu.Unlock()
	gaps := e.gaps
	e.gaps = nil
	return gaps
}

// at is the time of the fold: it follows the monotonic clock, never the wall.
func (e *Engine) at(now time.Time) fleet.Millis {
	return e.baseAt + fleet.Millis(now.Sub(e.base)/time.Millisecond)
}

// fold sequences one input: step, enqueue, publish, tell the prober.
func (e *Engine) fold(in fleet.Input, flush bool) {
	old := e.state.Load()
	row := fleet.Row{Seq: old.Seq + 1, At: max(old.At, e.at(e.o.Now())), Input: e.dated(in)}
	next, events := failover.Step(old, row)
	if e.o.History != nil {
		e.o.History.Enqueue(row, events, flush || decisive(events))
	}
	for _, ev := range events {
		e.ring.add(ev)
		e.o.Log.Info(string(ev.Kind), "chain", ev.Chain, "endpoint", ev.Endpoint, "from", ev.From, "to", ev.To, "reason", ev.Reason)
	}
	e.state.Store(next)
	e.tellProber(next, in, events)
}

// dated brings the start of a sample, which the door stamped with the wall
// clock, to the time of the fold, so that a jump of the wall makes nobody late.
func (e *Engine) dated(in fleet.Input) fleet.Input {
	s, ok := in.(fleet.Sample)
	if !ok {
		return in
	}
	now := e.at(e.o.Now())
	took := fleet.Millis(max(s.Timing.Total, 0) / 1000)
	s.Start -= e.o.Wall() - now
	if s.Start > now-took || s.Start < now-took-startSlack {
		s.Start = now - took
	}
	return s
}

// decisive: a decision flushes the group, since it is shown after its commit.
func decisive(events []fleet.Event) bool { return len(events) > 0 }

// checkpoint writes the state aside from the loop: a state never changes.
func (e *Engine) checkpoint() {
	if e.o.History == nil {
		return
	}
	s := e.state.Load()
	e.writers.Go(func() {
		b, err := json.Marshal(s)
		if err != nil {
			e.o.Log.Error("checkpoint: encode the state", "err", err)
			return
		}
		e.o.History.Checkpoint(Checkpoint{s.Seq, s.At, s.Fold, b})
	})
}

// State gives the state at this moment; it never changes.
func (e *Engine) State() *failover.State { return e.state.Load() }

// Snapshot gives the picture at this moment. It is computed in the caller's
// goroutine, once per state.
func (e *Engine) Snapshot() *fleet.Snapshot {
	return e.view.of(e.state.Load(), func(v *fleet.Snapshot) {
		v.Recording = e.o.Unrecorded
		if e.o.History != nil {
			v.Recording.History = e.o.History.Status()
		}
		v.Recording.Dropped = e.dropped.Load()
		v.Notices = e.o.Notices
		if e.o.Decorate != nil {
			e.o.Decorate(v)
		}
	})
}

// Events gives the events after since, oldest first, at most limit; missed
// counts those that are no longer in memory. While the history is recorded, an
// event is given once it is on disk.
func (e *Engine) Events(since uint64, limit int) (evs []fleet.Event, missed uint64) {
	upTo := ^uint64(0)
	if e.o.History != nil && e.o.History.Status() == "" {
		upTo = e.o.History.CommittedEvent()
	}
	return e.ring.since(since, upTo, limit)
}

var errStopped = errors.New("the engine has stopped")
