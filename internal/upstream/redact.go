package upstream

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"example.com/rpctop/internal/fleet"
)

// mark stands wherever a secret stood.
const mark = "•••"

const (
	// minPart is the length from which a path segment or query value is a
	// secret.
	minPart = 8
	// minValue is the length from which the value of a header and the parts
	// of the user info are: they are secrets by nature, but replacing every
	// "1" would leave no text readable.
	minValue = 4
	// keyLength is the length from which a secret cannot stand in an answer by
	// chance: such ones are replaced in results too, while a path segment like
	// "ethereum" leaves results byte for byte as they came.
	keyLength = 16
	// minTail is the shortest beginning of a key that is recognised at the end
	// of a text that somebody has cut.
	minTail = 6
)

// secretsOf lists what must not be seen of a URL and of headers, each one alone
// and as it is.
func secretsOf(u *url.URL, header map[string]string) []string {
	var out []string
	add := func(least int, s string) {
		if len(s) >= least {
			out = append(out, s)
		}
	}
	if u.User != nil {
		name := u.User.Username()
		pass, _ := u.User.Password()
		add(minValue, name)
		add(minValue, pass)
		add(1, name+":"+pass)
		for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
			add(1, e.EncodeToString([]byte(name+":"+pass)))
		}
	}
	for part := range strings.SplitSeq(u.EscapedPath(), "/") {
		add(minPart, part)
		if plain, err := url.PathUnescape(part); err == nil {
			add(minPart, plain)
		}
	}
	for _, query := range []string{u.RawQuery, u.EscapedFragment()} {
		for pair := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
			value := pair
			if _, v, ok := strings.Cut(pair, "="); ok {
				value = v
			}
			add(minPart, value)
			if plain, err := url.QueryUnescape(value); err == nil {
				add(minPart, plain)
			}
		}
	}
	for _, v := range header {
		add(minValue, v)
		// A bearer's token or a cookie's value is secret without its frame.
		for part := range strings.FieldsFuncSeq(v, func(r rune) bool { return strings.ContainsRune(" ;,=", r) }) {
			add(minPart, part)
		}
	}
	return out
}

// redactor replaces secrets in all their forms. It is immutable.
type redactor struct {
	forms    []string // longest first
	replacer *strings.Replacer
	keys     [][]byte // the forms that are replaced in bodies too
}

func newRedactor(secrets []string) *redactor {
	set := map[string]bool{}
	for _, s := range secrets {
		quoted, err := json.Marshal(s)
		if err != nil {
			continue // cannot happen for a string
		}
		inJSON := string(quoted[1 : len(quoted)-1])
		for _, f := range []string{
			s, url.PathEscape(s), url.QueryEscape(s), inJSON, strings.ReplaceAll(inJSON, "/", `\/`),
			strings.ReplaceAll(s, "/", `\/`), strings.ReplaceAll(url.PathEscape(s), "+", "%2B"),
		} {
			set[f] = true
			set[lowerEscapes(f)] = true
			// What is compared with a text is compared after sanitising.
			set[fleet.SanitizeMax(f, len(f))] = true
		}
	}
	delete(set, "")
	r := &redactor{}
	for f := range set {
		r.forms = append(r.forms, f)
	}
	slices.SortFunc(r.forms, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var pairs []string
	for _, f := range r.forms {
		pairs = append(pairs, f, mark)
		if len(f) >= keyLength {
			r.keys = append(r.keys, []byte(f))
		}
	}
	r.replacer = strings.NewReplacer(pairs...)
	return r
}

// lowerEscapes writes %2f for %2F.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], bytes.ToLower(b[i+1:i+3]))
		}
	}
	return string(b)
}

// text makes a text from outside fit to be kept: sanitised, without secrets,
// cut at fleet.MaxText. Control characters go first, so that none of them can
// hide a secret from the comparison.
func (r *redactor) text(s string) string {
	return fleet.Sanitize(r.replace(fleet.SanitizeMax(s, 8*fleet.MaxText)))
}

// replace replaces every secret, and the beginning of a key that a cut left at
// the end.
func (r *redactor) replace(s string) string {
	s = r.replacer.Replace(s)
	for _, f := range r.forms {
		if len(f) < keyLength {
			break
		}
		for n := min(len(f)-1, len(s)); n >= minTail; n-- {
			if strings.HasSuffix(s, f[:n]) {
				return s[:len(s)-n] + mark
			}
		}
	}
	return s
}

// body replaces keys in a body before anything is read from it. A body without
// any is returned as it is.
func (r *redactor) body(b []byte) []byte {
	for _, k := range r.keys {
		if bytes.Contains(b, k) {
			b = bytes.ReplaceAll(b, k, []byte(mark))
		}
	}
	if len(r.keys) == 0 || bytes.IndexByte(b, '\\') < 0 {
		return b
	}
	// Escapes can spell a key in other bytes.
	return rewriteStrings(b, func(literal []byte) (string, bool) {
		if len(literal) < keyLength || bytes.IndexByte(literal, '\\') < 0 {
			return "", false
		}
		text, ok := unquote(literal)
		if !ok || !slices.ContainsFunc(r.keys, func(k []byte) bool { return strings.Contains(text, string(k)) }) {
			return "", false
		}
		return r.replacer.Replace(text), true
	})
}

// errorBody is what may be passed on of an answer that is an error, whose texts
// are never data: every secret is replaced, however it is dressed up. What is
// no JSON is not passed on.
func (r *redactor) errorBody(b []byte) []byte {
	if !looksLikeJSON(b) {
		return nil
	}
	return rewriteStrings(b, func(literal []byte) (string, bool) {
		text, ok := unquote(literal)
		if !ok {
			return mark, true
		}
		clean := fleet.SanitizeMax(text, len(text))
		redacted := r.replace(clean)
		return redacted, redacted != clean
	})
}

// rewriteStrings offers each string literal of a JSON text, quotes included, to
// change, and puts what it wants instead. All other bytes stay.
func rewriteStrings(b []byte, change func(literal []byte) (string, bool)) []byte {
	var out []byte
	done := 0 // bytes of b that out has, or that need no change
	for i := 0; i < len(b); i++ {
		if b[i] != '"' {
			continue
		}
		end := i + 1
		for end < len(b) && b[end] != '"' {
			if b[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end+1, len(b))
		if text, ok := change(b[i:end]); ok {
			quoted, err := json.Marshal(text)
			if err != nil {
				quoted = []byte(`""`) // cannot happen for a string
			}
			out = append(append(out, b[done:i]...), quoted...)
			done = end
		}
		i = end - 1
	}
	if done == 0 {
		return b
	}
	return append(out, b[done:]...)
}

func unquote(literal []byte) (string, bool) {
	var s string
	err := json.Unmarshal(literal, &s)
	return s, err == nil
}
