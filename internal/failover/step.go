package failover

import (
	"slices"

	"example.com/rpctop/internal/fleet"
)

// Step folds one row into a state and gives the new state and the events that
// it caused, in order. A nil state is the empty one. The given state is left as
// it was. A row about a chain or endpoint that the state does not know moves
// the time and nothing else.
func Step(s *State, row fleet.Row) (*State, []fleet.Event) {
	f := newFold(s, row)
	switch in := row.Input.(type) {
	case fleet.Lead:
		f.lead(in)
	case fleet.Config:
		f.config(in)
	case fleet.Clock:
		f.s.Jump += in.Jump
		f.emit(fleet.Event{Kind: fleet.EventService, Reason: "the wall clock jumped by " + span(in.Jump)})
	case fleet.Tick:
		f.tick()
	case fleet.Sample:
		f.sample(in)
	case fleet.Reading:
		f.reading(in)
	case fleet.Failure:
		f.failure(in)
	case fleet.Traffic:
		f.traffic(in)
	case fleet.Command:
		f.command(in)
	case fleet.Recovery:
		f.emit(fleet.Event{Kind: fleet.EventRecovery, Chain: in.Chain, Endpoint: in.Pin, Sub: in.Outcome,
			Reason: join(in.Name, in.State, in.Reason)})
	case fleet.Gap:
		f.emit(fleet.Event{Kind: fleet.EventGap, Reason: gapText(in)})
	}
	return f.s, f.events
}

// fold is one step in the making: a copy of the state in which chains and
// endpoints are copied before they are changed.
type fold struct {
	s      *State
	row    fleet.Row
	events []fleet.Event
	chains map[string]bool    // copied already; looked up, never ranged over
	ends   map[*Endpoint]bool // copied already
}

func newFold(s *State, row fleet.Row) *fold {
	next := &State{Fold: FoldVersion, Policy: fleet.DefaultPolicy()}
	if s != nil {
		*next = *s
		next.Chains = slices.Clone(s.Chains)
	}
	next.Seq, next.At = row.Seq, max(next.At, row.At)
	return &fold{s: next, row: row, chains: map[string]bool{}, ends: map[*Endpoint]bool{}}
}

// chain gives the i-th chain for changing.
func (f *fold) chain(i int) *Chain {
	c := f.s.Chains[i]
	if f.chains[c.Spec.Name] {
		return c
	}
	own := *c
	own.Endpoints = slices.Clone(c.Endpoints)
	f.s.Chains[i] = &own
	f.chains[c.Spec.Name] = true
	return &own
}

// endpoint gives the i-th endpoint of an own chain for changing.
func (f *fold) endpoint(c *Chain, i int) *Endpoint {
	e := c.Endpoints[i]
	if f.ends[e] {
		return e
	}
	own := *e
	c.Endpoints[i] = &own
	f.ends[&own] = true
	return &own
}

// find gives a chain and an endpoint for changing, and the chain's index;
// false if either is unknown.
func (f *fold) find(id fleet.EndpointID) (*Chain, *Endpoint, int, bool) {
	for i, c := range f.s.Chains {
		if c.Spec.Name != id.Chain {
			continue
		}
		if j := c.index(id.Name); j >= 0 {
			c = f.chain(i)
			return c, f.endpoint(c, j), i, true
		}
	}
	return nil, nil, 0, false
}

func (f *fold) emit(e fleet.Event) {
	f.s.Events++
	e.Seq, e.Row, e.At = f.s.Events, f.row.Seq, f.s.At
	f.events = append(f.events, e)
}

// lead begins a run: what must be read anew in each run is forgotten, what was
// decided stays.
func (f *fold) lead(in fleet.Lead) {
	f.s.Lead, f.s.LeadAt, f.s.Jump = in, f.s.At, in.Wall-f.s.At
	f.s.Fold = FoldVersion
	f.s.Doubts, f.s.HeardAt, f.s.LocalAt = nil, 0, 0
	for i := range f.s.Chains {
		c := f.chain(i)
		c.Ref, c.Sightings, c.Known, c.Beaten, c.Stalled, c.Served = nil, nil, nil, 0, false, false
		c.Common, c.Split, c.Wishes, c.Finals, c.Watches = nil, nil, nil, nil, nil
		for j := range c.Endpoints {
			e := f.endpoint(c, j)
			e.newRun()
		}
	}
	f.emit(fleet.Event{Kind: fleet.EventService, Reason: join(in.Role, "leads", "pid "+itoa(int64(in.PID)))})
}

func (e *Endpoint) newRun() {
	e.ChainID, e.Head, e.HeadAt, e.Lag, e.LagBlocks, e.LagFrom = "", nil, 0, nil, nil, ""
	e.unfork()
	e.Stale, e.FreshRun, e.Confirmed = false, 0, 0
	e.Compared, e.SplitAt, e.SelfOdd, e.SelfRun, e.Ignores, e.BeyondAt = 0, 0, "", 0, false, 0
	e.Samples, e.Answered, e.Failures, e.Run, e.Window = 0, 0, 0, 0, nil
	e.LastTiming = fleet.Timing{}
	e.Last, e.LastAt, e.Refused, e.HoldUntil, e.Breaker = fleet.Outcome{}, 0, nil, 0, Breaker{}
	e.Healthy, e.Spark, e.RightSince, e.HeldBack, e.GateTold = 0, nil, 0, false, false
	if e.Wrong == "" {
		e.Genesis = fleet.Hash{} // a wrong one is remembered, or it would count as a second turn
	}
	if e.Gate != nil && e.Gate.Name != GateEjected {
		e.Gate = nil // an ejection is the operator's, and goes on
	}
}

// config takes over a configuration. What is known of an endpoint stays with
// it while its name and fingerprint and its chain's identity stay.
func (f *fold) config(in fleet.Config) {
	old := f.s.Chains
	f.s.Policy, f.s.Seed, f.s.Overrides = in.Policy, in.Seed, slices.Clone(in.Overrides)
	f.s.Chains = make([]*Chain, 0, len(in.Chains))
	for _, spec := range in.Chains {
		var was *Chain
		for _, c := range old {
			if c.Spec.Name == spec.Name && c.Spec.ChainID == spec.ChainID && c.Spec.Genesis == spec.Genesis {
				was = c
			}
		}
		f.s.Chains = append(f.s.Chains, adopt(was, spec))
	}
	for i := range f.s.Chains {
		f.chains[f.s.Chains[i].Spec.Name] = true
		f.evaluate(i)
	}
}

func adopt(was *Chain, spec fleet.ChainSpec) *Chain {
	c := &Chain{}
	if was != nil {
		*c = *was
	}
	ends := spec.Endpoints
	c.Spec, c.Spec.Endpoints, c.Endpoints = spec, nil, nil
	c.Common, c.Split, c.Wishes, c.Finals = nil, nil, nil, nil
	c.adoptWatches()
	for _, es := range ends {
		e := &Endpoint{Spec: es}
		if was != nil {
			if o := was.Endpoint(es.Name); o != nil && o.Spec.Fingerprint == es.Fingerprint {
				*e = *o
				e.Spec = es
				if e.parted() {
					e.unfork()
				}
			}
		}
		c.Endpoints = append(c.Endpoints, e)
	}
	if c.Endpoint(c.Incumbent) == nil {
		c.Incumbent, c.Since = "", 0
	}
	return c
}

// tick is the second hand: overrides and holds end, weights decay, chains are
// judged again.
func (f *fold) tick() {
	wall := f.s.Wall()
	kept := make([]fleet.Override, 0, len(f.s.Overrides))
	for _, o := range f.s.Overrides {
		if o.Until != 0 && o.Until <= wall {
			f.emit(fleet.Event{Kind: fleet.EventOverride, Chain: o.Chain, Endpoint: o.Endpoint, Sub: string(o.Action),
				Reason: string(o.Action) + " by " + o.Author + " has expired"})
			continue
		}
		kept = append(kept, o)
	}
	f.s.Overrides = kept
	f.release()
	for i := range f.s.Chains {
		c := f.chain(i)
		f.tellFailovers(c)
		f.compare(c)
		f.evaluate(i)
	}
}
