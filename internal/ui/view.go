package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// The smallest size at which the console is whole; below it there is one line
// per endpoint.
const (
	wholeWidth  = 40
	wholeHeight = 10
)

func (c *console) whole() bool { return c.width >= wholeWidth && c.height >= wholeHeight }

// View implements tea.Model: exactly height lines, none wider than width.
func (c *console) View() (view string) {
	defer func() {
		if v := recover(); v != nil {
			c.crash = newPanicError(v) // the next tick quits
			view = ""
		}
	}()
	if c.width <= 0 || c.height <= 0 {
		return ""
	}
	return strings.Join(c.lines(), "\n")
}

// lines draws the screen.
func (c *console) lines() []string {
	var out []string
	switch {
	case !c.whole():
		out = c.compact()
	default:
		out = c.body()
		if c.dialog != nil {
			out = c.overlay(out, c.dialog.render(c))
		}
	}
	// One place guarantees the size, whatever a pane has done.
	for len(out) < c.height {
		out = append(out, "")
	}
	out = out[:c.height]
	for i, l := range out {
		if !isPlain(l) || len(l) > c.width {
			l = c.theme.finish(l)
			if ansi.StringWidth(l) > c.width {
				l = ansi.Truncate(l, c.width, "")
			}
			out[i] = l
		}
	}
	return out
}

// body draws the shown level between title and footer.
func (c *console) body() []string {
	w, h := c.width, c.height
	out := append([]string{c.titleLine(w)}, c.banners()...)
	room := h - len(out) - 1
	switch c.screen() {
	case screenEndpoint:
		out = append(out, c.scrolled(c.endpointPane(w), w, room)...)
	case screenWhy:
		lines, _ := c.whyPane(w)
		out = append(out, c.scrolled(lines, w, room)...)
	case screenLog:
		out = append(out, c.scrolled(c.logPane(w), w, room)...)
	case screenHelp:
		out = append(out, c.scrolled(c.helpPane(w), w, room)...)
	default:
		out = append(out, c.overview(w)...)
	}
	for len(out) < h {
		out = append(out, "")
	}
	if c.prompt != nil {
		about, line := c.prompt.lines(c, w)
		return append(out[:h-2], about, line)
	}
	if c.sorting {
		for i, l := range lastLines(wrap("sort by "+sortLetters(), w), 3) {
			if l != "" {
				out[h-3+i] = c.theme.paint(warn, l)
			}
		}
		return out[:h]
	}
	return append(out[:h-1], c.footer(w))
}

// lastLines gives n lines, with blank ones before those that there are.
func lastLines(lines []string, n int) []string {
	out := make([]string, max(n-len(lines), 0), n)
	return append(out, lines[:min(len(lines), n)]...)
}

// scrolled gives the h visible lines of a long pane, and says what is below.
func (c *console) scrolled(lines []string, w, h int) []string {
	if h <= 0 {
		return nil
	}
	top := max(0, min(c.scroll, len(lines)-h))
	out := lines[top:min(top+h, len(lines))]
	if more := len(lines) - top - h; more > 0 && h > 2 {
		out = append(append([]string{}, out[:h-1]...), c.theme.paint(faint, cut("  ↓ "+plural(more+1, "more line"), w)))
	}
	return out
}

// overlay lays a box over the middle of a screen, which steps back.
func (c *console) overlay(screen, box []string) []string {
	if len(box) == 0 {
		return screen
	}
	bw := cells(box[0])
	x, y := max((c.width-bw)/2, 0), max((len(screen)-len(box))/2, 0)
	for i, l := range screen {
		bare := ansi.Strip(l)
		if i < y || i >= y+len(box) {
			screen[i] = c.theme.paint(faint, bare)
			continue
		}
		left := pad(head(bare, x), x)
		right := tail(bare, max(cells(bare)-x-bw, 0))
		screen[i] = c.theme.paint(faint, left) + box[i-y] + c.theme.paint(faint, right)
	}
	return screen
}

// compact is for what is too small for the console: one line per endpoint.
func (c *console) compact() []string {
	w, h := c.width, c.height
	if w < 8 || h < 2 {
		return []string{head("too small", w)}
	}
	if c.dialog != nil {
		return []string{c.theme.paint(warn, cut("too small for the dialog", w)), cut("esc: close it", w)}
	}
	if c.snap == nil {
		return []string{cut("no picture yet", w)}
	}
	ids := c.ids()
	at := 0
	for i, id := range ids {
		if id == c.sel {
			at = i
		}
	}
	top := max(0, min(at-(h-1)/2, len(ids)-h))
	var out []string
	for i := top; i < len(ids) && len(out) < h; i++ {
		ch, e := c.endpoint(ids[i])
		glyph, k := stateLook(e.State)
		mark := " "
		if ids[i] == c.sel {
			mark = "▸"
		}
		state := ""
		if w >= 20 {
			state = " " + cut(clean(e.State), 9)
		}
		nameInk := plain
		if e.Name == ch.Incumbent {
			nameInk = strong
		}
		room := w - 3 - cells(state)
		out = append(out, mark+c.theme.paint(k, glyph)+" "+c.theme.paint(nameInk, fitName(clean(e.Name), room))+
			c.theme.paint(k, state))
	}
	return out
}
