package config

import (
	"strings"
	"unicode"
)

// What may be quoted is decided by permission: a word of a source line is
// shown if it is a key of ours, a name, or a value that a reader of a harmless
// field took; everything else is hidden, comments too. So a key is hidden even
// where it stands in the wrong place, or in a file that is no YAML at all.

const (
	maxQuote = 110 // characters of a quoted line
	maxShown = 60  // characters of a quoted value
)

// quote gives a source line fit to be shown, and the column in it for at.
func (p *reader) quote(words map[string]bool, at pos) (line string, caret int) {
	m := masker{src: []rune(p.lines[at.line-1]), words: words, shown: p.shown, line: at.line, target: at.col - 1}
	m.run()
	if m.caret < 0 {
		m.caret = len(m.out)
	}
	out, caret := m.out, m.caret+1
	if cut := caret - maxQuote*2/3; cut > 0 && len(out) > maxQuote {
		out, caret = append([]rune("…"), out[cut:]...), caret-cut+1
	}
	if len(out) > maxQuote {
		out = append(out[:maxQuote:maxQuote], '…')
	}
	return strings.TrimRight(string(out), " "), caret
}

// masker copies one line, token by token.
type masker struct {
	src    []rune
	words  map[string]bool
	shown  map[pos]bool
	line   int
	target int // index in src that the caret stands under
	out    []rune
	caret  int
}

func (m *masker) run() {
	m.caret = -1
	for i := 0; i < len(m.src) && (m.caret < 0 || len(m.out) < m.caret+maxQuote); {
		end, kind := m.token(i)
		start, text := len(m.out), string(m.src[i:end])
		switch kind {
		case tokenMark:
			m.out = append(m.out, []rune(strings.ReplaceAll(text, "\t", " "))...)
		case tokenComment:
			m.out = append(m.out, []rune("# …")...)
		default:
			m.value(i, end, text)
		}
		if m.caret < 0 && m.target < end {
			m.caret = start + m.offset(i, m.out[start:])
		}
		i = end
	}
}

type tokenKind uint8

const (
	tokenMark tokenKind = iota // blanks and punctuation
	tokenComment
	tokenValue
)

// token finds the end of what begins at i.
func (m *masker) token(i int) (end int, kind tokenKind) {
	r := m.src[i]
	blankAfter := i+1 == len(m.src) || m.src[i+1] == ' '
	switch {
	case r == '#' && (i == 0 || m.src[i-1] == ' ' || m.src[i-1] == '\t'):
		return len(m.src), tokenComment
	case strings.ContainsRune(" \t{}[],", r), blankAfter && strings.ContainsRune("-?:", r):
		return i + 1, tokenMark
	case r == '"' || r == '\'':
		for j := i + 1; j < len(m.src); j++ {
			switch {
			case r == '"' && m.src[j] == '\\':
				j++
			case m.src[j] == r && r == '\'' && j+1 < len(m.src) && m.src[j+1] == r:
				j++
			case m.src[j] == r:
				return j + 1, tokenValue
			}
		}
		return len(m.src), tokenValue
	}
	depth := 0 // of ${…}
	for j := i; j < len(m.src); j++ {
		next := rune(' ')
		if j+1 < len(m.src) {
			next = m.src[j+1]
		}
		switch c := m.src[j]; {
		case c == '$' && next == '{':
			depth++
			j++
		case depth > 0 && c == '}':
			depth--
		case depth > 0 && c != ',':
		case strings.ContainsRune(",{}[]", c), c == ':' && next == ' ', c == ' ' && next == '#':
			return max(j, i+1), tokenValue
		}
	}
	return len(m.src), tokenValue
}

// offset is where the caret stands in what was written for the token at i: at
// its begin, unless it points to a reference that can be seen.
func (m *masker) offset(i int, written []rune) int {
	at := string(m.src[m.target:])
	if m.target == i || !strings.HasPrefix(at, "${") {
		return 0
	}
	if ref, ok := reference(at); ok {
		if before, _, found := strings.Cut(string(written), ref); found {
			return len([]rune(before))
		}
	}
	return 0
}

// value writes a word or what stands for it.
func (m *masker) value(start, end int, text string) {
	inner, quote := text, ""
	if q := text[0]; (q == '"' || q == '\'') && len(text) > 1 && text[len(text)-1] == q {
		inner, quote = text[1:len(text)-1], string(q)
	}
	trimmed := strings.TrimRight(inner, " ")
	isKey := end < len(m.src) && m.src[end] == ':'
	switch {
	case isKey && m.words[trimmed]:
	case m.shown[pos{m.line, start + 1}]:
		trimmed = tame(trimmed)
	default:
		trimmed = conceal(trimmed)
	}
	m.out = append(m.out, []rune(quote+trimmed+quote)...)
}

// conceal hides a value but for the host of a URL and the names in ${…}.
func conceal(s string) string {
	if strings.Contains(s, "://") && !strings.HasPrefix(s, "${") {
		return showURL(s)
	}
	return concealText(s)
}

// concealText hides all but the names in ${…}.
func concealText(s string) string {
	var b strings.Builder
	for s != "" {
		start := strings.Index(s, "${")
		ref, ok := "", false
		if start >= 0 {
			ref, ok = reference(s[start:])
		}
		if !ok {
			b.WriteString(Hidden)
			break
		}
		if start > 0 {
			b.WriteString(Hidden)
		}
		b.WriteString(tame(ref))
		s = s[start+len(ref):]
	}
	return b.String()
}

// reference gives the ${NAME} or ${file:PATH} that s begins with.
func reference(s string) (string, bool) {
	end := strings.IndexByte(s, '}')
	if end < 0 {
		return "", false
	}
	name := s[2:end]
	return s[:end+1], validVar(name) || strings.HasPrefix(name, "file:")
}

// showURL keeps scheme and host of a URL, and hides the rest.
func showURL(s string) string {
	scheme, rest, _ := strings.Cut(s, "://")
	if len(scheme) > 8 || strings.ContainsFunc(scheme, func(r rune) bool { return !isAlnum(r) }) {
		return Hidden
	}
	host := rest
	if i := strings.IndexAny(rest, "/?#\\ \"'"); i >= 0 {
		host = rest[:i]
	}
	// With a stray @ nobody knows where user info ends.
	if strings.Contains(rest, "@") || !plainHost(host) {
		return scheme + "://" + Hidden
	}
	if tail := strings.TrimPrefix(rest[len(host):], "/"); tail != "" {
		return scheme + "://" + host + "/" + concealText(tail)
	}
	return s
}

// plainHost reports whether s reads as host or host:port.
func plainHost(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for _, label := range strings.Split(s, ".") {
		if looksLikeKey(label) {
			return false
		}
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return !isAlnum(r) && !strings.ContainsRune(".-:[]_", r) })
}

// tame makes a harmless value fit to be shown: printable, short, and without
// what looks like a URL or a key that was put in the wrong place.
func tame(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
	if i := strings.Index(s, "://"); i >= 0 {
		return conceal(s)
	}
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return !isKeyRune(r) }) {
		if looksLikeKey(word) && !looksLikeAddress(word) {
			s = strings.ReplaceAll(s, word, Hidden)
		}
	}
	if r := []rune(s); len(r) > maxShown {
		s = string(r[:maxShown]) + "…"
	}
	return s
}

// looksLikeKey guesses: long, of one piece, and jumping between digits, small
// and capital letters as words and names do not.
func looksLikeKey(s string) bool {
	if len(s) < 16 || strings.ContainsFunc(s, func(r rune) bool { return !isKeyRune(r) }) {
		return false
	}
	jumps, last := 0, 0
	for _, r := range s {
		class := 0
		switch {
		case r >= '0' && r <= '9':
			class = 1
		case r >= 'a' && r <= 'z':
			class = 2
		case r >= 'A' && r <= 'Z':
			class = 3
		}
		if class != 0 && last != 0 && class != last {
			jumps++
		}
		if class != 0 {
			last = class
		}
	}
	return jumps*3 >= len(s)
}

// looksLikeAddress tells a public address from a private key: 20 bytes, not 32.
func looksLikeAddress(s string) bool {
	return len(s) <= 43 && strings.HasPrefix(strings.ToLower(s), "0x")
}

func isKeyRune(r rune) bool { return isAlnum(r) || r == '_' || r == '-' }

func isAlnum(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}
