package admission

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"example.com/rpctop/internal/fleet"
)

// Usage is what was used of one endpoint on one UTC day. The zero Endpoint
// stands for the global budget.
type Usage struct {
	Endpoint fleet.EndpointID
	Day      string // 2006-01-02
	Units    int64
	Calls    int64
}

const (
	daySeconds = 24 * 60 * 60
	keepDays   = 62 // no month is longer than two of them
)

// dayOf numbers the UTC days since 1970.
func dayOf(t time.Time) int64 { return t.Unix() / daySeconds }

func dayName(day int64) string {
	return time.Unix(day*daySeconds, 0).UTC().Format(time.DateOnly)
}

func parseDay(s string) (int64, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return 0, fmt.Errorf("day %q of a usage: want YYYY-MM-DD", fleet.SanitizeMax(s, 40))
	}
	return dayOf(t), nil
}

type amount struct{ units, calls int64 }

func (a amount) plus(b amount) amount { return amount{a.units + b.units, a.calls + b.calls} }

// ledger is the use by day: what the database knows, and what it does not
// know yet. Both count.
type ledger struct {
	saved map[int64]amount
	fresh map[int64]amount
}

func newLedger() ledger {
	return ledger{saved: map[int64]amount{}, fresh: map[int64]amount{}}
}

func (l *ledger) day(day int64) amount { return l.saved[day].plus(l.fresh[day]) }

// month sums the calendar month of t, up to t's day.
func (l *ledger) month(t time.Time) amount {
	var sum amount
	u := t.UTC()
	first := dayOf(time.Date(u.Year(), u.Month(), 1, 0, 0, 0, 0, time.UTC))
	for d := first; d <= dayOf(t); d++ {
		sum = sum.plus(l.day(d))
	}
	return sum
}

func (l *ledger) add(t time.Time, units, calls int64) {
	d := dayOf(t)
	l.fresh[d] = l.fresh[d].plus(amount{units, calls})
}

// wait is how long it takes until units fit the budgets of lim; 0: now. A
// request that is larger than the whole budget waits for ever, a day at a time.
func (l *ledger) wait(t time.Time, lim Limits, units int64) time.Duration {
	u := t.UTC()
	if lim.PerMonth > 0 && l.month(t).units+units > lim.PerMonth {
		return time.Date(u.Year(), u.Month()+1, 1, 0, 0, 0, 0, time.UTC).Sub(t)
	}
	if lim.PerDay > 0 && l.day(dayOf(t)).units+units > lim.PerDay {
		return time.Date(u.Year(), u.Month(), u.Day()+1, 0, 0, 0, 0, time.UTC).Sub(t)
	}
	return 0
}

// take hands out what is not saved, oldest day first, and counts it as saved.
func (l *ledger) take(id fleet.EndpointID) []Usage {
	var out []Usage
	for _, d := range slices.Sorted(maps.Keys(l.fresh)) {
		a := l.fresh[d]
		out = append(out, Usage{Endpoint: id, Day: dayName(d), Units: a.units, Calls: a.calls})
		l.saved[d] = l.saved[d].plus(a)
		maps.DeleteFunc(l.saved, func(old int64, _ amount) bool { return old < d-keepDays })
	}
	clear(l.fresh)
	return out
}

// TakeUsage hands out what was used since the last call, for the journal to
// add up over all processes. What cannot be written goes to ReturnUsage.
func (g *Gatekeeper) TakeUsage() []Usage {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []Usage
	if g.global.limits.PerDay > 0 || g.global.limits.PerMonth > 0 {
		out = g.global.used.take(fleet.EndpointID{})
	}
	ids := slices.SortedFunc(maps.Keys(g.gates), func(a, b fleet.EndpointID) int {
		return cmp.Or(cmp.Compare(a.Chain, b.Chain), cmp.Compare(a.Name, b.Name))
	})
	for _, id := range ids {
		out = append(out, g.gates[id].used.take(id)...)
	}
	return out
}

// ReturnUsage takes back what TakeUsage gave and could not be written, so that
// it is handed out again. It fails on a day that is not one.
func (g *Gatekeeper) ReturnUsage(us []Usage) error {
	return g.eachUsage(us, func(l *ledger, day int64, a amount) {
		l.saved[day] = l.saved[day].plus(amount{-a.units, -a.calls})
		l.fresh[day] = l.fresh[day].plus(a)
	})
}

// SetUsage states what the journal holds, at a start or after others wrote:
// totals by endpoint and day, all processes together. What was used here and
// not taken yet comes on top. It fails on a day that is not one.
func (g *Gatekeeper) SetUsage(totals []Usage) error {
	return g.eachUsage(totals, func(l *ledger, day int64, a amount) { l.saved[day] = a })
}

func (g *Gatekeeper) eachUsage(us []Usage, f func(*ledger, int64, amount)) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, u := range us {
		day, err := parseDay(u.Day)
		if err != nil {
			return err
		}
		gt := g.global
		if u.Endpoint != (fleet.EndpointID{}) {
			gt = g.gate(u.Endpoint)
		}
		f(&gt.used, day, amount{u.Units, u.Calls})
	}
	return nil
}
