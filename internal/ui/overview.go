package ui

import (
	"strconv"

	"example.com/rpctop/internal/fleet"
)

// overview draws the first screen below title and banners.
func (c *console) overview(w int) []string {
	if c.snap == nil {
		return []string{"", c.theme.paint(faint, cut("  waiting for the first picture", w))}
	}
	if len(c.snap.Chains) == 0 {
		return []string{"", c.theme.paint(faint, cut("  no chain is configured", w))}
	}
	s := c.shape()
	l := newLayout(c.snap, w-2)
	var out []string
	if s.titles > 0 {
		out = append(out, c.theme.paint(faint, "  "+l.header()))
	}
	out = append(out, c.drawTable(l, s, w)...)
	if s.detail > 0 {
		out = append(out, c.detailLine(w))
	}
	if s.events > 0 {
		if s.ruled {
			pos := ""
			if lines := len(c.tableLines(s.roomy)); lines > s.rows {
				pos = "lines " + integer(uint64(c.top+1)) + "-" + integer(uint64(min(c.top+s.rows, lines))) + " of " + integer(uint64(lines))
			}
			out = append(out, c.theme.rule("events, newest first", pos, w))
		}
		out = append(out, c.eventLines(w, s.events)...)
	}
	return out
}

// detailLine says all about the selected line in words, since a column may be
// too narrow for its reason.
func (c *console) detailLine(w int) string {
	if c.feed.focused {
		if l := c.feed.at(c.feed.selected()); l != nil {
			return c.theme.join([]part{{string(l.Kind), eventLook(l.Kind), 0}, {clean(l.Reason), plain, 0}}, "  ", w)
		}
	}
	ch, e := c.endpoint(c.sel)
	if e == nil {
		return ""
	}
	glyph, k := stateLook(e.State)
	p := []part{{cutMiddle(clean(e.Name), max(w/4, 8)), strong, 0}, {glyph + " " + clean(e.State), k, 0}}
	text := reason(e)
	if e.Gate != nil {
		if e.Gate.Until != 0 {
			text += " · until " + clock(e.Gate.Until, c.now())
		}
		if e.Gate.Ends != "" {
			text += " · ends: " + clean(e.Gate.Ends)
		}
	}
	if text == "" {
		if cd := candidateOf(ch, e.Name); cd != nil {
			text = clean(cd.Why)
		}
	}
	if text != "" {
		p = append(p, part{text, plain, 0})
	}
	return c.theme.join(p, "  ", w)
}

// titleLine is the first line: what is shown, how it is in all, who leads.
func (c *console) titleLine(w int) string {
	name := "rpctop"
	if c.o.Title != "" {
		name += " " + clean(c.o.Title)
	}
	p := []part{{name, strong, 0}}
	if c.snap == nil {
		return c.theme.join(p, "  ", w)
	}
	s := c.snap
	total, denials := 0, uint64(0)
	for i := range s.Chains {
		for j := range s.Chains[i].Endpoints {
			total++
			denials += s.Chains[i].Endpoints[j].Denials
		}
	}
	p = append(p, part{plural(len(s.Chains), "chain") + ", " + plural(total, "endpoint"), faint, 3})
	for _, st := range tally(s, w < 160) {
		glyph, k := stateLook(st.state)
		p = append(p, part{glyph + " " + strconv.Itoa(st.n) + " " + clean(st.state), k, 2})
	}
	p = append(p, c.pickedParts()...)
	if denials > 0 {
		p = append(p, part{"denied by us " + count(int64(min(denials, 1<<62))), plain, 6})
	}
	if c.o.ProxyURL != "" {
		p = append(p, part{"proxy " + clean(c.o.ProxyURL), faint, 8})
	}
	if c.o.ReadOnly {
		p = append(p, part{"read-only", warn, 4})
	}
	if l := s.Leader; l != nil && !s.Following {
		p = append(p, part{"leading, pid " + strconv.Itoa(l.PID), faint, 9})
	}
	if w < 60 {
		return c.theme.join(p, "  ", w)
	}
	return c.theme.ends(p, "  ", part{c.now().Time().Format("15:04:05") + " UTC", faint, 0}, w)
}

type stateCount struct {
	state string
	n     int
}

// tally counts endpoints by state: ok first, then by how much it hurts. The
// short form has one number for all that are gated.
func tally(s *fleet.Snapshot, short bool) []stateCount {
	order := []string{"ok", "wrong-chain", "identity-flap", "forked", "down", "stale", "refused", "throttled", "identity-unknown",
		"lagging", "ejected", "unknown"}
	if short {
		order = []string{"ok", "gated", "lagging", "ejected", "unknown"}
	}
	counts := map[string]int{}
	for i := range s.Chains {
		for j := range s.Chains[i].Endpoints {
			e := &s.Chains[i].Endpoints[j]
			if short && e.Gate != nil && e.State != "ejected" {
				counts["gated"]++
				continue
			}
			counts[e.State]++
		}
	}
	var out []stateCount
	for _, st := range order {
		if counts[st] > 0 {
			out = append(out, stateCount{st, counts[st]})
		}
	}
	return out
}

// banners are the lines that must not be overlooked. On a low screen they share
// one line.
func (c *console) banners() []string {
	var p []part
	if c.frozen {
		p = append(p, part{"FROZEN at " + c.now().Time().Format("15:04:05") + ": the engine goes on; space shows it again", warn, 0})
	}
	if s := c.snap; s != nil {
		if why := s.Recording.History; why != "" {
			p = append(p, part{"NOT RECORDING: " + clean(why), bad, 0})
		}
		if why := s.Recording.Journal; why != "" && why != s.Recording.History {
			p = append(p, part{"NOT RECORDING the journal: " + clean(why), bad, 0})
		}
		if s.Recording.Dropped > 0 {
			p = append(p, part{plural(int(min(s.Recording.Dropped, 1<<31)), "sample") + " dropped, the store is behind", warn, 0})
		}
		switch {
		case s.Leader == nil:
			p = append(p, part{"nobody leads: what you see is the last that was recorded", bad, 0})
		case s.Following:
			p = append(p, part{"following pid " + strconv.Itoa(s.Leader.PID) + " (" + clean(s.Leader.Role) + ")", faint, 0})
		}
		for _, n := range s.Notices {
			p = append(p, part{clean(n), warn, 0})
		}
	}
	for _, n := range c.o.Notices {
		p = append(p, part{clean(n), faint, 0})
	}
	if len(p) == 0 {
		return nil
	}
	if !c.whole() {
		return nil
	}
	most := 1
	if c.height >= 30 {
		most = 4
	} else if c.height >= 20 {
		most = 2
	}
	var out []string
	for i, b := range p {
		if i == most-1 && len(p) > most {
			b.text = cut(b.text, c.width-len("  +00 more")) + "  +" + strconv.Itoa(len(p)-most) + " more"
		}
		if i < most {
			out = append(out, c.theme.paint(b.ink, cut(b.text, c.width)))
		}
	}
	return out
}

// footer is the last line: what was just said, else what can be done.
func (c *console) footer(w int) string {
	if c.dialog != nil {
		return c.theme.paint(faint, cut("tab next field  ← → choose  enter press  esc close", w))
	}
	if c.toast != "" {
		return c.theme.paint(c.toastInk, cut(c.toast, w))
	}
	rank := map[action]int{actHelp: 1, actQuit: 2, actBack: 3, actOpen: 4, actWhy: 5, actEject: 6, actPin: 7, actClear: 8,
		actFilter: 9, actFreeze: 10, actSort: 11, actPane: 12, actCopy: 13}
	var keys, words []string
	var p []part
	for _, b := range keymap() {
		if b.short == "" || b.verb && c.o.ReadOnly || b.act == actBack && c.screen() == screenOverview && !c.feed.focused ||
			(b.act == actPane || b.act == actFilter || b.act == actSort) && c.screen() != screenOverview {
			continue
		}
		word := b.short
		switch {
		case b.act == actFreeze && c.frozen:
			word = "go on"
		case b.act == actPane && c.feed.focused:
			word = "table"
		}
		keys, words = append(keys, b.show), append(words, word)
		p = append(p, part{b.show + " " + word, plain, rank[b.act]})
	}
	line := ""
	for i, kept := range fitting(p, "  ", w) {
		if kept {
			if line != "" {
				line += "  "
			}
			line += c.theme.paint(keycap, keys[i]) + " " + words[i]
		}
	}
	return line
}
