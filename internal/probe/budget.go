package probe

import (
	"sync"
	"time"

	"example.com/rpctop/internal/fleet"
)

const day = 24 * time.Hour

// Usage counts the calls that probing has put to one endpoint on one UTC day;
// each member of a batch would count.
type Usage struct {
	Day       int64 // days since 1970-01-01, UTC
	Calls     int64 // all of them
	Suspicion int64 // of these, out of turn
}

// DayOf numbers the UTC day of a moment, as Usage does.
func DayOf(t time.Time) int64 { return t.Unix() / 86_400 }

func midnightAfter(t time.Time) time.Time { return time.Unix((DayOf(t)+1)*86_400, 0) }

// ledger keeps an endpoint's calls within its budget of the day. Turns stop
// when nine tenths are used; suspicion has the last tenth to itself, and beyond
// that only what turns have left of the part of the day that is over, so that a
// long outage never makes an endpoint blind for the rest of the day.
type ledger struct {
	id     fleet.EndpointID
	perDay int64 // 0: unlimited

	mu   sync.Mutex
	used Usage
}

func (l *ledger) reserve() int64 { return l.perDay / 10 }

// roll starts a new day's count; the caller holds mu.
func (l *ledger) roll(now time.Time) {
	if d := DayOf(now); d != l.used.Day {
		l.used = Usage{Day: d}
	}
}

func (l *ledger) usage(now time.Time) Usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.roll(now)
	return l.used
}

// turnsLeft gives the calls that regular rounds may still put today.
func (l *ledger) turnsLeft(now time.Time) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.roll(now)
	return l.turns()
}

func (l *ledger) turns() int64 {
	kept := max(0, l.reserve()-l.used.Suspicion)
	return l.perDay - kept - l.used.Calls
}

func (l *ledger) suspicions(now time.Time) int64 {
	gone := now.Sub(time.Unix(l.used.Day*86_400, 0))
	due := l.reserve() + int64(float64(l.perDay-l.reserve())*gone.Seconds()/day.Seconds())
	return min(l.perDay-l.used.Calls, max(l.reserve()-l.used.Suspicion, due-l.used.Calls))
}

// refusal is the denial that the next call would get; nil if there is budget.
func (l *ledger) refusal(now time.Time, suspicion bool) *fleet.Denial {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refuse(now, suspicion)
}

func (l *ledger) refuse(now time.Time, suspicion bool) *fleet.Denial {
	l.roll(now)
	if l.perDay <= 0 {
		return nil
	}
	left := l.turns()
	if suspicion {
		left = l.suspicions(now)
	}
	if left > 0 {
		return nil
	}
	return &fleet.Denial{
		Kind: fleet.DenyBudget, Scope: "endpoint", Endpoint: l.id, Caller: fleet.CallerProbe,
		RetryAfter: midnightAfter(now).Sub(now), At: now,
	}
}

// take pays for one call, or says when there is budget again.
func (l *ledger) take(now time.Time, suspicion bool) *fleet.Denial {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d := l.refuse(now, suspicion); d != nil {
		return d
	}
	l.used.Calls++
	if suspicion {
		l.used.Suspicion++
	}
	return nil
}

// account is one kind of caller's access to a ledger for one round.
type account struct {
	*ledger
	suspicion bool
}

func (a *account) pay() (day int64, d *fleet.Denial) {
	now := time.Now()
	return DayOf(now), a.take(now, a.suspicion)
}

// refund gives back a call that was not handed over, if the day that paid for
// it is still being counted.
func (a *account) refund(day int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if day != a.used.Day {
		return
	}
	a.used.Calls--
	if a.suspicion {
		a.used.Suspicion--
	}
}
