package failover

import (
	"example.com/rpctop/internal/fleet"
)

const (
	rightFor   = 10 * 60_000    // ms of right answers that end wrong-chain
	flapWithin = 24 * 3_600_000 // ms in which a second turn means identity-flap
)

// identify takes the chain id that a round read. An id that could not be read
// changes nothing; 0x0 is an id that says nothing yet.
func (e *Endpoint) identify(c *Chain, in fleet.Sample, at fleet.Millis) {
	switch in.ChainID {
	case "", "0":
		if in.ChainID == "0" {
			e.ChainID = "0"
		}
		return
	case utoa(c.Spec.ChainID):
		e.ChainID = in.ChainID
		if e.Wrong != "" && !e.wrongGenesis(c) {
			e.right(at)
		}
	default:
		e.ChainID = in.ChainID
		e.wrong("chain id "+in.ChainID+", want "+utoa(c.Spec.ChainID), at)
	}
}

// genesis takes the hash of block 0.
func (e *Endpoint) genesis(c *Chain, h fleet.Hash, at fleet.Millis) {
	e.Genesis, e.Reprove = h, false
	if e.wrongGenesis(c) {
		e.wrong("genesis "+h.Short()+", want "+c.Spec.Genesis.Short(), at)
	}
}

func (e *Endpoint) wrongGenesis(c *Chain) bool {
	return !c.Spec.Genesis.IsZero() && !e.Genesis.IsZero() && e.Genesis != c.Spec.Genesis
}

// wrong puts the endpoint under quarantine; turning wrong twice in a day makes
// it a flapper.
func (e *Endpoint) wrong(evidence string, at fleet.Millis) {
	if e.Wrong == "" || e.RightSince != 0 {
		times := make([]fleet.Millis, 0, len(e.WrongTimes)+1)
		for _, t := range e.WrongTimes {
			if t > at-flapWithin {
				times = append(times, t)
			}
		}
		e.WrongTimes = append(times, at)
		e.Flap = e.Flap || len(e.WrongTimes) > 1
	}
	e.Wrong, e.RightSince = evidence, 0
	// What it said of heads was said of another chain.
	e.Head, e.HeadAt, e.Lag, e.LagBlocks, e.LagFrom = nil, 0, nil, nil, ""
	e.unfork()
}

// right counts the time of right answers; ten minutes end wrong-chain.
func (e *Endpoint) right(at fleet.Millis) {
	if e.RightSince == 0 {
		e.RightSince = at
	}
	if at-e.RightSince >= rightFor {
		e.Wrong, e.RightSince = "", 0
	}
}

// identified reports whether the endpoint's chain id was read in this run and
// is the configured one, with no evidence against it.
func (e *Endpoint) identified(c *Chain) bool {
	return e.ChainID == utoa(c.Spec.ChainID) && e.Wrong == "" && !e.Flap && !e.Reprove
}
