package failover

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"example.com/rpctop/internal/fleet"
)

// DefaultCallDeadline bounds a call, all its attempts and pauses included.
const DefaultCallDeadline = 30 * time.Second

// Asker hands one attempt to an endpoint and waits for what it ends as. The
// error is a *fleet.Denial (errors.As) if nothing was handed over.
type Asker interface {
	Ask(ctx context.Context, a AttemptAsk) (*fleet.Attempt, error)
}

// AttemptAsk is one attempt of a call. Method, parameters and headers are the
// same in each attempt of one call.
type AttemptAsk struct {
	Endpoint fleet.EndpointID
	Method   string
	Params   json.RawMessage
	Header   map[string]string
	Timeout  time.Duration // of this attempt; ctx ends earlier when the call has less time left
	Caller   fleet.Caller
}

// Noter is told of each attempt as soon as it has ended. Its methods are
// called on the way of a client's request, from many goroutines: they must
// not block.
type Noter interface {
	// Failure takes what must reach the fold at once, as a row of its own.
	// False: it was not taken, and is counted by Attempt instead.
	Failure(fleet.Failure) bool
	// Attempt takes what is counted in the traffic of its second.
	Attempt(fleet.Kind, *fleet.Attempt)
	// Denied takes a refusal of our own; no decision reads it.
	Denied(fleet.Kind, *fleet.Denial)
	// FailedOver says that a call was answered by another endpoint than it
	// was first tried on (or would have gone to), and why.
	FailedOver(kind fleet.Kind, from fleet.EndpointID, to string, why fleet.Outcome)
}

// Caller carries calls out. It selects the endpoint for each attempt anew,
// from the state of that moment and from what its own attempts have shown
// since (see hot). It is safe for concurrent use and must not be copied.
type Caller struct {
	State func() *State // the state of now; a nil state has no chains
	Asker Asker
	Now   func() time.Time
	Note  Noter // nil: nobody is told
	// Sleep waits, or gives the context's error; nil: by a timer.
	Sleep    func(context.Context, time.Duration) error
	Deadline time.Duration // of a call; 0: DefaultCallDeadline

	lineups lineups
	hots    sync.Map // fleet.EndpointID -> *hot
	budget  retryBudget
	calls   atomic.Uint64 // numbers the calls, for the jitter
}

// CallRequest is a question of a client to a chain.
type CallRequest struct {
	Chain  string
	Method string
	Params json.RawMessage
	Header map[string]string // forwarded with each attempt
	Caller fleet.Caller

	// Tip: the answer depends on the newest block.
	Tip bool
	// Floor: only endpoints whose last seen head is at least this; 0: none.
	// A degraded answer is not bound by it.
	Floor uint64
	// Height is the block asked for; 0: none. After a not-yet-visible only
	// endpoints whose head is at least this are asked.
	Height uint64
	// Only is the endpoint to be preferred, while it may serve; "": none.
	Only string
	// Bound: nobody but Only is asked.
	Bound bool
	// Exclude names endpoints that are not asked.
	Exclude []string
	// Explicit: the session is the client's own, so it is never degraded.
	Explicit bool
	// Attempts bounds this call; 0: the policy's number.
	Attempts int
	// Deadline bounds this call; 0: the Caller's.
	Deadline time.Duration
	// Accept looks at an ok answer of a read before it is passed on. A
	// rejection makes the call ask the next endpoint; nil: every answer passes.
	Accept func(*fleet.Attempt) *Rejection
}

// Rejection says why an answer is not passed on. A class that is charged as a
// failure, or wrong-chain, goes to the endpoint's health; any other leaves it
// the success that the answer was.
type Rejection struct {
	Outcome fleet.Outcome
}

// errNoAttempt is what an Asker's error that is no denial comes out as.
var errNoAttempt = errors.New("no attempt and no denial")

// run is one call on its way.
type run struct {
	c        *Caller
	r        *CallRequest
	kind     fleet.Kind
	mode     mode
	number   uint64
	end      time.Time // of the call
	limit    int       // of attempts
	attempts int
	repeats  int
	tried    []try
	needHead uint64 // endpoints below this are not asked
	state    *State // of the last selection
	line     *lineup
	skipped  fleet.Outcome // why the incumbent was passed over at first
	res      CallResult
}

// try is an endpoint that this call has asked.
type try struct {
	name  string
	again bool // its failure may be gone at a second try
}

// Call carries one call out. It blocks until there is an answer, nobody is
// left to ask, the deadline has come or ctx has ended.
func (c *Caller) Call(ctx context.Context, r CallRequest) CallResult {
	k := run{c: c, r: &r, kind: fleet.KindOf(r.Method), mode: modeOf(r.Method), number: c.calls.Add(1)}
	k.end = c.Now().Add(firstOf(r.Deadline, c.Deadline, DefaultCallDeadline))
	c.budget.earn()
	for {
		if ctx.Err() != nil {
			return k.interrupted(ctx)
		}
		p := k.pick()
		switch {
		case p.seat == nil:
			return k.exhausted()
		case p.repeat && !k.pause(ctx, p):
			if ctx.Err() != nil {
				return k.interrupted(ctx)
			}
			return k.exhausted()
		case p.repeat: // the pause may have changed who serves
			if p = k.pick(); p.seat == nil {
				return k.exhausted()
			}
		}
		now := c.Now()
		if !now.Before(k.end) {
			return k.timedOut()
		}
		switch k.attempt(ctx, p, now) {
		case passOn:
			return k.answered(p)
		case giveUp:
			return k.gaveUp()
		}
	}
}

func firstOf(ds ...time.Duration) time.Duration {
	for _, d := range ds {
		if d > 0 {
			return d
		}
	}
	return 0
}

// pause is the back-off before an endpoint is asked again; false if the retry
// budget or the time is used up, or ctx has ended.
func (k *run) pause(ctx context.Context, p choice) bool {
	d := k.backoff(p.seat.id)
	if !k.c.Now().Add(d).Before(k.end) || !k.c.budget.spend() {
		return false
	}
	k.repeats++
	sleep := k.c.Sleep
	if sleep == nil {
		sleep = pauseFor
	}
	return sleep(ctx, d) == nil && ctx.Err() == nil
}

// pauseFor waits for d, or for the end of ctx.
func pauseFor(ctx context.Context, d time.Duration) error {
	t, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-t.Done()
	return ctx.Err()
}

// backoff is 100 ms, doubled by each repeat of this call, give or take a fifth.
func (k *run) backoff(id fleet.EndpointID) time.Duration {
	d := fleet.Millis(100) << min(k.repeats, 8)
	return time.Duration(k.state.jitter(id.Chain, id.Name, k.number+uint64(k.repeats), d)) * time.Millisecond
}

// attempt asks one endpoint and judges what comes back.
func (k *run) attempt(ctx context.Context, p choice, now time.Time) step {
	own, left := p.seat.own, k.end.Sub(now)
	if k.lastChance(p) {
		own = max(own, left)
	}
	if left < own {
		// Out of time for the call before the attempt's own deadline: that is
		// charged to nobody, so the door must be able to tell.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, left)
		defer cancel()
	}
	a, err := k.c.Asker.Ask(ctx, AttemptAsk{Endpoint: p.seat.id, Method: k.r.Method, Params: k.r.Params,
		Header: k.r.Header, Timeout: own, Caller: k.r.Caller})
	if a == nil {
		return k.denied(p, err)
	}
	k.attempts++
	shown := a
	st := next(k.mode, a.Outcome, a.Sent)
	if a.Outcome.OK() && k.mode == modeRead && k.r.Accept != nil {
		if no := k.r.Accept(a); no != nil {
			rejected := *a
			rejected.Outcome = no.Outcome
			shown, st = &rejected, another
		}
	}
	if st == unknown {
		k.res.Unknown, st = true, giveUp
	}
	k.c.note(p.seat, k.kind, k.state, a, shown)
	if st == another && shown.Outcome.Class == fleet.ClassNotYetVisible {
		k.needHead = max(k.needHead, k.r.Height)
	}
	k.hop(p, shown, nil)
	if st != passOn {
		k.remember(p.seat.id.Name, repeatable(shown.Outcome))
	}
	return st
}

// denied takes a refusal of our own: nothing was handed over, so it is no
// attempt, and nothing is charged.
func (k *run) denied(p choice, err error) step {
	var d *fleet.Denial
	if !errors.As(err, &d) {
		if err == nil {
			err = errNoAttempt
		}
		k.hop(p, &fleet.Attempt{Endpoint: p.seat.id, Method: k.r.Method, Censored: true, Outcome: fleet.Outcome{
			Class: fleet.ClassLocalFault, Origin: fleet.OriginLocal, Message: fleet.Sanitize(err.Error())}}, nil)
		return giveUp
	}
	k.res.Denials = append(k.res.Denials, d)
	k.hop(p, nil, d)
	k.remember(p.seat.id.Name, false)
	if k.c.Note != nil {
		k.c.Note.Denied(k.kind, d)
	}
	if d.Scope == "global" || d.Kind == fleet.DenyMethod || d.Kind == fleet.DenyHost {
		return giveUp // it would be the same everywhere
	}
	return another
}

// lastChance reports whether no other attempt can follow this one.
func (k *run) lastChance(p choice) bool {
	return k.attempts+1 >= k.limit || p.others == 0 && !k.c.budget.has()
}

func (k *run) remember(name string, again bool) {
	for i := range k.tried {
		if k.tried[i].name == name {
			k.tried[i].again = again
			return
		}
	}
	k.tried = append(k.tried, try{name, again})
}

func (k *run) triedAt(name string) *try {
	for i := range k.tried {
		if k.tried[i].name == name {
			return &k.tried[i]
		}
	}
	return nil
}
