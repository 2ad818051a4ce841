package ui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/rpctop/internal/fleet"
)

// command is one verb of the command line. Completion, help and docs are made
// from the table.
type command struct {
	name, usage, help string
	verb              bool // changes something: off with --read-only
	run               func(c *console, words []string) (tea.Cmd, error)
}

// commandTable is all that can follow `:`.
func commandTable() []command {
	act := func(a fleet.Action) func(*console, []string) (tea.Cmd, error) {
		return func(c *console, words []string) (tea.Cmd, error) { return nil, c.commandVerb(a, words) }
	}
	show := func(s screen) func(*console, []string) (tea.Cmd, error) {
		return func(c *console, words []string) (tea.Cmd, error) {
			if err := none(words); err != nil {
				return nil, err
			}
			c.push(s)
			return nil, nil
		}
	}
	return []command{
		{"pin", "CHAIN ENDPOINT [--reason TEXT] [--for 2h|forever] [--strict]", "opens the dialog: the chain goes to the endpoint", true, act(fleet.ActionPin)},
		{"eject", "CHAIN ENDPOINT [--reason TEXT] [--for 2h|forever]", "opens the dialog: never the endpoint", true, act(fleet.ActionEject)},
		{"clear", "CHAIN [ENDPOINT] [--reason TEXT]", "opens the dialog: ends overrides, and gates that end by clear", true, act(fleet.ActionClear)},
		{"chain", "NAME", "selects who serves the chain", false, commandChain},
		{"endpoint", "CHAIN ENDPOINT", "shows the endpoint", false, commandEndpoint},
		{"why", "[CHAIN]", "why the chain is served as it is", false, commandWhy},
		{"filter", "[TERMS]", "shows what the terms admit; without terms all", false, commandFilter},
		{"sort", "[KEY [reverse]]", "sorts; without a key as configured", false, commandSort},
		{"theme", "dark|light|mono", "changes the colours", false, commandTheme},
		{"log", "", "what this process has noted", false, show(screenLog)},
		{"help", "", "keys, states, columns", false, show(screenHelp)},
		{"quit", "", "quits", false, func(c *console, words []string) (tea.Cmd, error) {
			if err := none(words); err != nil {
				return nil, err
			}
			return c.quit(), nil
		}},
	}
}

func none(words []string) error {
	if len(words) > 0 {
		return errors.New("it takes no arguments")
	}
	return nil
}

func findCommand(name string) (command, bool) {
	t := commandTable()
	i := slices.IndexFunc(t, func(cmd command) bool { return cmd.name == name || name == "q" && cmd.name == "quit" })
	if i < 0 {
		return command{}, false
	}
	return t[i], true
}

// usageOf says what the command that is being typed takes.
func usageOf(line string) string {
	words := strings.Fields(line)
	if len(words) == 0 {
		s := ""
		for _, cmd := range commandTable() {
			s += cmd.name + "  "
		}
		return s
	}
	if cmd, ok := findCommand(words[0]); ok {
		return strings.TrimRight(cmd.name+" "+cmd.usage, " ") + ": " + cmd.help
	}
	return "tab completes"
}

// enterCommand carries the typed line out. If it cannot be, the line stays and
// says why.
func (c *console) enterCommand() tea.Cmd {
	p := c.prompt
	line := strings.TrimSpace(p.in.Value())
	if line == "" {
		c.prompt = nil
		return nil
	}
	if n := len(c.typed); n == 0 || c.typed[n-1] != line {
		c.typed = append(c.typed, line)
		c.typed = c.typed[max(0, len(c.typed)-keptLines):]
	}
	cmd, err := c.runCommand(line)
	p.offers, p.back = nil, 0
	if err != nil {
		p.wrong = clean(err.Error())
		return nil
	}
	c.prompt = nil
	return cmd
}

func (c *console) runCommand(line string) (tea.Cmd, error) {
	words, err := splitWords(line)
	if err != nil {
		return nil, err
	}
	cmd, ok := findCommand(words[0])
	switch {
	case !ok:
		return nil, fmt.Errorf("there is no command %s; tab shows them", words[0])
	case cmd.verb && c.o.ReadOnly:
		return nil, fmt.Errorf("%s is off: this console was started with --read-only", cmd.name)
	}
	if cmd.name == "filter" { // its terms are no words of a shell
		_, rest, _ := strings.Cut(line, " ")
		words = []string{"filter", rest}
	}
	do, err := cmd.run(c, words[1:])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cmd.name, err)
	}
	return do, nil
}

// splitWords takes a line apart at blanks; quotes hold words together. There is
// at least one word, or an error.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote, begun := rune(0), false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, begun = r, true
		case r == ' ' || r == '\t':
			if begun {
				words = append(words, word.String())
				word.Reset()
				begun = false
			}
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote %c is not closed", quote)
	}
	if begun {
		words = append(words, word.String())
	}
	if len(words) == 0 {
		return nil, errors.New("nothing was typed")
	}
	return words, nil
}

// quoteWord writes a word so that splitWords reads it back.
func quoteWord(s string) string {
	switch {
	case s != "" && !strings.ContainsAny(s, " \t\"'"):
		return s
	case !strings.Contains(s, `"`):
		return `"` + s + `"`
	default:
		return `"` + strings.ReplaceAll(s, `"`, `"'"'"`) + `"`
	}
}

func lastRune(s string) (rune, int) { return utf8.DecodeLastRuneInString(s) }

// namedChain finds a chain by the name that is shown.
func (c *console) namedChain(name string) (*fleet.ChainView, error) {
	if ch, _ := c.chain(name); ch != nil {
		return ch, nil
	}
	var found *fleet.ChainView
	if c.snap != nil {
		for i := range c.snap.Chains {
			if ch := &c.snap.Chains[i]; clean(ch.Name) == name {
				if found != nil {
					return nil, fmt.Errorf("%s is the name of two chains", name)
				}
				found = ch
			}
		}
	}
	if found == nil {
		return nil, fmt.Errorf("there is no chain %s", name)
	}
	return found, nil
}

// namedEndpoint finds an endpoint of a chain by the name that is shown.
func namedEndpoint(ch *fleet.ChainView, name string) (*fleet.EndpointView, error) {
	if e := endpointOf(ch, name); e != nil {
		return e, nil
	}
	var found *fleet.EndpointView
	for i := range ch.Endpoints {
		if e := &ch.Endpoints[i]; clean(e.Name) == name {
			if found != nil {
				return nil, fmt.Errorf("%s is the name of two endpoints", name)
			}
			found = e
		}
	}
	if found == nil {
		return nil, fmt.Errorf("there is no endpoint %s on %s", name, ch.Name)
	}
	return found, nil
}
