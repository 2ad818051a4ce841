package ui

import (
	"strings"

	"example.com/rpctop/internal/fleet"
)

// completions gives what the last word of a line can become, and the line
// before it. The offers end in a blank where a word is whole.
func completions(s *fleet.Snapshot, line string) (stem string, offers []string) {
	at := lastWord(line)
	stem, word := line[:at], strings.Trim(line[at:], `"'`)
	before, err := splitWords(stem)
	if err != nil {
		before = nil
		if strings.TrimSpace(stem) != "" {
			return stem, nil
		}
	}
	for _, w := range wordsAfter(s, before) {
		if !strings.HasPrefix(strings.ToLower(w), strings.ToLower(word)) {
			continue
		}
		if strings.HasSuffix(w, ":") || strings.HasSuffix(w, ">") { // a value follows
			offers = append(offers, w)
			continue
		}
		offers = append(offers, quoteWord(w)+" ")
	}
	return stem, offers
}

// lastWord gives where the word begins that is being typed.
func lastWord(line string) int {
	at, quote := 0, rune(0)
	for i, r := range line {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case r == ' ' || r == '\t':
			at = i + 1
		}
	}
	return at
}

// wordsAfter lists what can follow the words of a command.
func wordsAfter(s *fleet.Snapshot, before []string) []string {
	var out []string
	if len(before) == 0 {
		for _, cmd := range commandTable() {
			out = append(out, cmd.name)
		}
		return out
	}
	switch cmd := before[0]; cmd {
	case "pin", "eject", "clear":
		return verbWordsAfter(s, cmd, before[1:])
	case "endpoint":
		if len(before) < 3 {
			return namesAfter(s, before[1:])
		}
	case "chain", "why":
		if len(before) == 1 {
			return namesAfter(s, nil)
		}
	case "filter":
		for _, f := range filterFields() {
			sign := ":"
			if f.unit != unitWord {
				sign = ">"
			}
			out = append(out, f.name+sign)
		}
		if s != nil {
			for i := range s.Chains {
				if name := clean(s.Chains[i].Name); name != "" && !strings.Contains(name, " ") {
					out = append(out, "chain:"+name)
				}
			}
		}
		for _, state := range severity {
			out = append(out, "state:"+state)
		}
	case "sort":
		if len(before) == 2 {
			return []string{"reverse"}
		}
		for _, k := range sortKeys() {
			out = append(out, k.name)
		}
		out = append(out, configured)
	case "theme":
		if len(before) == 1 {
			return themeNames()
		}
	}
	return out
}

// namesAfter lists chains, or the endpoints of the chain that was named.
func namesAfter(s *fleet.Snapshot, names []string) (out []string) {
	if s == nil {
		return nil
	}
	for i := range s.Chains {
		ch := &s.Chains[i]
		switch {
		case len(names) == 0:
			out = append(out, clean(ch.Name))
		case clean(ch.Name) == names[0] || ch.Name == names[0]:
			for j := range ch.Endpoints {
				out = append(out, clean(ch.Endpoints[j].Name))
			}
		}
	}
	return out
}

func verbWordsAfter(s *fleet.Snapshot, cmd string, words []string) []string {
	if n := len(words); n > 0 {
		switch words[n-1] {
		case "--for":
			return []string{"1h", "2h", "8h", "24h", "forever"}
		case "--reason":
			return nil
		}
	}
	var names []string
	used := map[string]bool{}
	for i := 0; i < len(words); i++ {
		if flag, _, joined := strings.Cut(words[i], "="); strings.HasPrefix(flag, "--") {
			used[flag] = true
			if !joined && flag != "--strict" {
				i++
			}
			continue
		}
		names = append(names, words[i])
	}
	var out []string
	if len(names) < 2 {
		out = namesAfter(s, names)
	}
	if len(names) == 0 {
		return out
	}
	flags := map[string][]string{"pin": {"--reason", "--for", "--strict"}, "eject": {"--reason", "--for"}, "clear": {"--reason"}}
	for _, f := range flags[cmd] {
		if !used[f] {
			out = append(out, f)
		}
	}
	return out
}
