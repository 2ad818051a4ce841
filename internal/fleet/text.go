package fleet

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxText is the length, in bytes, at which a text from outside is cut.
const MaxText = 512

// Sanitize makes a text from outside fit to be kept and shown: invalid UTF-8,
// control characters (C0, C1, DEL, ESC), bidi controls and line separators are
// removed, white space becomes single blanks, and the text is cut at MaxText
// bytes.
func Sanitize(s string) string { return SanitizeMax(s, MaxText) }

// SanitizeMax is Sanitize with a limit of its own, in bytes.
func SanitizeMax(s string, limit int) string {
	var b strings.Builder
	blank := true // drops leading blanks
	for i, w := 0, 0; i < len(s); i += w {
		var r rune
		r, w = utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && w <= 1:
			continue
		case r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' || r == '\u0085':
			if !blank {
				if b.Len()+1 > limit {
					return strings.TrimRight(b.String(), " ")
				}
				b.WriteByte(' ')
				blank = true
			}
			continue
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && !joiner(r) || unicode.Is(unicode.Co, r):
			continue
		}
		if b.Len()+w > limit {
			break
		}
		b.WriteRune(r)
		blank = false
	}
	return strings.TrimRight(b.String(), " ")
}

// joiner reports the format characters that carry meaning in running text;
// names shown in cells drop them too (see the console).
func joiner(r rune) bool { return r == '\u200c' || r == '\u200d' }
