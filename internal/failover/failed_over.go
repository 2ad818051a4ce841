package failover

import (
	"encoding/json"
	"slices"

	"example.com/rpctop/internal/fleet"
)

const (
	failoverSpan  = 5_000 // ms in which one kind of failover is told once
	failoverKinds = 64    // kept per chain
)

// failedOver takes the failovers of one second of traffic: the first of its
// kind is told at once, what follows within five seconds at their end.
func (f *fold) failedOver(c *Chain, in fleet.Traffic) {
	if len(in.Failovers) == 0 {
		return
	}
	c.Failovers = slices.Clone(c.Failovers)
	for _, n := range in.Failovers {
		if n.N <= 0 {
			continue
		}
		i := slices.IndexFunc(c.Failovers, func(o Failover) bool {
			return o.From == in.Endpoint.Name && o.To == n.To && o.Class == n.Class && o.Sub == n.Sub
		})
		if i >= 0 {
			c.Failovers[i].N += n.N
			continue
		}
		if len(c.Failovers) == failoverKinds {
			f.tellFailover(c, c.Failovers[0])
			c.Failovers = slices.Delete(c.Failovers, 0, 1)
		}
		o := Failover{From: in.Endpoint.Name, To: n.To, Class: n.Class, Sub: n.Sub, At: f.s.At, N: n.N}
		f.tellFailover(c, o)
		o.N = 0
		c.Failovers = append(c.Failovers, o)
	}
	f.tellFailovers(c)
}

// tellFailovers tells what has been counted for five seconds, and forgets the
// kinds that did not happen again.
func (f *fold) tellFailovers(c *Chain) {
	due := func(o Failover) bool { return f.s.At-o.At >= failoverSpan }
	if !slices.ContainsFunc(c.Failovers, due) {
		return
	}
	kept := make([]Failover, 0, len(c.Failovers))
	for _, o := range c.Failovers {
		switch {
		case !due(o):
			kept = append(kept, o)
		case o.N > 0:
			f.tellFailover(c, o)
			o.At, o.N = f.s.At, 0
			kept = append(kept, o)
		}
	}
	c.Failovers = kept
}

// failoverData is the data of a failover's event.
type failoverData struct {
	Count int64 `json:"count"` // calls
}

func (f *fold) tellFailover(c *Chain, o Failover) {
	if o.N <= 0 {
		return
	}
	data, _ := json.Marshal(failoverData{o.N}) // a number always encodes
	calls := " calls were"
	if o.N == 1 {
		calls = " call was"
	}
	f.emit(fleet.Event{Kind: fleet.EventFailover, Chain: c.Spec.Name, Endpoint: o.To, From: o.From, To: o.To, Class: o.Class, Sub: o.Sub, Data: data,
		Reason: itoa(o.N) + calls + " answered by " + o.To + " since " + o.From + because(o)})
}

// because says what was the matter with the endpoint that did not answer.
func because(o Failover) string {
	what := short(fleet.Outcome{Class: o.Class, Sub: o.Sub})
	switch {
	case o.Class == fleet.ClassStale && o.Sub == subLagging:
		return " is lagging"
	case o.Class == fleet.ClassStale && o.Sub == SubBehindFloor:
		return " is behind the floor"
	case o.Class == fleet.ClassLocalDenial:
		return " was denied by our own limits (" + o.Sub + ")"
	}
	return " ended as " + what
}
