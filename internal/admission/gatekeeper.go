package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"example.com/rpctop/internal/fleet"
)

// SlotWait is how long a request waits for an in-flight slot.
const SlotWait = 100 * time.Millisecond

// slotRetry is the advice given with a denial for want of a slot: nobody knows
// when one is free.
const slotRetry = time.Second

// The scopes of a denial.
const (
	scopeGlobal   = "global"
	scopeEndpoint = "endpoint"
	scopeKind     = "kind"
	scopeRequest  = "request"
)

// Request is one request that wants to leave.
type Request struct {
	Endpoint fleet.EndpointID
	Method   string
	Caller   fleet.Caller
	// Members are the methods of a batch: each one costs its units and a
	// token, all together take one slot. Nil: no batch.
	Members []string
}

func (r *Request) methods() []string {
	if len(r.Members) > 0 {
		return r.Members
	}
	return []string{r.Method}
}

// Gatekeeper admits requests, one decision at a time. It is safe for
// concurrent use; New makes one.
type Gatekeeper struct {
	mu       sync.Mutex
	global   *gate
	recovery bucket
	gates    map[fleet.EndpointID]*gate
	failures failures
	waiting  []*waiter // for a slot, first come first served
	closed   bool
}

// gate is the state of one endpoint's limits, or of the global ones.
type gate struct {
	limits  Limits
	rate    bucket
	slots   slots
	used    ledger
	denials map[fleet.DenialKind]uint64
	strikes int       // throttles since the last success
	held    time.Time // when the last rest began
}

func newGate(l Limits) *gate {
	return &gate{
		limits: l, rate: newBucket(l), slots: slots{limit: l.InFlight}, used: newLedger(),
		denials: map[fleet.DenialKind]uint64{},
	}
}

// waiter waits for a slot. ready is closed once the slot is its own.
type waiter struct {
	gate   *gate
	caller fleet.Caller
	ready  chan struct{}
	got    bool
}

// New makes a gatekeeper. An endpoint that is not in the map has no limits of
// its own.
func New(global Limits, endpoints map[fleet.EndpointID]Limits) *Gatekeeper {
	g := &Gatekeeper{
		global:   newGate(global),
		recovery: newBucket(defaultRecovery),
		gates:    make(map[fleet.EndpointID]*gate, len(endpoints)),
		failures: failures{entries: map[key]entry{}},
	}
	for id, l := range endpoints {
		g.gates[id] = newGate(l)
	}
	return g
}

// LimitRecoveries sets the rate and burst of the bucket that all recoveries
// share; the default is 5 requests a second, 20 at once.
func (g *Gatekeeper) LimitRecoveries(l Limits) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.recovery = newBucket(l)
}

// Shutdown refuses everything from now on.
func (g *Gatekeeper) Shutdown() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

// gate finds an endpoint's gate; the caller holds the lock.
func (g *Gatekeeper) gate(id fleet.EndpointID) *gate {
	gt, ok := g.gates[id]
	if !ok {
		gt = newGate(Limits{})
		g.gates[id] = gt
	}
	return gt
}

// Admit asks for one request. It waits up to SlotWait for an in-flight slot,
// and for nothing else. The error is a *fleet.Denial when a limit of ours
// refuses, and wraps the context's error when the caller gave up before that.
// release gives the slot back once the answer is read or given up; a second
// call does nothing.
func (g *Gatekeeper) Admit(ctx context.Context, now func() time.Time, r Request) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("ask for admission: %w", err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	gt := g.gate(r.Endpoint)
	if d := g.refusal(now(), gt, &r); d != nil {
		return nil, g.deny(gt, d)
	}
	if g.global.slots.fits(r.Caller) && gt.slots.fits(r.Caller) {
		g.addSlot(gt, r.Caller, 1)
	} else {
		if err := g.awaitSlot(ctx, gt, r.Caller); err != nil {
			if errors.Is(err, context.Canceled) {
				return nil, fmt.Errorf("wait for an in-flight slot: %w", err)
			}
			return nil, g.deny(gt, g.denial(now(), &r, fleet.DenyInFlight, g.fullScope(r.Caller), slotRetry))
		}
		// Others were admitted meanwhile: the slot is ours, the rest is asked anew.
		if d := g.refusal(now(), gt, &r); d != nil {
			g.freeSlot(gt, r.Caller)
			return nil, g.deny(gt, d)
		}
	}
	g.take(now(), gt, &r)
	released := false
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if !released {
			released = true
			g.freeSlot(gt, r.Caller)
		}
	}, nil
}

// refusal looks at everything but the slots, and takes nothing.
func (g *Gatekeeper) refusal(now time.Time, gt *gate, r *Request) *fleet.Denial {
	if g.closed {
		return g.denial(now, r, fleet.DenyShutdown, scopeGlobal, 0)
	}
	if r.Caller != fleet.CallerProbe { // probes find out whether it has ended
		for _, m := range r.methods() {
			if e, k, ok := g.failures.find(now, r.Endpoint, m); ok {
				scope := scopeEndpoint
				if k.method != "" {
					scope = scopeRequest
				}
				d := g.denial(now, r, fleet.DenyFailureCache, scope, e.until.Sub(now))
				d.Recorded = &e.outcome
				return d
			}
		}
	}
	if w := g.global.used.wait(now, g.global.limits, units(g.global, r)); w > 0 {
		return g.denial(now, r, fleet.DenyBudget, scopeGlobal, w)
	}
	if w := gt.used.wait(now, gt.limits, units(gt, r)); w > 0 {
		return g.denial(now, r, fleet.DenyBudget, scopeEndpoint, w)
	}
	n := len(r.methods())
	wait, scope := g.global.rate.wait(now, n, r.Caller), scopeGlobal
	if w := gt.rate.wait(now, n, r.Caller); w > wait {
		wait, scope = w, scopeEndpoint
	}
	if r.Caller == fleet.CallerRecovery {
		if w := g.recovery.wait(now, n, r.Caller); w > wait {
			wait, scope = w, scopeKind
		}
	}
	if wait > 0 {
		return g.denial(now, r, fleet.DenyRate, scope, wait)
	}
	return nil
}

// take pays for a request that refusal let pass.
func (g *Gatekeeper) take(now time.Time, gt *gate, r *Request) {
	n := len(r.methods())
	for _, x := range [...]*gate{g.global, gt} {
		x.rate.take(now, n, r.Caller)
		x.used.add(now, units(x, r), int64(n))
	}
	if r.Caller == fleet.CallerRecovery {
		g.recovery.take(now, n, r.Caller)
	}
}

func units(gt *gate, r *Request) int64 {
	var sum int64
	for _, m := range r.methods() {
		sum += gt.limits.cost(m)
	}
	return sum
}

func (g *Gatekeeper) denial(now time.Time, r *Request, kind fleet.DenialKind, scope string, retry time.Duration) *fleet.Denial {
	return &fleet.Denial{
		Kind: kind, Scope: scope, Endpoint: r.Endpoint, Caller: r.Caller, RetryAfter: retry, At: now,
	}
}

// deny counts a denial: the one thing that a denial changes.
func (g *Gatekeeper) deny(gt *gate, d *fleet.Denial) error {
	gt.denials[d.Kind]++
	return d
}

func (g *Gatekeeper) fullScope(c fleet.Caller) string {
	if !g.global.slots.fits(c) {
		return scopeGlobal
	}
	return scopeEndpoint
}

// awaitSlot gives up the lock while it waits, and holds it again when it
// returns. The slot is the caller's if the error is nil; the error is the
// context's, or context.DeadlineExceeded after SlotWait.
func (g *Gatekeeper) awaitSlot(ctx context.Context, gt *gate, c fleet.Caller) error {
	w := &waiter{gate: gt, caller: c, ready: make(chan struct{})}
	g.waiting = append(g.waiting, w)
	g.mu.Unlock()
	timer := time.NewTimer(SlotWait)
	defer timer.Stop()
	var err error
	select {
	case <-w.ready:
	case <-timer.C:
		err = context.DeadlineExceeded
	case <-ctx.Done():
		err = ctx.Err()
	}
	g.mu.Lock()
	switch {
	case !w.got:
		g.waiting = slices.DeleteFunc(g.waiting, func(x *waiter) bool { return x == w })
		return err
	case errors.Is(err, context.Canceled):
		// The slot came together with the cancel: nobody wants it.
		g.freeSlot(gt, c)
		return err
	}
	return nil
}

func (g *Gatekeeper) addSlot(gt *gate, c fleet.Caller, n int) {
	g.global.slots.add(c, n)
	gt.slots.add(c, n)
}

// freeSlot gives a slot back and hands it to the first waiter that it fits.
func (g *Gatekeeper) freeSlot(gt *gate, c fleet.Caller) {
	g.addSlot(gt, c, -1)
	for i, w := range g.waiting {
		if g.global.slots.fits(w.caller) && w.gate.slots.fits(w.caller) {
			g.addSlot(w.gate, w.caller, 1)
			w.got = true
			close(w.ready)
			g.waiting = slices.Delete(g.waiting, i, i+1)
			return
		}
	}
}
