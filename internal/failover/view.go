package failover

import (
	"slices"

	"example.com/rpctop/internal/fleet"
)

// View gives the picture that the faces show of a state. What belongs to the
// process and not to the fold (recording, notices, calls used today) is added
// by the engine.
func View(s *State) *fleet.Snapshot {
	v := &fleet.Snapshot{Seq: s.Seq, At: s.Wall(), EventSeq: s.Events, Chains: make([]fleet.ChainView, 0, len(s.Chains))}
	if s.Lead.PID != 0 {
		v.Leader = &fleet.LeaderView{PID: s.Lead.PID, Role: s.Lead.Role, Author: s.Lead.Author, Version: s.Lead.Version, Since: s.LeadAt}
	}
	for _, c := range s.Chains {
		v.Chains = append(v.Chains, s.viewChain(c))
	}
	return v
}

func (s *State) viewChain(c *Chain) fleet.ChainView {
	r := Order(s, c, Ask{Kind: headRanking, Tip: true})
	v := fleet.ChainView{Name: c.Spec.Name, ChainID: c.Spec.ChainID, BlockTime: c.Spec.BlockTime, Incumbent: c.Incumbent,
		State: c.state(r), Ranking: r.Candidates, Switches: len(c.Switches)}
	for _, o := range s.Overrides {
		if o.Chain == c.Spec.Name {
			v.Overrides = append(v.Overrides, o)
		}
	}
	if pin := s.override(c.Spec.Name, fleet.ActionPin, ""); pin != nil {
		p := *pin
		v.Pin = &p
	}
	if c.FrozenAt != 0 {
		v.Frozen = "soft switching is frozen since " + clock(c.FrozenAt)
	}
	for _, a := range c.Alarms {
		v.Alarms = append(v.Alarms, a.Text)
	}
	if c.Ref != nil {
		v.Reference = &fleet.Reference{Number: c.Ref.Number, Hash: c.Ref.Hash, Time: c.Ref.Time, Since: c.Ref.Since,
			Corroborated: c.Ref.Corroborated, By: c.supporters()}
	}
	costs := s.costs(c, headRanking)
	v.Disputed, v.Watches = c.Disputed(), c.viewWatches()
	for i, e := range c.Endpoints {
		v.Endpoints = append(v.Endpoints, s.viewEndpoint(c, e, costs[i]))
	}
	return v
}

func (c *Chain) supporters() []string {
	var by []string
	for _, e := range c.Endpoints {
		if e.Head != nil && e.Head.Number >= c.Ref.Number && e.identified(c) && e.Forked == "" {
			by = append(by, e.Spec.Name)
		}
	}
	return by
}

// state is the chain's word: none, stalled, degraded (an endpoint is gated) or
// ok.
func (c *Chain) state(r Ranking) string {
	switch {
	case r.Eligible == 0:
		return "none"
	case c.Stalled:
		return "stalled"
	}
	for _, e := range c.Endpoints {
		if e.Gate != nil {
			return "degraded"
		}
	}
	return "ok"
}

func (s *State) viewEndpoint(c *Chain, e *Endpoint, cost fleet.CostTerms) fleet.EndpointView {
	soft, hard, bound := c.bounds()
	v := fleet.EndpointView{
		Name: e.Spec.Name, Operator: e.Spec.Operator, Tier: e.Spec.Tier, Local: e.Spec.Local,
		State: StateOf(c, e), Role: s.role(c, e), Gate: e.Gate, Flags: s.flags(c, e),
		Last: e.Last, LastAt: e.LastAt, LastTiming: e.LastTiming, Head: e.Head, HeadAt: e.HeadAt, LagBlocks: e.LagBlocks, LagMS: e.Lag,
		SoftMS: soft, HardMS: hard, Bound: bound, ChainID: e.ChainID, Genesis: e.Genesis, Client: e.Client, Syncing: e.Syncing,
		Samples: e.Samples, Failures: e.Failures, Denials: e.Denials, Spark: e.Spark, Cost: cost,
		Every: e.Spec.Every, PerDay: e.Spec.PerDay, LastFailures: e.Past,
	}
	switch {
	case e.Gate != nil:
		v.Evidence = e.Gate.Evidence
	case !e.Last.OK() && e.Last.Class != fleet.ClassNone:
		v.Evidence = e.Last.Evidence()
	case v.State == StateLagging && e.SelfOdd != "":
		v.Evidence = e.SelfOdd
	case v.State == StateLagging:
		v.Evidence = span(*e.Lag) + " and " + blocks(*e.LagBlocks) + " behind, soft limit " + span(soft) + " (" + bound + ")"
	}
	d := e.Latency[fleet.KindHead]
	if p, ok := d.quantile(0.5); ok {
		v.P50, v.Successes = p, d.weight(s.At)
		v.P95, _ = d.quantile(0.95)
	}
	if good, bad := e.Good.at(s.At), e.Bad.at(s.At); good+bad > 0 {
		v.ErrorRate = bad / (good + bad)
	}
	return v
}

func (s *State) role(c *Chain, e *Endpoint) string {
	pin := s.override(c.Spec.Name, fleet.ActionPin, e.Spec.Name)
	switch {
	case gateName(e.Gate) == GateEjected:
		return "ejected"
	case pin != nil && c.Incumbent == e.Spec.Name:
		return "pinned, serving"
	case pin != nil:
		return "pinned"
	case c.Incumbent == e.Spec.Name:
		return "serving"
	}
	return "backup"
}

// flags are remarks that gate nobody.
func (s *State) flags(c *Chain, e *Endpoint) []string {
	out := []string{}
	if len(e.Backsteps) >= 2 {
		out = append(out, "multi-backend")
	}
	if e.SplitAt != 0 && s.At-e.SplitAt < splitShown {
		out = append(out, "split-backend")
	}
	if e.SelfOdd != "" {
		out = append(out, "self-inconsistent")
	}
	if c.disputes(e.Spec.Name) {
		out = append(out, "disputed")
	}
	if e.Ignores {
		out = append(out, "ignores-block")
	}
	if e.Ahead || c.Ref != nil && !c.Ref.Corroborated && e.Head != nil {
		out = append(out, "uncorroborated")
	}
	if e.Lag == nil && e.Samples > 0 || e.Head != nil && e.Spec.Every > 0 && s.At-e.HeadAt > 3*e.Spec.Every+2*e.Spec.Timeout {
		out = append(out, "unmeasured")
	}
	if e.Answered == 0 {
		out = append(out, "cold")
	}
	return slices.Clip(out)
}
