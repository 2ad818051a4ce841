package failover

import (
	"slices"

	"example.com/rpctop/internal/fleet"
)

const (
	backendTries = 3
	backendPause = 200         // ms between two of them
	splitShown   = 10 * 60_000 // ms for which split-backend stays shown
	duePart      = 4           // a comparison may come a quarter of a pace early
)

// Common is the block at which a chain's endpoints are compared: one below the
// lowest head of those without a gate, so that each should have it.
type Common struct {
	Number  uint64         `json:"n"`
	Hash    fleet.Hash     `json:"hash"` // what all said; zero: not judged, or not one
	At      fleet.Millis   `json:"at"`
	Judged  bool           `json:"judged"`
	Answers []CommonAnswer `json:"answers"` // of those who were asked, in their order
}

// CommonAnswer is one endpoint's block at the height; a zero hash means that
// it told none.
type CommonAnswer struct {
	Endpoint string     `json:"e"`
	Hash     fleet.Hash `json:"h"`
	Tries    int        `json:"t"` // answers that it has no such block
}

// openRound chooses the next common block when it is time, and asks for it.
func (f *fold) openRound(c *Chain) {
	if c.Common != nil && !c.Common.Judged || c.Split != nil && c.Split.Ask != nil || c.watching() {
		return
	}
	low, free := uint64(0), 0
	for _, e := range c.Endpoints {
		if e.Gate == nil && c.comparable(e, 1) {
			if free == 0 || e.Head.Number < low {
				low = e.Head.Number
			}
			free++
		}
	}
	if free == 0 {
		return
	}
	n := low - 1
	due, able := make([]int, 0, len(c.Endpoints)), 0
	for i, e := range c.Endpoints {
		if !c.comparable(e, n) {
			continue
		}
		able++
		if pace := comparePace(e); e.Compared == 0 || f.s.At-e.Compared >= pace-pace/duePart {
			due = append(due, i)
		}
	}
	if len(due) == 0 || len(due) == 1 && (able > 1 || len(c.Spec.Watches) == 0) {
		return // alone it has nobody to be compared with
	}
	c.Common = &Common{Number: n, At: f.s.At}
	for _, i := range due {
		e := f.endpoint(c, i)
		e.Compared = f.s.At
		c.Common.Answers = append(c.Common.Answers, CommonAnswer{Endpoint: e.Spec.Name})
		f.wish(c, e, fleet.Wish{What: fleet.ReadCommon, Number: n})
	}
}

// common takes an endpoint's block at a height that was asked for.
func (f *fold) common(c *Chain, e *Endpoint, in fleet.Reading) {
	if !c.granted(in) {
		return
	}
	if s := c.Split; s != nil && f.splitAnswer(c, s, in) {
		return
	}
	if c.Common == nil || c.Common.Number != in.Number {
		return
	}
	own := *c.Common
	own.Answers = slices.Clone(own.Answers)
	c.Common = &own
	i := slices.IndexFunc(own.Answers, func(a CommonAnswer) bool { return a.Endpoint == e.Spec.Name })
	if i < 0 {
		return
	}
	a := &own.Answers[i]
	switch {
	case in.Outcome.OK():
		a.Hash = in.Hash
	case absent(in.Outcome):
		// It has shown a higher head, and does not know the block below: several
		// nodes answer behind one URL.
		if a.Tries++; a.Tries < backendTries {
			f.wish(c, e, fleet.Wish{What: fleet.ReadCommon, Number: in.Number, Delay: backendPause})
		} else {
			e.SplitAt = f.s.At
		}
	}
}

// absent reports an answer that says: I do not have that block.
func absent(o fleet.Outcome) bool {
	return o.Class == fleet.ClassNotYetVisible || o.Class == fleet.ClassStateUnavailable
}

// judgeCommon compares the answers once all have come or are overdue.
func (f *fold) judgeCommon(c *Chain) {
	m := c.Common
	if m == nil || m.Judged || c.wished(func(w fleet.Wish) bool { return w.What == fleet.ReadCommon && w.Number == m.Number }) {
		return
	}
	own := *m
	own.Judged = true
	c.Common = &own
	sides := c.sides(own.Answers, false)
	switch len(sides) {
	case 0:
		return
	case 1:
		own.Hash = sides[0].Hash
		f.heal(c, own)
		if s := c.Split; s != nil && s.Ask == nil && own.Number >= s.Number && s.covers(sides[0].Endpoints) {
			f.healed(c, own.Hash)
		}
		f.askWatches(c)
	default:
		f.openSplit(c, own.Number, sides)
	}
}

// Side is a group of endpoints that have the same block at a height.
type Side struct {
	Hash      fleet.Hash `json:"h"`
	Endpoints []string   `json:"e"`
	operators []string
}

// sides groups answers by hash, the one with the most operators first; those
// that are held apart already count only when asked for.
func (c *Chain) sides(answers []CommonAnswer, apart bool) []Side {
	var out []Side
	for _, a := range answers {
		e := c.Endpoint(a.Endpoint)
		if a.Hash.IsZero() || e == nil || e.parted() && !apart {
			continue
		}
		i := slices.IndexFunc(out, func(s Side) bool { return s.Hash == a.Hash })
		if i < 0 {
			i = len(out)
			out = append(out, Side{Hash: a.Hash})
		}
		out[i].Endpoints = append(out[i].Endpoints, a.Endpoint)
		if !slices.Contains(out[i].operators, e.Spec.Operator) {
			out[i].operators = append(out[i].operators, e.Spec.Operator)
		}
	}
	slices.SortStableFunc(out, func(a, b Side) int { return len(b.operators) - len(a.operators) })
	return out
}

// majority reports whether the first side outweighs every other: two operators
// or more, and more than any other side has.
func majority(sides []Side) bool {
	return len(sides) > 1 && len(sides[0].operators) >= 2 && len(sides[0].operators) > len(sides[1].operators)
}

// heal ends the forks of those that show the others' block again.
func (f *fold) heal(c *Chain, m Common) {
	for i, e := range c.Endpoints {
		if !e.parted() || !slices.ContainsFunc(m.Answers, func(a CommonAnswer) bool { return a.Endpoint == e.Spec.Name && a.Hash == m.Hash }) {
			continue
		}
		e = f.endpoint(c, i)
		f.tellReorg(c, e.Spec.Name, m.Number, e.ForkDepth,
			e.Spec.Name+" rejoined after "+span(f.s.At-e.ForkAt)+", "+depthText(e.ForkDepth))
		e.unfork()
	}
}

// parted reports a fork that was proven by hashes, and that only hashes heal.
func (e *Endpoint) parted() bool { return e.ForkedBy == forkCommon || e.ForkedBy == forkFinality }

// part holds an endpoint apart that has another chain than most.
func (f *fold) part(c *Chain, e *Endpoint, by, evidence string, depth uint64) {
	e.unfork()
	e.fork(by, evidence)
	e.ForkAt, e.ForkDepth = f.s.At, depth
	e.Lag, e.LagBlocks, e.LagFrom = nil, nil, ""
}

// relearn forgets what was taken for the chain while its forks counted too,
// and learns it from those that are left.
func (f *fold) relearn(c *Chain) {
	c.Ref, c.Known, c.Sightings = nil, nil, nil
	for i := range c.Endpoints {
		if e := f.endpoint(c, i); e.OddAt != 0 {
			e.unfork()
		}
	}
	f.advance(c, f.s.At)
	if c.Ref == nil {
		return
	}
	for i := range c.Endpoints {
		e := f.endpoint(c, i)
		c.setLag(e, e.HeadAt)
		e.Stale = e.Stale && e.Lag != nil && *e.Lag > 0
	}
}
