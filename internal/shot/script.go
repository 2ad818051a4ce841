package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// step is one line of a script, with its words read.
type step struct {
	where      string // file:line
	verb       string
	words      []string // what follows the verb, times left out
	time       time.Duration
	cols, rows int
}

// grammar says what follows each verb: whether a time comes first, and how many
// words then (most < 0: any number).
var grammar = map[string]struct {
	timed       bool
	least, most int
	running     bool // needs a program
}{
	"size":  {least: 1, most: 1},
	"env":   {least: 1, most: 1},
	"run":   {least: 1, most: -1},
	"wait":  {timed: true, least: 1, most: 1, running: true},
	"pause": {timed: true, running: true},
	"key":   {least: 1, most: -1, running: true},
	"type":  {least: 1, most: 1, running: true},
	"shot":  {least: 1, most: 2, running: true},
	"exit":  {timed: true, running: true},
}

// parse reads a script. All errors are told at once, each with its line.
func parse(name, src string) ([]step, error) {
	var steps []step
	var errs []error
	running := false
	for i, line := range strings.Split(src, "\n") {
		where := fmt.Sprintf("%s:%d", name, i+1)
		words, err := split(line)
		if err == nil && len(words) == 0 {
			continue
		}
		var s step
		if err == nil {
			s, err = read(words, running)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", where, err))
			continue
		}
		s.where = where
		switch s.verb {
		case "run":
			running = true
		case "exit":
			running = false
		}
		steps = append(steps, s)
	}
	return steps, errors.Join(errs...)
}

// read makes a step of a line's words.
func read(words []string, running bool) (step, error) {
	s := step{verb: words[0], words: words[1:]}
	g, ok := grammar[s.verb]
	if !ok {
		return s, fmt.Errorf("no such step: %s", s.verb)
	}
	if g.running && !running {
		return s, fmt.Errorf("%s: no program is running", s.verb)
	}
	if g.timed {
		if len(s.words) == 0 {
			return s, fmt.Errorf("%s: want a time, as 5s", s.verb)
		}
		d, err := time.ParseDuration(s.words[0])
		if err != nil || d <= 0 {
			return s, fmt.Errorf("%s: %q is no time, as 5s", s.verb, s.words[0])
		}
		s.time, s.words = d, s.words[1:]
	}
	if len(s.words) < g.least || g.most >= 0 && len(s.words) > g.most {
		return s, fmt.Errorf("%s: wrong number of words: %d", s.verb, len(s.words))
	}
	switch s.verb {
	case "size":
		return s, s.readSize()
	case "env":
		if !strings.Contains(s.words[0], "=") {
			return s, fmt.Errorf("env: want NAME=VALUE")
		}
	case "key":
		for _, k := range s.words {
			if _, err := keyBytes(k); err != nil {
				return s, err
			}
		}
	}
	return s, nil
}

func (s *step) readSize() error {
	a, b, _ := strings.Cut(s.words[0], "x")
	cols, errCols := strconv.Atoi(a)
	rows, errRows := strconv.Atoi(b)
	if errCols != nil || errRows != nil || cols < 1 || rows < 1 || cols > 500 || rows > 500 {
		return fmt.Errorf("size: %q is no size, as 120x36", s.words[0])
	}
	s.cols, s.rows = cols, rows
	return nil
}

// split gives the words of a line; "quoted words" are Go's.
func split(line string) ([]string, error) {
	var words []string
	for {
		line = strings.TrimLeft(line, " \t\r")
		switch {
		case line == "" || line[0] == '#':
			return words, nil
		case line[0] == '"':
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, errors.New("a quote is not closed")
			}
			word, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, fmt.Errorf("quoted word %s: %w", quoted, err)
			}
			words, line = append(words, word), line[len(quoted):]
		default:
			end := strings.IndexAny(line, " \t\r")
			if end < 0 {
				end = len(line)
			}
			words, line = append(words, line[:end]), line[end:]
		}
	}
}

// namedKeys is what a terminal sends for keys that are no letter.
var namedKeys = map[string]string{
	"enter": "\r", "esc": "\x1b", "tab": "\t", "shift-tab": "\x1b[Z", "space": " ", "backspace": "\x7f",
	"up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D",
	"home": "\x1b[H", "end": "\x1b[F", "pgup": "\x1b[5~", "pgdn": "\x1b[6~",
}

// keyBytes gives what a terminal sends for a key: a name of namedKeys, ctrl-
// and a letter, or one character.
func keyBytes(name string) (string, error) {
	if s, ok := namedKeys[name]; ok {
		return s, nil
	}
	if c, ok := strings.CutPrefix(name, "ctrl-"); ok && len(c) == 1 && c[0] >= 'a' && c[0] <= 'z' {
		return string(rune(c[0] - 'a' + 1)), nil
	}
	if r := []rune(name); len(r) == 1 {
		return name, nil
	}
	return "", fmt.Errorf("key: no key has the name %q", name)
}
