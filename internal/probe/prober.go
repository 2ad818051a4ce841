package probe

import (
	"context"
	"sync"
	"time"

	"example.com/rpctop/internal/fleet"
)

// Options are what a Prober starts with.
type Options struct {
	Asker  Asker
	Chains []fleet.ChainSpec
	Seed   uint64 // of the spread of the endpoints over time
	// Sink takes samples and readings. It is called from the probing
	// goroutines, for one endpoint never by two at once, and must not block.
	Sink  func(fleet.Input)
	Hooks Hooks
	// Used restores the budget of the day; an entry of another day is void.
	Used map[fleet.EndpointID]Usage
}

// Prober probes every endpoint of every chain, each on its own clock. Its
// methods are safe for concurrent use and never wait for I/O, Close excepted;
// an endpoint that it does not know is ignored.
type Prober struct {
	runners map[fleet.EndpointID]*runner
	cancel  context.CancelFunc
	wg      sync.WaitGroup
}

// Start begins to probe; it ends with ctx or by Close.
func Start(ctx context.Context, o Options) *Prober {
	ctx, cancel := context.WithCancel(ctx)
	p := &Prober{runners: make(map[fleet.EndpointID]*runner), cancel: cancel}
	now := time.Now()
	for _, c := range o.Chains {
		for _, e := range c.Endpoints {
			r := newRunner(o, c, e, now)
			p.runners[r.id] = r
		}
	}
	for _, r := range p.runners {
		p.wg.Go(func() { r.run(ctx) })
	}
	return p
}

// Close stops all clocks, aborts what is in flight, and waits until the last
// goroutine has ended. What was aborted gives no sample.
func (p *Prober) Close() {
	p.cancel()
	p.wg.Wait()
}

func (p *Prober) change(id fleet.EndpointID, f func(*runner)) {
	if r := p.runners[id]; r != nil {
		r.change(func() { f(r) })
	}
}

// Suspect asks for a deep round at once: the head, the chain id, and one call
// at the head's hash. Requests are coalesced; at most one a second is held,
// out of the day's budget. While the endpoint has asked to be left alone, the
// round waits.
func (p *Prober) Suspect(id fleet.EndpointID) {
	p.change(id, func(r *runner) { r.suspected = true })
}

// Confirm asks the endpoint for its block at a height; the answer comes as a
// reading of the kind confirm. At most one a second is put to an endpoint, for
// the height that was asked last.
func (p *Prober) Confirm(id fleet.EndpointID, number uint64) {
	p.change(id, func(r *runner) { r.confirm = &number })
}

// Identify makes the endpoint tell its chain id and its genesis anew, at once.
func (p *Prober) Identify(id fleet.EndpointID) {
	p.change(id, func(r *runner) { r.reprove, r.suspected = true, true })
}

// SetBackoff replaces the pace of an endpoint's rounds, and makes them deep; 0
// gives it its own pace back.
func (p *Prober) SetBackoff(id fleet.EndpointID, every time.Duration) {
	p.change(id, func(r *runner) {
		every = max(every, 0)
		if every == r.backoff {
			return
		}
		r.backoff = every
		if !r.last.IsZero() {
			r.due = r.last.Add(r.pace(time.Now()))
		}
	})
}

// Pause stops all clocks; a round in flight ends as usual.
func (p *Prober) Pause() {
	for _, r := range p.runners {
		r.change(func() { r.paused = true })
	}
}

// Resume starts the clocks again, spread as at the start.
func (p *Prober) Resume() {
	now := time.Now()
	for _, r := range p.runners {
		r.change(func() {
			if r.paused && r.due.Before(now) {
				r.due = now.Add(r.within(min(everyOf(r.spec), time.Second), 'f'))
			}
			r.paused = false
		})
	}
}

// UsedToday gives the calls put to an endpoint since 00:00 UTC, those that
// were restored included.
func (p *Prober) UsedToday(id fleet.EndpointID) Usage {
	if r := p.runners[id]; r != nil {
		return r.ledger.usage(time.Now())
	}
	return Usage{}
}

// Used gives the usage of all endpoints, to be restored by the next Prober.
func (p *Prober) Used() map[fleet.EndpointID]Usage {
	now := time.Now()
	m := make(map[fleet.EndpointID]Usage, len(p.runners))
	for id, r := range p.runners {
		m[id] = r.ledger.usage(now)
	}
	return m
}

// Denials counts the questions to an endpoint that rules of ours refused.
func (p *Prober) Denials(id fleet.EndpointID) uint64 {
	r := p.runners[id]
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.denials
}

// Pace gives the present distance of an endpoint's rounds: its own, stretched
// as far as the day's budget needs it, or the back-off.
func (p *Prober) Pace(id fleet.EndpointID) time.Duration {
	r := p.runners[id]
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pace(time.Now())
}
