package engine

import (
	"time"

	"example.com/rpctop/internal/failover"
	"example.com/rpctop/internal/fleet"
)

// told is what the prober was last told of an endpoint, so that it is told
// changes only.
type told struct {
	every   fleet.Millis
	confirm uint64
	asked   fleet.Millis
}

// confirmEvery is the least time between two questions for the same block.
const confirmEvery = fleet.Millis(1_000)

// askAllEvery is the least time between two rounds in which all endpoints are
// asked whether the network is there.
const askAllEvery = fleet.Millis(60_000)

// tellProber passes on what the fold concluded for the probing: another pace,
// a question, a suspicion.
func (e *Engine) tellProber(s *failover.State, in fleet.Input, events []fleet.Event) {
	if e.o.Prober == nil {
		return
	}
	p := e.o.Prober()
	if p == nil {
		return
	}
	if s.Doubtful() && s.At-e.askedAll >= askAllEvery {
		e.askedAll = s.At
		for _, c := range s.Chains {
			for _, ep := range c.Endpoints {
				p.Suspect(fleet.EndpointID{Chain: c.Spec.Name, Name: ep.Spec.Name})
			}
		}
	}
	e.passWishes(p, s)
	switch in := in.(type) {
	case fleet.Sample:
		e.tellEndpoint(p, s, in.Endpoint, failed(in.Outcome))
	case fleet.Failure:
		e.tellEndpoint(p, s, in.Endpoint, failed(in.Outcome))
	case fleet.Reading:
		e.tellEndpoint(p, s, in.Endpoint, false)
	}
	for _, ev := range events {
		switch ev.Kind {
		case fleet.EventOverride:
			if ev.Sub == string(fleet.ActionClear) {
				e.askAnew(p, s, ev.Chain, ev.Endpoint)
			}
			fallthrough
		case fleet.EventSwitch, fleet.EventGate:
			for _, name := range [...]string{ev.Endpoint, ev.From, ev.To} {
				if name != "" {
					e.tellEndpoint(p, s, fleet.EndpointID{Chain: ev.Chain, Name: name}, true)
				}
			}
		}
	}
}

// passWishes puts the questions that the fold has come to ask since the last
// time.
func (e *Engine) passWishes(p Prober, s *failover.State) {
	for _, c := range s.Chains {
		last := e.wished[c.Spec.Name]
		if c.LastWish == last {
			continue
		}
		if c.LastWish < last {
			last = 0 // another chain by the same name
		}
		for _, w := range c.Wishes {
			if w.ID > last {
				p.Ask(fleet.EndpointID{Chain: c.Spec.Name, Name: w.Endpoint}, w)
			}
		}
		e.wished[c.Spec.Name] = c.LastWish
	}
}

// askAnew makes the identity of cleared endpoints be read again, all of a chain
// if none is named.
func (e *Engine) askAnew(p Prober, s *failover.State, chain, name string) {
	c := s.Chain(chain)
	if c == nil {
		return
	}
	for _, ep := range c.Endpoints {
		if name == "" || ep.Spec.Name == name {
			p.Identify(fleet.EndpointID{Chain: chain, Name: ep.Spec.Name})
		}
	}
}

func failed(o fleet.Outcome) bool { return o.Charge() == fleet.ChargeFailure }

func (e *Engine) tellEndpoint(p Prober, s *failover.State, id fleet.EndpointID, suspect bool) {
	c := s.Chain(id.Chain)
	if c == nil {
		return
	}
	ep := c.Endpoint(id.Name)
	if ep == nil {
		return
	}
	last := e.told[id]
	every, _ := s.Pace(id.Chain, ep)
	if every != last.every {
		p.SetBackoff(id, time.Duration(every)*time.Millisecond)
	}
	last.every = every
	if ep.Confirm != 0 && (ep.Confirm != last.confirm || s.At-last.asked >= confirmEvery) {
		p.Confirm(id, ep.Confirm)
		last.confirm, last.asked = ep.Confirm, s.At
	}
	e.told[id] = last
	incumbentLate := c.Incumbent == id.Name && failover.StateOf(c, ep) == failover.StateLagging
	if every == 0 && (suspect || incumbentLate) {
		p.Suspect(id)
	}
}
