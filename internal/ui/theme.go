package ui

import (
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// ink names what a text is, not how it looks.
type ink uint8

const (
	plain  ink = iota
	faint      // labels, and values too old to rely on
	strong     // who serves, titles
	good       // blue
	warn       // orange
	bad        // orange, bold
	chosen     // the selected row
	keycap     // keys in the footer
	inks
)

// theme turns texts into what the terminal gets. Sequences are made once:
// styling hundreds of cells a frame must cost nothing.
type theme struct {
	open, shut [inks]string
	ascii      bool
}

// themeNames lists the themes, the usual one first.
func themeNames() []string { return []string{"dark", "light", "mono"} }

// KnownTheme reports whether a theme of that name exists.
func KnownTheme(name string) bool { return slices.Contains(themeNames(), name) }

// newTheme makes a theme. Without colour no sequence is emitted at all. Colours
// are the sixteen of the terminal, so that they suit its background; blue and
// orange stay apart for everybody.
func newTheme(name string, colour, ascii bool) theme {
	t := theme{ascii: ascii}
	if !colour {
		return t
	}
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.ANSI)
	r.SetHasDarkBackground(name != "light")
	s := r.NewStyle
	// Cyan, since the terminal's blue cannot be read on black. On white yellow
	// cannot, and bold makes many terminals brighten a colour until it cannot.
	blue, orange, high := lipgloss.Color("14"), lipgloss.Color("3"), s().Bold(true).Foreground(lipgloss.Color("11"))
	if name == "light" {
		blue, orange, high = lipgloss.Color("4"), lipgloss.Color("1"), s().Underline(true).Foreground(lipgloss.Color("1"))
	}
	styles := [inks]lipgloss.Style{
		plain: s(), faint: s().Faint(true), strong: s().Bold(true),
		good: s().Foreground(blue), warn: s().Foreground(orange), bad: high,
		chosen: s().Reverse(true), keycap: s().Bold(true).Foreground(blue),
	}
	if name == "mono" {
		styles[good], styles[warn], styles[bad], styles[keycap] = s(), s().Bold(true), s().Bold(true).Underline(true), s().Bold(true)
	}
	for i, st := range styles {
		t.open[i], t.shut[i], _ = strings.Cut(st.Render("x"), "x")
	}
	return t
}

// paint colours a text.
func (t *theme) paint(k ink, s string) string {
	if s == "" || t.open[k] == "" {
		return s
	}
	body := strings.TrimRight(s, " ") // blanks are not underlined
	if k == chosen {
		body = s
	}
	if body == "" {
		return s
	}
	return t.open[k] + body + t.shut[k] + s[len(body):]
}

// asciiGlyphs has, cell for cell, what stands for our glyphs with --ascii.
var asciiGlyphs = strings.NewReplacer(
	"●", "*", "▲", "!", "◆", "~", "✕", "x", "‖", "=", "⊘", "/", "≠", "#", "⋔", "Y", "≈", "%", "◌", "o", "○", ".",
	"⊙", "@", "▶", ">", "▸", ">", "→", ">", "⇄", "%", "↷", ">", "↺", "<",
	"…", "~", "–", "-", "—", "-", "·", "-", "×", "x", "←", "<", "↑", "^", "↓", "v",
	"╭", "+", "╮", "+", "╰", "+", "╯", "+", "─", "-", "│", "|", "┃", "|", "┊", ":",
	"▁", "_", "▂", ".", "▃", ":", "▄", "-", "▅", "=", "▆", "+", "▇", "*", "█", "#",
)

// finish makes a line fit for the terminal's character set.
func (t *theme) finish(s string) string {
	if t.ascii && !isPlain(s) {
		return asciiGlyphs.Replace(s)
	}
	return s
}

// stateLook gives the glyph and the ink of a state; the word always stands
// beside it.
func stateLook(state string) (glyph string, k ink) {
	switch state {
	case "ok":
		return "●", good
	case "lagging", "degraded":
		return "▲", warn
	case "stale", "stalled":
		return "◆", bad
	case "down", "none", "gated":
		return "✕", bad
	case "throttled":
		return "‖", warn
	case "refused":
		return "⊘", bad
	case "wrong-chain":
		return "≠", bad
	case "forked":
		return "⋔", bad
	case "identity-flap":
		return "≈", bad
	case "ejected":
		return "◌", faint
	case "identity-unknown":
		return "?", warn
	default:
		return "○", faint
	}
}

// roleLook gives the glyph and the ink of a role.
func roleLook(role string) (glyph string, k ink) {
	switch role {
	case "serving":
		return "▶", strong
	case "pinned":
		return "⊙", strong
	case "ejected":
		return "◌", faint
	default:
		return " ", faint
	}
}
