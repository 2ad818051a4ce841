package ui

import (
	"slices"
	"strings"

	"example.com/rpctop/internal/fleet"
)

// whyPane says why the selected endpoint's chain is served as it is: the
// candidates in order, what took each one out, and what would have to change.
// It also gives the line at which each candidate begins.
func (c *console) whyPane(w int) (lines []string, starts []int) {
	t := &c.theme
	ch, _ := c.chain(c.sel.Chain)
	if ch == nil {
		return []string{t.paint(faint, cut("  no chain is selected", w))}, nil
	}
	p := &pane{t: t, w: w}
	name := cutMiddle(clean(ch.Name), max(w/4, 8))
	if ch.Incumbent != "" {
		verdict := part{"▶ " + clean(ch.Incumbent) + " serves", strong, 0}
		p.lines = append(p.lines, t.join([]part{{name, strong, 0}, verdict,
			{integer(uint64(eligible(ch))) + " of " + integer(uint64(len(ch.Ranking))) + " may serve", faint, 2}}, "  ", w))
	} else {
		p.lines = append(p.lines, t.join([]part{{name, strong, 0}, {"✕ nobody serves", bad, 0}}, "  ", w))
	}
	for _, o := range ch.Overrides {
		text := string(o.Action) + " " + clean(o.Endpoint) + " " + until(o.Until, c.wall()) + ", by " + orUnknown(clean(o.Author))
		if o.Reason != "" {
			text += ": " + clean(o.Reason)
		}
		p.text(text, strong, 2)
	}
	for _, a := range standing(ch) {
		p.text("▲ "+clean(a), bad, 2)
	}
	if e := c.feed.lastSwitch(ch.Name); e != nil {
		p.text("last switch "+clock(e.At, c.now())+" ("+age(c.now()-e.At)+" ago)  "+subject(e)+": "+clean(e.Reason), faint, 2)
	}
	p.blank()
	nameW := 10
	for _, cd := range ch.Ranking {
		nameW = max(nameW, cells(clean(cd.Endpoint)))
	}
	nameW = min(nameW, max(w/4, 12))
	wide := w >= cells("  out   ")+nameW+cells(" ◆ wrong-chain")+cells(" 60,000 = ")+cells(costTitles())
	if wide {
		p.lines = append(p.lines, t.paint(faint, cut("  "+fit("order", 6)+fit("candidate", nameW)+" "+fit("state", 13)+
			fitRight("cost ms", 9)+" = "+costTitles(), w)))
	}
	for _, cd := range ch.Ranking {
		starts = append(starts, len(p.lines))
		c.candidate(p, ch, cd, nameW, wide)
	}
	p.blank()
	p.text("cost = latency + errors + lag + throttle + offset: expected ms to a usable answer, lower is better. "+
		"Tier comes before cost; a pin comes before both.", faint, 2)
	return p.lines, starts
}

func costTitles() string {
	s := ""
	for i, n := range [...]string{"latency", "errors", "lag", "throttle", "offset"} {
		if i > 0 {
			s += "   "
		}
		s += fitRight(n, 8)
	}
	return s
}

// costTerms are the numbers under the titles.
func costTerms(t fleet.CostTerms) string {
	s := ""
	for i, v := range [...]float64{t.Latency, t.Error, t.Lag, t.Throttle, t.Offset} {
		if i > 0 {
			s += " + "
		}
		s += fitRight(millis(v), 8)
	}
	return s
}

// costWords are the terms that are not nothing, for narrow screens.
func costWords(t fleet.CostTerms) string {
	s := ""
	for _, term := range [...]struct {
		name string
		v    float64
	}{{"latency", t.Latency}, {"errors", t.Error}, {"lag", t.Lag}, {"throttle", t.Throttle}, {"offset", t.Offset}} {
		if n := millis(term.v); n != "0.0" {
			if s != "" {
				s += " + "
			}
			s += term.name + " " + n
		}
	}
	return s
}

// candidate draws one candidate: its line, then what keeps it out.
func (c *console) candidate(p *pane, ch *fleet.ChainView, cd fleet.Candidate, nameW int, wide bool) {
	t := &c.theme
	selected := cd.Endpoint == c.sel.Name
	mark, order := "  ", "out"
	if selected {
		mark = "▸ "
	}
	if cd.Rank > 0 {
		order = "#" + integer(uint64(cd.Rank))
	}
	state := ""
	if e := endpointOf(ch, cd.Endpoint); e != nil {
		state = e.State
	}
	glyph, k := stateLook(state)
	total := unknown
	if cd.Cost.Known {
		total = millis(cd.Cost.Total)
	}
	nameInk := plain
	if cd.Endpoint == ch.Incumbent {
		nameInk = strong
	}
	orderText, nameText := fit(order, 6), fitName(clean(cd.Endpoint), nameW)
	stateText := fit(glyph+" "+clean(state), 13)
	terms := ""
	if wide {
		terms = fitRight(total, 9)
		if cd.Cost.Known {
			terms += " = " + costTerms(cd.Cost)
		}
	} else {
		stateText = glyph + " " + clean(state)
		terms = "  " + total + " ms"
	}
	if selected {
		p.lines = append(p.lines, t.paint(chosen, fit(mark+orderText+nameText+" "+stateText+terms, p.w)))
	} else {
		rest := p.w - cells(mark+orderText+nameText+" "+stateText)
		p.lines = append(p.lines, mark+t.paint(faint, orderText)+t.paint(nameInk, nameText)+" "+t.paint(k, stateText)+cut(terms, rest))
	}
	const in = 8
	if !wide && cd.Cost.Known {
		p.text(costWords(cd.Cost), faint, in)
	}
	if g := cd.Gate; g != nil {
		text := clean(g.Name)
		if g.Evidence != "" {
			text += ": " + clean(g.Evidence)
		}
		p.text(text, plain, in)
		p.text(c.gateTimes(g, cd.Needs), faint, in)
	} else if cd.Why != "" {
		p.text(clean(cd.Why), faint, in)
	}
	if cd.Needs != "" && cd.Endpoint != ch.Incumbent {
		p.text("to serve: "+clean(cd.Needs), plain, in)
	}
}

// gateTimes says since when a gate stands and what ends it, unless that is said
// below anyway.
func (c *console) gateTimes(g *fleet.Gate, needs string) string {
	now := c.now()
	var s []string
	if g.Since != 0 {
		s = append(s, "for "+age(now-g.Since))
	}
	if g.Until != 0 {
		s = append(s, "until "+clock(g.Until, now)+" ("+remaining(g.Until-now)+")")
	}
	if g.Ends != "" && g.Ends != needs {
		s = append(s, "ends: "+clean(g.Ends))
	}
	if g.Until == 0 && g.Ends == "" && needs == "" {
		s = append(s, "when it ends is not known")
	}
	return strings.Join(s, " · ")
}

// revealCandidate scrolls the why pane to the selected candidate.
func (c *console) revealCandidate(page int) {
	ch, _ := c.chain(c.sel.Chain)
	if ch == nil {
		return
	}
	lines, starts := c.whyPane(c.width)
	at := slices.IndexFunc(ch.Ranking, func(cd fleet.Candidate) bool { return cd.Endpoint == c.sel.Name })
	if at < 0 || at >= len(starts) {
		return
	}
	first, end := starts[at], len(lines)
	if at+1 < len(starts) {
		end = starts[at+1]
	}
	page = max(page-1, 1) // the last line may say that there is more
	if at == 0 && end <= page {
		first = 0
	}
	if end > c.scroll+page {
		c.scroll = end - page
	}
	if first < c.scroll {
		c.scroll = first
	}
	c.scroll = max(0, min(c.scroll, len(lines)-page))
}
