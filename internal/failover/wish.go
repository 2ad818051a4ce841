package failover

import (
	"slices"

	"example.com/rpctop/internal/fleet"
)

// wishSlack is the time beyond twice the time-out after which a question
// counts as unanswered.
const wishSlack = 2_000 // ms

// wish asks for a question to be put to an endpoint, delay from now.
func (f *fold) wish(c *Chain, e *Endpoint, w fleet.Wish) {
	c.LastWish++
	w.ID, w.Endpoint, w.At = c.LastWish, e.Spec.Name, f.s.At
	w.Until = w.At + w.Delay + 2*e.Spec.Timeout + wishSlack
	c.Wishes = append(c.Wishes[:len(c.Wishes):len(c.Wishes)], w)
}

// granted takes a reading to the wish that it answers; false if nobody waits
// for it any more.
func (c *Chain) granted(in fleet.Reading) bool {
	what := in.What
	if what == fleet.ReadWatchHead {
		return c.wished(func(w fleet.Wish) bool {
			return w.Endpoint == in.Endpoint.Name && w.What == fleet.ReadWatch && w.Watch == ""
		})
	}
	find := func(watch string) int {
		return slices.IndexFunc(c.Wishes, func(w fleet.Wish) bool {
			return w.Endpoint == in.Endpoint.Name && w.What == what && w.Number == in.Number && w.Watch == watch &&
				(what != fleet.ReadWatch || w.Hash == in.Hash)
		})
	}
	i := find(in.Watch)
	if i < 0 && in.Watch != "" {
		i = find("") // a wish for all watches
	}
	if i < 0 {
		return false
	}
	if w := c.Wishes[i]; what != fleet.ReadWatch || w.Watch != "" {
		c.Wishes = slices.Delete(slices.Clone(c.Wishes), i, i+1)
	}
	return true // a wish for all watches stands until its round has ended
}

func (c *Chain) wished(is func(fleet.Wish) bool) bool { return slices.ContainsFunc(c.Wishes, is) }

// drop takes wishes back.
func (c *Chain) drop(is func(fleet.Wish) bool) {
	if c.wished(is) {
		c.Wishes = slices.DeleteFunc(slices.Clone(c.Wishes), is)
	}
}

// expire drops the questions that nobody has answered in time.
func (f *fold) expire(c *Chain) {
	c.drop(func(w fleet.Wish) bool { return w.Until <= f.s.At })
}

// comparePace is the distance of two comparisons of an endpoint: each round of
// one's own, every third of somebody else's.
func comparePace(e *Endpoint) fleet.Millis {
	every := max(e.Spec.Every, 1)
	if e.Spec.Local {
		return every
	}
	return 3 * every
}

// comparable reports whether an endpoint may be asked about block n: it may
// serve, or is held apart for its fork and may have healed.
func (c *Chain) comparable(e *Endpoint, n uint64) bool {
	return e.identified(c) && e.Head != nil && e.Head.Number >= n && (e.Gate == nil || gateName(e.Gate) == GateForked && e.parted())
}

// compare keeps the comparison of a chain's endpoints going. It runs with each
// tick, and when an answer has come in.
func (f *fold) compare(c *Chain) {
	f.expire(c)
	f.judgeCommon(c)
	f.judgeSplit(c)
	f.settled(c)
	f.judgeWatches(c)
	f.openRound(c)
}

// Due gives a state in which every endpoint is due for a comparison: a check
// has rounds, and no clock.
func Due(s *State) *State {
	next := *s
	next.Chains = slices.Clone(s.Chains)
	for i, c := range s.Chains {
		own := *c
		own.Endpoints = slices.Clone(c.Endpoints)
		for j, e := range c.Endpoints {
			due := *e
			due.Compared = 0
			own.Endpoints[j] = &due
		}
		next.Chains[i] = &own
	}
	return &next
}
