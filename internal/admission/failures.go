package admission

import (
	"time"

	"example.com/rpctop/internal/fleet"
)

const (
	maxEntries  = 256
	refusedFor  = 10 * time.Minute // credentials, plan, host, a missing method
	firstRest   = time.Second      // after a throttle that gives no hint; doubles
	longestRest = 5 * time.Minute
	quotaRest   = time.Hour // a month's quota does not come back in minutes
	quotaLimit  = 24 * time.Hour
)

// key names what an entry is about: the endpoint (method ""), or one method
// of it. A refusal and a throttle's hold stand side by side.
type key struct {
	endpoint fleet.EndpointID
	method   string
	hold     bool
}

type entry struct {
	outcome fleet.Outcome
	since   time.Time
	until   time.Time
	order   uint64 // of filling; the smallest goes first
}

// failures remembers remote refusals. It is filled by Learn alone, which takes
// no denial.
type failures struct {
	entries map[key]entry
	filled  uint64
}

// find gives the entry that answers for (endpoint, method): the endpoint's
// refusal before its hold, and both before what is known of the method.
func (f *failures) find(now time.Time, id fleet.EndpointID, method string) (entry, key, bool) {
	for _, k := range [...]key{{id, "", false}, {id, "", true}, {id, method, false}} {
		if e, ok := f.live(now, k); ok {
			return e, k, true
		}
	}
	return entry{}, key{}, false
}

func (f *failures) live(now time.Time, k key) (entry, bool) {
	e, ok := f.entries[k]
	return e, ok && now.Before(e.until)
}

func (f *failures) put(now time.Time, k key, o fleet.Outcome, until time.Time) {
	if _, ok := f.entries[k]; !ok && len(f.entries) >= maxEntries {
		f.makeRoom(now)
	}
	f.filled++
	f.entries[k] = entry{outcome: o, since: now, until: until, order: f.filled}
}

// makeRoom drops what has ended, else the oldest. The table is small enough
// to be walked.
func (f *failures) makeRoom(now time.Time) {
	var oldest key
	var least uint64
	for k, e := range f.entries {
		if !now.Before(e.until) {
			delete(f.entries, k)
		} else if least == 0 || e.order < least {
			oldest, least = k, e.order
		}
	}
	if len(f.entries) >= maxEntries {
		delete(f.entries, oldest)
	}
}

// drop deletes an entry that a success has disproved. A success that was asked
// for before the refusal came says nothing about what came after it.
func (f *failures) drop(k key, asked time.Time) {
	if e, ok := f.entries[k]; ok && (asked.IsZero() || !asked.Before(e.since)) {
		delete(f.entries, k)
	}
}

// Lesson is what an attempt taught about its endpoint.
type Lesson struct {
	Endpoint fleet.EndpointID
	Method   string
	Start    time.Time // when the attempt was handed over; zero: not known
	Outcome  fleet.Outcome
	// RetryAfter is how long the endpoint asked to be left alone; 0 if it
	// gave no hint.
	RetryAfter time.Duration
}

// Learn fills or clears the failure cache from what an attempt ended as. An
// outcome of our own making (origin local) teaches nothing; nor do time-outs,
// 5xx and pruned state, which belong to others. There is no way to learn from
// a denial. It returns how long the endpoint rests for the throttle that the
// lesson tells of; 0: it told of none.
func (g *Gatekeeper) Learn(now time.Time, l Lesson) time.Duration {
	if l.Outcome.Origin == fleet.OriginLocal {
		return 0
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch o := l.Outcome; {
	case o.Class == fleet.ClassRemoteDenial:
		g.failures.put(now, key{endpoint: l.Endpoint}, o, now.Add(refusedFor))
	// A tag or a parameter that is not understood says nothing of other calls.
	case o.Class == fleet.ClassUnsupported && o.Sub == fleet.SubMethod:
		g.failures.put(now, key{endpoint: l.Endpoint, method: l.Method}, o, now.Add(refusedFor))
	case o.Class == fleet.ClassRateLimited && o.Sub != fleet.SubSender:
		return g.hold(now, l)
	case o.Charge() == fleet.ChargeSuccess:
		g.failures.drop(key{endpoint: l.Endpoint}, l.Start)
		g.failures.drop(key{endpoint: l.Endpoint, hold: true}, l.Start)
		g.failures.drop(key{endpoint: l.Endpoint, method: l.Method}, l.Start)
		if gt := g.gate(l.Endpoint); l.Start.IsZero() || !l.Start.Before(gt.held) {
			gt.strikes = 0
		}
	}
	return 0
}

// hold rests a throttled endpoint: as long as it asked, else a second, and
// twice as long each time that it throttles again right after a rest.
func (g *Gatekeeper) hold(now time.Time, l Lesson) time.Duration {
	k := key{endpoint: l.Endpoint, hold: true}
	gt := g.gate(l.Endpoint)
	was, held := g.failures.live(now, k)
	if !held {
		// Answers that were in flight together are one throttle.
		gt.strikes++
		gt.held = now
	}
	rest, longest := l.RetryAfter, longestRest
	if l.Outcome.Sub == fleet.SubQuota {
		longest = quotaLimit
		if rest <= 0 {
			rest = quotaRest
		}
	}
	if rest <= firstRest {
		rest = firstRest << min(gt.strikes-1, 10)
	}
	until := now.Add(min(rest, longest))
	if held && was.until.After(until) {
		until = was.until
	}
	g.failures.put(now, k, l.Outcome, until)
	return until.Sub(now)
}
