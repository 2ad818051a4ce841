package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
)

// The size of a cell in SVG units. Fonts differ in their advance, so each run
// of text carries its length, and the cells stay where they are.
const (
	cellWidth  = 8.4
	cellHeight = 17.0
	baseline   = 13.0
	fontSize   = 14
	padding    = 14.0
	fonts      = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
)

// svg draws the screen on a plain dark frame. The same screen gives the same
// bytes.
func (g grid) svg(title string) []byte {
	cols := 0
	if len(g) > 0 {
		cols = len(g[0])
	}
	width, height := float64(cols)*cellWidth+2*padding, float64(len(g))*cellHeight+2*padding
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %[1]s %[2]s" role="img">`+"\n",
		number(width), number(height))
	if title != "" {
		fmt.Fprintf(&b, "<title>%s</title>\n", escape(title))
	}
	fmt.Fprintf(&b, `<rect x="0.5" y="0.5" width="%s" height="%s" rx="8" fill="%s" stroke="%s"/>`+"\n",
		number(width-1), number(height-1), ownBG, border)
	fmt.Fprintf(&b, `<g font-family="%s" font-size="%d" fill="%s" xml:space="preserve" style="white-space:pre">`+"\n", fonts, fontSize, ownFG)
	for y, row := range g {
		drawBackground(&b, y, row)
	}
	for y, row := range g {
		drawText(&b, y, row)
	}
	b.WriteString("</g>\n</svg>\n")
	return b.Bytes()
}

func left(x int) float64 { return padding + float64(x)*cellWidth }
func top(y int) float64  { return padding + float64(y)*cellHeight }

func drawBackground(b *bytes.Buffer, y int, row []cell) {
	for x := 0; x < len(row); {
		end := x + 1
		for end < len(row) && row[end].look.bg == row[x].look.bg {
			end++
		}
		if bg := row[x].look.bg; bg != "" {
			fmt.Fprintf(b, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s"/>`+"\n",
				number(left(x)), number(top(y)), number(float64(end-x)*cellWidth), number(cellHeight), bg)
		}
		x = end
	}
}

func drawText(b *bytes.Buffer, y int, row []cell) {
	runs := runsOf(row)
	if len(runs) == 0 {
		return
	}
	fmt.Fprintf(b, `<text y="%s">`, number(top(y)+baseline))
	for _, r := range runs {
		fmt.Fprintf(b, `<tspan x="%s"`, number(left(r.x)))
		if r.cells > 1 {
			fmt.Fprintf(b, ` textLength="%s"`, number(float64(r.cells)*cellWidth))
		}
		if r.kind == drawing && r.cells > 1 {
			b.WriteString(` lengthAdjust="spacingAndGlyphs"`)
		}
		b.WriteString(r.look.attributes())
		b.WriteString(">" + escape(r.text) + "</tspan>")
	}
	b.WriteString("</text>\n")
}

// attributes gives the presentation attributes of a look.
func (l look) attributes() string {
	var b strings.Builder
	if l.fg != "" {
		b.WriteString(` fill="` + l.fg + `"`)
	}
	if l.faint {
		b.WriteString(` fill-opacity="0.6"`)
	}
	if l.bold {
		b.WriteString(` font-weight="bold"`)
	}
	if l.italic {
		b.WriteString(` font-style="italic"`)
	}
	switch {
	case l.underline && l.struck:
		b.WriteString(` text-decoration="underline line-through"`)
	case l.underline:
		b.WriteString(` text-decoration="underline"`)
	case l.struck:
		b.WriteString(` text-decoration="line-through"`)
	}
	return b.String()
}

// kind tells characters that come from one font from those that may not.
type kind uint8

const (
	letters kind = iota // ASCII
	drawing             // boxes and blocks: one width in every font that has them
	symbol              // may come from any font: placed one by one
)

func kindOf(text string) kind {
	for i, r := range text {
		switch {
		case r < 0x80:
		case i == 0 && r >= 0x2500 && r <= 0x259f && len(text) == len(string(r)):
			return drawing
		default:
			return symbol
		}
	}
	return letters
}

// run is a piece of a row that is drawn as one text.
type run struct {
	x, cells int
	text     string
	look     look
	kind     kind
}

// runsOf cuts a row into runs. Blanks that show nothing go with the run before
// them, so that a selected line reads as it stands; those at the end are left
// out.
func runsOf(row []cell) []run {
	var runs []run
	for x, c := range row {
		if c.width == 0 {
			continue
		}
		look, k := c.look, kindOf(c.text)
		look.bg = "" // drawn already
		blank := c.text == " " && !look.underline && !look.struck
		if n := len(runs); n > 0 {
			last := &runs[n-1]
			joins := last.look == look && last.kind == k && k != symbol
			if joins || blank && last.kind == letters && !last.look.underline && !last.look.struck {
				last.text += c.text
				last.cells += c.width
				continue
			}
		}
		runs = append(runs, run{x: x, cells: c.width, text: c.text, look: look, kind: k})
	}
	for len(runs) > 0 {
		last := &runs[len(runs)-1]
		if last.kind != letters || last.look.underline || last.look.struck {
			break
		}
		text := strings.TrimRight(last.text, " ")
		last.cells -= len(last.text) - len(text)
		last.text = text
		if text != "" {
			break
		}
		runs = runs[:len(runs)-1]
	}
	return runs
}

func number(f float64) string {
	s := strconv.FormatFloat(f, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

func escape(s string) string {
	var b bytes.Buffer
	// Writing to a buffer does not fail.
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}
