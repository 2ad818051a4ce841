package config

import "time"

// What probing costs, in calls per ten rounds. Ten rounds ask for the block
// ten times, for safe, finalized, client and syncing once each, and for the
// chain id once; of a local endpoint the chain id is asked in each round.
const (
	callsInTen      = 10 + 4 + 1
	callsInTenLocal = 10 + 4 + 10
)

// ProbePlan gives the pause between two rounds and the calls a day that this
// pace costs. A pace set by hand is taken as it is. Without a budget a round
// comes every max(1 s, block time / 2). With one, nine tenths of it are spread
// over the day (the last tenth is kept for suspicion), never faster than that;
// common blocks and watches are asked as far as the rest of the budget allows.
func (e Endpoint) ProbePlan(blockTime time.Duration) (every time.Duration, callsPerDay int64) {
	calls := int64(callsInTen)
	if e.Local {
		calls = callsInTenLocal
	}
	every = max(time.Second, blockTime/2)
	switch {
	case e.Probe.Every > 0:
		every = e.Probe.Every
	case e.Probe.PerDay > 0:
		// every = day x (calls / 10) / (9/10 x budget)
		spread := time.Duration(float64(day) * float64(calls) / float64(9*e.Probe.PerDay))
		every = max(every, roundUp(spread, time.Millisecond))
	}
	return every, int64(day/every) * calls / 10
}

func roundUp(d, unit time.Duration) time.Duration { return (d + unit - 1) / unit * unit }
