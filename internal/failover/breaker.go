package failover

import (
	"example.com/rpctop/internal/fleet"
)

const (
	backoffFirst = 1_000  // ms
	backoffMost  = 60_000 // ms
	goodRounds   = 3      // that close the breaker
	refusedPace  = 600_000
)

// judgeBreaker takes a probe round to the breaker: failures open it or double
// its back-off; a round that agrees on chain id and head counts towards closing
// once its call at that hash has succeeded too.
func (e *Endpoint) judgeBreaker(s *State, in fleet.Sample) {
	switch {
	case in.Outcome.Charge() == fleet.ChargeFailure:
		e.tripBreaker(s, in.Outcome)
	case e.Breaker.Open:
		e.Breaker.Pending = in.Head != nil && in.ChainIDClass == fleet.ClassOK
		if !e.Breaker.Pending {
			e.Breaker.Rounds = 0
		}
	}
}

// tripBreaker judges one more attributable failure, which is counted already.
func (e *Endpoint) tripBreaker(s *State, o fleet.Outcome) {
	b := &e.Breaker
	b.Pending, b.Rounds = false, 0
	if b.Open {
		b.Backoff = min(2*b.Backoff, backoffMost)
		return
	}
	n, bad := 0, 0
	for _, w := range e.Window {
		n, bad = n+w.N, bad+w.Bad
	}
	switch {
	case e.Run >= s.Policy.BreakerRun:
		b.Why = itoa(int64(e.Run)) + " failures in a row, last " + o.Evidence()
	case n >= s.Policy.BreakerOf && float64(bad) >= float64(s.Policy.BreakerRatio*float64(n)):
		b.Why = itoa(int64(bad)) + " of " + itoa(int64(n)) + " attempts failed in " + span(s.Policy.BreakerWithin) + ", last " + o.Evidence()
	default:
		return
	}
	b.Open, b.Since, b.Backoff = true, s.At, backoffFirst
	b.Openings++
}

// breakerRound takes the call at the latest hash, the last question of a round
// that may close the breaker.
func (e *Endpoint) breakerRound(s *State, o fleet.Outcome) {
	b := &e.Breaker
	if !b.Open || !b.Pending {
		return
	}
	b.Pending = false
	switch o.Charge() {
	case fleet.ChargeSuccess:
		if b.Rounds++; b.Rounds >= goodRounds {
			*b = Breaker{Openings: b.Openings}
			e.Window = nil // what opened it does not count twice
		}
	case fleet.ChargeFailure:
		e.tripBreaker(s, o)
	default:
		b.Rounds = 0
	}
}

// Pace says at which interval an endpoint should be probed instead of its own,
// and whether the rounds must be deep (chain id and a call at the latest hash);
// 0: its own pace. A spread of a fifth keeps endpoints out of step.
func (s *State) Pace(chain string, e *Endpoint) (every fleet.Millis, deep bool) {
	switch {
	case e.Refused != nil:
		return refusedPace, false
	case e.Breaker.Open:
		return s.jitter(chain, e.Spec.Name, uint64(e.Breaker.Backoff)+e.Failures, e.Breaker.Backoff), true
	}
	return 0, false
}

// jitter spreads a duration by up to a fifth either way: a hash of the seed,
// the endpoint and a counter, the same in each replay.
func (s *State) jitter(chain, name string, counter uint64, d fleet.Millis) fleet.Millis {
	h := uint64(14695981039346656037)
	mix := func(b byte) { h = (h ^ uint64(b)) * 1099511628211 }
	for i := range 8 {
		mix(byte(s.Seed >> (8 * i)))
		mix(byte(counter >> (8 * i)))
	}
	for i := range len(chain) {
		mix(chain[i])
	}
	mix(0)
	for i := range len(name) {
		mix(name[i])
	}
	h ^= h >> 31
	h *= 0x9e3779b97f4a7c15
	return d + d*fleet.Millis(int64(h>>54)-512)/2560
}
