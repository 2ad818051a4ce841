package failover

import (
	"cmp"
	"slices"

	"example.com/rpctop/internal/fleet"
)

const (
	keptSightings = 1024
	keptKnown     = 256
	backstepSpan  = 10 * 60_000 // ms
	futureBound   = 15_000      // ms that a block's timestamp may be ahead of us
	confirmedFor  = 10 * 60_000 // ms that a proof of the reference hash stands
	confirmTries  = 3
	refForgotten  = 60_000 // ms after which a lower head of all replaces the reference
)

// see takes an endpoint's head.
func (e *Endpoint) see(h fleet.Head, start fleet.Millis) {
	steps := make([]fleet.Millis, 0, len(e.Backsteps)+1)
	for _, t := range e.Backsteps {
		if t > start-backstepSpan {
			steps = append(steps, t)
		}
	}
	if e.Head != nil && h.Number < e.Head.Number {
		steps = append(steps, start)
	}
	e.Backsteps = steps
	e.Head, e.HeadAt = &h, start
}

// counts reports whether an endpoint's head may support a reference: its
// identity is right and its block is not from the future.
func (f *fold) counts(c *Chain, e *Endpoint) bool {
	return e.Head != nil && e.identified(c) && !f.future(e)
}

// future compares whole seconds as they came: a liar's may be any 64 bits.
func (f *fold) future(e *Endpoint) bool {
	return e.Head != nil && e.Head.Time > uint64(max(0, f.s.Wall()+futureBound))/1000
}

// advance finds the reference head anew, after an endpoint's head or identity
// changed; at is when the answer came in.
func (f *fold) advance(c *Chain, at fleet.Millis) {
	support, corroborated, ok := f.support(c)
	if !ok {
		return
	}
	// One voice among several operators proves nothing, so its blocks prove none.
	trusted := corroborated || c.oneOperator()
	best := support
	for i, e := range c.Endpoints {
		if e.parted() {
			continue // only hashes heal what hashes have shown
		}
		if !f.counts(c, e) {
			if f.future(e) && e.identified(c) {
				f.endpoint(c, i).fork(forkFuture, "its head's timestamp, "+utoa(e.Head.Time)+", lies in the future")
			}
			continue
		}
		e = f.endpoint(c, i)
		if e.OddAt != 0 {
			// It has shown another block than the others': only its own proof ends that.
			if c.knows(e.Head.Number, e.Head.Hash) {
				e.unfork()
			} else {
				e.Confirm, e.ConfirmOf = support.Number, support.Hash
			}
			continue
		}
		if e.Head.Number <= support.Number {
			e.unfork()
			if trusted {
				c.know(*e.Head)
			}
			continue
		}
		if !c.proven(e, support, f.s.At) {
			continue
		}
		e.unfork()
		c.know(*e.Head)
		if e.Head.Number > best.Number {
			best = *e.Head
		}
	}
	if c.refer(best, corroborated, at) {
		f.remeasure(c)
	}
}

// remeasure judges again, by block timestamps, those that have been sampled
// once only: they answered before anybody had shown how far the chain is.
func (f *fold) remeasure(c *Chain) {
	for i, e := range c.Endpoints {
		if e.Samples == 1 && e.Head != nil && e.Head.Number < c.Ref.Number {
			e = f.endpoint(c, i)
			c.setLag(e, e.HeadAt)
			_, hard, _ := c.bounds()
			e.Stale = e.Lag != nil && *e.Lag >= hard
		}
	}
}

// support is the highest head that two operators have reached; with one
// operator it is that one's, uncorroborated.
func (f *fold) support(c *Chain) (h fleet.Head, corroborated, ok bool) {
	if h, corroborated, ok = f.supportOf(c, false); ok {
		return h, corroborated, true
	}
	// Those whom nobody confirms are all that is left: nobody contradicts them either.
	return f.supportOf(c, true)
}

func (f *fold) supportOf(c *Chain, unconfirmed bool) (h fleet.Head, corroborated, ok bool) {
	heads := make([]fleet.Head, 0, 8)
	operators := make([]string, 0, 8)
	for _, e := range c.Endpoints {
		if !f.counts(c, e) || e.Forked != "" && !(unconfirmed && !e.parted()) {
			continue
		}
		if i := slices.Index(operators, e.Spec.Operator); i < 0 {
			operators, heads = append(operators, e.Spec.Operator), append(heads, *e.Head)
		} else if e.Head.Number > heads[i].Number {
			heads[i] = *e.Head
		}
	}
	switch len(heads) {
	case 0:
		return h, false, false
	case 1:
		return heads[0], false, true
	}
	slices.SortStableFunc(heads, func(a, b fleet.Head) int { return cmp.Compare(b.Number, a.Number) })
	return heads[1], true, true
}

func (c *Chain) oneOperator() bool {
	return !slices.ContainsFunc(c.Endpoints, func(e *Endpoint) bool { return e.Spec.Operator != c.Endpoints[0].Spec.Operator })
}

// proven reports whether a head above what two operators support counts all
// the same: its parent is known, or the endpoint has shown our reference hash,
// and its height is plausible by its timestamp. If it does not, the endpoint is
// asked, and called forked when it cannot be right.
func (c *Chain) proven(e *Endpoint, support fleet.Head, at fleet.Millis) bool {
	if e.Head.Number == support.Number+1 && e.Head.Parent == support.Hash ||
		c.knows(e.Head.Number-1, e.Head.Parent) {
		return true
	}
	n := e.Head.Number - support.Number
	if !c.plausible(e, support) {
		e.Ahead, e.Confirm = true, 0
		e.fork(forkUnconfirmed, "ahead by "+utoa(n)+" blocks at "+utoa(e.Head.Number)+", nobody confirms, and its timestamp does not explain it")
		return false
	}
	if e.Confirmed != 0 && at-e.Confirmed < confirmedFor {
		return true
	}
	e.Ahead = true
	e.Confirm, e.ConfirmOf = support.Number, support.Hash
	if e.Denies >= confirmTries {
		e.fork(forkUnconfirmed, "ahead by "+utoa(n)+" blocks at "+utoa(e.Head.Number)+", nobody confirms, and it does not show block "+utoa(support.Number))
	}
	return false
}

// plausible: the height differs by no more than three times what the block
// timestamps allow, plus one. Timestamps are whole seconds, hence one more.
func (c *Chain) plausible(e *Endpoint, support fleet.Head) bool {
	if e.Head.Number <= support.Number {
		return true
	}
	if e.Head.Time < support.Time {
		return false
	}
	bt := uint64(max(c.Spec.BlockTime, 1))
	seconds := min(e.Head.Time-support.Time+1, 1<<40)
	return e.Head.Number-support.Number <= 3*seconds*1000/bt+1
}

// confirm takes the endpoint's block at the height of our reference.
func (e *Endpoint) confirm(c *Chain, in fleet.Reading, at fleet.Millis) {
	if e.Confirm == 0 || in.Number != e.Confirm {
		return // the question has changed meanwhile
	}
	switch {
	case !in.Outcome.OK() || in.Hash.IsZero():
		e.Denies++
	case in.Hash == e.ConfirmOf || c.knows(in.Number, in.Hash):
		e.unfork()
		e.Confirmed = at
	case e.OddAt == 0:
		e.OddAt = at // a reorg, or a fork: the comparison at the common block tells
	}
}

// Why an endpoint's chain is called forked; it says what ends that.
const (
	forkFuture      = "future"      // a block from the future
	forkUnconfirmed = "unconfirmed" // far ahead, and nobody confirms
	forkCommon      = "common"      // another block at the common height, see common.go
	forkFinality    = "finality"    // another finalized block, see finality.go
)

func (e *Endpoint) fork(by, evidence string) { e.ForkedBy, e.Forked = by, evidence }

func (e *Endpoint) unfork() {
	e.Ahead, e.Forked, e.ForkedBy, e.Confirm, e.Denies, e.OddAt = false, "", "", 0, 0, 0
	e.ForkAt, e.ForkDepth = 0, 0
}

func (c *Chain) knows(n uint64, h fleet.Hash) bool {
	return !h.IsZero() && slices.Contains(c.Known, Known{n, h})
}

func (c *Chain) know(h fleet.Head) {
	if c.knows(h.Number, h.Hash) {
		return
	}
	c.Known = append(slices.Clone(c.Known[max(0, len(c.Known)-keptKnown+1):]), Known{h.Number, h.Hash})
}

// refer moves the reference head. A lower one replaces it only when the higher
// one was not seen for a while, since a single load-balanced URL may step back.
// It reports a move that nobody saw happen: what was there when we looked.
func (c *Chain) refer(h fleet.Head, corroborated bool, at fleet.Millis) (unseen bool) {
	old := c.Ref
	switch {
	case old == nil:
		c.Sightings = []Sighting{{h.Number, at, false}}
	case h.Number == old.Number:
		ref := *old
		ref.Corroborated = corroborated
		if corroborated {
			ref.Head = h // after a reorg at one height
		}
		c.Ref = &ref
		return false
	case h.Number < old.Number:
		trusted := old.Corroborated || !corroborated
		if trusted && at-old.Since <= max(refForgotten, 10*c.Spec.BlockTime) {
			return false
		}
		c.Sightings = []Sighting{{h.Number, at, false}}
	default:
		made := 3*int64(max(at-old.Since, 0))/int64(max(c.Spec.BlockTime, 1)) + 2
		seen := Sighting{h.Number, at, h.Number-old.Number <= uint64(made)}
		c.Sightings = append(slices.Clone(c.Sightings[max(0, len(c.Sightings)-keptSightings+1):]), seen)
	}
	c.Ref = &Ref{Head: h, Since: at, Corroborated: corroborated}
	return !c.Sightings[len(c.Sightings)-1].Observed
}
