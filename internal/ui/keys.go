package ui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/rpctop/internal/fleet"
)

// onKey does what a key asks for.
func (c *console) onKey(k tea.KeyMsg) tea.Cmd {
	// Keys that are typed fast come as one: `s` and a letter must not get lost.
	// What is longer is a text that was pasted into a terminal without brackets.
	if n := len(k.Runes); k.Type == tea.KeyRunes && n > 1 && n <= 3 && !k.Paste && c.prompt == nil && c.dialog == nil {
		var cmds []tea.Cmd
		for _, r := range k.Runes {
			cmds = append(cmds, c.onKey(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: k.Alt}))
		}
		return tea.Batch(cmds...)
	}
	b := c.keys[k.String()]
	if b.act == actInterrupt {
		c.interrupted = true
		return tea.Quit
	}
	if c.dialog != nil {
		return c.onDialogKey(k, b.act)
	}
	if c.prompt != nil {
		return c.onPromptKey(k, b.act)
	}
	if c.sorting {
		c.onSortKey(k)
		return nil
	}
	if k.Paste {
		return nil // a pasted text is not a row of verbs
	}
	if b.verb && c.o.ReadOnly {
		c.say(warn, b.show+" ("+b.short+") is off: this console was started with --read-only")
		return nil
	}
	switch b.act {
	case actQuit:
		return c.quit()
	case actSuspend:
		return tea.Suspend
	case actBack:
		c.back()
	case actFilter:
		c.stack, c.scroll = c.stack[:1], 0 // it is the table's
		c.openPrompt(false, c.picked.filter.text)
	case actCommand:
		c.openPrompt(true, "")
	case actSort:
		if c.screen() != screenOverview {
			c.say(warn, "s (sort) is off here: it sorts the overview")
			return nil
		}
		c.sorting = c.whole()
	case actLog:
		c.push(screenLog)
	case actHelp:
		c.push(screenHelp)
	case actWhy:
		c.openWhy()
	case actOpen:
		c.openEndpoint()
	case actPane:
		if c.screen() == screenOverview {
			c.feed.focused = !c.feed.focused
			c.feed.sel = 0
		}
	case actFreeze:
		if c.frozen {
			c.frozen = false
			c.pull()
			return nil
		}
		c.frozenAt, c.frozen = c.now(), true
	case actCopy:
		return c.copyLine()
	case actPin, actEject, actClear:
		c.openVerb(b.act)
	case actChain:
		c.toChain(int(k.Runes[0] - '1'))
	case actNextChain:
		c.nextChain(1)
	case actPrevChain:
		c.nextChain(-1)
	case actNext, actPrevious:
		if c.screen() == screenEndpoint {
			c.move(c.ids(), map[action]int{actNext: 1, actPrevious: -1}[b.act])
			c.scroll = 0
		}
	case actNone:
		if len(k.Runes) == 1 {
			c.say(faint, clean(k.String())+" does nothing here; ? shows the keys")
		}
	default:
		c.onMove(b.act)
	}
	return nil
}

// step gives how many lines a movement asks for on a page of h lines.
func step(a action, h int) int {
	const far = 1 << 20
	switch a {
	case actUp:
		return -1
	case actDown:
		return 1
	case actTop:
		return -far
	case actBottom:
		return far
	case actHalfUp:
		return -max(h/2, 1)
	case actHalfDown:
		return max(h/2, 1)
	case actPageUp:
		return -max(h-1, 1)
	case actPageDown:
		return max(h-1, 1)
	}
	return 0
}

func (c *console) onMove(a action) {
	page := max(c.height-2-len(c.banners()), 1)
	switch c.screen() {
	case screenOverview:
		s := c.shape()
		if c.feed.focused && c.whole() {
			c.feed.move(step(a, max(s.events, 1)))
			return
		}
		c.move(c.ids(), step(a, max(s.rows, 1)))
	case screenWhy:
		ch, _ := c.chain(c.sel.Chain)
		if ch == nil {
			return
		}
		c.move(rankedIDs(ch), step(a, max(page/4, 1)))
		c.revealCandidate(page)
	default:
		total := 0
		switch c.screen() {
		case screenHelp:
			total = len(c.helpPane(c.width))
		case screenLog:
			total = len(c.logPane(c.width))
		default:
			total = len(c.endpointPane(c.width))
		}
		c.scroll = max(0, min(c.scroll+step(a, page), total-page))
	}
}

// back goes out one level and never quits.
func (c *console) back() {
	switch {
	case len(c.stack) > 1:
		c.stack = c.stack[:len(c.stack)-1]
		c.scroll = 0
	case c.feed.focused:
		c.feed.focused, c.feed.sel = false, 0
	case c.picked.filter.text != "":
		c.setFilter("")
	default:
		c.say(faint, "this is the outermost level; q quits")
	}
}

// follow selects what the selected event is about, if events have the focus.
func (c *console) follow() bool {
	if !c.feed.focused || c.screen() != screenOverview {
		return true
	}
	l := c.feed.at(c.feed.selected())
	if l == nil {
		return false
	}
	id := about(&l.Event)
	if _, e := c.endpoint(id); e != nil {
		c.sel = id
		return true
	}
	if _, i := c.chain(id.Chain); i >= 0 {
		c.toChain(i)
		return true
	}
	c.say(faint, "this event is about no endpoint")
	return false
}

func (c *console) openEndpoint() {
	if !c.follow() {
		return
	}
	if _, e := c.endpoint(c.sel); e != nil {
		c.push(screenEndpoint)
	}
}

func (c *console) openWhy() {
	if !c.follow() {
		return
	}
	if ch, _ := c.chain(c.sel.Chain); ch != nil {
		c.push(screenWhy)
		c.revealCandidate(max(c.height-2-len(c.banners()), 1))
	}
}

func (c *console) quit() tea.Cmd {
	if c.o.ConfirmQuit == nil {
		return tea.Quit
	}
	question := c.o.ConfirmQuit()
	if question == "" || !c.whole() {
		return tea.Quit
	}
	c.dialog = newQuitDialog(question)
	return nil
}

func rankedIDs(ch *fleet.ChainView) []fleet.EndpointID {
	out := make([]fleet.EndpointID, 0, len(ch.Ranking))
	for _, r := range ch.Ranking {
		id := fleet.EndpointID{Chain: ch.Name, Name: r.Endpoint}
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}
