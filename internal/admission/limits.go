package admission

import (
	"math"
	"time"

	"golang.org/x/time/rate"

	"example.com/rpctop/internal/fleet"
)

// Limits are what we impose on ourselves, globally or for one endpoint. A zero
// (or negative) number is no limit.
type Limits struct {
	RPS      float64 // requests a second, members of a batch counted
	Burst    int     // tokens the bucket holds; 0: one second's worth, at least 1
	InFlight int     // requests handed over and not answered yet
	PerDay   int64   // units between 00:00 and 24:00 UTC
	PerMonth int64   // units in a calendar month, UTC
	// Units is a method's cost as the provider counts; "*" is the cost of
	// those not named, else 1.
	Units map[string]int64
}

// defaultRecovery is the one bucket that all recoveries of a process share.
// It is conservative: a recovery polls a receipt and a few allowances.
var defaultRecovery = Limits{RPS: 5, Burst: 20}

// cost is what a method costs in units.
func (l Limits) cost(method string) int64 {
	for _, m := range [...]string{method, "*"} {
		if u, ok := l.Units[m]; ok {
			return max(u, 0)
		}
	}
	return 1
}

// reserved reports whether a caller may use what is kept back from clients'
// traffic, so that a busy proxy never blinds the operator.
func reserved(c fleet.Caller) bool {
	return c != fleet.CallerProxy && c != fleet.CallerExport
}

// bucket is a rate with its reserve. Clients' traffic pays into both limiters,
// everybody else into the whole one: a fifth is out of the clients' reach. The
// zero value admits everything.
type bucket struct {
	whole *rate.Limiter
	open  *rate.Limiter
}

func newBucket(l Limits) bucket {
	if !(l.RPS > 0) {
		return bucket{}
	}
	burst := l.Burst
	if burst <= 0 {
		burst = max(1, int(math.Ceil(min(l.RPS, 1e9))))
	}
	open := max(1, burst-(burst+4)/5)
	return bucket{
		whole: rate.NewLimiter(rate.Limit(l.RPS), burst),
		open:  rate.NewLimiter(rate.Limit(l.RPS)*4/5, open),
	}
}

// each calls f for the limiters that a caller pays into.
func (b bucket) each(c fleet.Caller, f func(*rate.Limiter)) {
	if b.whole == nil {
		return
	}
	f(b.whole)
	if !reserved(c) {
		f(b.open)
	}
}

// wait is how long it takes until n requests fit; 0: they fit now. A batch
// larger than the bucket fits a full one, and leaves a debt.
func (b bucket) wait(now time.Time, n int, c fleet.Caller) time.Duration {
	var longest time.Duration
	b.each(c, func(l *rate.Limiter) {
		missing := float64(min(n, l.Burst())) - l.TokensAt(now)
		// Less than a nanosecond's worth of tokens is rounding.
		longest = max(longest, time.Duration(missing/float64(l.Limit())*float64(time.Second)))
	})
	return longest
}

// take pays for n requests; wait has said that they fit.
func (b bucket) take(now time.Time, n int, c fleet.Caller) {
	b.each(c, func(l *rate.Limiter) {
		for left := n; left > 0; left -= l.Burst() {
			l.ReserveN(now, min(left, l.Burst()))
		}
	})
}

// slots is an in-flight cap with its reserve. A cap of 0 is none.
type slots struct {
	limit int
	used  int // by everybody
	open  int // of these, by clients' traffic
}

// keptBack is how many slots clients' traffic cannot have.
const keptBack = 2

func (s *slots) fits(c fleet.Caller) bool {
	switch {
	case s.limit <= 0:
		return true
	case s.used >= s.limit:
		return false
	default:
		return reserved(c) || s.open < max(1, s.limit-keptBack)
	}
}

func (s *slots) add(c fleet.Caller, n int) {
	s.used += n
	if !reserved(c) {
		s.open += n
	}
}
