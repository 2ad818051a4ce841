package failover

import (
	"cmp"
	"slices"

	"example.com/rpctop/internal/fleet"
)

// measure takes an endpoint's own sample to its lag, to the skew of the chain,
// and to leaving stale.
func (c *Chain) measure(e *Endpoint, start fleet.Millis) {
	c.setLag(e, start)
	if e.Lag == nil {
		return
	}
	soft, hard, _ := c.bounds()
	c.leaveOrEnterStale(e, *e.Lag, soft, hard)
	if *e.Lag < soft {
		e.Skew = e.Skew.add(start, fleet.Micros(*e.Lag), 1)
	}
}

// setLag sets an endpoint's lag as of its own sample, so that neither our
// polling phase nor our own budget makes it late.
func (c *Chain) setLag(e *Endpoint, start fleet.Millis) {
	if e.Head == nil || c.Ref == nil || e.Forked != "" || !e.identified(c) {
		e.Lag, e.LagBlocks, e.LagFrom = nil, nil, ""
		return
	}
	lag, from := c.lagOf(*e.Head, start)
	n := int64(0)
	if c.Ref.Number > e.Head.Number {
		n = int64(min(c.Ref.Number-e.Head.Number, 1<<62))
	}
	e.Lag, e.LagBlocks, e.LagFrom = &lag, &n, from
}

// lagOf is the time by which a head was late at a moment: since the first
// sighting of the height after it, or, where that was not observed, by the
// timestamps of the blocks.
func (c *Chain) lagOf(h fleet.Head, start fleet.Millis) (fleet.Millis, string) {
	if h.Number >= c.Ref.Number {
		return 0, "at the reference head"
	}
	i, _ := slices.BinarySearchFunc(c.Sightings, h.Number+1, func(s Sighting, n uint64) int { return cmp.Compare(s.Number, n) })
	if i < len(c.Sightings) && c.Sightings[i].Observed {
		return max(0, start-c.Sightings[i].At), "since block " + utoa(h.Number+1) + " was first seen"
	}
	if c.Ref.Time <= h.Time {
		return 0, "by block timestamps"
	}
	lag := fleet.Millis(min(c.Ref.Time-h.Time, 1<<40)) * 1000
	if lag <= 2_000 {
		lag = 0
	}
	return lag, "by block timestamps"
}

func (c *Chain) leaveOrEnterStale(e *Endpoint, lag, soft, hard fleet.Millis) {
	switch {
	case lag >= hard:
		e.Stale, e.FreshRun = true, 0
	case !e.Stale:
	case lag >= soft:
		e.FreshRun = 0
	case e.Head.Number >= c.Ref.Number || e.Head.Number > e.FreshHead:
		e.FreshRun, e.FreshHead = e.FreshRun+1, e.Head.Number
		if e.FreshRun >= 2 {
			e.Stale, e.FreshRun = false, 0
		}
	}
}

// bounds gives the soft and the hard lag limit, and which term decided.
func (c *Chain) bounds() (soft, hard fleet.Millis, why string) {
	if c.Spec.LagSoft > 0 && c.Spec.LagHard > 0 {
		return c.Spec.LagSoft, c.Spec.LagHard, "set in the config"
	}
	bt := c.Spec.BlockTime
	soft, why = 2*bt, "2 blocks"
	if soft < 2_000 {
		soft, why = 2_000, "2 s"
	}
	if skew := c.skew(); float64(skew)*1.5 > float64(soft) {
		soft, why = fleet.Millis(float64(skew)*1.5), "1.5 x the skew of the endpoints"
	}
	soft = min(soft, 45_000)
	hard = min(max(4*bt, 30_000, 2*soft), 90_000)
	return soft, max(hard, soft+1), why
}

// skew is the 95th percentile of the lags of a typical endpoint: the lower
// median over the endpoints, so that a laggard does not excuse itself.
func (c *Chain) skew() fleet.Millis {
	all := make([]fleet.Millis, 0, len(c.Endpoints))
	for _, e := range c.Endpoints {
		if v, ok := e.Skew.quantile(0.95); ok {
			all = append(all, fleet.Millis(v))
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[(len(all)-1)/2]
}

// late reports whether an endpoint's last lag is at or beyond the soft limit,
// or what it says of its own blocks does not fit together, so that its head
// cannot be relied on.
func (c *Chain) late(e *Endpoint) bool {
	soft, _, _ := c.bounds()
	return e.lateBy(soft)
}

func (e *Endpoint) lateBy(soft fleet.Millis) bool {
	return e.Lag != nil && (*e.Lag >= soft || e.SelfOdd != "")
}

// stalled reports whether nobody has advanced for a time that is the chain's.
func (c *Chain) stalled(at fleet.Millis) bool {
	return c.Ref != nil && at-c.Ref.Since > max(10*c.Spec.BlockTime, 60_000)
}
