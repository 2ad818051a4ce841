package ui

import "strings"

// part is a piece of a line. When the line is too long, the parts with the
// highest drop number go first; those with 0 stay and are cut.
type part struct {
	text string
	ink  ink
	drop int
}

// fitting says which parts fit on one line of at most w cells.
func fitting(parts []part, sep string, w int) []bool {
	keep := make([]bool, len(parts))
	used := -cells(sep)
	for i, p := range parts {
		keep[i] = true
		used += cells(p.text) + cells(sep)
	}
	for used > w {
		worst := -1
		for i, p := range parts {
			if keep[i] && p.drop > 0 && (worst < 0 || p.drop >= parts[worst].drop) {
				worst = i
			}
		}
		if worst < 0 {
			break
		}
		keep[worst] = false
		used -= cells(parts[worst].text) + cells(sep)
	}
	return keep
}

// join puts as many parts as fit on one line of at most w cells.
func (t *theme) join(parts []part, sep string, w int) string {
	keep := fitting(parts, sep, w)
	var b strings.Builder
	left := w
	for i, p := range parts {
		if !keep[i] || left <= 0 {
			continue
		}
		if b.Len() > 0 {
			s := head(sep, left)
			b.WriteString(t.paint(faint, s))
			left -= cells(s)
		}
		text := cut(p.text, left)
		left -= cells(text)
		b.WriteString(t.paint(p.ink, text))
	}
	return b.String()
}

// ends puts one part list at the left and one text at the right of a line.
func (t *theme) ends(left []part, sep string, right part, w int) string {
	rw := cells(right.text)
	if rw+12 > w {
		return t.join(left, sep, w)
	}
	l := t.join(left, sep, w-rw-2)
	return pad(l, w-rw) + t.paint(right.ink, right.text)
}

// rule draws a titled line over the whole width.
func (t *theme) rule(title string, right string, w int) string {
	s := "── " + title + " "
	if title == "" {
		s = ""
	}
	s = cut(s, w)
	r := ""
	if right != "" && cells(s)+cells(right)+6 <= w {
		r = " " + right + " ──"
	}
	return t.paint(faint, s+strings.Repeat("─", max(w-cells(s)-cells(r), 0))+r)
}
