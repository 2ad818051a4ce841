package failover

import (
	"context"
	"errors"
	"time"

	"example.com/rpctop/internal/fleet"
)

// answered ends the call with the last attempt's answer.
func (k *run) answered(p choice) CallResult {
	last := k.res.Trace[len(k.res.Trace)-1]
	k.res.Answered, k.res.Degraded = true, p.degraded
	k.res.Attempt, k.res.End = last.attempt, last.Outcome
	if k.c.Note != nil {
		first := k.res.Trace[0]
		switch {
		case first.Endpoint != last.Endpoint:
			k.c.Note.FailedOver(k.kind, fleet.EndpointID{Chain: k.r.Chain, Name: first.Endpoint}, last.Endpoint, first.Outcome)
		case k.skipped.Class != fleet.ClassNone:
			k.c.Note.FailedOver(k.kind, fleet.EndpointID{Chain: k.r.Chain, Name: k.line.chain.Incumbent}, last.Endpoint, k.skipped)
		}
	}
	return k.res
}

// gaveUp ends the call with a failure that no other endpoint can mend.
func (k *run) gaveUp() CallResult {
	last := k.res.Trace[len(k.res.Trace)-1]
	switch {
	case last.Denial != nil:
		return k.exhausted()
	case last.Outcome.Class == fleet.ClassLocalFault && last.Outcome.Sub == fleet.SubTimeout:
		return k.timedOut()
	}
	return k.failed(last.Outcome, last.attempt)
}

// interrupted ends the call because the caller's context has.
func (k *run) interrupted(ctx context.Context) CallResult {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return k.timedOut()
	}
	return k.failed(localEnd(fleet.SubCancelled, "cancelled by the caller"), k.telling())
}

// timedOut ends the call because its time is used up. Where a limit of ours
// took part in that, it is what the client should know.
func (k *run) timedOut() CallResult {
	for _, d := range k.res.Denials {
		if d.WantOfBudget() {
			return k.exhausted()
		}
	}
	return k.failed(localEnd(fleet.SubTimeout, "the call ran out of time"), k.telling())
}

func localEnd(sub, text string) fleet.Outcome {
	return fleet.Outcome{Class: fleet.ClassLocalFault, Sub: sub, Origin: fleet.OriginLocal, Message: text}
}

// telling is the attempt that says most of a call without an answer, the last
// among equals; nil: there was none.
func (k *run) telling() (a *fleet.Attempt) {
	for _, h := range k.res.Trace {
		if h.attempt != nil && (a == nil || telling(h.Outcome.Class) <= telling(a.Outcome.Class)) {
			a = h.attempt
		}
	}
	return a
}

// exhausted ends a call for which nobody is left to ask, by the most telling
// of what was said. An endpoint that rests counts as if it had said so again:
// overloaded beats missing, unsupported and final.
func (k *run) exhausted() CallResult {
	end, rank := fleet.Outcome{}, 1000
	for _, h := range k.res.Trace {
		if n := h.telling(); n <= rank {
			end, rank = h.Outcome, n
		}
	}
	if o, wait, ok := k.resting(); ok {
		k.wait(wait)
		if rank > telling(fleet.ClassRateLimited) {
			end = o
		}
	}
	if end.Class == fleet.ClassNone {
		end = k.nobody()
	}
	k.res.Covered = k.covered(end.Class)
	return k.failed(end, k.telling())
}

func (h Hop) telling() int {
	if h.Denial != nil && h.Outcome.Class == fleet.ClassLocalDenial && !h.Denial.WantOfBudget() {
		return 99 // a rule of ours says nothing of the others
	}
	return telling(h.Outcome.Class)
}

func (k *run) failed(end fleet.Outcome, a *fleet.Attempt) CallResult {
	k.res.End, k.res.Attempt = end, a
	k.res.Reasons = k.reasons()
	return k.res
}

// resting finds the endpoint that was not asked because it rests, with the
// shortest time until it may be.
func (k *run) resting() (o fleet.Outcome, wait time.Duration, found bool) {
	if k.line == nil {
		return o, 0, false
	}
	now := k.c.Now()
	for i := range k.line.seats {
		st := &k.line.seats[i]
		g := st.gate(now)
		if g == nil || g.Name != GateThrottled || !k.wants(st) {
			continue
		}
		if left := max(g.Until.Time().Sub(now), time.Second); !found || left < wait {
			wait, found = left, true
			o = fleet.Outcome{Class: fleet.ClassRateLimited, Origin: fleet.OriginLocal, Message: st.id.Name + " rests: " + g.Evidence}
		}
	}
	return o, wait, found
}

// gate is the fold's gate, or the overlay's where the fold has none.
func (s *seat) gate(now time.Time) *fleet.Gate {
	if s.e.Gate != nil {
		return s.e.Gate
	}
	return s.hot.gated(now)
}

// nobody says why no endpoint was asked at all.
func (k *run) nobody() fleet.Outcome {
	if k.line == nil {
		return fleet.Outcome{Class: fleet.ClassNoEndpoint, Origin: fleet.OriginLocal, Message: "there is no chain " + quote(k.r.Chain)}
	}
	now := k.c.Now()
	for i := range k.line.seats {
		if st := &k.line.seats[i]; st.eligible && !st.hot.out(now) && k.wants(st) {
			return fleet.Outcome{Class: fleet.ClassStale, Sub: SubBehindFloor, Origin: fleet.OriginLocal,
				Message: "no endpoint that may serve has block " + utoa(k.floor()) + " yet"}
		}
	}
	if k.r.Bound {
		return fleet.Outcome{Class: fleet.ClassNoEndpoint, Origin: fleet.OriginLocal, Message: k.r.Only + " is not eligible"}
	}
	return fleet.Outcome{Class: fleet.ClassNoEndpoint, Origin: fleet.OriginLocal, Message: "no endpoint is eligible"}
}

// covered reports whether everybody who could know has said the same. For
// unsupported these are all endpoints that may ever serve, since one that is
// down may have the method; for all else the eligible ones whose head is high
// enough.
func (k *run) covered(c fleet.Class) bool {
	if k.line == nil || len(k.res.Trace) == 0 || c == fleet.ClassLocalDenial {
		return false
	}
	now := k.c.Now()
	for i := range k.line.seats {
		st := &k.line.seats[i]
		g := st.gate(now)
		counts := st.eligible && g == nil && st.above(max(k.r.Height, k.r.Floor))
		if c == fleet.ClassUnsupported {
			counts = g == nil || !g.Quarantine() && g.Name != GateEjected && g.Name != GateRefused
		}
		// Who does not offer the method cannot know.
		silent := !k.said(st.id.Name, c) && !(c == fleet.ClassNotYetVisible && k.said(st.id.Name, fleet.ClassUnsupported))
		if counts && k.wants(st) && silent {
			return false
		}
	}
	return true
}

func (k *run) said(name string, c fleet.Class) bool {
	for _, h := range k.res.Trace {
		if h.Endpoint == name && h.Outcome.Class == c {
			return true
		}
	}
	return false
}

// reasons gives each endpoint's standing, with what the overlay has found.
func (k *run) reasons() []fleet.Candidate {
	if k.line == nil {
		return nil
	}
	now := k.c.Now()
	out := make([]fleet.Candidate, 0, len(k.line.seats))
	for i, x := range k.line.rank.Candidates {
		st := &k.line.seats[i]
		switch g := st.gate(now); {
		case g != nil && x.Gate == nil:
			x.Eligible, x.Rank, x.Gate = false, 0, g
			x.Why, x.Needs = g.Name+": "+g.Evidence, g.Ends
		case x.Eligible && !st.above(k.floor()):
			x.Eligible, x.Rank = false, 0
			x.Why, x.Needs = "its last seen head is below block "+utoa(k.floor()), "a newer head"
		}
		out = append(out, x)
	}
	return out
}
