package ui

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/rpctop/internal/fleet"
)

// verdictWait is how long the console waits for the engine's word.
const verdictWait = 4 * time.Second

// verdictMsg is the answer to a command.
type verdictMsg struct {
	gen     uint64
	cmd     fleet.Command
	verdict fleet.Verdict
	err     error
}

// openVerb opens the dialog of a verb for the selected endpoint, or says why
// the verb is off.
func (c *console) openVerb(a action) {
	if c.screen() == screenOverview && c.feed.focused {
		c.say(warn, "tab to the endpoints first: what is selected now is an event")
		return
	}
	if c.screen() == screenHelp || c.screen() == screenLog {
		c.say(warn, "close this first: no endpoint is shown here")
		return
	}
	if !c.whole() {
		c.say(warn, "off: the terminal is too small for the dialog")
		return
	}
	ch, e := c.endpoint(c.sel)
	if e == nil {
		c.say(warn, "no endpoint is selected")
		return
	}
	verb := map[action]fleet.Action{actPin: fleet.ActionPin, actEject: fleet.ActionEject, actClear: fleet.ActionClear}[a]
	if why := refusal(verb, ch, e, false); why != "" {
		c.say(warn, string(verb)+" is off: "+why)
		return
	}
	c.openDialog(verb, ch, e)
}

// refusal says why a verb is off for an endpoint, or for its whole chain; "" if
// it is not.
func refusal(verb fleet.Action, ch *fleet.ChainView, e *fleet.EndpointView, all bool) string {
	switch {
	case verb == fleet.ActionPin && e.Gate != nil && e.Gate.Quarantine():
		return clean(e.Name) + " is " + clean(e.Gate.Name) + ", and such an endpoint is never served from"
	case verb != fleet.ActionClear || clearable(ch, e):
		return ""
	}
	for i := range ch.Endpoints {
		if all && clearable(ch, &ch.Endpoints[i]) {
			return ""
		}
	}
	return "no override, and no gate that clear would end, on " + clean(ch.Name)
}

func (c *console) openDialog(verb fleet.Action, ch *fleet.ChainView, e *fleet.EndpointView) {
	c.order = c.ids()
	c.dialog = newVerbDialog(verb, ch, e, c.wall())
}

// clearable reports whether clear could end anything on the chain.
func clearable(ch *fleet.ChainView, e *fleet.EndpointView) bool {
	return len(ch.Overrides) > 0 || ch.Pin != nil || ch.Frozen != "" || e.Gate != nil && (e.Gate.Quarantine() || e.Gate.Name == "ejected")
}

// expectOf is what a dialog on an endpoint shows, in the engine's terms.
func expectOf(ch *fleet.ChainView, e *fleet.EndpointView) fleet.Expect {
	return fleet.Expect{Serving: ch.Incumbent == e.Name, State: e.State, Overrides: len(ch.Overrides), Eligible: eligible(ch)}
}

// eligible counts the endpoints that may serve.
func eligible(ch *fleet.ChainView) int {
	n := 0
	for _, r := range ch.Ranking {
		if r.Eligible {
			n++
		}
	}
	return n
}

// send hands the dialog's command to the engine.
func (c *console) send(cmd fleet.Command) tea.Cmd {
	c.gen++
	gen, src, parent := c.gen, c.o.Source, c.ctx
	return func() (msg tea.Msg) {
		defer func() {
			if v := recover(); v != nil {
				msg = crashMsg{newPanicError(v)}
			}
		}()
		ctx, cancel := context.WithTimeout(parent, verdictWait)
		defer cancel()
		cmd.ID = rand.Text()
		v, err := src.Do(ctx, cmd)
		return verdictMsg{gen, cmd, v, err}
	}
}

// onVerdict shows the engine's word.
func (c *console) onVerdict(m verdictMsg) {
	if m.gen != c.gen || c.dialog == nil || !c.dialog.waiting {
		return
	}
	d := c.dialog
	d.waiting = false
	what := string(m.cmd.Action) + " " + clean(m.cmd.Endpoint)
	if m.cmd.Endpoint == "" {
		what = string(m.cmd.Action) + " all of " + clean(m.cmd.Chain)
	}
	switch {
	case m.err != nil:
		d.refuse("nobody answered: "+clean(m.err.Error())+". It may take effect yet: watch the events", true)
	case !m.verdict.Accepted && m.verdict.Code == "last-eligible" && !d.needName:
		d.needName = true
		d.refuse(clean(m.verdict.Message)+". Type the name to do it all the same", false)
		d.focus = fieldCancel
	case !m.verdict.Accepted && m.verdict.Code == "changed":
		d.refuse("changed: "+clean(m.verdict.Message)+". Nothing was done; close this and look again", true)
	case !m.verdict.Accepted:
		d.refuse(fmt.Sprintf("refused (%s): %s", clean(m.verdict.Code), clean(m.verdict.Message)), true)
	case !m.verdict.Recorded:
		c.closeDialog()
		c.say(bad, what+": in force, NOT RECORDED. "+clean(m.verdict.Message))
	default:
		c.closeDialog()
		c.say(good, what+": in force and recorded. "+clean(m.verdict.Message))
	}
}

// closeDialog ends a dialog; what was asked for in it is not awaited any more.
func (c *console) closeDialog() {
	c.dialog, c.order = nil, nil
	c.gen++
}
