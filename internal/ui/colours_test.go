package ui

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
)

// look is what a text is drawn with: a colour of the sixteen (-1: the
// terminal's own), and attributes.
type look struct {
	colour                 int
	bold, faint, underline bool
}

// lookOf reads an ink's look back from what is sent to the terminal.
func lookOf(t *theme, k ink) look {
	l := look{colour: -1}
	for _, p := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(t.open[k], "\x1b["), "m"), ";") {
		n, _ := strconv.Atoi(p)
		switch {
		case n == 1:
			l.bold = true
		case n == 2:
			l.faint = true
		case n == 4:
			l.underline = true
		case n >= 30 && n <= 37:
			l.colour = n - 30
		case n >= 90 && n <= 97:
			l.colour = n - 82
		}
	}
	return l
}

type rgb [3]float64 // linear light

func hex(n uint32) rgb {
	var c rgb
	for i := range c {
		v := float64(n>>(16-8*i)&0xff) / 255
		if v <= 0.04045 {
			c[i] = v / 12.92
		} else {
			c[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return c
}

// xterm is the palette of xterm.
var xterm = [16]uint32{0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
	0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff}

func (c rgb) light() float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] }

// contrast is that of WCAG 2.
func contrast(a, b rgb) float64 {
	x, y := a.light(), b.light()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// deuteranopia is what an eye without the middle cones sees (Viénot 1999).
func (c rgb) deuteranopia() rgb {
	m := 0.29275*c[0] + 0.70725*c[1]
	return rgb{m, m, max(-0.02234*c[0]+0.02234*c[1]+c[2], 0)}
}

func (c rgb) grey() rgb { y := c.light(); return rgb{y, y, y} }

// distance is that of CIE Lab: over 10 is a difference seen at a glance.
func distance(a, b rgb) float64 {
	lab := func(c rgb) [3]float64 {
		f := func(v float64) float64 {
			if v > 0.008856 {
				return math.Cbrt(v)
			}
			return 7.787*v + 16.0/116
		}
		x := f((0.4124*c[0] + 0.3576*c[1] + 0.1805*c[2]) / 0.95047)
		y := f(c.light())
		z := f((0.0193*c[0] + 0.1192*c[1] + 0.9505*c[2]) / 1.08883)
		return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
	}
	p, q := lab(a), lab(b)
	return math.Sqrt((p[0]-q[0])*(p[0]-q[0]) + (p[1]-q[1])*(p[1]-q[1]) + (p[2]-q[2])*(p[2]-q[2]))
}

// seen is the colour of a look on a background. Terminals draw faint text with
// two thirds of its colour and one of the background, as VTE does.
func (l look) seen(black bool) rgb {
	fore, back := uint32(0x000000), uint32(0xffffff)
	if black {
		fore, back = 0xe5e5e5, 0x000000
	}
	if l.colour >= 0 {
		fore = xterm[l.colour]
	}
	if !l.faint {
		return hex(fore)
	}
	var mixed uint32
	for shift := 0; shift <= 16; shift += 8 {
		mixed |= ((fore>>shift&0xff)*2 + back>>shift&0xff) / 3 << shift
	}
	return hex(mixed)
}

var inkNames = [inks]string{"plain", "pale", "strong", "good", "warning", "bad", "chosen", "key"}

// colourFigures measures the themes, for the test and for docs/keys.md.
func colourFigures(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| theme on | ink | looks | contrast |\n|---|---|---|---|\n")
	for _, th := range []struct {
		name  string
		black bool
	}{{"dark", true}, {"light", false}, {"mono", true}, {"mono", false}} {
		theme := newTheme(th.name, true, false)
		ground, groundName := hex(0xffffff), "white"
		if th.black {
			ground, groundName = hex(0), "black"
		}
		for k := range inks {
			if k == chosen { // the terminal's own two colours, swapped
				continue
			}
			l := lookOf(&theme, k)
			figure := contrast(l.seen(th.black), ground)
			if figure < 4.5 {
				t.Errorf("%s of %s on %s has a contrast of %.2f", inkNames[k], th.name, groundName, figure)
			}
			if l.bold && l.colour >= 0 && l.colour < 8 { // brightened, as many terminals do
				l.colour += 8
				if v := contrast(l.seen(th.black), ground); v < 4.5 {
					t.Errorf("%s of %s on %s, brightened by bold, has a contrast of %.2f", inkNames[k], th.name, groundName, v)
				}
				l.colour -= 8
			}
			fmt.Fprintf(&b, "| %s on %s | %s | %s | %.1f:1 |\n", th.name, groundName, inkNames[k], l, figure)
		}
	}
	b.WriteString("\n| theme on | inks | apart in deuteranopia | apart in grey | and by |\n|---|---|---|---|---|\n")
	for _, th := range []struct {
		name  string
		black bool
	}{{"dark", true}, {"light", false}} {
		theme := newTheme(th.name, true, false)
		for _, pair := range [][2]ink{{good, warn}, {good, bad}, {good, faint}, {warn, bad}, {warn, faint}, {bad, faint}} {
			x, y := lookOf(&theme, pair[0]), lookOf(&theme, pair[1])
			dx, dy := x.seen(th.black), y.seen(th.black)
			deuter, grey := distance(dx.deuteranopia(), dy.deuteranopia()), distance(dx.grey(), dy.grey())
			by := ""
			if x.bold != y.bold {
				by = "weight"
			} else if x.underline != y.underline {
				by = "line"
			} else if x.faint != y.faint {
				by = "paleness"
			}
			if by == "" && (deuter < 10 || grey < 10) {
				t.Errorf("%s and %s of %s look alike: %.0f in deuteranopia, %.0f in grey", inkNames[pair[0]], inkNames[pair[1]], th.name, deuter, grey)
			}
			fmt.Fprintf(&b, "| %s | %s, %s | %.0f | %.0f | %s |\n", th.name, inkNames[pair[0]], inkNames[pair[1]], deuter, grey, by)
		}
	}
	return b.String()
}

// String names a look in words.
func (l look) String() string {
	names := [...]string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}
	s := "the terminal's own"
	if l.colour >= 0 {
		s = names[l.colour%8]
		if l.colour >= 8 {
			s = "bright " + s
		}
	}
	if l.bold {
		s += ", bold"
	}
	if l.faint {
		s += ", pale"
	}
	if l.underline {
		s += ", underlined"
	}
	return s
}

func TestTextCanBeReadAndStatesToldApartInEveryTheme(t *testing.T) { colourFigures(t) }

func TestEveryStateHasAGlyphAndAWordOfItsOwn(t *testing.T) {
	seen := map[string]string{}
	for _, state := range severity {
		glyph, _ := stateLook(state)
		if other := seen[glyph]; other != "" {
			t.Errorf("%s and %s have one glyph", state, other)
		}
		seen[glyph] = state
	}
	ascii := newTheme("mono", false, true)
	for glyph, state := range seen {
		a := ascii.finish(glyph)
		for other, s := range seen {
			if other != glyph && ascii.finish(other) == a {
				t.Errorf("%s and %s have one glyph in ASCII", state, s)
			}
		}
	}
}
