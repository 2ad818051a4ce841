package failover

import (
	"encoding/json"
	"slices"
	"strings"

	"example.com/rpctop/internal/fleet"
)

const (
	splitWait    = 1_000 // ms, the least time after which a split is looked at again
	deepUnread   = 128   // blocks beyond which a fork is deep where finality is not known
	mostProbes   = 80    // heights that are compared to find where chains part
	finalsKept   = 32
	finalsNeeded = 3 // operators that must have told their finalized block
)

// Split is a height at which endpoints that count have different blocks.
type Split struct {
	Number   uint64       `json:"n"`
	At       fleet.Millis `json:"at"`
	Sides    []Side       `json:"sides"` // as first seen
	Ask      *Recheck     `json:"ask"`   // what is still being asked; nil: judged, and disputed
	Low      uint64       `json:"low"`   // the highest block known to be common; valid if Based
	High     uint64       `json:"high"`  // the lowest block known to differ
	Based    bool         `json:"based"`
	Disputed string       `json:"disputed"` // why nobody can say who is right; "": not judged yet
}

// Recheck is the second look at a split, and the search for its base.
type Recheck struct {
	Answers []CommonAnswer `json:"answers"`
	Step    uint64         `json:"step"`  // of the search downwards
	Probe   uint64         `json:"probe"` // height that is compared now
	Pair    [2]string      `json:"pair"`  // one endpoint of either side
	Got     [2]fleet.Hash  `json:"got"`
	Probes  int            `json:"probes"`
	Ended   bool           `json:"ended"` // the search has ended
}

func (s *Split) covers(names []string) bool {
	for _, side := range s.Sides {
		for _, n := range side.Endpoints {
			if !slices.Contains(names, n) {
				return false
			}
		}
	}
	return true
}

// depth is the number of blocks that differ at least, up to the split's height.
func (s *Split) depth() uint64 {
	if s.Based {
		return s.Number - s.Low
	}
	return s.Number - s.High + 1
}

// openSplit notes that endpoints differ. They are asked again after two block
// times, since at the tip that is normal; meanwhile their last common block is
// searched for.
func (f *fold) openSplit(c *Chain, n uint64, sides []Side) {
	if old := c.Split; old != nil {
		if old.Disputed != "" && majority(sides) {
			own := *old
			own.Number, own.Sides = n, sides
			c.Split = &own
			f.settleSplit(c, sides)
		}
		return
	}
	s := &Split{Number: n, At: f.s.At, Sides: sides, High: n}
	s.Ask = &Recheck{Step: 1, Pair: [2]string{sides[0].Endpoints[0], sides[1].Endpoints[0]}}
	for _, e := range c.Endpoints {
		if c.comparable(e, n) {
			s.Ask.Answers = append(s.Ask.Answers, CommonAnswer{Endpoint: e.Spec.Name})
			f.wish(c, e, fleet.Wish{What: fleet.ReadCommon, Number: n, Delay: max(2*c.Spec.BlockTime, splitWait)})
		}
	}
	c.Split = s
	f.searchBase(c)
}

// searchBase asks both sides for the next height of the search: down in
// doubling steps to a block that both have, then halving.
func (f *fold) searchBase(c *Chain) {
	s := *c.Split
	k := *s.Ask
	s.Ask = &k
	c.Split = &s
	switch {
	case s.Based && s.High-s.Low <= 1, s.High == 0, k.Probes >= mostProbes:
		k.Ended = true
		return
	case s.Based:
		k.Probe = s.Low + (s.High-s.Low)/2
	case k.Step >= s.High:
		k.Probe = 0
	default:
		k.Probe = s.High - k.Step
	}
	k.Step *= 2
	k.Probes++
	k.Got = [2]fleet.Hash{}
	for _, name := range k.Pair {
		if e := c.Endpoint(name); e != nil {
			f.wish(c, e, fleet.Wish{What: fleet.ReadCommon, Number: k.Probe})
		}
	}
}

// splitAnswer takes an answer to a question about a split; false if it was
// none.
func (f *fold) splitAnswer(c *Chain, old *Split, in fleet.Reading) bool {
	if old.Ask == nil {
		return false
	}
	s, k := *old, *old.Ask
	k.Answers = slices.Clone(k.Answers)
	s.Ask = &k
	c.Split = &s
	if in.Number == s.Number {
		for i := range k.Answers {
			if k.Answers[i].Endpoint == in.Endpoint.Name && in.Outcome.OK() {
				k.Answers[i].Hash = in.Hash
			}
		}
		return true
	}
	i := slices.Index(k.Pair[:], in.Endpoint.Name)
	if k.Ended || in.Number != k.Probe || i < 0 {
		return false
	}
	if !in.Outcome.OK() {
		k.Ended = true // it cannot tell; what is known of the depth has to do
		return true
	}
	if k.Got[i] = in.Hash; k.Got[0].IsZero() || k.Got[1].IsZero() {
		return true
	}
	if k.Got[0] == k.Got[1] {
		s.Low, s.Based = k.Probe, true
	} else {
		s.High = k.Probe
	}
	f.searchBase(c)
	return true
}

// judgeSplit decides once all have been asked again and the search has ended.
func (f *fold) judgeSplit(c *Chain) {
	s := c.Split
	if s == nil || s.Ask == nil {
		return
	}
	waits := func(n uint64) bool {
		return c.wished(func(w fleet.Wish) bool { return w.What == fleet.ReadCommon && w.Number == n })
	}
	if waits(s.Number) || !s.Ask.Ended && waits(s.Ask.Probe) {
		return
	}
	sides := c.sides(s.Ask.Answers, false)
	own := *s
	own.Ask = nil
	c.Split = &own
	switch {
	case len(sides) == 0:
		c.Split = nil // nobody answered: nothing is known
	case len(sides) == 1 && !own.covers(sides[0].Endpoints):
		c.Split = nil // one side has fallen silent: the next round looks anew
	case len(sides) == 1:
		f.healed(c, sides[0].Hash)
	default:
		f.settleSplit(c, sides)
	}
}

// settleSplit holds the minority apart, or says that there is none.
func (f *fold) settleSplit(c *Chain, sides []Side) {
	s := *c.Split
	s.Ask = nil
	if !majority(sides) {
		s.Sides = sides
		s.Disputed = "at height " + utoa(s.Number) + " " + sidesText(sides) + "; " + s.baseText() + ", and no majority says who is right"
		c.Split = &s
		return
	}
	word := c.depthWord(&s)
	for _, side := range sides[1:] {
		for _, name := range side.Endpoints {
			e := f.endpoint(c, c.index(name))
			f.part(c, e, forkCommon, "forked("+word+"): has "+side.Hash.Short()+" at height "+utoa(s.Number)+", where "+
				strings.Join(sides[0].Endpoints, ", ")+" have "+sides[0].Hash.Short()+"; "+s.baseText(), s.depth())
		}
	}
	c.Split = nil
	f.relearn(c)
}

// healed ends a split in which all have the same block in the end.
func (f *fold) healed(c *Chain, to fleet.Hash) {
	s := c.Split
	c.Split = nil
	var moved []string
	for _, side := range s.Sides {
		if side.Hash != to {
			moved = append(moved, side.Endpoints...)
		}
	}
	who := strings.Join(moved, ", ")
	at := s.Number
	f.tellReorg(c, "", at, s.depth(), "reorg("+utoa(s.depth())+") at height "+utoa(at)+": "+who+" took "+to.Short()+" after "+span(f.s.At-s.At)+"; "+s.baseText())
}

// tellReorg tells of blocks whose hash has changed; it gates nobody.
func (f *fold) tellReorg(c *Chain, endpoint string, number, depth uint64, text string) {
	data, _ := json.Marshal(struct { // plain numbers: cannot fail
		Number uint64 `json:"number"`
		Depth  uint64 `json:"depth"`
	}{number, depth})
	f.emit(fleet.Event{Kind: fleet.EventAlarm, Chain: c.Spec.Name, Endpoint: endpoint, Sub: "reorg", Reason: text, Data: data})
}

// depthWord: shallow within the finality window, deep below what is final or
// with nothing but genesis in common.
func (c *Chain) depthWord(s *Split) string {
	if s.Based && s.Low == 0 || s.High == 0 {
		return "deep"
	}
	final := uint64(0)
	for _, e := range c.Endpoints {
		if e.Finalized != nil && e.Head != nil && *e.Finalized <= e.Head.Number && !e.parted() {
			final = max(final, *e.Finalized)
		}
	}
	base := s.Low
	if !s.Based {
		base = s.High - 1
	}
	if final > 0 && base < final || final == 0 && s.depth() > deepUnread {
		return "deep"
	}
	return "shallow"
}

func (s *Split) baseText() string {
	switch {
	case s.High == 0 && !s.Based:
		return "not even block 0 in common"
	case s.Based:
		return "common up to block " + utoa(s.Low) + ", " + depthText(s.depth())
	}
	return "depth " + utoa(s.depth()) + " at least"
}

func depthText(n uint64) string {
	if n == 0 {
		return "depth unknown"
	}
	return "depth " + utoa(n)
}

func sidesText(sides []Side) string {
	parts := make([]string, 0, len(sides))
	for _, s := range sides {
		verb := " has "
		if len(s.Endpoints) > 1 {
			verb = " have "
		}
		parts = append(parts, strings.Join(s.Endpoints, ", ")+verb+s.Hash.Short())
	}
	return strings.Join(parts, ", ")
}

// Disputed says why the chain is disputed; "": it is not.
func (c *Chain) Disputed() string {
	if c.Split == nil {
		return ""
	}
	return c.Split.Disputed
}

// disputes reports whether an endpoint is on a side of the dispute.
func (c *Chain) disputes(name string) bool {
	return c.Disputed() != "" && slices.ContainsFunc(c.Split.Sides, func(s Side) bool { return slices.Contains(s.Endpoints, name) })
}

// settled ends a dispute that has only one side left that could serve.
func (f *fold) settled(c *Chain) {
	if c.Disputed() == "" {
		return
	}
	left := 0
	for _, s := range c.Split.Sides {
		if slices.ContainsFunc(s.Endpoints, func(n string) bool { e := c.Endpoint(n); return e != nil && e.Gate == nil }) {
			left++
		}
	}
	if left < 2 {
		c.Split = nil
	}
}
