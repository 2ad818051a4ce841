package failover

import (
	"math"
	"slices"

	"example.com/rpctop/internal/fleet"
)

const (
	costMost   = 60_000.0 // ms
	errMost    = 0.98
	priorBad   = 0.5
	priorGood  = 9.5
	upper90    = 1.2815515655446004 // one-sided 90 % of the normal distribution
	holdMost   = 2_000.0            // ms
	enough     = 3.0                // successes of a kind before its own latency counts
	coldFactor = 1.25
)

// costs gives the cost terms of each endpoint of a chain for a kind of method,
// in the order of the chain's endpoints.
func (s *State) costs(c *Chain, kind fleet.Kind) []fleet.CostTerms {
	lat := make([]float64, len(c.Endpoints)) // ms; NaN: not one success
	for i, e := range c.Endpoints {
		lat[i] = e.typical(kind, s.At)
	}
	cold := coldLatency(lat)
	terms := make([]fleet.CostTerms, len(c.Endpoints))
	for i, e := range c.Endpoints {
		t := fleet.CostTerms{Known: !math.IsNaN(lat[i]), Latency: cold}
		if t.Known {
			t.Latency = lat[i]
		}
		terms[i] = e.cost(t, s.At, c.alternative(lat, i, t.Latency), kind)
	}
	return terms
}

// typical is the 70th percentile of an endpoint's successes for a kind in ms;
// while it has too few of the kind, those of its probes; NaN without any.
func (e *Endpoint) typical(kind fleet.Kind, at fleet.Millis) float64 {
	for _, k := range [...]fleet.Kind{kind, fleet.KindHead} {
		d := e.Latency[kindIndex(k)]
		if d.weight(at) < enough && k != fleet.KindHead {
			continue
		}
		if v, ok := d.quantile(0.7); ok {
			return float64(v) / 1000
		}
	}
	return math.NaN()
}

// coldLatency is what an endpoint without a success is taken for: the median
// of the others x 1.25.
func coldLatency(lat []float64) float64 {
	known := make([]float64, 0, len(lat))
	for _, v := range lat {
		if !math.IsNaN(v) {
			known = append(known, v)
		}
	}
	if len(known) == 0 {
		return 0
	}
	slices.Sort(known)
	mid := known[(len(known)-1)/2]
	if len(known)%2 == 0 {
		mid = (mid + known[len(known)/2]) / 2
	}
	return float64(mid * coldFactor)
}

// alternative is the latency of the best other endpoint without a gate.
func (c *Chain) alternative(lat []float64, me int, own float64) float64 {
	best := math.NaN()
	for i, e := range c.Endpoints {
		if i != me && e.Gate == nil && !math.IsNaN(lat[i]) && !(lat[i] >= best) {
			best = lat[i]
		}
	}
	if math.IsNaN(best) {
		return own
	}
	return best
}

// cost is the expected time in ms to a usable answer:
// L + e/(1-e) x (F + L_alt) + a x lag + q x R + offset.
func (e *Endpoint) cost(t fleet.CostTerms, at fleet.Millis, alt float64, kind fleet.Kind) fleet.CostTerms {
	good, bad := e.Good.at(at), e.Bad.at(at)
	t.ErrBound = errorBound(good, bad)
	lost := (e.Lost.at(at) + float64(2*t.Latency)) / (bad + 1)
	t.Error = float64(t.ErrBound / (1 - t.ErrBound) * (lost + alt))
	if e.Lag != nil {
		t.Lag = float64(lagFactor(kind) * float64(*e.Lag))
	}
	if n := e.Throttles.at(at); n > 0 {
		q := n / (good + bad + n)
		t.Throttle = float64(q * min(e.Held.at(at)/n, holdMost))
	}
	t.Offset = float64(e.Spec.Offset) / 1000
	t.Total = min(t.Latency+t.Error+t.Lag+t.Throttle+t.Offset, costMost)
	return t
}

// errorBound is the upper 90 % bound of the failure rate: the beta posterior
// of a prior of half a failure in ten, by its mean and deviation.
func errorBound(good, bad float64) float64 {
	a, b := priorBad+bad, priorGood+good
	n := a + b
	mean := a / n
	variance := float64(mean*(1-mean)) / (n + 1)
	return min(mean+float64(upper90*math.Sqrt(variance)), errMost)
}

// lagFactor is what a millisecond of lag costs.
func lagFactor(kind fleet.Kind) float64 {
	switch kind {
	case fleet.KindHead, fleet.KindState, fleet.KindSubmit:
		return 0.5
	case fleet.KindLogs, fleet.KindHistory, fleet.KindOther:
		return 0.1
	}
	return 0
}
