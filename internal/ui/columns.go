package ui

import (
	"example.com/rpctop/internal/fleet"
)

// column is one column of the endpoints' table.
type column struct {
	id       columnID
	title    string
	min, max int  // cells; it gets min, and more of what is left
	right    bool // set to the right
}

type columnID uint8

const (
	colState columnID = iota
	colName
	colRole
	colWhy
	colLag
	colBlocks
	colCost
	colP95
	colHead
	colErr
	colSpark
	colP50
	colAge
	colDenied
	colUsed
	colDay
	columnIDs
)

// gap is between columns.
const gap = 1

// columnOrder is the order on the screen.
var columnOrder = [...]columnID{colState, colName, colRole, colCost, colP50, colP95, colErr, colHead, colBlocks, colLag,
	colAge, colDenied, colUsed, colDay, colSpark, colWhy}

// columnPriority is the order in which columns are given room: what tells who
// serves and what is broken comes first.
var columnPriority = [...]columnID{colState, colName, colLag, colWhy, colRole, colCost, colBlocks, colP95, colErr, colSpark,
	colHead, colP50, colAge, colDay, colUsed, colDenied}

// layout is the table's columns at one width, left to right.
type layout struct {
	columns []column
	widths  []int
}

// newLayout gives room to columns by priority, then shares what is left.
func newLayout(s *fleet.Snapshot, width int) layout {
	stateW, nameW, headW := 9, 8, 10
	broken := false
	for i := range s.Chains {
		for j := range s.Chains[i].Endpoints {
			e := &s.Chains[i].Endpoints[j]
			stateW = max(stateW, 2+len(e.State))
			nameW = max(nameW, cells(clean(e.Name)))
			broken = broken || e.State != "ok"
			if e.Head != nil {
				headW = max(headW, len(integer(e.Head.Number)))
			}
		}
	}
	whyMax := 10
	if broken {
		whyMax = 200
	}
	cols := [columnIDs]column{
		colState:  {colState, "state", min(stateW, 13), min(stateW, 18), false},
		colName:   {colName, "endpoint", min(nameW, 14), min(nameW, 32), false},
		colRole:   {colRole, "role", 9, 9, false},
		colCost:   {colCost, "cost ms", 7, 7, true},
		colP50:    {colP50, "p50", 6, 6, true},
		colP95:    {colP95, "p95", 6, 6, true},
		colErr:    {colErr, "errors", 6, 6, true},
		colHead:   {colHead, "head", headW, headW, true},
		colBlocks: {colBlocks, "blocks", 6, 6, true},
		colLag:    {colLag, "lag", 5, 5, true},
		colAge:    {colAge, "seen", 4, 4, true},
		colDenied: {colDenied, "denied", 6, 6, true},
		colUsed:   {colUsed, "today", 6, 6, true},
		colDay:    {colDay, "a day", 5, 5, true},
		colSpark:  {colSpark, "last 60 s", 10, 30, false},
		colWhy:    {colWhy, "why", 24, whyMax, false},
	}
	switch {
	case width < 60:
		cols[colState].min, cols[colName].min, cols[colWhy].min = min(stateW, 11), min(nameW, 10), 16
	case width >= 100:
		cols[colWhy].min = min(36, whyMax)
	}
	var taken [columnIDs]bool
	free := width
	for _, id := range columnPriority {
		need := cols[id].min
		if free != width {
			need += gap
		}
		if need > free && id != colState {
			if id == colWhy {
				continue
			}
			break
		}
		taken[id], free = true, free-need
	}
	extra := [columnIDs]int{}
	share := func(id columnID, most int) {
		if taken[id] {
			n := max(min(free, most, cols[id].max-cols[id].min), 0)
			extra[id], free = extra[id]+n, free-n
		}
	}
	share(colName, 12)
	share(colState, 6)
	if taken[colWhy] {
		share(colSpark, min(18, free/4))
	} else {
		share(colSpark, 18)
	}
	share(colName, 10)
	share(colWhy, 200)
	var l layout
	for _, id := range columnOrder {
		if taken[id] {
			l.columns = append(l.columns, cols[id])
			l.widths = append(l.widths, min(cols[id].min+extra[id], width))
		}
	}
	return l
}

// header is the line of titles.
func (l layout) header() string {
	s := ""
	for i, col := range l.columns {
		if i > 0 {
			s += blanks(gap)
		}
		if col.right {
			s += fitRight(col.title, l.widths[i])
		} else {
			s += fit(col.title, l.widths[i])
		}
	}
	return s
}

// cell gives the text and the ink of one cell.
func (c *console) cell(id columnID, ch *fleet.ChainView, e *fleet.EndpointView, w int) (string, ink) {
	now := c.now()
	old := c.isOld(e, now)
	number := plain
	if old {
		number = faint
	}
	switch id {
	case colState:
		glyph, k := stateLook(e.State)
		return glyph + " " + clean(e.State), k
	case colName:
		if e.Name == ch.Incumbent {
			return clean(e.Name), strong
		}
		return clean(e.Name), plain
	case colRole:
		glyph, k := roleLook(e.Role)
		return glyph + " " + clean(e.Role), k
	case colCost:
		if !e.Cost.Known {
			return unknown, faint
		}
		return millis(e.Cost.Total), number
	case colP50, colP95:
		if e.Successes <= 0 {
			return unknown, faint
		}
		if id == colP50 {
			return latency(e.P50), number
		}
		return latency(e.P95), number
	case colErr:
		if e.Samples == 0 {
			return unknown, faint
		}
		if e.ErrorRate >= 0.05 {
			return percent(e.ErrorRate), warn
		}
		return percent(e.ErrorRate), number
	case colHead:
		if e.Head == nil {
			return unknown, faint
		}
		return integer(e.Head.Number), number
	case colBlocks:
		return blocksBehind(e.LagBlocks), lagInk(e, number)
	case colLag:
		if e.LagMS == nil {
			return unknown, faint
		}
		return span(*e.LagMS), lagInk(e, number)
	case colAge:
		if e.HeadAt == 0 {
			return unknown, faint
		}
		if old {
			return age(now - e.HeadAt), warn
		}
		return age(now - e.HeadAt), faint
	case colDenied:
		if e.Denials == 0 {
			return "0", faint
		}
		return count(int64(min(e.Denials, 1<<62))), plain
	case colUsed:
		return count(e.UsedToday), faint
	case colDay:
		return count(e.PerDay), faint
	case colSpark:
		return sparkline(e.Spark, now, w), plain
	case colWhy:
		return reason(e), faint
	}
	return "", plain
}

// isOld reports that an endpoint's numbers are from long before its last
// probe was due.
func (c *console) isOld(e *fleet.EndpointView, now fleet.Millis) bool {
	return e.HeadAt != 0 && now-e.HeadAt > 3*max(e.Every, 1000)+5000
}

func lagInk(e *fleet.EndpointView, usual ink) ink {
	switch {
	case e.LagMS == nil:
		return faint
	case e.HardMS > 0 && *e.LagMS > e.HardMS:
		return bad
	case e.SoftMS > 0 && *e.LagMS > e.SoftMS:
		return warn
	default:
		return usual
	}
}

// reason says in words why an endpoint is not simply ok; "" if it is.
func reason(e *fleet.EndpointView) string {
	s := ""
	switch {
	case e.Gate != nil && e.Gate.Evidence != "":
		s = e.Gate.Evidence
	case e.Gate != nil:
		s = e.Gate.Name
	case e.State == "lagging" && e.Evidence == "":
		s = e.Bound
	case e.State == "unknown" && e.Evidence == "":
		s = "not probed yet"
	case e.State != "ok" || !e.Last.OK() && e.Last.Class != fleet.ClassNone:
		s = e.Evidence
	}
	for _, f := range e.Flags {
		if s != "" {
			s += " · "
		}
		s += f
	}
	return clean(s)
}
