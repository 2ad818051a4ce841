package failover

import (
	"sync"
	"sync/atomic"
	"time"

	"example.com/rpctop/internal/fleet"
)

const (
	// hotSpan is how long the overlay may take an endpoint out on its own:
	// ample time for the fold, whose word counts from then on.
	hotSpan = 2 * time.Second
	// wrongSpan is the same for a wrong identity whose row is on its way to the
	// fold; rightFor, if the row was not taken.
	wrongSpan = 10 * time.Second
	// rowsASecond bounds single failure rows per endpoint and kind.
	rowsASecond = 3
)

// hot is what this process knows of an endpoint from its own attempts before
// the fold does: failures in a row, and a gate that lasts for hotSpan at most
// (wrong-chain: see wrongSpan). Only attempts that are
// charged to the endpoint change it; denials, cancels and reverts do not.
type hot struct {
	id    fleet.EndpointID
	until atomic.Int64 // end of the gate, Unix ns; 0: none
	run   atomic.Int32 // attributable failures in a row
	head  atomic.Pointer[seenHead]
	mu    sync.Mutex
	gate  fleet.Gate // valid until `until`
	opens int        // of the breaker, as seen at the last failure
	told  [fleet.Kinds]struct {
		sec int64
		n   int
	}
}

// seenHead is a block that an endpoint has shown, and when.
type seenHead struct {
	number uint64
	at     fleet.Millis
}

// Saw takes the height of a block that an endpoint has just shown in an answer:
// until its next sample, that is its last seen head.
func (c *Caller) Saw(id fleet.EndpointID, number uint64) {
	h, at := c.hotOf(id), fleet.MillisOf(c.Now())
	for {
		was := h.head.Load()
		if was != nil && was.number >= number && was.at >= at-headRefresh {
			return
		}
		next := &seenHead{number, at}
		if was != nil && was.number > number {
			next.number = was.number
		}
		if h.head.CompareAndSwap(was, next) {
			return
		}
	}
}

// headRefresh is how old the time of a head may be before it is renewed, in ms.
const headRefresh = 50

// shown is the highest block that was shown after a sample; 0: none.
func (h *hot) shown(sampled fleet.Millis) uint64 {
	if s := h.head.Load(); s != nil && s.at > sampled {
		return s.number
	}
	return 0
}

func (c *Caller) hotOf(id fleet.EndpointID) *hot {
	if h, ok := c.hots.Load(id); ok {
		return h.(*hot)
	}
	h, _ := c.hots.LoadOrStore(id, &hot{id: id})
	return h.(*hot)
}

// gated gives the overlay's gate at a moment, or nil.
func (h *hot) gated(now time.Time) *fleet.Gate {
	if u := h.until.Load(); u == 0 || now.UnixNano() >= u {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	g := h.gate
	return &g
}

func (h *hot) out(now time.Time) bool {
	u := h.until.Load()
	return u != 0 && now.UnixNano() < u
}

// success ends a run of failures, and what followed from it.
func (h *hot) success() {
	if h.run.Load() == 0 && h.until.Load() == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.run.Store(0)
	if !h.gate.Quarantine() {
		h.until.Store(0)
	}
}

// failure counts one more failure in a row and gives the count. A breaker that
// has opened and closed since the last one ends the run before.
func (h *hot) failure(now time.Time, e *Endpoint, p fleet.Policy, o fleet.Outcome) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e.Breaker.Openings != h.opens && !e.Breaker.Open {
		h.run.Store(0)
	}
	h.opens = e.Breaker.Openings
	n := int(h.run.Add(1))
	if p.BreakerRun > 0 && n >= p.BreakerRun {
		h.shut(now, hotSpan, fleet.Gate{Name: GateDown, Evidence: itoa(int64(n)) + " failures in a row, last " + o.Evidence(), Ends: "the fold's own judgement"})
	}
	return n
}

// refuse takes the endpoint out for a throttle, a refusal or a wrong identity.
func (h *hot) refuse(now time.Time, o fleet.Outcome, hold time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	g, d := fleet.Gate{Evidence: o.Evidence(), Ends: "the fold's own judgement"}, hotSpan
	switch o.Class {
	case fleet.ClassRateLimited:
		g.Name, g.Until, d = GateThrottled, fleet.MillisOf(now.Add(hold)), min(hold, hotSpan)
	case fleet.ClassRemoteDenial:
		g.Name = GateRefused
	case fleet.ClassWrongChain:
		g.Name = GateIdentityUnknown
		if o.Sub != subIdentity {
			g.Name, d = GateWrongChain, rightFor*time.Millisecond
		}
	}
	h.shut(now, d, g)
}

// shut sets a gate; a quarantine is not replaced by a lesser one.
func (h *hot) shut(now time.Time, d time.Duration, g fleet.Gate) {
	end := now.Add(d).UnixNano()
	if h.gate.Quarantine() && now.UnixNano() < h.until.Load() && !g.Quarantine() {
		return
	}
	g.Since = fleet.MillisOf(now)
	h.gate = g
	h.until.Store(end)
}

// folded hands a quarantine over to the fold: now if it has it, soon if the row
// is on its way.
func (h *hot) folded(by int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.gate.Quarantine() {
		h.until.Store(min(h.until.Load(), by))
	}
}

// mayTell admits a few single rows per kind and second.
func (h *hot) mayTell(kind fleet.Kind, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	t, sec := &h.told[kindIndex(kind)], now.Unix()
	if t.sec != sec {
		t.sec, t.n = sec, 0
	}
	t.n++
	return t.n <= rowsASecond
}

// note tells everybody what an attempt did to its endpoint's health, the next
// selection of this process first. shown is the attempt as the call takes it:
// an answer that was rejected has another outcome there.
func (c *Caller) note(st *seat, kind fleet.Kind, s *State, a, shown *fleet.Attempt) {
	if a.Cached {
		return // nothing was asked
	}
	if shown.Outcome.Charge() == fleet.ChargeFailure || shown.Outcome.Class == fleet.ClassWrongChain {
		a = shown
	}
	now, row := c.Now(), false
	f := fleet.Failure{Endpoint: a.Endpoint, Kind: kind, Method: a.Method, Outcome: a.Outcome, Total: a.Timing.Total}
	switch charge := a.Charge(); {
	case a.Censored:
	case charge == fleet.ChargeSuccess:
		st.hot.success()
	case charge == fleet.ChargeFailure:
		f.Run, row = st.hot.failure(now, st.e, s.Policy, a.Outcome), true
	case charge == fleet.ChargeThrottle && a.Outcome.Sub != fleet.SubSender:
		hold := max(a.RetryAfter, time.Second)
		st.hot.refuse(now, a.Outcome, hold)
		f.Hold, row = fleet.Millis(hold.Milliseconds()), true
	case a.Outcome.Class == fleet.ClassRemoteDenial || a.Outcome.Class == fleet.ClassWrongChain:
		st.hot.refuse(now, a.Outcome, 0)
		row = true
	}
	wrong := f.Outcome.Class == fleet.ClassWrongChain
	if c.Note == nil {
		return
	}
	if row && (st.hot.mayTell(kind, now) || wrong) && c.Note.Failure(f) {
		if wrong {
			st.hot.folded(now.Add(wrongSpan).UnixNano())
		}
		return
	}
	c.Note.Attempt(kind, a)
}
