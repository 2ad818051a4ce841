package ui

import (
	"slices"

	"example.com/rpctop/internal/fleet"
)

// chain gives the chain by name, with its index; nil if it is not there.
func (c *console) chain(name string) (*fleet.ChainView, int) {
	if c.snap == nil {
		return nil, -1
	}
	for i := range c.snap.Chains {
		if c.snap.Chains[i].Name == name {
			return &c.snap.Chains[i], i
		}
	}
	return nil, -1
}

// endpoint gives an endpoint and its chain; nil if it is not there.
func (c *console) endpoint(id fleet.EndpointID) (*fleet.ChainView, *fleet.EndpointView) {
	ch, _ := c.chain(id.Chain)
	if ch == nil {
		return nil, nil
	}
	return ch, endpointOf(ch, id.Name)
}

func endpointOf(ch *fleet.ChainView, name string) *fleet.EndpointView {
	for i := range ch.Endpoints {
		if ch.Endpoints[i].Name == name {
			return &ch.Endpoints[i]
		}
	}
	return nil
}

func candidateOf(ch *fleet.ChainView, name string) *fleet.Candidate {
	for i := range ch.Ranking {
		if ch.Ranking[i].Endpoint == name {
			return &ch.Ranking[i]
		}
	}
	return nil
}

// ids lists the endpoints as they stand on the screen. While a dialog is open
// they stay where they stood; what is new comes last.
func (c *console) ids() []fleet.EndpointID {
	if c.snap == nil {
		return nil
	}
	live := c.picked.list(c.snap, c.sel)
	if c.order == nil {
		return live
	}
	live = slices.Clone(live)
	at := make(map[fleet.EndpointID]int, len(c.order))
	for i, id := range c.order {
		at[id] = i + 1
	}
	place := func(id fleet.EndpointID) int {
		if i := at[id]; i > 0 {
			return i
		}
		return len(c.order) + 1
	}
	slices.SortStableFunc(live, func(a, b fleet.EndpointID) int { return place(a) - place(b) })
	return live
}

// keepSelection holds on to the selected endpoint; only if it is gone another
// one of its chain is selected, and no dialog stays open on it.
func (c *console) keepSelection() {
	if _, e := c.endpoint(c.sel); e != nil {
		return
	}
	ids := c.ids()
	if len(ids) == 0 {
		c.sel = fleet.EndpointID{}
		return
	}
	next := ids[0]
	for _, id := range ids {
		if id.Chain == c.sel.Chain {
			next = id
			break
		}
	}
	c.sel = next
	c.reveal()
}

// move selects the endpoint n lines further in a list, and stops at its ends.
func (c *console) move(ids []fleet.EndpointID, n int) {
	if len(ids) == 0 {
		return
	}
	i := max(slices.Index(ids, c.sel), 0)
	c.sel = ids[max(0, min(len(ids)-1, i+n))]
	c.picked.parked = fleet.EndpointID{}
}

// toChain selects the incumbent of a chain, or its first endpoint.
func (c *console) toChain(i int) {
	if c.snap == nil || len(c.snap.Chains) == 0 {
		return
	}
	if i < 0 || i >= len(c.snap.Chains) {
		c.say(warn, "there is no chain "+integer(uint64(max(i, 0)+1))+": "+plural(len(c.snap.Chains), "chain"))
		return
	}
	ch := &c.snap.Chains[i]
	id := fleet.EndpointID{Chain: ch.Name, Name: ch.Incumbent}
	if endpointOf(ch, id.Name) == nil {
		if len(ch.Endpoints) == 0 {
			return
		}
		id.Name = ch.Endpoints[0].Name
	}
	c.sel = id
	c.picked.parked = fleet.EndpointID{}
	c.feed.focused = false
	c.scroll = 0
	c.reveal()
}

// nextChain moves on by n chains.
func (c *console) nextChain(n int) {
	if c.snap == nil {
		return
	}
	_, i := c.chain(c.sel.Chain)
	c.toChain(max(0, min(len(c.snap.Chains)-1, i+n)))
}
