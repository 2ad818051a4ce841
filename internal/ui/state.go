package ui

import (
	"encoding/json"
	"fmt"

	"example.com/rpctop/internal/fleet"
)

// State is what a console keeps between two starts: how it is looked at, and
// nothing of what is looked at. Its zero value is the usual one.
type State struct {
	Version int    `json:"version"` // 1
	Sort    string `json:"sort,omitempty"`
	Reverse bool   `json:"reverse,omitempty"`
	Filter  string `json:"filter,omitempty"`
	Theme   string `json:"theme,omitempty"`
	Pane    string `json:"pane,omitempty"` // overview, endpoint, why, help, log
	Chain   string `json:"chain,omitempty"`
	Name    string `json:"endpoint,omitempty"` // that was selected
}

// ParseState reads a kept state. What this version does not know in it is an
// error: the file is not ours, or is broken.
func ParseState(b []byte) (State, error) {
	var s State
	if err := json.Unmarshal(b, &s); err != nil {
		return State{}, fmt.Errorf("read the console's state: %w", err)
	}
	_, sorted := sortKeyOf(s.Sort)
	_, known := paneOf(s.Pane)
	switch {
	case s.Version != 1:
		return State{}, fmt.Errorf("read the console's state: version %d is not known", s.Version)
	case s.Sort != "" && !sorted, s.Theme != "" && !KnownTheme(s.Theme), s.Pane != "" && !known,
		len(s.Filter) > 4*promptLimit, len(s.Chain)+len(s.Name) > 4*fleet.MaxText:
		return State{}, fmt.Errorf("read the console's state: a value in it makes no sense")
	}
	return s, nil
}

// JSON writes a state as ParseState reads it.
func (s State) JSON() []byte {
	s.Version = 1
	b, err := json.Marshal(s)
	if err != nil { // strings and numbers always marshal
		return nil
	}
	return append(b, '\n')
}

// panes names the screens in a kept state.
var panes = [...]string{screenOverview: "overview", screenEndpoint: "endpoint", screenWhy: "why", screenHelp: "help", screenLog: "log"}

func paneOf(name string) (screen, bool) {
	for s, n := range panes {
		if n == name {
			return screen(s), true
		}
	}
	return screenOverview, false
}

// state is what is to be kept of the console as it is.
func (c *console) state() State {
	return State{Version: 1, Sort: c.picked.sort.by, Reverse: c.picked.sort.back, Filter: c.picked.filter.text,
		Theme: c.o.Theme, Pane: panes[c.screen()], Chain: c.sel.Chain, Name: c.sel.Name}
}

// restore shows the console as it was kept.
func (c *console) restore(s State) {
	c.picked.sort = ordering{by: s.Sort, back: s.Reverse && s.Sort != ""}
	if c.o.Theme == "" && s.Theme != "" {
		c.setTheme(s.Theme)
	}
	if s.Filter != "" {
		c.setFilter(fleet.Sanitize(s.Filter))
	}
	id := fleet.EndpointID{Chain: s.Chain, Name: s.Name}
	if _, e := c.endpoint(id); e != nil {
		c.sel, c.picked.parked = id, fleet.EndpointID{}
	}
	if pane, ok := paneOf(s.Pane); ok && pane != screenOverview {
		c.push(pane)
	}
}
