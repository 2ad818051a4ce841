package main

import (
	"fmt"
	"image/color"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

// look is how a cell is drawn. Colours are #rrggbb; "" is the terminal's own.
type look struct {
	fg, bg                                 string
	bold, faint, italic, underline, struck bool
}

// cell is one character of the screen; width is 1 or 2, and 0 for the second
// half of a wide one.
type cell struct {
	text  string
	width int
	look  look
}

// grid is a screen, row by row.
type grid [][]cell

// The colours of the drawn terminal: a dark background, and sixteen colours
// that keep their distance from it and, blue against orange, from each other.
const (
	ownFG  = "#d0d7de"
	ownBG  = "#0d1117"
	border = "#30363d"
)

var sixteen = [16]string{
	"#484f58", "#ff7b72", "#3fb950", "#e09b3d", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4",
	"#6e7681", "#ffa198", "#56d364", "#ffb757", "#79c0ff", "#d2a8ff", "#56d4dd", "#ffffff",
}

// capture copies an emulator's screen.
func capture(screen *vt.Emulator) grid {
	g := make(grid, screen.Height())
	for y := range g {
		g[y] = make([]cell, screen.Width())
		wide := false
		for x := range g[y] {
			c := cell{text: " ", width: 1}
			switch at := screen.CellAt(x, y); {
			case wide:
				c = cell{look: g[y][x-1].look}
			case at != nil && at.Content != "":
				c = cell{text: at.Content, width: max(1, at.Width), look: lookOf(at.Style)}
			case at != nil:
				c.look = lookOf(at.Style)
			}
			wide = c.width == 2
			g[y][x] = c
		}
	}
	return g
}

func lookOf(s uv.Style) look {
	l := look{
		fg: hex(s.Fg), bg: hex(s.Bg),
		bold:      s.Attrs&uv.AttrBold != 0,
		faint:     s.Attrs&uv.AttrFaint != 0,
		italic:    s.Attrs&uv.AttrItalic != 0,
		struck:    s.Attrs&uv.AttrStrikethrough != 0,
		underline: s.Underline != uv.UnderlineNone,
	}
	if s.Attrs&uv.AttrReverse != 0 {
		l.fg, l.bg = or(l.bg, ownBG), or(l.fg, ownFG)
	}
	if s.Attrs&uv.AttrConceal != 0 {
		l.fg = or(l.bg, ownBG)
	}
	return l
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// hex gives a colour as #rrggbb, the first sixteen from the table above.
func hex(c color.Color) string {
	switch c := c.(type) {
	case nil:
		return ""
	case ansi.BasicColor:
		return sixteen[c&15]
	case ansi.IndexedColor:
		if c < 16 {
			return sixteen[c]
		}
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// text gives the screen's lines, blanks at their ends left out.
func (g grid) text() string {
	var b strings.Builder
	for _, row := range g {
		var line strings.Builder
		for _, c := range row {
			line.WriteString(c.text)
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
	return b.String()
}
