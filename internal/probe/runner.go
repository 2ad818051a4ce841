package probe

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"example.com/rpctop/internal/fleet"
)

// runner is the clock of one endpoint. Its goroutine alone puts questions, so
// that never more than one round is in flight.
type runner struct {
	line   // the template of a round's line; purse is set per job
	spec   fleet.EndpointSpec
	seed   uint64
	sink   func(fleet.Input)
	chain  fleet.ChainSpec
	ledger ledger
	wake   chan struct{} // capacity 1: something below has changed

	mu        sync.Mutex
	paused    bool
	backoff   time.Duration // 0: the endpoint's own pace
	due       time.Time     // of the next regular round
	last      time.Time     // start of the last regular round
	hold      time.Time     // nothing is asked before
	rest      time.Time     // no regular round before, unless there is a back-off
	suspected bool
	reprove   bool      // identity is to be read anew
	suspicion time.Time // start of the last suspicion probe
	confirm   *uint64   // height to be confirmed
	confirmed time.Time // start of the last confirmation
	rounds    int64     // regular ones that were held
	spent     int64     // calls of these, and of wishes
	wishes    []wish    // in the order of asking
	denials   uint64

	// of the goroutine alone
	want        wants
	genesisRead bool
	wary        bool
	byNumber    bool // reads by block hash are refused
}

// job is what is due.
type job struct {
	regular, suspicion bool
	confirm            *uint64
	wish               *fleet.Wish
}

func newRunner(o Options, chain fleet.ChainSpec, spec fleet.EndpointSpec, now time.Time) *runner {
	id := fleet.EndpointID{Chain: chain.Name, Name: spec.Name}
	r := &runner{spec: spec, chain: chain, seed: o.Seed, sink: o.Sink, wake: make(chan struct{}, 1), want: wantAll}
	r.asker, r.id, r.timeout = o.Asker, id, timeoutOf(spec)
	r.hooks = Hooks{Fault: o.Hooks.Fault, Denied: func(id fleet.EndpointID, d *fleet.Denial) {
		r.mu.Lock()
		r.denials++
		r.mu.Unlock()
		o.Hooks.denied(id, d)
	}}
	r.ledger.id, r.ledger.perDay, r.ledger.used = id, spec.PerDay, o.Used[id]
	r.due = now.Add(r.within(min(everyOf(spec), time.Second), 'f'))
	return r
}

// within hashes the endpoint into a part of d.
func (r *runner) within(d time.Duration, purpose byte) time.Duration {
	return time.Duration(spread(r.seed, r.id, purpose) % uint64(max(d, 1)))
}

func (r *runner) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		j, wait := r.next(time.Now())
		if j == (job{}) {
			timer.Reset(wait)
			select {
			case <-ctx.Done():
				return
			case <-r.wake:
			case <-timer.C:
			}
			continue
		}
		if ctx.Err() != nil {
			return
		}
		r.guard(ctx, j)
	}
}

// next gives the job that is due, or how long to wait for one. The wait is
// bounded, so that a jump of the wall clock over midnight is noticed.
func (r *runner) next(now time.Time) (job, time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	const look = time.Minute
	if r.paused {
		return job{}, look
	}
	if now.Before(r.hold) {
		return job{}, min(r.hold.Sub(now), look)
	}
	due := r.due
	if r.backoff == 0 && due.Before(r.rest) {
		due = r.rest
	}
	j := job{regular: !now.Before(due)}
	wait := due.Sub(now)
	if r.suspected {
		at := r.suspicion.Add(minEvery)
		j.suspicion = !now.Before(at)
		wait = min(wait, at.Sub(now))
	}
	if r.confirm != nil && !j.regular && !j.suspicion {
		at := r.confirmed.Add(minEvery)
		if !now.Before(at) {
			j.confirm = r.confirm
			r.confirm, r.confirmed = nil, now
		}
		wait = min(wait, at.Sub(now))
	}
	if !j.regular && !j.suspicion && j.confirm == nil {
		w, next := r.nextWish(now)
		j.wish, wait = w, min(wait, next)
	}
	return j, min(max(wait, 0), look)
}

// guard does a job. A bug of ours must not end the clock, and says nothing
// about the endpoint.
func (r *runner) guard(ctx context.Context, j job) {
	start := time.Now()
	defer func() {
		if v := recover(); v != nil {
			r.hooks.fault(r.id, fmt.Errorf("probe round: panic: %v\n%s", v, debug.Stack()))
			r.settle(j, start, result{}, 0)
		}
	}()
	if j.confirm != nil {
		l := r.lineFor(true)
		if v, ok := confirm(ctx, l, *j.confirm); ok {
			r.sink(v)
		}
		return
	}
	if j.wish != nil {
		r.grant(ctx, *j.wish)
		return
	}
	r.probe(ctx, j, start)
}

func (r *runner) lineFor(suspicion bool) *line {
	return &line{
		asker: r.asker, id: r.id, timeout: r.timeout, hooks: r.hooks,
		purse: &account{ledger: &r.ledger, suspicion: suspicion},
	}
}

func (r *runner) probe(ctx context.Context, j job, start time.Time) {
	if d := r.ledger.refusal(start, !j.regular); d != nil {
		r.hooks.denied(r.id, d)
		r.mu.Lock()
		defer r.mu.Unlock()
		if j.regular {
			// Refused once, then not due before midnight; a suspicion that is
			// due as well stays due, and has its reserve.
			r.due = r.afterMidnight(start)
		} else {
			r.suspected, r.suspicion = false, start
		}
		return
	}
	r.mu.Lock()
	n, backoff := r.rounds, r.backoff
	if j.suspicion {
		r.suspected, r.suspicion = false, start
	}
	if r.reprove {
		r.reprove, r.genesisRead = false, false
		r.want |= wantChainID | wantGenesis
	}
	r.mu.Unlock()

	if j.regular && n%tenth == 0 {
		r.want |= wantTenth
		if !r.genesisRead || n%hundredth == 0 {
			r.want |= wantGenesis
		}
	}
	want := r.want
	deep := j.suspicion || backoff > 0
	if r.spec.Local || deep {
		want |= wantChainID
	}
	if !j.regular {
		want &= wantChainID | wantGenesis // the rest has time until its turn
	}
	l := r.lineFor(!j.regular)
	rd := round{
		line: l, want: want, wary: r.wary, deep: deep,
		suspicion: j.suspicion && !j.regular, sink: r.sink,
	}
	res := rd.run(ctx)
	r.learn(res)
	r.settle(j, start, res, l.calls.Load())
}

// learn keeps what the next round has to ask.
func (r *runner) learn(res result) {
	r.want &^= res.answered
	if res.genesis {
		r.genesisRead = true
	}
	if res.cold {
		r.want |= (wantChainID | wantGenesis) &^ res.answered
		if res.answered&wantGenesis == 0 {
			r.genesisRead = false
		}
	}
	r.want |= res.due
	if res.held {
		r.wary = res.head == nil
	}
}

// settle sets the clock after a round.
func (r *runner) settle(j job, start time.Time, res result, calls int64) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if res.held {
		switch res.outcome.Class {
		case fleet.ClassRateLimited:
			longest := maxHold
			if res.outcome.Sub == fleet.SubQuota {
				longest = maxQuota
			}
			r.hold = now.Add(min(res.hold, longest))
		case fleet.ClassRemoteDenial:
			r.rest = now.Add(min(max(res.hold, refused), day))
		default:
			r.rest = time.Time{}
		}
	}
	if !j.regular {
		return
	}
	first := r.last.IsZero()
	r.last = start
	if res.held {
		r.rounds++
		r.spent += calls
	}
	pace := r.pace(now)
	if r.backoff == 0 && r.ledger.refusal(now, false) != nil {
		pace = everyOf(r.spec) // the next turn is refused, and counted
	}
	r.due = start.Add(pace)
	if first && r.backoff == 0 {
		// The first rounds come within a second; from the second on the
		// endpoints are spread over the whole pace.
		r.due = start.Add(pace/2 + r.within(pace, 'g'))
	}
	if late := now.Sub(r.due); late >= 0 { // turns that a slow round ran over are left out
		r.due = r.due.Add(pace * (late/pace + 1))
	}
	if fresh := r.afterMidnight(now); r.backoff == 0 && r.due.After(fresh.Add(everyOf(r.spec))) {
		r.due = fresh // the new day has a budget of its own
	}
}

// afterMidnight is the endpoint's first turn of the next day.
func (r *runner) afterMidnight(now time.Time) time.Time {
	return midnightAfter(now).Add(r.within(min(everyOf(r.spec), time.Minute), 'm'))
}

// pace is the distance of two regular rounds; the caller holds mu.
func (r *runner) pace(now time.Time) time.Duration {
	if r.backoff > 0 {
		return r.backoff
	}
	every := everyOf(r.spec)
	if r.ledger.perDay <= 0 {
		return every
	}
	// What rounds have really cost (reconnections ask more) outweighs the plan
	// as they become many.
	const weight = tenth
	perRound := (weight*CallsPerRound(r.chain, r.spec) + float64(r.spent)) / (weight + float64(r.rounds))
	return stretch(every, perRound, r.ledger.turnsLeft(now), midnightAfter(now).Sub(now))
}

// change runs f under the lock and has the goroutine look again.
func (r *runner) change(f func()) {
	r.mu.Lock()
	f()
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}
