package ui

import "strings"

// KeysMarkdown gives docs/keys.md: the keys, and what can be typed.
func KeysMarkdown() string {
	var b strings.Builder
	b.WriteString("# Keys of the console\n\nMade from the keymap by a test (`go test ./internal/ui -run Docs -update`). `?` in the console shows the same.\n\n")
	group := ""
	for _, k := range append(keymap(), dialogKeys()...) {
		if k.group != group {
			if group != "" {
				b.WriteByte('\n')
			}
			group = k.group
			b.WriteString("## " + group + "\n\n| key | what it does |\n|---|---|\n")
		}
		b.WriteString("| `" + strings.Join(strings.Fields(k.show), "` `") + "` | " + k.help)
		if k.verb {
			b.WriteString(" (off with `--read-only`)")
		}
		b.WriteString(" |\n")
	}
	b.WriteString("\n## Filter: `/` and terms\n\n`lag>2 chain:base !state:down`: every term must hold. `:` finds a part of a word, `=` all of it; `>` `<` `>=` `<=`\n" +
		"compare numbers; `!` turns a term round; a word alone is looked for in name, chain, operator, state, role and reason.\n" +
		"What is not known is neither more nor less than anything. The selected endpoint stays shown until you move on.\n\n| field | what it is |\n|---|---|\n")
	for _, f := range filterFields() {
		b.WriteString("| `" + f.name + "` | " + f.help + " |\n")
	}
	b.WriteString("\n## Sort: `s` and a letter\n\nThe same letter again reverses; `o` is the order of the config. What is not known stands last.\n\n| letter | sorts by | first |\n|---|---|---|\n")
	for _, k := range sortKeys() {
		first := "the smallest"
		switch {
		case k.name == "state":
			first = "the worst"
		case k.name == "name":
			first = "a"
		case k.big:
			first = "the largest"
		}
		b.WriteString("| `" + k.letter + "` | " + k.name + " | " + first + " |\n")
	}
	b.WriteString("\n## Commands: `:`\n\n`tab` completes, `↑` `↓` go through the history. Quotes hold words together.\n\n| command | what it does |\n|---|---|\n")
	for _, c := range commandTable() {
		b.WriteString("| `" + strings.TrimRight(":"+c.name+" "+strings.ReplaceAll(c.usage, "|", "\\|"), " ") + "` | " + c.help)
		if c.verb {
			b.WriteString(" (off with `--read-only`)")
		}
		b.WriteString(" |\n")
	}
	return b.String()
}

// KeysText gives the same as plain text, for the man page.
func KeysText() string {
	var b strings.Builder
	group := ""
	for _, k := range append(keymap(), dialogKeys()...) {
		if k.group != group {
			if group != "" {
				b.WriteByte('\n')
			}
			group = k.group
			b.WriteString(group + "\n")
		}
		b.WriteString("  " + pad(k.show, 8) + " " + k.help + "\n")
	}
	b.WriteString("\nFilter fields\n")
	for _, f := range filterFields() {
		b.WriteString("  " + pad(f.name, 8) + " " + f.help + "\n")
	}
	b.WriteString("\nSort\n  s " + sortLetters() + "\n\nCommands\n")
	for _, c := range commandTable() {
		b.WriteString("  " + strings.TrimRight(":"+c.name+" "+c.usage, " ") + "\n           " + c.help + "\n")
	}
	return b.String()
}
