package failover

import (
	"slices"
	"strings"

	"example.com/rpctop/internal/fleet"
)

// oddRuns is the number of readings in a row in which an endpoint contradicts
// itself before it is gated: once is what mixed nodes do now and then.
const oddRuns = 2

// Final is a finalized block as endpoints have told it.
type Final struct {
	Number  uint64         `json:"n"`
	Answers []CommonAnswer `json:"answers"`
}

// finality takes an endpoint's block at the tag safe or finalized.
func (f *fold) finality(c *Chain, e *Endpoint, in fleet.Reading) {
	n, was, wasOf := number(in), e.Finalized, e.FinalizedOf
	if in.What == fleet.ReadSafe {
		e.Safe = n
	} else {
		e.Finalized = n
		if n != nil {
			e.FinalizedOf = in.Hash
		}
	}
	if n == nil || e.Head == nil {
		return
	}
	what, odd := string(in.What), ""
	// The head was read before the tag: blocks may have come in between.
	made := uint64(max(f.s.At-e.HeadAt, 0)/max(c.Spec.BlockTime, 1)) + 1
	switch {
	case *n > e.Head.Number && *n-e.Head.Number > made:
		odd = what + " " + utoa(*n-e.Head.Number) + " above latest"
		if in.What == fleet.ReadFinalized {
			e.Finalized, e.FinalizedOf = was, wasOf // nothing to measure the next one by
		} else {
			e.Safe = nil
		}
	case in.What == fleet.ReadFinalized && was != nil && *n < *was:
		odd = "finalized went back from " + utoa(*was) + " to " + utoa(*n)
	case e.Safe != nil && e.Finalized != nil && *e.Finalized > *e.Safe && *e.Finalized-*e.Safe > made && in.What == fleet.ReadSafe:
		odd = "finalized " + utoa(*e.Finalized-*e.Safe) + " above safe"
	}
	switch {
	case odd != "":
		e.SelfOdd, e.SelfRun = "inconsistent: "+odd+" (mixed nodes)", e.SelfRun+1
	case in.What == e.oddOf():
		e.SelfOdd, e.SelfRun = "", 0
	}
	if odd == "" && in.What == fleet.ReadFinalized && !in.Hash.IsZero() && e.identified(c) && e.Gate == nil {
		f.compareFinal(c, e, *n, in.Hash)
	}
}

// oddOf is the kind of reading that can end what stands against an endpoint.
func (e *Endpoint) oddOf() fleet.ReadingKind {
	if strings.HasPrefix(e.SelfOdd, "inconsistent: safe") || strings.Contains(e.SelfOdd, "above safe") {
		return fleet.ReadSafe
	}
	return fleet.ReadFinalized
}

// compareFinal compares finalized blocks of one height: three operators or
// more, and a strict majority of them, decide.
func (f *fold) compareFinal(c *Chain, e *Endpoint, n uint64, h fleet.Hash) {
	finals := slices.Clone(c.Finals)
	i := slices.IndexFunc(finals, func(x Final) bool { return x.Number == n })
	if i < 0 {
		finals = append(finals[max(0, len(finals)-finalsKept+1):], Final{Number: n})
		i = len(finals) - 1
	}
	answers := slices.DeleteFunc(slices.Clone(finals[i].Answers), func(a CommonAnswer) bool { return a.Endpoint == e.Spec.Name })
	finals[i].Answers = append(answers, CommonAnswer{Endpoint: e.Spec.Name, Hash: h})
	c.Finals = finals
	sides := c.sides(finals[i].Answers, false)
	all := 0
	for _, s := range sides {
		all += len(s.operators)
	}
	if len(sides) < 2 || all < finalsNeeded || 2*len(sides[0].operators) <= all {
		return
	}
	for _, side := range sides[1:] {
		for _, name := range side.Endpoints {
			f.part(c, f.endpoint(c, c.index(name)), forkFinality, "forked(deep): finalized "+side.Hash.Short()+" at height "+utoa(n)+
				", where "+strings.Join(sides[0].Endpoints, ", ")+" finalized "+sides[0].Hash.Short(), 0)
		}
	}
	f.relearn(c)
}
