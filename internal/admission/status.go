package admission

import (
	"maps"
	"slices"
	"strings"
	"time"

	"example.com/rpctop/internal/fleet"
)

// EndpointStatus is what the door knows of one endpoint's limits. The gates
// `refused` and `throttled` show this table; there is no other.
type EndpointStatus struct {
	Units    int64 // used today (UTC), this process and what the journal told
	Calls    int64
	PerDay   int64 // the budget of units; 0: none
	InFlight int
	// BudgetUntil is when an exhausted day or month budget begins anew; zero
	// while at least one unit is left.
	BudgetUntil time.Time
	Hold        *Entry  // throttled; nil: not
	Refused     *Entry  // credentials, plan or host; nil: not
	Unsupported []Entry // methods that are not there, by name
	// Denials counts our own refusals by kind. No decision reads it.
	Denials map[fleet.DenialKind]uint64
}

// Entry is one line of the failure cache.
type Entry struct {
	Method  string // "" when it is about the whole endpoint
	Outcome fleet.Outcome
	Since   time.Time
	Until   time.Time
}

// Status describes an endpoint at a time. Nothing in it is shared.
func (g *Gatekeeper) Status(now time.Time, id fleet.EndpointID) EndpointStatus {
	g.mu.Lock()
	defer g.mu.Unlock()
	gt, ok := g.gates[id]
	if !ok {
		gt = newGate(Limits{})
	}
	today := gt.used.day(dayOf(now))
	s := EndpointStatus{
		Units: today.units, Calls: today.calls, PerDay: max(gt.limits.PerDay, 0), InFlight: gt.slots.used,
		Denials: maps.Clone(gt.denials),
	}
	if w := gt.used.wait(now, gt.limits, 1); w > 0 {
		s.BudgetUntil = now.Add(w)
	}
	for k, e := range g.failures.entries {
		if k.endpoint != id || !now.Before(e.until) {
			continue
		}
		line := Entry{Method: k.method, Outcome: e.outcome, Since: e.since, Until: e.until}
		switch {
		case k.hold:
			s.Hold = &line
		case k.method == "":
			s.Refused = &line
		default:
			s.Unsupported = append(s.Unsupported, line)
		}
	}
	slices.SortFunc(s.Unsupported, func(a, b Entry) int { return strings.Compare(a.Method, b.Method) })
	return s
}
