package ui

// pane collects the lines of a text pane.
type pane struct {
	t     *theme
	w     int
	lines []string
}

// keyWidth is the room of labels.
const keyWidth = 11

func (p *pane) blank() {
	if len(p.lines) > 0 {
		p.lines = append(p.lines, "")
	}
}

// heading begins a block.
func (p *pane) heading(s string) {
	p.blank()
	p.lines = append(p.lines, p.t.rule(s, "", p.w))
}

// pair is a label and a value, which may take several lines.
func (p *pane) pair(key, value string, k ink) {
	if value == "" {
		value, k = unknown, faint
	}
	for i, l := range wrap(value, max(p.w-keyWidth-3, 8)) {
		label := blanks(keyWidth)
		if i == 0 {
			label = p.t.paint(faint, fit(key, keyWidth))
		}
		p.lines = append(p.lines, "  "+label+" "+p.t.paint(k, l))
	}
}

// text is a paragraph, indented.
func (p *pane) text(s string, k ink, indent int) {
	for _, l := range wrap(s, max(p.w-indent, 8)) {
		p.lines = append(p.lines, blanks(indent)+p.t.paint(k, l))
	}
}

// beside puts two panes next to each other.
func beside(left, right *pane, gap int) []string {
	n := max(len(left.lines), len(right.lines))
	out := make([]string, 0, n)
	for i := range n {
		l, r := "", ""
		if i < len(left.lines) {
			l = left.lines[i]
		}
		if i < len(right.lines) {
			r = right.lines[i]
		}
		if r != "" {
			l += blanks(left.w + gap - cells(l))
		}
		out = append(out, l+r)
	}
	return out
}
