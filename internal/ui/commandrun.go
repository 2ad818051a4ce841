package ui

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/rpctop/internal/fleet"
)

// verbWords is what an operator's verb was given.
type verbWords struct {
	chain, endpoint, reason string
	span                    time.Duration // 0: for ever
	spanned, strict         bool
}

// parseVerb reads the words of an operator's verb, as the CLI's are.
func parseVerb(a fleet.Action, words []string) (v verbWords, err error) {
	var names []string
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		flag, value, joined := strings.Cut(word, "=")
		if !strings.HasPrefix(word, "--") {
			names = append(names, word)
			continue
		}
		take := func() error {
			if joined {
				return nil
			}
			if len(words) == 0 {
				return fmt.Errorf("%s wants a value", flag)
			}
			value, words = words[0], words[1:]
			return nil
		}
		switch {
		case flag == "--reason":
			if err = take(); err == nil && utf8.RuneCountInString(value) > reasonLimit {
				err = fmt.Errorf("the reason is longer than %d letters", reasonLimit)
			}
			v.reason = value
		case flag == "--for" && a != fleet.ActionClear:
			if err = take(); err == nil {
				v.spanned = true
				v.span, err = parseSpan(value)
			}
		case word == "--strict" && a == fleet.ActionPin:
			v.strict = true
		case word == "--yes":
			err = errors.New("--yes is not for the console: the dialog asks")
		default:
			err = fmt.Errorf("%s is not known here", flag)
		}
		if err != nil {
			return v, err
		}
	}
	least := 2
	if a == fleet.ActionClear {
		least = 1
	}
	switch {
	case len(names) < least && least == 2:
		return v, errors.New("it wants a chain and an endpoint")
	case len(names) < least:
		return v, errors.New("it wants a chain")
	case len(names) > 2:
		return v, fmt.Errorf("%s is one word too many; quote what has blanks", names[2])
	}
	v.chain = names[0]
	if len(names) == 2 {
		v.endpoint = names[1]
	}
	return v, nil
}

// parseSpan reads how long an override holds; 0 is for ever.
func parseSpan(s string) (time.Duration, error) {
	if s == "forever" {
		return 0, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("--for %s is no duration like 2h or 30m, and not forever", s)
	}
	return d, nil
}

// commandVerb opens the dialog that the verb's key would, with the words in it.
func (c *console) commandVerb(a fleet.Action, words []string) error {
	v, err := parseVerb(a, words)
	if err != nil {
		return err
	}
	ch, err := c.namedChain(v.chain)
	if err != nil {
		return err
	}
	var e *fleet.EndpointView
	switch {
	case v.endpoint != "":
		if e, err = namedEndpoint(ch, v.endpoint); err != nil {
			return err
		}
	case len(ch.Endpoints) == 0:
		return errors.New("the chain has no endpoint")
	default:
		if e = endpointOf(ch, ch.Incumbent); e == nil {
			e = &ch.Endpoints[0]
		}
	}
	if why := refusal(a, ch, e, v.endpoint == ""); why != "" {
		return errors.New(why)
	}
	c.sel = fleet.EndpointID{Chain: ch.Name, Name: e.Name}
	c.openDialog(a, ch, e)
	d := c.dialog
	d.reason.SetValue(v.reason)
	d.strict = v.strict
	if v.spanned {
		d.setTerm(v.span)
	}
	if a == fleet.ActionClear {
		d.whole = v.endpoint == ""
	}
	return nil
}

func commandChain(c *console, words []string) (tea.Cmd, error) {
	if len(words) != 1 {
		return nil, errors.New("it wants the name of a chain")
	}
	ch, err := c.namedChain(words[0])
	if err != nil {
		return nil, err
	}
	_, i := c.chain(ch.Name)
	c.toChain(i)
	return nil, nil
}

func commandEndpoint(c *console, words []string) (tea.Cmd, error) {
	if len(words) != 2 {
		return nil, errors.New("it wants a chain and an endpoint")
	}
	ch, err := c.namedChain(words[0])
	if err != nil {
		return nil, err
	}
	e, err := namedEndpoint(ch, words[1])
	if err != nil {
		return nil, err
	}
	c.sel = fleet.EndpointID{Chain: ch.Name, Name: e.Name}
	c.push(screenEndpoint)
	return nil, nil
}

func commandWhy(c *console, words []string) (tea.Cmd, error) {
	if len(words) > 0 {
		if _, err := commandChain(c, words); err != nil {
			return nil, err
		}
	}
	c.feed.focused = false
	c.openWhy()
	return nil, nil
}

func commandFilter(c *console, words []string) (tea.Cmd, error) {
	text := strings.Join(words, " ")
	if f := parseFilter(text); f.wrong != "" {
		return nil, errors.New(f.wrong)
	}
	c.setFilter(text)
	return nil, nil
}

func commandSort(c *console, words []string) (tea.Cmd, error) {
	o := ordering{}
	switch {
	case len(words) == 0 || len(words) == 1 && words[0] == configured:
	case len(words) > 2 || len(words) == 2 && words[1] != "reverse":
		return nil, errors.New("it wants a key, and perhaps reverse")
	default:
		if _, ok := sortKeyOf(words[0]); !ok {
			return nil, fmt.Errorf("there is no key %s; tab shows them", words[0])
		}
		o = ordering{by: words[0], back: len(words) == 2}
	}
	c.picked.sort = o
	return nil, nil
}

func commandTheme(c *console, words []string) (tea.Cmd, error) {
	if len(words) != 1 || !KnownTheme(words[0]) {
		return nil, errors.New("it is dark, light or mono")
	}
	c.setTheme(words[0])
	return nil, nil
}
