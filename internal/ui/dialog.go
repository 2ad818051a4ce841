package ui

import (
	"time"

	"github.com/charmbracelet/bubbles/cursor"
	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"example.com/rpctop/internal/fleet"
)

// guard is how long keys are dropped after a dialog has opened: who types on
// blindly must not hit it.
const guard = 425 * time.Millisecond

// field is a part of a dialog that can have the focus.
type field uint8

const (
	fieldCancel field = iota // the zero value has the focus at first
	fieldAct
	fieldReason
	fieldFor
	fieldScope
	fieldStrict
	fieldName
)

// dialog asks before something dangerous is done. It is bound to an endpoint's
// id and to what it showed when it opened.
type dialog struct {
	verb   fleet.Action // "": quit
	id     fleet.EndpointID
	expect fleet.Expect
	facts  []string // what it showed of the endpoint, one line each
	after  string   // what would be then

	opened   time.Time // the first tick after it opened; zero: none yet
	focus    field
	reason   textinput.Model
	name     textinput.Model
	needName bool // the endpoint's name must be typed
	terms    []dialogTerm
	term     int  // index in terms
	whole    bool // clear: the whole chain
	strict   bool // pin: nobody else may serve

	waiting bool   // the engine was asked
	message string // its refusal
	over    bool   // refused for good: it can only be closed
}

// dialogTerm is a duration to choose.
type dialogTerm struct {
	word string
	d    time.Duration // 0: for ever
}

// usualTerms are the durations to choose from.
func usualTerms() []dialogTerm {
	return []dialogTerm{{"1 h", time.Hour}, {"8 h", 8 * time.Hour}, {"for ever", 0}}
}

const (
	defaultTerm = 1
	reasonLimit = 200 // letters
)

// setTerm chooses a duration, which need not be a usual one.
func (d *dialog) setTerm(span time.Duration) {
	for i, t := range d.terms {
		if t.d == span {
			d.term = i
			return
		}
	}
	word := remaining(fleet.Millis(span.Milliseconds()))
	d.terms, d.term = append([]dialogTerm{{word, span}}, d.terms...), 0
}

func newQuitDialog(question string) *dialog { return &dialog{after: clean(question)} }

func newInput(limit int) textinput.Model {
	in := textinput.New()
	in.Prompt, in.CharLimit = "", limit
	in.Cursor.SetMode(cursor.CursorStatic)
	in.KeyMap.Paste.SetEnabled(false) // it would read the clipboard; the terminal pastes
	in.Focus()
	return in
}

// newVerbDialog binds a dialog to an endpoint as it is now.
func newVerbDialog(verb fleet.Action, ch *fleet.ChainView, e *fleet.EndpointView, wall fleet.Millis) *dialog {
	d := &dialog{
		verb: verb, id: fleet.EndpointID{Chain: ch.Name, Name: e.Name}, expect: expectOf(ch, e),
		reason: newInput(reasonLimit), name: newInput(2 * fleet.MaxText), terms: usualTerms(), term: defaultTerm,
	}
	now := clean(e.State)
	switch {
	case d.expect.Serving:
		now += ", it serves now"
	case ch.Incumbent != "":
		now += ", " + clean(ch.Incumbent) + " serves now"
	default:
		now += ", nobody serves now"
	}
	d.facts = append(d.facts, now+" · "+integer(uint64(d.expect.Eligible))+" may serve")
	for _, o := range ch.Overrides {
		if o.Endpoint == e.Name || o.Action == fleet.ActionPin || verb == fleet.ActionClear {
			line := string(o.Action) + " " + clean(o.Endpoint) + " " + until(o.Until, wall) + " by " + clean(o.Author)
			if o.Reason != "" {
				line += ": " + clean(o.Reason)
			}
			d.facts = append(d.facts, line)
		}
	}
	me := candidateOf(ch, e.Name)
	mayServe := me != nil && me.Eligible
	switch verb {
	case fleet.ActionEject:
		d.needName = mayServe && d.expect.Eligible <= 1
		d.after = afterEject(ch, e.Name)
	case fleet.ActionPin:
		d.after = clean(e.Name) + " serves " + clean(ch.Name) + ", whatever it costs"
		if !mayServe {
			d.after = "it may not serve now: others do until it may, and an alarm stands"
		}
	case fleet.ActionClear:
		d.after = "the order by tier and cost decides again"
		d.whole = e.Gate == nil && !hasOverride(ch, e.Name)
	}
	return d
}

func hasOverride(ch *fleet.ChainView, name string) bool {
	for _, o := range ch.Overrides {
		if o.Endpoint == name {
			return true
		}
	}
	return ch.Pin != nil && ch.Pin.Endpoint == name
}

// afterEject says who would serve without an endpoint.
func afterEject(ch *fleet.ChainView, name string) string {
	if ch.Incumbent != "" && ch.Incumbent != name {
		return clean(ch.Incumbent) + " goes on serving"
	}
	for _, r := range ch.Ranking {
		if r.Eligible && r.Endpoint != name {
			return clean(r.Endpoint) + " serves then"
		}
	}
	return "NOBODY may serve " + clean(ch.Name) + " then"
}

// fields lists what can have the focus, as it stands on the screen.
func (d *dialog) fields() []field {
	if d.over {
		return []field{fieldCancel}
	}
	f := []field{fieldCancel, fieldAct}
	switch d.verb {
	case "":
		return f
	case fleet.ActionClear:
		f = append(f, fieldReason, fieldScope)
	case fleet.ActionPin:
		f = append(f, fieldReason, fieldFor, fieldStrict)
	default:
		f = append(f, fieldReason, fieldFor)
	}
	if d.needName {
		f = append(f, fieldName)
	}
	return f
}

// step moves the focus on by n fields.
func (d *dialog) step(n int) {
	f := d.fields()
	at := 0
	for i, x := range f {
		if x == d.focus {
			at = i
		}
	}
	d.focus = f[(at+n+len(f))%len(f)]
}

// named reports whether the name was typed, where it must be.
func (d *dialog) named() bool { return !d.needName || d.name.Value() == clean(d.id.Name) }

func (d *dialog) refuse(why string, over bool) {
	d.message, d.over = why, over
	if over {
		d.focus = fieldCancel
	}
}

// command is what the dialog would ask for.
func (d *dialog) command(author string, wall fleet.Millis) fleet.Command {
	expect := d.expect
	cmd := fleet.Command{
		Author: author, Action: d.verb, Chain: d.id.Chain, Endpoint: d.id.Name,
		Reason: fleet.Sanitize(d.reason.Value()), Yes: d.needName, Expect: &expect,
	}
	if d.verb == fleet.ActionClear {
		if d.whole {
			cmd.Endpoint = ""
		}
		return cmd
	}
	if t := d.terms[d.term].d; t > 0 {
		cmd.Until = wall + fleet.Millis(t.Milliseconds())
	}
	cmd.Strict = d.verb == fleet.ActionPin && d.strict
	return cmd
}

// onDialogKey passes a key to the dialog that is open.
func (c *console) onDialogKey(k tea.KeyMsg, a action) tea.Cmd {
	d := c.dialog
	if !c.whole() { // it cannot be seen: it can be left, no more
		switch a {
		case actBack:
			c.closeDialog()
		case actQuit:
			return tea.Quit
		}
		return nil
	}
	if d.opened.IsZero() || c.time.Sub(d.opened) < guard {
		return nil
	}
	if k.Type == tea.KeyEsc {
		if d.waiting {
			c.say(warn, "the engine was asked already: watch the events for what it did")
		}
		c.closeDialog()
		return nil
	}
	if d.waiting {
		return nil
	}
	typing := d.focus == fieldReason || d.focus == fieldName
	switch {
	case k.Type == tea.KeyTab || k.Type == tea.KeyDown:
		d.step(1)
	case k.Type == tea.KeyShiftTab || k.Type == tea.KeyUp:
		d.step(-1)
	case k.Type == tea.KeyEnter:
		return c.pressed()
	case typing:
		in := &d.reason
		if d.focus == fieldName {
			in = &d.name
		}
		*in, _ = in.Update(k)
	case k.Type == tea.KeyLeft || k.Type == tea.KeyRight || k.Type == tea.KeySpace:
		d.choose(k.Type != tea.KeyLeft)
	case a == actQuit:
		return tea.Quit
	}
	return nil
}

// choose changes a choice, or goes between the buttons.
func (d *dialog) choose(forward bool) {
	switch d.focus {
	case fieldFor:
		n := 1
		if !forward {
			n = -1
		}
		d.term = (d.term + n + len(d.terms)) % len(d.terms)
	case fieldScope:
		d.whole = !d.whole
	case fieldStrict:
		d.strict = !d.strict
	case fieldCancel, fieldAct:
		if d.over {
			return
		}
		if d.focus = fieldCancel; forward {
			d.focus = fieldAct
		}
	}
}

// pressed is Enter.
func (c *console) pressed() tea.Cmd {
	d := c.dialog
	switch d.focus {
	case fieldCancel:
		c.closeDialog()
	case fieldAct:
		if d.verb == "" {
			return tea.Quit
		}
		if !d.named() {
			d.message = "type the name first: it is the last that may serve"
			d.focus = fieldName
			return nil
		}
		d.waiting, d.message = true, ""
		return c.send(d.command(c.o.Author, c.wall()))
	default:
		d.step(1)
	}
	return nil
}
