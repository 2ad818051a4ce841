package ui

import (
	"strings"

	"github.com/charmbracelet/bubbles/textinput"
	"github.com/charmbracelet/x/ansi"

	"example.com/rpctop/internal/fleet"
)

// render draws the dialog's box; all lines are equally wide.
func (d *dialog) render(c *console) []string {
	t := &c.theme
	w := min(c.width, 76)
	inner := w - 4
	airy := c.height >= 20
	var body []string
	add := func(k ink, s string, most int) {
		lines := wrap(s, inner)
		if len(lines) > most {
			lines = append(lines[:most-1:most-1], cut(strings.Join(lines[most-1:], " "), inner))
		}
		for _, l := range lines {
			body = append(body, t.paint(k, l))
		}
	}
	few := 1
	if airy {
		few = 3
	}
	title := "Quit rpctop?"
	if d.verb != "" {
		title = strings.ToUpper(string(d.verb[:1])) + string(d.verb[1:]) + " " + cutMiddle(clean(d.id.Name), max(inner-24, 8)) +
			" on " + cutMiddle(clean(d.id.Chain), 12)
	}
	facts := d.facts
	if !airy && len(facts) > 1 {
		facts = facts[:1]
	}
	for i, f := range facts {
		if i == 6 {
			add(faint, "… and "+integer(uint64(len(facts)-6))+" more", 1)
			break
		}
		add(faint, f, few)
	}
	if d.after != "" {
		k := plain
		if d.needName {
			k = bad
		}
		add(k, "→ "+d.after, few+1)
	}
	if diff := d.changed(c); diff != "" && !d.over {
		add(bad, "▲ changed since this opened: "+diff, few)
	}
	if airy {
		body = append(body, "")
	}
	for _, f := range d.fields() {
		if line := d.fieldLine(t, f, inner); line != "" {
			body = append(body, line)
		}
	}
	if d.message != "" {
		add(bad, d.message, few+1)
	}
	if d.waiting {
		add(warn, "asking the engine", 1)
	}
	if airy {
		body = append(body, "")
	}
	body = append(body, d.buttons(t, inner))
	if n := c.height - 2; len(body) > n { // the buttons stay
		body = append(body[:n-1:n-1], body[len(body)-1])
	}
	title = cut(title, w-6)
	box := []string{t.paint(strong, "╭─ "+title+" "+strings.Repeat("─", w-5-cells(title))+"╮")}
	edge := t.paint(strong, "│")
	for _, l := range body {
		if cells(l) > inner {
			l = ansi.Truncate(l, inner, "")
		}
		box = append(box, edge+" "+l+blanks(inner-cells(l))+" "+edge)
	}
	return append(box, t.paint(strong, "╰"+strings.Repeat("─", w-2)+"╯"))
}

// changed says what is no longer as the dialog shows it.
func (d *dialog) changed(c *console) string {
	if d.verb == "" {
		return ""
	}
	ch, e := c.endpoint(d.id)
	if e == nil {
		return "the endpoint is gone"
	}
	now := expectOf(ch, e)
	switch {
	case now.State != d.expect.State:
		return "it is " + clean(now.State) + " now"
	case now.Serving != d.expect.Serving && now.Serving:
		return "it serves now"
	case now.Serving != d.expect.Serving:
		return "it does not serve any more"
	case now.Eligible != d.expect.Eligible:
		return integer(uint64(now.Eligible)) + " may serve now"
	case now.Overrides != d.expect.Overrides:
		return integer(uint64(now.Overrides)) + " overrides now"
	}
	return ""
}

// fieldLine draws one field; "" for the buttons.
func (d *dialog) fieldLine(t *theme, f field, w int) string {
	label := func(s string) string {
		if d.focus == f {
			return t.paint(strong, "▸ "+pad(s, 8))
		}
		return "  " + t.paint(faint, pad(s, 8))
	}
	switch f {
	case fieldReason:
		return label("reason") + t.input(&d.reason, d.focus == f, "kept in the record", w-10)
	case fieldName:
		return label("name") + t.input(&d.name, d.focus == f, "type "+cutMiddle(clean(d.id.Name), max(w-16, 6)), w-10)
	case fieldFor:
		var words []string
		for _, x := range d.terms {
			words = append(words, x.word)
		}
		return label("for") + t.choice(words, d.term, w-10)
	case fieldScope:
		i := 0
		if d.whole {
			i = 1
		}
		return label("what") + t.choice([]string{"this endpoint", "all of " + clean(d.id.Chain)}, i, w-10)
	case fieldStrict:
		i := 0
		if d.strict {
			i = 1
		}
		return label("strict") + t.choice([]string{"no", "yes, nobody else serves"}, i, w-10)
	}
	return ""
}

// choice draws alternatives; a mark shows which one is chosen.
func (t *theme) choice(words []string, chosen, w int) string {
	out, used := "", 0
	for i, word := range words {
		mark, k := "○ ", faint
		if i == chosen {
			mark, k = "● ", strong
		}
		s := cut(mark+word, w-used)
		used += cells(s) + 2
		out += t.paint(k, s)
		if used >= w {
			break
		}
		if i < len(words)-1 {
			out += "  "
		}
	}
	return out
}

// input draws a text field; the end of a long text stays visible.
func (t *theme) input(in *textinput.Model, focused bool, hint string, w int) string {
	text := clean(in.Value())
	if !focused {
		if text == "" {
			return t.paint(faint, cut("("+hint+")", w))
		}
		return cut(text, w)
	}
	before := clean(string([]rune(in.Value())[:in.Position()]))
	after := clean(string([]rune(in.Value())[in.Position():]))
	under := " "
	if after != "" {
		under, _ = nextCluster(after)
		after = after[len(under):]
	}
	before = tail(before, max(w-2, 0))
	mark := t.paint(chosen, under)
	if t.open[chosen] == "" {
		mark = "_" + strings.TrimSpace(under)
	}
	rest := ""
	if text == "" {
		rest = t.paint(faint, head(" "+hint, w-3))
	} else {
		rest = head(after, w-2-cells(before)-cells(under))
	}
	return before + mark + rest
}

// buttons draws Cancel and the act; brackets show the focus without colour.
func (d *dialog) buttons(t *theme, w int) string {
	button := func(word string, f field, k ink) string {
		if d.focus == f {
			return t.paint(chosen, "[ "+word+" ]")
		}
		return t.paint(k, "  "+word+"  ")
	}
	if d.over {
		return button("Close", fieldCancel, plain)
	}
	word := "Quit"
	if d.verb != "" {
		word = strings.ToUpper(string(d.verb[:1])) + string(d.verb[1:])
	}
	if d.verb == fleet.ActionEject && d.needName {
		word += " the last one"
	}
	k := warn
	if !d.named() || d.waiting {
		k = faint
	}
	return button("Cancel", fieldCancel, plain) + "  " + button(word, fieldAct, k)
}
