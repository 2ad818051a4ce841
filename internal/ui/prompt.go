package ui

import (
	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"
)

// prompt is the line in which the operator types a filter or a command. It
// stands where the footer is, and what is said about it on the line above.
type prompt struct {
	command bool // else a filter
	in      textinput.Model
	wrong   string   // why the command was not carried out
	offers  []string // completions of the word that is being typed
	stem    string   // the line before that word
	offer   int      // the one that stands in the line; -1: none yet
	back    int      // how far back in the history; 0: the line being typed
	typed   string   // that line
}

const (
	promptLimit = 400 // runes
	keptLines   = 50  // of the history of commands
)

func (c *console) openPrompt(command bool, text string) {
	if !c.whole() {
		return
	}
	p := &prompt{command: command, in: newInput(promptLimit)}
	p.in.SetValue(text)
	p.in.CursorEnd()
	c.prompt = p
}

// onPromptKey passes a key to the line that is being typed.
func (c *console) onPromptKey(k tea.KeyMsg, a action) tea.Cmd {
	p := c.prompt
	if !c.whole() { // it cannot be seen: it can be left, no more
		switch a {
		case actBack:
			c.prompt = nil
		case actQuit:
			return tea.Quit
		}
		return nil
	}
	switch k.Type {
	case tea.KeyEsc:
		c.prompt = nil
		if !p.command {
			c.setFilter("")
		}
		return nil
	case tea.KeyEnter:
		if !p.command {
			c.prompt = nil
			return nil
		}
		return c.enterCommand()
	case tea.KeyTab, tea.KeyShiftTab:
		p.complete(c, k.Type == tea.KeyTab)
	case tea.KeyUp, tea.KeyDown:
		if p.command {
			p.recall(c.typed, k.Type == tea.KeyUp)
		}
	case tea.KeyBackspace:
		if p.in.Value() == "" { // as vi and less do
			c.prompt = nil
			return nil
		}
		p.edit(k)
	default:
		p.edit(k)
	}
	if !p.command {
		c.setFilter(p.in.Value())
	}
	return nil
}

func (p *prompt) edit(k tea.KeyMsg) {
	p.in, _ = p.in.Update(k)
	p.wrong, p.offers, p.back = "", nil, 0
}

// recall goes through the history of commands, the newest first.
func (p *prompt) recall(history []string, older bool) {
	if p.back == 0 {
		p.typed = p.in.Value()
	}
	if older {
		p.back = min(p.back+1, len(history))
	} else {
		p.back = max(p.back-1, 0)
	}
	text := p.typed
	if p.back > 0 {
		text = history[len(history)-p.back]
	}
	p.in.SetValue(text)
	p.in.CursorEnd()
	p.wrong, p.offers = "", nil
}

// complete puts in what all completions have in common, then goes through them.
func (p *prompt) complete(c *console, forward bool) {
	p.wrong = ""
	if p.offers == nil {
		line := p.in.Value()
		if !p.command {
			line = "filter " + line
		}
		stem, offers := completions(c.snap, line)
		if !p.command {
			stem = stem[len("filter "):]
		}
		if len(offers) == 0 {
			p.wrong = "nothing completes this"
			return
		}
		p.offers, p.stem, p.offer = offers, stem, -1
		if common := commonPrefix(offers); len(offers) > 1 && len(stem+common) > len(p.in.Value()) {
			p.in.SetValue(stem + common)
			p.in.CursorEnd()
			return
		}
	}
	n := len(p.offers)
	if forward {
		p.offer = (p.offer + 1) % n
	} else {
		p.offer = (max(p.offer, 0) - 1 + n) % n
	}
	p.in.SetValue(p.stem + p.offers[p.offer])
	p.in.CursorEnd()
	if n == 1 {
		p.offers = nil
	}
}

func commonPrefix(words []string) string {
	common := words[0]
	for _, w := range words[1:] {
		for len(common) > 0 && (len(w) < len(common) || w[:len(common)] != common) {
			_, n := lastRune(common)
			common = common[:len(common)-n]
		}
	}
	return common
}

// lines draws the line that is being typed, and what is said about it.
func (p *prompt) lines(c *console, w int) (about, line string) {
	t := &c.theme
	sign, hint := "/", "lag>2 chain:base !state:down, or a text"
	if p.command {
		sign, hint = ":", "a command; tab completes"
	}
	line = t.paint(keycap, sign) + t.input(&p.in, true, hint, w-1)
	switch {
	case p.wrong != "":
		about = t.paint(bad, cut(p.wrong, w))
	case len(p.offers) > 1:
		about = t.offers(p.offers, p.offer, w)
	case p.command:
		about = t.paint(faint, cut(usageOf(p.in.Value()), w))
	case c.picked.filter.wrong != "":
		about = t.paint(bad, cut(c.picked.filter.wrong, w))
	default:
		n, of := c.matching()
		about = t.paint(faint, cut(integer(uint64(n))+" of "+plural(of, "endpoint")+"; enter keeps it, esc shows all", w))
	}
	return about, line
}

// offers draws the completions; the one in the line stays visible.
func (t *theme) offers(words []string, at, w int) string {
	out, used := "", 0
	for i := max(0, at-2); i < len(words); i++ {
		k, s := faint, clean(words[i])
		if i == at {
			k = strong
		}
		if used > 0 {
			s = "  " + s
		}
		if s = cut(s, w-used); s == "" {
			break
		}
		used += cells(s)
		out += t.paint(k, s)
	}
	return out
}
