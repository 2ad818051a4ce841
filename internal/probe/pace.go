package probe

import (
	"hash/fnv"
	"time"

	"example.com/rpctop/internal/fleet"
)

const (
	minEvery  = time.Second      // between suspicion probes, and where no pace is given
	maxHold   = 5 * time.Minute  // of a throttle
	maxQuota  = time.Hour        // of a quota that is used up
	refused   = 10 * time.Minute // between probes of an endpoint that refuses us
	tenth     = 10               // rounds from one full round to the next
	third     = 3                // rounds from one comparison with the others to the next
	hundredth = 100              // rounds from one look at block 0 to the next
)

func everyOf(s fleet.EndpointSpec) time.Duration {
	if s.Every > 0 {
		return time.Duration(s.Every) * time.Millisecond
	}
	return minEvery
}

// CallsPerRound is the mean number of calls of a regular round on a kept
// connection: the head, the chain id, what every 10th and every 100th round
// asks, and the comparison with the others in every third, in each round of
// one's own endpoints.
func CallsPerRound(c fleet.ChainSpec, s fleet.EndpointSpec) float64 {
	const full = 4.0/tenth + 1.0/hundredth
	compare := 0.0
	if n := len(c.Watches); n > 0 {
		compare = 1 + 1 + 2*float64(n) // the common block, the head, each watch at both
	} else if len(c.Endpoints) > 1 {
		compare = 1
	}
	if s.Local {
		return 1 + 1 + full + compare
	}
	return 1 + 1.0/tenth + full + compare/third
}

// CallsPerDay is what probing will cost an endpoint on a quiet day, for the
// sentence "N calls a day per endpoint". Suspicion comes on top, within the
// same budget.
func CallsPerDay(c fleet.ChainSpec, s fleet.EndpointSpec) int64 {
	n := int64(day.Seconds() / everyOf(s).Seconds() * CallsPerRound(c, s))
	if s.PerDay > 0 {
		n = min(n, s.PerDay-s.PerDay/10)
	}
	return n
}

// spread hashes an endpoint's name into a number that differs from run to run
// only with the seed.
func spread(seed uint64, id fleet.EndpointID, purpose byte) uint64 {
	h := fnv.New64a()
	var b [9]byte
	for i := range 8 {
		b[i] = byte(seed >> (8 * i))
	}
	b[8] = purpose
	h.Write(b[:])
	h.Write([]byte(id.Chain))
	h.Write([]byte{0})
	h.Write([]byte(id.Name))
	x := h.Sum64() // similar names differ in few bits of it: mix
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// stretch gives the pace at which the calls that are left last until midnight,
// at least every.
func stretch(every time.Duration, perRound float64, left int64, untilMidnight time.Duration) time.Duration {
	if left <= 0 {
		return untilMidnight
	}
	return max(every, time.Duration(untilMidnight.Seconds()*perRound/float64(left)*float64(time.Second)))
}
