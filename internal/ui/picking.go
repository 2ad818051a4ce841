package ui

import (
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/rpctop/internal/fleet"
)

// picked is what of the fleet is shown, and in which order.
type picked struct {
	filter filter
	sort   ordering
	// parked was selected when a filter took it away; it is selected again
	// when the filter admits it, unless the operator has moved meanwhile.
	parked fleet.EndpointID

	cached []fleet.EndpointID // the last list
	of     pickedKey          // what it was made for
}

type pickedKey struct {
	snap   *fleet.Snapshot
	filter string
	sort   ordering
	keep   fleet.EndpointID
}

// list gives the endpoints as they are to be shown. The selected one is always
// among them: an endpoint that changes never vanishes under the operator's
// hand.
func (p *picked) list(s *fleet.Snapshot, keep fleet.EndpointID) []fleet.EndpointID {
	key := pickedKey{s, p.filter.text, p.sort, keep}
	if len(p.filter.terms) == 0 {
		key.keep = fleet.EndpointID{}
	}
	if p.cached == nil || p.of != key {
		p.cached, p.of = arrange(s, p.filter, p.sort, key.keep), key
	}
	return p.cached
}

// setFilter shows other endpoints. If the selected one is not admitted, the
// first that is gets selected.
func (c *console) setFilter(text string) {
	c.picked.filter = parseFilter(text)
	if c.snap == nil {
		return
	}
	admitted := func(id fleet.EndpointID) bool {
		ch, e := c.endpoint(id)
		return e != nil && c.picked.filter.matches(ch, e, c.snap.At)
	}
	switch {
	case admitted(c.picked.parked):
		c.sel, c.picked.parked = c.picked.parked, fleet.EndpointID{}
	case c.picked.parked != (fleet.EndpointID{}) || !admitted(c.sel):
		if ids := arrange(c.snap, c.picked.filter, c.picked.sort, fleet.EndpointID{}); len(ids) > 0 {
			if c.picked.parked == (fleet.EndpointID{}) {
				c.picked.parked = c.sel
			}
			c.sel = ids[0]
		}
	}
}

// matching counts the endpoints that the filter admits, and all.
func (c *console) matching() (n, of int) {
	if c.snap == nil {
		return 0, 0
	}
	for i := range c.snap.Chains {
		ch := &c.snap.Chains[i]
		of += len(ch.Endpoints)
		for j := range ch.Endpoints {
			if c.picked.filter.matches(ch, &ch.Endpoints[j], c.snap.At) {
				n++
			}
		}
	}
	return n, of
}

// pickedParts says in the title what is hidden and how the rest is sorted.
func (c *console) pickedParts() []part {
	var p []part
	if f := &c.picked.filter; f.text != "" {
		n, of := c.matching()
		text := "filter " + clean(f.text) + ": " + strconv.Itoa(n) + " of " + strconv.Itoa(of)
		if f.wrong != "" {
			text += ", not understood: " + f.wrong
		}
		p = append(p, part{text, warn, 0})
	}
	if s := c.picked.sort.String(); s != "" {
		p = append(p, part{"sort " + s, plain, 1})
	}
	return p
}

// onSortKey is the letter after `s`.
func (c *console) onSortKey(k tea.KeyMsg) {
	c.sorting = false
	if k.Type == tea.KeyEsc {
		return
	}
	letter := k.String()
	if letter == "o" {
		c.picked.sort = ordering{}
		return
	}
	for _, key := range sortKeys() {
		if key.letter == letter {
			c.picked.sort = c.picked.sort.pick(key.name)
			return
		}
	}
	c.say(warn, clean(letter)+" is nothing to sort by: "+sortLetters())
}

// sortLetters lists what can follow `s`.
func sortLetters() string {
	s := ""
	for _, k := range sortKeys() {
		s += k.letter + " " + k.name + "  "
	}
	return s + "o as configured"
}
