package ui

import (
	"strconv"
	"strings"

	"example.com/rpctop/internal/fleet"
)

// endpointPane draws all that is known of the selected endpoint.
func (c *console) endpointPane(w int) []string {
	ch, e := c.endpoint(c.sel)
	if e == nil {
		return []string{c.theme.paint(faint, cut("  this endpoint is not there any more", w))}
	}
	glyph, k := stateLook(e.State)
	head := c.theme.join([]part{
		{cutMiddle(clean(ch.Name), max(w/4, 8)) + " / " + cutMiddle(clean(e.Name), max(w/2, 12)), strong, 0},
		{glyph + " " + clean(e.State), k, 0},
		{clean(e.Role), plain, 1},
		{"operator " + orUnknown(clean(e.Operator)), faint, 3},
		{"tier " + strconv.Itoa(e.Tier), faint, 2},
	}, "  ", w)
	if w < 110 {
		p := &pane{t: &c.theme, w: w}
		c.endpointState(p, ch, e)
		c.endpointFailures(p, e)
		c.endpointCost(p, e)
		c.endpointLatency(p, e)
		c.endpointHead(p, ch, e)
		c.endpointIdentity(p, ch, e)
		c.endpointBudget(p, e)
		return append([]string{head}, p.lines...)
	}
	half := (w - 3) / 2
	left, right := &pane{t: &c.theme, w: half}, &pane{t: &c.theme, w: w - 3 - half}
	c.endpointState(left, ch, e)
	c.endpointHead(left, ch, e)
	c.endpointIdentity(left, ch, e)
	c.endpointBudget(left, e)
	c.endpointCost(right, e)
	c.endpointLatency(right, e)
	c.endpointFailures(right, e)
	return append([]string{head}, beside(left, right, 3)...)
}

func orUnknown(s string) string {
	if s == "" {
		return unknown
	}
	return s
}

func (c *console) endpointState(p *pane, ch *fleet.ChainView, e *fleet.EndpointView) {
	p.heading("gate and overrides")
	if g := e.Gate; g != nil {
		c.gatePairs(p, g)
	} else {
		p.pair("gate", "none", plain)
		if why := reason(e); why != "" {
			p.pair("remark", why, plain)
		}
	}
	if e.Gate != nil && len(e.Flags) > 0 {
		p.pair("flags", clean(strings.Join(e.Flags, ", ")), warn)
	}
	said := false
	for _, o := range ch.Overrides {
		if o.Endpoint == e.Name {
			said = true
			c.overridePair(p, o)
		}
	}
	if !said {
		p.pair("override", "none", plain)
	}
	if cd := candidateOf(ch, e.Name); cd != nil && cd.Needs != "" {
		p.pair("to serve", clean(cd.Needs), plain)
	}
}

func (c *console) gatePairs(p *pane, g *fleet.Gate) {
	now := c.now()
	p.pair("gate", clean(g.Name), bad)
	p.pair("evidence", clean(g.Evidence), plain)
	if g.Since != 0 {
		p.pair("since", clock(g.Since, now)+" ("+age(now-g.Since)+")", plain)
	}
	if g.Until != 0 {
		p.pair("until", clock(g.Until, now)+" ("+remaining(g.Until-now)+")", plain)
	}
	if g.Ends != "" {
		p.pair("ends", clean(g.Ends), plain)
	}
}

func (c *console) overridePair(p *pane, o fleet.Override) {
	text := string(o.Action) + " " + until(o.Until, c.wall())
	if o.Strict {
		text += ", strict"
	}
	text += ", by " + orUnknown(clean(o.Author)) + " at " + clock(o.Since, c.now())
	if o.Reason != "" {
		text += ": " + clean(o.Reason)
	}
	p.pair("override", text, strong)
	if o.Unrecorded {
		p.pair("", "in force, NOT RECORDED", bad)
	}
}

func (c *console) endpointHead(p *pane, ch *fleet.ChainView, e *fleet.EndpointView) {
	now := c.now()
	p.heading("head")
	if e.Head == nil {
		p.pair("head", "", faint)
	} else {
		p.pair("head", integer(e.Head.Number)+"  "+e.Head.Hash.Short(), plain)
		k := plain
		if c.isOld(e, now) {
			k = warn
		}
		p.pair("seen", age(now-e.HeadAt)+" ago", k)
		p.pair("block time", clock(fleet.Millis(min(e.Head.Time, 1<<40))*1000, now), plain)
	}
	if r := ch.Reference; r != nil {
		text := integer(r.Number) + "  " + r.Hash.Short()
		if !r.Corroborated {
			text += "  uncorroborated"
		}
		p.pair("reference", text, plain)
	}
	lag := unknown
	if e.LagBlocks != nil || e.LagMS != nil {
		lag = blocksBehind(e.LagBlocks) + " blocks"
		if e.LagMS != nil {
			lag += ", " + span(*e.LagMS)
		}
	}
	p.pair("lag", lag, lagInk(e, plain))
	if e.SoftMS > 0 || e.HardMS > 0 {
		p.pair("bounds", "lagging over "+span(e.SoftMS)+", stale over "+span(e.HardMS), plain)
	}
	if e.Bound != "" {
		p.pair("bound", clean(e.Bound), plain)
	}
}

func (c *console) endpointIdentity(p *pane, ch *fleet.ChainView, e *fleet.EndpointView) {
	p.heading("identity")
	want := strconv.FormatUint(ch.ChainID, 10)
	switch {
	case e.ChainID == "":
		p.pair("chain id", "not read in this run; "+want+" is right", warn)
	case e.ChainID != want:
		p.pair("chain id", clean(e.ChainID)+", but "+want+" is right", bad)
	default:
		p.pair("chain id", want, plain)
	}
	if e.Genesis.IsZero() {
		p.pair("genesis", "", faint)
	} else {
		p.pair("genesis", e.Genesis.String(), plain)
	}
	p.pair("client", clean(e.Client), plain)
	p.pair("syncing", clean(e.Syncing), plain)
	where := "remote"
	if e.Local {
		where = "loopback or private address"
	}
	p.pair("address", where, plain)
}

func (c *console) endpointBudget(p *pane, e *fleet.EndpointView) {
	p.heading("probes and budget")
	p.pair("pace", "every "+span(e.Every)+", "+integer(uint64(max(e.PerDay, 0)))+" probe calls a day", plain)
	p.pair("today", integer(uint64(max(e.UsedToday, 0)))+" probe calls since 00:00 UTC", plain)
	p.pair("samples", integer(e.Samples)+" in this run, "+integer(e.Failures)+" failures of its own", plain)
	p.pair("denials", integer(e.Denials)+" of ours; no decision reads them", plain)
}

// endpointCost shows the terms of the cost, in ms, with their shares.
func (c *console) endpointCost(p *pane, e *fleet.EndpointView) {
	p.heading("cost: expected ms to a usable answer")
	t := e.Cost
	if !t.Known {
		p.text("not known: not a single sample yet", faint, 2)
		return
	}
	line := func(name string, v float64, note string) {
		share := 0.0
		if t.Total > 0 {
			share = v / t.Total
		}
		s := fit(name, keyWidth) + " " + fitRight(millis(v), 7) + "  "
		room := max(6, min(p.w-cells(s)-30, 24))
		p.lines = append(p.lines, "  "+p.t.paint(faint, head(s, keyWidth))+s[keyWidth:]+
			p.t.paint(good, pad(bar(share, room), max(room, 0)))+"  "+p.t.paint(faint, cut(note, p.w-cells(s)-room-4)))
	}
	line("latency", t.Latency, "p70 of its successes")
	line("errors", t.Error, "at most "+percent(t.ErrBound)+" fail")
	line("lag", t.Lag, "for being behind")
	line("throttle", t.Throttle, "expected holds")
	line("offset", t.Offset, "from the config")
	p.lines = append(p.lines, "  "+p.t.paint(strong, fit("total", keyWidth)+" "+fitRight(millis(t.Total), 7)))
}

func (c *console) endpointLatency(p *pane, e *fleet.EndpointView) {
	p.heading("latency")
	if e.Successes > 0 {
		p.pair("p50, p95", latency(e.P50)+" ms, "+latency(e.P95)+" ms, of successes", plain)
	} else {
		p.pair("p50, p95", "", faint)
	}
	if e.Samples > 0 {
		p.pair("errors", percent(e.ErrorRate)+" of the last attempts", plain)
	}
	if t := e.LastTiming; t.Total > 0 {
		s := "connect " + latency(t.Connect) + ", TLS " + latency(t.TLS) + ", first byte " + latency(t.FirstByte) + ", total " + latency(t.Total) + " ms"
		if !t.Cold {
			s = "kept connection, first byte " + latency(t.FirstByte) + ", total " + latency(t.Total) + " ms"
		}
		p.pair("last probe", s, plain)
	} else {
		p.pair("last probe", "", faint)
	}
	w := min(p.w-keyWidth-3, 60)
	p.pair("last minute", strings.TrimRight(sparkline(e.Spark, c.now(), w), " "), plain)
	p.pair("", "▁ under 10 ms, each step doubles, █ 640 and more, ✕ failed", faint)
}

func (c *console) endpointFailures(p *pane, e *fleet.EndpointView) {
	p.heading("last failures")
	if len(e.LastFailures) == 0 {
		p.text("none in this run", faint, 2)
		return
	}
	now := c.now()
	for _, f := range e.LastFailures {
		stamp := clock(f.At, now)
		for i, l := range wrap(clean(f.Outcome.Evidence()), max(p.w-cells(stamp)-8, 12)) {
			lead := blanks(cells(stamp) + 6)
			if i == 0 {
				lead = p.t.paint(faint, stamp+" "+padLeft(age(now-f.At), 4)+" ")
			}
			p.lines = append(p.lines, "  "+lead+l)
		}
	}
}
