package failover

import (
	"slices"

	"example.com/rpctop/internal/fleet"
)

// The gates' names, which are endpoints' states too.
const (
	GateEjected         = "ejected"
	GateWrongChain      = "wrong-chain"
	GateIdentityFlap    = "identity-flap"
	GateForked          = "forked"
	GateRefused         = "refused"
	GateThrottled       = "throttled"
	GateDown            = "down"
	GateIdentityUnknown = "identity-unknown"
	GateStale           = "stale"
	StateLagging        = "lagging"
	StateOK             = "ok"
	StateUnknown        = "unknown"
)

// holdDown is the first time for which an endpoint that was gated does not
// take over from one that serves; it doubles per gate.
const (
	holdDown     = 15_000
	holdDownMost = 600_000
	healthySpan  = 600_000 // ms without a gate that forgive one gate
)

// gateOf gives the first gate that matches, or nil. The order is the design's.
func (f *fold) gateOf(c *Chain, e *Endpoint) *fleet.Gate {
	s := f.s
	if o := s.override(c.Spec.Name, fleet.ActionEject, e.Spec.Name); o != nil {
		return &fleet.Gate{Name: GateEjected, Evidence: "ejected by " + o.Author + reason(o.Reason), Until: o.Until, Ends: "its expiry, or `clear`"}
	}
	switch {
	case e.Flap:
		return &fleet.Gate{Name: GateIdentityFlap, Evidence: "turned wrong " + itoa(int64(len(e.WrongTimes))) + " times in 24 h, last: " + e.Wrong, Ends: "`clear` only"}
	case e.Wrong != "":
		g := &fleet.Gate{Name: GateWrongChain, Evidence: e.Wrong, Ends: "10 minutes of right answers, `clear`, or a change of the config"}
		if e.RightSince != 0 {
			g.Until = e.RightSince + rightFor
		}
		return g
	case e.parted():
		return &fleet.Gate{Name: GateForked, Evidence: e.Forked, Ends: "the others' block at the common height, `clear`, or a change of the config"}
	case e.Forked != "":
		return &fleet.Gate{Name: GateForked, Evidence: e.Forked, Ends: "others that confirm it, `clear`, or a change of the config"}
	case e.Refused != nil:
		return &fleet.Gate{Name: GateRefused, Evidence: e.Refused.Evidence(), Ends: "a probe that is answered; one is sent every 10 minutes"}
	case s.At < e.HoldUntil:
		return &fleet.Gate{Name: GateThrottled, Evidence: e.HoldOf, Until: e.HoldUntil, Ends: "the hold that it asked for"}
	case e.Breaker.Open:
		return &fleet.Gate{Name: GateDown, Evidence: e.Breaker.Why, Ends: itoa(goodRounds) + " good probe rounds in a row, " + itoa(int64(e.Breaker.Rounds)) + " so far"}
	case e.Failures > 0 && e.Answered == 0:
		return &fleet.Gate{Name: GateDown, Evidence: "every attempt of this run failed, last " + e.lastFailure(), Ends: "an answer"}
	case e.ChainID == "" || e.ChainID == "0" || e.Reprove:
		return &fleet.Gate{Name: GateIdentityUnknown, Evidence: e.unread(), Ends: "an answer to eth_chainId"}
	case e.SelfRun >= oddRuns:
		return &fleet.Gate{Name: GateStale, Evidence: e.SelfOdd, Ends: "an answer that is consistent with itself"}
	case e.Stale:
		_, hard, _ := c.bounds()
		return &fleet.Gate{Name: GateStale, Evidence: e.staleText(hard), Ends: "2 samples in a row within the soft limit, each with a new block"}
	}
	return nil
}

func (e *Endpoint) lastFailure() string {
	for _, p := range e.Past {
		if p.Outcome.Charge() == fleet.ChargeFailure {
			return p.Outcome.Evidence()
		}
	}
	return e.Last.Evidence()
}

func (e *Endpoint) unread() string {
	if e.ChainID == "0" {
		return "says chain id 0x0: not ready"
	}
	if e.Reprove {
		return "was cleared by hand, and its genesis was not read since"
	}
	return "its chain id was not read in this run"
}

func (e *Endpoint) staleText(hard fleet.Millis) string {
	if e.Lag == nil || e.LagBlocks == nil || e.Head == nil {
		return "was beyond the hard limit of " + span(hard)
	}
	if *e.Lag >= hard {
		return span(*e.Lag) + " and " + blocks(*e.LagBlocks) + " behind at " + utoa(e.Head.Number) + ", limit " + span(hard) + " (" + e.LagFrom + ")"
	}
	return "was beyond the hard limit of " + span(hard) + ", now " + span(*e.Lag) + " behind at " + utoa(e.Head.Number)
}

func reason(r string) string {
	if r == "" {
		return ""
	}
	return ": " + r
}

// override finds an override in force; name "" takes any endpoint's.
func (s *State) override(chain string, action fleet.Action, name string) *fleet.Override {
	i := slices.IndexFunc(s.Overrides, func(o fleet.Override) bool {
		return o.Chain == chain && o.Action == action && (name == "" || o.Endpoint == name)
	})
	if i < 0 {
		return nil
	}
	return &s.Overrides[i]
}

// regate judges all gates of a chain anew and tells what changed.
func (f *fold) regate(c *Chain) {
	for i, e := range c.Endpoints {
		g := f.gateOf(c, e)
		if sameGate(g, e.Gate) && (g != nil || e.Healthy != 0 && f.s.At-e.Healthy < healthySpan) {
			continue
		}
		e = f.endpoint(c, i)
		f.turn(c, e, g)
	}
}

func sameGate(a, b *fleet.Gate) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Name == b.Name && a.Evidence == b.Evidence && a.Until == b.Until && a.Ends == b.Ends
}

// turn moves an endpoint from one gate to another, or to none.
func (f *fold) turn(c *Chain, e *Endpoint, g *fleet.Gate) {
	was, at := e.Gate, f.s.At
	before, after := gateName(was), gateName(g)
	e.Gate = g
	if g != nil {
		g.Since = at
		if before == after {
			g.Since = was.Since
		}
	}
	switch {
	case before == after && g == nil:
		if e.Healthy == 0 {
			e.Healthy = at
		} else if at-e.Healthy >= healthySpan {
			e.Healthy, e.Gates = at, max(0, e.Gates-1)
		}
	case before == after:
	case g == nil:
		e.Healthy = at
		if e.HeldBack {
			e.ReturnAt = at + f.s.jitter(c.Spec.Name, e.Spec.Name, uint64(e.Gates), holdDownOf(e.Gates-1))
		}
		told := e.GateTold
		e.HeldBack, e.GateTold = false, false
		if told {
			f.emit(fleet.Event{Kind: fleet.EventUngate, Chain: c.Spec.Name, Endpoint: e.Spec.Name, Sub: before,
				Reason: "no longer " + before + " after " + span(at-was.Since)})
		}
	default:
		e.Healthy = 0
		if after != GateIdentityUnknown && after != GateEjected && !e.HeldBack {
			e.HeldBack = true
			e.Gates++
		}
		if after != GateIdentityUnknown || e.Samples > 0 && e.Last.OK() {
			e.GateTold = true
			f.emit(fleet.Event{Kind: fleet.EventGate, Chain: c.Spec.Name, Endpoint: e.Spec.Name, Class: gateClass(after, e), Sub: after,
				Reason: after + ": " + g.Evidence})
		}
	}
}

func holdDownOf(k int) fleet.Millis {
	d := fleet.Millis(holdDown)
	for range max(0, min(k, 10)) {
		d = min(2*d, holdDownMost)
	}
	return d
}

func gateName(g *fleet.Gate) string {
	if g == nil {
		return ""
	}
	return g.Name
}

func gateClass(name string, e *Endpoint) fleet.Class {
	switch name {
	case GateWrongChain, GateIdentityFlap, GateIdentityUnknown:
		return fleet.ClassWrongChain
	case GateForked:
		return fleet.ClassForked
	case GateStale:
		return fleet.ClassStale
	case GateThrottled:
		return fleet.ClassRateLimited
	case GateRefused:
		return fleet.ClassRemoteDenial
	case GateDown:
		for _, p := range e.Past {
			if p.Outcome.Charge() == fleet.ChargeFailure {
				return p.Outcome.Class
			}
		}
	}
	return fleet.ClassNone
}

// StateOf gives the word that an endpoint's row shows: its gate, or how it is
// without one.
func StateOf(c *Chain, e *Endpoint) string {
	switch {
	case e.Gate != nil && e.Gate.Name == GateIdentityUnknown && e.Samples == 0:
		return StateUnknown
	case e.Gate != nil:
		return e.Gate.Name
	case e.Samples == 0 && e.Answered == 0:
		return StateUnknown
	case c.late(e):
		return StateLagging
	}
	return StateOK
}
