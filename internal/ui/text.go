package ui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"example.com/rpctop/internal/fleet"
)

// ellipsis marks a text that was cut.
const ellipsis = "…"

// cells is the one width function: how many cells a text takes. It is the one
// that lipgloss and bubbletea use, so that nothing is measured in two ways.
func cells(s string) int {
	if isPlain(s) {
		return len(s)
	}
	return ansi.StringWidth(s)
}

// isPlain reports printable ASCII, where bytes are cells.
func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// maxMarks is how many combining marks may follow one letter; more of them
// paint over the neighbouring lines.
const maxMarks = 2

// clean makes a text fit for cells. Beyond fleet.Sanitize it removes joiners and
// variation selectors and long runs of combining marks, and it takes apart the
// clusters on whose width terminals disagree.
func clean(s string) string {
	if isPlain(s) {
		return s
	}
	s = fleet.SanitizeMax(s, 4*fleet.MaxText)
	var b strings.Builder
	marks := maxMarks // a leading mark would join what stands before the name
	for _, r := range s {
		switch {
		case r == '\u200c' || r == '\u200d' || r == '\u2800' || unicode.Is(unicode.Variation_Selector, r):
			continue
		case unicode.In(r, unicode.Mn, unicode.Me):
			if marks++; marks > maxMarks {
				continue
			}
		default:
			marks = 0
		}
		b.WriteRune(r)
	}
	s = b.String()
	b.Reset()
	for len(s) > 0 {
		cluster, w := nextCluster(s)
		s = s[len(cluster):]
		if w == ansi.StringWidthWc(cluster) {
			b.WriteString(cluster)
			continue
		}
		// Terminals that count runes and those that count clusters would put
		// the next column elsewhere: one mark stands for the whole cluster.
		b.WriteByte('?')
	}
	return apart(b.String())
}

// apart drops blanks from both ends, and what would join the text beside it.
func apart(s string) string {
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		if r != ' ' && !unicode.Is(unicode.M, r) && cells(" "+s) == 1+cells(s) {
			break
		}
		s = s[n:]
	}
	for s != "" {
		r, n := utf8.DecodeLastRuneInString(s)
		if r != ' ' && cells(s+" ") == cells(s)+1 {
			break
		}
		s = s[:len(s)-n]
	}
	return s
}

// nextCluster gives the first user-perceived character of a text and its cells.
func nextCluster(s string) (cluster string, width int) {
	cluster, width = ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	if cluster == "" {
		return s[:1], 0
	}
	return cluster, width
}

// head gives the longest beginning of a plain text that fits into w cells.
func head(s string, w int) string {
	if w <= 0 {
		return ""
	}
	if isPlain(s) {
		return s[:min(w, len(s))]
	}
	used, n := 0, 0
	for n < len(s) {
		c, cw := nextCluster(s[n:])
		if used+cw > w {
			break
		}
		used += cw
		n += len(c)
	}
	return s[:n]
}

// tail gives the longest end of a plain text that fits into w cells.
func tail(s string, w int) string {
	if w <= 0 {
		return ""
	}
	if isPlain(s) {
		return s[max(0, len(s)-w):]
	}
	for drop := cells(s) - w; drop > 0 && s != ""; {
		c, cw := nextCluster(s)
		s = s[len(c):]
		drop -= cw
	}
	return s
}

// cut shortens a text to at most w cells and marks that at its end.
func cut(s string, w int) string {
	if cells(s) <= w {
		return s
	}
	if w <= 0 {
		return ""
	}
	return strings.TrimRight(head(s, w-1), " ") + ellipsis
}

// cutMiddle shortens a text to at most w cells and keeps both ends, since names
// often differ at the end only. The end gets the larger half.
func cutMiddle(s string, w int) string {
	if cells(s) <= w {
		return s
	}
	if w <= 1 {
		return head(s, w)
	}
	front := (w - 1) / 3
	return head(s, front) + ellipsis + tail(s, w-1-front)
}

// pad fills a text with blanks to w cells; a longer one stays as it is.
func pad(s string, w int) string {
	if n := w - cells(s); n > 0 {
		return s + blanks(n)
	}
	return s
}

// padLeft fills a text with blanks on its left.
func padLeft(s string, w int) string {
	if n := w - cells(s); n > 0 {
		return blanks(n) + s
	}
	return s
}

// fit makes a text exactly w cells wide.
func fit(s string, w int) string { return pad(cut(s, w), max(w, 0)) }

// fitRight makes a text exactly w cells wide, set to the right.
func fitRight(s string, w int) string { return padLeft(cut(s, w), max(w, 0)) }

// fitName makes a name exactly w cells wide, with both ends kept.
func fitName(s string, w int) string { return pad(cutMiddle(s, w), max(w, 0)) }

const manyBlanks = "                                                                                "

func blanks(n int) string {
	if n <= 0 {
		return ""
	}
	if n <= len(manyBlanks) {
		return manyBlanks[:n]
	}
	return strings.Repeat(" ", n)
}

// wrap breaks a plain text at blanks into lines of at most w cells; a word that
// is longer is broken where it must be.
func wrap(s string, w int) []string {
	if w <= 0 {
		return nil
	}
	if cells(s) <= w {
		return []string{s}
	}
	var lines []string
	line, used := "", 0
	for _, word := range strings.Fields(s) {
		n := cells(word)
		if used > 0 && used+1+n <= w {
			line, used = line+" "+word, used+1+n
			continue
		}
		if used > 0 {
			lines = append(lines, line)
		}
		for n > w {
			part := head(word, w)
			if part == "" { // a letter wider than the line
				return lines
			}
			lines, word = append(lines, part), word[len(part):]
			n = cells(word)
		}
		line, used = word, n
	}
	if used > 0 {
		lines = append(lines, line)
	}
	return lines
}

// plural gives "1 chain", "2 chains".
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return integer(uint64(max(n, 0))) + " " + word + "s"
}
