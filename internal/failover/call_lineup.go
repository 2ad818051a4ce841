package failover

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"example.com/rpctop/internal/fleet"
)

const (
	// p99Enough is the weight of successes behind a 99th percentile that may
	// shorten an attempt's deadline.
	p99Enough      = 30.0
	leastDeadline  = time.Second
	defaultTimeout = 10 * time.Second // of an endpoint that states none
)

// seat is an endpoint in the order for one kind of request.
type seat struct {
	id       fleet.EndpointID
	e        *Endpoint
	hot      *hot
	eligible bool
	late     bool
	own      time.Duration // the attempt's deadline
	why      string
}

// above reports whether the endpoint's last seen head is at least n.
func (s *seat) above(n uint64) bool {
	return n == 0 || s.e.Head != nil && s.e.Head.Number >= n || s.hot.shown(s.e.HeadAt) >= n
}

// lineup is an order made ready for requests. It never changes.
type lineup struct {
	chain    *Chain
	policy   fleet.Policy
	rank     Ranking
	seats    []seat // in the ranking's order
	fallback []int  // seats that may serve degraded, best first
}

// lineups keeps the newest order per chain, kind and freshness: Order is asked
// once per change of the chain, not once per request. A chain that has changed
// is another *Chain, so the pointer is the key.
type lineups struct{ chains sync.Map } // name -> *chainLineups

type chainLineups struct {
	mu    sync.Mutex // held while an order is made
	slots [2 * fleet.Kinds]atomic.Pointer[lineup]
}

func (c *Caller) lineup(s *State, ch *Chain, kind fleet.Kind, tip bool) *lineup {
	v, ok := c.lineups.chains.Load(ch.Spec.Name)
	if !ok {
		v, _ = c.lineups.chains.LoadOrStore(ch.Spec.Name, &chainLineups{})
	}
	cl := v.(*chainLineups)
	i := 2 * kindIndex(kind)
	if tip {
		i++
	}
	if l := cl.slots[i].Load(); l != nil && l.chain == ch {
		return l
	}
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if l := cl.slots[i].Load(); l != nil && l.chain == ch {
		return l
	}
	l := c.seat(s, ch, Ask{Kind: kind, Tip: tip})
	cl.slots[i].Store(l)
	return l
}

func (c *Caller) seat(s *State, ch *Chain, ask Ask) *lineup {
	l := &lineup{chain: ch, policy: s.Policy, rank: Order(s, ch, ask)}
	l.seats = make([]seat, 0, len(l.rank.Candidates))
	soft, _, _ := ch.bounds()
	for _, x := range l.rank.Candidates {
		e := ch.Endpoint(x.Endpoint)
		id := fleet.EndpointID{Chain: ch.Spec.Name, Name: x.Endpoint}
		st := seat{id: id, e: e, hot: c.hotOf(id), eligible: x.Eligible, why: x.Why, own: e.deadline(ask.Kind, s.At)}
		st.late = ask.Tip && e.Lag != nil && *e.Lag >= soft
		if e.Wrong != "" || e.Flap {
			st.hot.folded(0)
		}
		l.seats = append(l.seats, st)
	}
	for _, name := range l.rank.fallback {
		l.fallback = append(l.fallback, slices.IndexFunc(l.seats, func(x seat) bool { return x.id.Name == name }))
	}
	return l
}

// deadline of one attempt: three times the 99th percentile of the kind, at
// least a second, at most the endpoint's time-out.
func (e *Endpoint) deadline(kind fleet.Kind, at fleet.Millis) time.Duration {
	most := time.Duration(e.Spec.Timeout) * time.Millisecond
	if most <= 0 {
		most = defaultTimeout
	}
	d := e.Latency[kindIndex(kind)]
	if d.weight(at) < p99Enough {
		return most
	}
	p99, _ := d.quantile(0.99)
	return min(max(3*p99.Duration(), leastDeadline), most)
}

// choice is the endpoint for the next attempt.
type choice struct {
	seat     *seat // nil: nobody
	repeat   bool  // this call has asked it before
	degraded bool
	others   int // untried endpoints that may serve besides it
}

// pick selects the endpoint for the next attempt from the state of now. Nobody
// is picked once the attempts are used up.
func (k *run) pick() choice {
	k.state = k.c.State()
	var ch *Chain
	if k.state != nil {
		ch = k.state.Chain(k.r.Chain)
	}
	if ch == nil {
		k.line = nil
		return choice{}
	}
	l := k.c.lineup(k.state, ch, k.kind, k.r.Tip)
	k.line = l
	if k.limit = k.r.Attempts; k.limit <= 0 {
		k.limit = max(l.policy.Attempts, 1)
	}
	if k.attempts >= k.limit {
		return choice{}
	}
	now := k.c.Now()
	var best, again choice
	serving := false
	for i := range l.seats {
		st := &l.seats[i]
		if !st.eligible || st.hot.out(now) {
			continue
		}
		serving = true
		if !k.wants(st) || !st.above(k.floor()) {
			continue
		}
		prefer := st.id.Name == k.r.Only
		switch t := k.triedAt(st.id.Name); {
		case t == nil && (best.seat == nil || prefer):
			if best.seat != nil {
				best.others++
			}
			best.seat = st
		case t == nil:
			best.others++
		case t.again && (again.seat == nil || prefer):
			again = choice{seat: st, repeat: true}
		}
	}
	switch {
	case best.seat != nil:
		k.passedOver(l, best.seat, now)
		return best
	case again.seat != nil:
		return again
	case !serving && k.mode == modeRead && !k.r.Explicit && l.policy.ServeDegraded == "reads":
		return k.pickDegraded(l, now)
	}
	return choice{}
}

func (k *run) floor() uint64 { return max(k.r.Floor, k.needHead) }

// wants: the request itself rules nobody else out.
func (k *run) wants(st *seat) bool {
	return !(k.r.Bound && st.id.Name != k.r.Only) && !k.excluded(st.id.Name)
}

func (k *run) excluded(name string) bool { return slices.Contains(k.r.Exclude, name) }

// passedOver notes that the incumbent, which may serve, was passed over for a
// fresher endpoint: for that request it is a failover.
func (k *run) passedOver(l *lineup, to *seat, now time.Time) {
	if len(k.tried) > 0 || to.id.Name == l.chain.Incumbent || to.id.Name == k.r.Only {
		return
	}
	k.skipped = fleet.Outcome{}
	for i := range l.seats {
		st := &l.seats[i]
		if st.id.Name != l.chain.Incumbent || !st.eligible || st.hot.out(now) || !k.wants(st) {
			continue
		}
		switch {
		case !st.above(k.floor()):
			k.skipped = fleet.Outcome{Class: fleet.ClassStale, Sub: SubBehindFloor, Origin: fleet.OriginLocal}
		case st.late && !to.late:
			k.skipped = fleet.Outcome{Class: fleet.ClassStale, Sub: subLagging, Origin: fleet.OriginLocal}
		}
	}
}

// pickDegraded takes the best of stale and down: nobody else is left. What the
// overlay has found down counts as down, after those that the fold knows; what
// rests, or was seen on a wrong chain, is not asked.
func (k *run) pickDegraded(l *lineup, now time.Time) choice {
	for _, i := range l.fallback {
		st := &l.seats[i]
		if g := st.hot.gated(now); (g == nil || g.Name == GateDown) && k.wants(st) && k.triedAt(st.id.Name) == nil {
			return choice{seat: st, degraded: true}
		}
	}
	for i := range l.seats {
		st := &l.seats[i]
		if g := st.hot.gated(now); st.eligible && g != nil && g.Name == GateDown && st.e.identified(l.chain) && k.wants(st) && k.triedAt(st.id.Name) == nil {
			return choice{seat: st, degraded: true}
		}
	}
	return choice{}
}
