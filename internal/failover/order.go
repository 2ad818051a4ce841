package failover

import (
	"slices"

	"example.com/rpctop/internal/fleet"
)

// Ask says for what kind of request an order is wanted.
type Ask struct {
	Kind fleet.Kind
	// Tip: the answer depends on the newest block, so that endpoints beyond
	// the soft lag are passed over while a fresher one may serve.
	Tip bool
}

// Ranking is the order for one kind of request. Nobody being eligible is a
// value too: every candidate then says why it is out.
type Ranking struct {
	Candidates []fleet.Candidate // eligible ones first, in order
	Eligible   int
	Degraded   string // the endpoint that would serve reads although nobody is eligible; "": none

	fallback []string // all that could serve so, best first; Degraded is the first
}

// First gives the endpoint that serves, or "".
func (r Ranking) First() string {
	if r.Eligible == 0 {
		return ""
	}
	return r.Candidates[0].Endpoint
}

// Order ranks a chain's endpoints for a request. Pipeline: gates, pin,
// freshness, tier, cost, sticky incumbent.
func Order(s *State, c *Chain, ask Ask) Ranking {
	costs := s.costs(c, ask.Kind)
	pin := s.override(c.Spec.Name, fleet.ActionPin, "")
	soft, _, softWhy := c.bounds() // once: they look at every endpoint
	late := func(e *Endpoint) bool { return e.lateBy(soft) }
	anyFresh := false
	for _, e := range c.Endpoints {
		anyFresh = anyFresh || e.Gate == nil && !late(e)
	}
	type entry struct {
		fleet.Candidate
		tier   int
		pinned bool
		late   bool
		inc    bool
	}
	entries := make([]entry, 0, len(c.Endpoints))
	for i, e := range c.Endpoints {
		x := entry{tier: e.Spec.Tier, inc: e.Spec.Name == c.Incumbent}
		x.Endpoint, x.Cost, x.Gate, x.Eligible = e.Spec.Name, costs[i], e.Gate, e.Gate == nil
		x.pinned = pin != nil && pin.Endpoint == e.Spec.Name
		x.late = ask.Tip && anyFresh && late(e) && !(x.pinned && pin.Strict)
		if pin != nil && pin.Strict && !x.pinned && x.Eligible {
			x.Eligible = false
			x.Why, x.Needs = "strict pin to "+pin.Endpoint+" by "+pin.Author, "the pin's end"
		}
		entries = append(entries, x)
	}
	slices.SortStableFunc(entries, func(a, b entry) int {
		return firstNonZero(
			after(!a.Eligible, !b.Eligible), after(a.late, b.late), after(!a.pinned, !b.pinned),
			a.tier-b.tier, after(!a.inc, !b.inc), order(a.Cost.Total, b.Cost.Total))
	})
	r := Ranking{Candidates: make([]fleet.Candidate, 0, len(entries))}
	for i, x := range entries {
		e := c.Endpoint(x.Endpoint)
		switch {
		case x.Gate != nil:
			x.Why, x.Needs = x.Gate.Name+": "+x.Gate.Evidence, x.Gate.Ends
		case !x.Eligible:
		default:
			r.Eligible++
			x.Rank = r.Eligible
			x.Why = whyHere(e, x.pinned, x.inc)
			if x.late {
				x.Why = "passed over for reads of the tip: " + span(*e.Lag) + " behind, soft limit " + span(soft) + " (" + softWhy + ")"
			}
			if x.late && e.SelfOdd != "" {
				x.Why = "passed over for reads of the tip: " + e.SelfOdd
			}
			if i > 0 {
				x.Needs = c.needs(entries[0].Candidate, x.Candidate, e, late(e), s.Policy)
			}
		}
		r.Candidates = append(r.Candidates, x.Candidate)
	}
	if r.Eligible == 0 && s.Policy.ServeDegraded == "reads" {
		if r.fallback = c.degraded(r.Candidates, pin); len(r.fallback) > 0 {
			r.Degraded = r.fallback[0]
		}
	}
	return r
}

// degraded gives those of stale and down whose identity is known to be right,
// best first. A strict pin holds here too.
func (c *Chain) degraded(in []fleet.Candidate, pin *fleet.Override) []string {
	var out []string
	for _, name := range [...]string{GateStale, GateDown} {
		for _, x := range in {
			switch e := c.Endpoint(x.Endpoint); {
			case x.Gate == nil || x.Gate.Name != name || !e.identified(c):
			case pin != nil && pin.Strict && pin.Endpoint != x.Endpoint:
			default:
				out = append(out, x.Endpoint)
			}
		}
	}
	return out
}

func firstNonZero(vs ...int) int {
	for _, v := range vs {
		if v != 0 {
			return v
		}
	}
	return 0
}

// after orders what a flag holds back behind what it does not.
func after(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func order(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func whyHere(e *Endpoint, pinned, incumbent bool) string {
	switch {
	case pinned:
		return "pinned"
	case incumbent:
		return "serves"
	}
	return "tier " + itoa(int64(e.Spec.Tier)) + ", cost"
}

// needs says what would have to change for an eligible endpoint to serve.
func (c *Chain) needs(first, x fleet.Candidate, e *Endpoint, late bool, p fleet.Policy) string {
	top := c.Endpoint(first.Endpoint)
	switch {
	case e.Spec.Tier > top.Spec.Tier:
		return "no eligible endpoint of a lower tier than " + itoa(int64(e.Spec.Tier))
	case late:
		return "a lag below the soft limit"
	case first.Cost.Total > x.Cost.Total:
		return first.Endpoint + " beaten by x" + ratio(p.StickyRatio) + " and " + ftoa(float64(p.StickyGap)/1000) + " ms for " + span(p.StickyBeaten) + "; now " + ftoa(first.Cost.Total) + " against " + ftoa(x.Cost.Total) + " ms"
	}
	return "a cost below " + ftoa(min(first.Cost.Total/p.StickyRatio, first.Cost.Total-float64(p.StickyGap)/1000)) + " ms, now " + ftoa(x.Cost.Total) + " ms; or a gate on " + first.Endpoint
}
