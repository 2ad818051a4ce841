package ui

import (
	"slices"
	"strings"

	"example.com/rpctop/internal/fleet"
)

// tableLine is one line of the table: a chain's header, one of its alarms, an
// endpoint, or a blank.
type tableLine struct {
	kind  lineKind
	chain int // index in the snapshot
	id    fleet.EndpointID
	text  string // of an alarm
}

type lineKind uint8

const (
	lineBlank lineKind = iota
	lineChain
	lineAlarm
	lineEndpoint
)

// tableLines lists what the table consists of; only what is visible of it is
// ever drawn.
func (c *console) tableLines(roomy bool) []tableLine {
	if c.snap == nil {
		return nil
	}
	ids := c.ids()
	lines := make([]tableLine, 0, len(ids)+3*len(c.snap.Chains))
	for i := range c.snap.Chains {
		ch := &c.snap.Chains[i]
		if len(c.picked.filter.terms) > 0 && !slices.ContainsFunc(ids, func(id fleet.EndpointID) bool { return id.Chain == ch.Name }) {
			continue
		}
		if roomy && len(lines) > 0 {
			lines = append(lines, tableLine{kind: lineBlank, chain: i})
		}
		lines = append(lines, tableLine{kind: lineChain, chain: i})
		for _, a := range standing(ch) {
			lines = append(lines, tableLine{kind: lineAlarm, chain: i, text: a})
		}
		for _, id := range ids {
			if id.Chain == ch.Name {
				lines = append(lines, tableLine{kind: lineEndpoint, chain: i, id: id})
			}
		}
	}
	return lines
}

// standing gives what stands on a chain and somebody should look at.
func standing(ch *fleet.ChainView) []string {
	out := ch.Alarms
	if ch.Frozen != "" && !slices.Contains(out, ch.Frozen) {
		out = append(slices.Clone(out), "soft switching is frozen: "+ch.Frozen)
	}
	return out
}

// tableShape says how the overview is divided at the present size.
type tableShape struct {
	banners int  // lines
	titles  int  // 1 with the line of titles
	rows    int  // lines of the table
	detail  int  // lines about the selected endpoint
	events  int  // lines of events, without their title
	ruled   bool // events have a title
	roomy   bool
}

func (c *console) shape() tableShape {
	s := tableShape{banners: len(c.banners()), titles: 1}
	h := c.height - 2 - s.banners // title and footer
	if c.height < 8 {
		s.titles = 0
	}
	h -= s.titles
	content := len(c.tableLines(false))
	if h >= 6 {
		s.detail = 1
	}
	h -= s.detail
	least := 1
	switch {
	case h >= 30:
		least = 8
	case h >= 16:
		least = 5
	case h >= 10:
		least = 3
	case h < 4:
		least = 0
	}
	s.ruled = h >= 10
	rule := 0
	if s.ruled {
		rule = 1
	}
	least += rule
	s.rows = max(1, min(content, h-least))
	chains := 0
	if c.snap != nil {
		chains = len(c.snap.Chains)
	}
	if content+chains-1 <= h-least && h >= 20 {
		s.roomy, s.rows = true, content+max(chains-1, 0)
	}
	if s.events = h - s.rows - rule; s.events < 1 {
		s.events, s.rows = 0, max(h, 0)
	}
	return s
}

// reveal scrolls the table until the selected endpoint is visible below its
// chain's header.
func (c *console) reveal() {
	s := c.shape()
	lines := c.tableLines(s.roomy)
	at := slices.IndexFunc(lines, func(l tableLine) bool { return l.kind == lineEndpoint && l.id == c.sel })
	if at < 0 {
		c.top = 0
		return
	}
	rows := max(s.rows, 1)
	if at >= c.top+rows {
		c.top = at - rows + 1
	}
	// The first line is the chain's header when that has been scrolled away.
	if at <= c.top {
		c.top = at
		for c.top > 0 && lines[c.top-1].kind != lineEndpoint && lines[c.top-1].chain == lines[at].chain && at-c.top < rows-1 {
			c.top--
		}
		if c.top == at && rows > 1 && at > 0 {
			c.top--
		}
	}
	c.top = max(0, min(c.top, len(lines)-rows))
}

// drawTable draws the visible lines of the table.
func (c *console) drawTable(l layout, s tableShape, w int) []string {
	lines := c.tableLines(s.roomy)
	top := max(0, min(c.top, len(lines)-s.rows))
	out := make([]string, 0, s.rows)
	for i := top; i < len(lines) && len(out) < s.rows; i++ {
		line := lines[i]
		if i == top && s.rows > 1 && (line.kind == lineEndpoint || line.kind == lineAlarm) {
			line = tableLine{kind: lineChain, chain: line.chain}
		}
		switch line.kind {
		case lineChain:
			out = append(out, c.chainLine(line.chain, w))
		case lineAlarm:
			out = append(out, "  "+c.theme.paint(bad, cut("▲ "+clean(line.text), w-2)))
		case lineEndpoint:
			ch, e := c.endpoint(line.id)
			out = append(out, c.endpointLine(ch, e, l, w))
		default:
			out = append(out, "")
		}
	}
	return out
}

// endpointLine draws one endpoint over the whole width.
func (c *console) endpointLine(ch *fleet.ChainView, e *fleet.EndpointView, l layout, w int) string {
	selected := c.sel == fleet.EndpointID{Chain: ch.Name, Name: e.Name}
	line, bare := "  ", "  "
	if selected {
		bare = "▸ "
	}
	for i, col := range l.columns {
		if i > 0 {
			line += blanks(gap)
			bare += blanks(gap)
		}
		text, k := c.cell(col.id, ch, e, l.widths[i])
		switch {
		case col.id == colName:
			text = fitName(text, l.widths[i])
		case col.right:
			text = fitRight(text, l.widths[i])
		default:
			text = fit(text, l.widths[i])
		}
		if selected {
			bare += text
		} else {
			line += c.theme.paint(k, text)
		}
	}
	if selected {
		return c.theme.paint(chosen, pad(bare, w))
	}
	return strings.TrimRight(line, " ") // blanks need not be sent
}

// chainLine draws a chain's header: who serves, and what the chain stands at.
func (c *console) chainLine(i, w int) string {
	ch := &c.snap.Chains[i]
	now := c.now()
	glyph, k := stateLook(ch.State)
	nameW, serves := 0, 0
	for j := range c.snap.Chains {
		nameW = max(nameW, cells(clean(c.snap.Chains[j].Name)))
		serves = max(serves, cells(clean(c.snap.Chains[j].Incumbent)))
	}
	nameW, serves = min(nameW, max(w/5, 8)), min(serves, max(w/5, 8))
	if w < 60 { // no room to align
		nameW, serves = min(cells(clean(ch.Name)), 12), 14
	}
	p := []part{
		{integer(uint64(i+1)) + " " + fitName(clean(ch.Name), nameW), strong, 0},
		{fit(glyph+" "+clean(ch.State), 10), k, 0},
	}
	if w < 60 {
		who, k := "▶ "+cutMiddle(clean(ch.Incumbent), serves), strong
		if ch.Incumbent == "" {
			who, k = "✕ nobody serves", bad
		}
		p = append(p, part{who, k, 1})
	} else if ch.Incumbent != "" {
		p = append(p, part{pad("▶ "+cutMiddle(clean(ch.Incumbent), serves)+" serves", serves+9), strong, 1})
	} else {
		p = append(p, part{pad("✕ nobody serves", serves+9), bad, 1})
	}
	if r := ch.Reference; r != nil {
		p = append(p, part{"head " + integer(r.Number), plain, 3})
		old := now - r.Since
		ageInk := faint
		if ch.State == "stalled" || old > max(10*ch.BlockTime, 60_000) {
			ageInk = bad
		}
		p = append(p, part{age(old) + " ago", ageInk, 2})
		if !r.Corroborated {
			p = append(p, part{"uncorroborated", warn, 5})
		}
	} else {
		p = append(p, part{"head not known", faint, 3})
	}
	if pin := ch.Pin; pin != nil {
		text := "⊙ pin " + cutMiddle(clean(pin.Endpoint), max(w/6, 8)) + " " + until(pin.Until, c.wall())
		if pin.Strict {
			text += " strict"
		}
		if pin.Unrecorded {
			text += " NOT RECORDED"
		}
		p = append(p, part{text, strong, 2})
	}
	p = append(p, part{plural(ch.Switches, "switch") + "/h", faint, 6})
	if ch.Switches != 1 {
		p[len(p)-1].text = integer(uint64(max(ch.Switches, 0))) + " switches/h"
	}
	most := int64(0)
	for j := range ch.Endpoints {
		most = max(most, ch.Endpoints[j].PerDay)
	}
	if most > 0 {
		p = append(p, part{"at most " + count(most) + " probe calls a day per endpoint", faint, 9})
	}
	return c.theme.join(p, "  ", w)
}
