package jsonrpc

import (
	"bytes"
	"encoding/json"
)

// maxDepth is how deep values may nest; encoding/json draws the same line.
const maxDepth = 10000

// The scanner validates and skips in one pass, without decoding. A position of
// -1 means that the text is no JSON.

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// skipValue gives the position after the value that starts at i.
func skipValue(b []byte, i, depth int) int {
	if i < 0 || i >= len(b) {
		return -1
	}
	switch c := b[i]; {
	case c == '"':
		return skipString(b, i)
	case c == '{' || c == '[':
		return skipContainer(b, i, depth+1)
	case c == '-' || c >= '0' && c <= '9':
		return skipNumber(b, i)
	case c == 't':
		return skipLiteral(b, i, "true")
	case c == 'f':
		return skipLiteral(b, i, "false")
	case c == 'n':
		return skipLiteral(b, i, "null")
	}
	return -1
}

func skipLiteral(b []byte, i int, word string) int {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return -1
	}
	return i + len(word)
}

func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c < 0x20:
			return -1
		case c == '\\':
			if i++; i >= len(b) {
				return -1
			}
			switch b[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if len(b)-i < 5 || !isHex(b[i+1:i+5]) {
					return -1
				}
				i += 4
			default:
				return -1
			}
		}
	}
	return -1
}

func skipNumber(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	digits := func() bool {
		from := i
		for i < len(b) && b[i] >= '0' && b[i] <= '9' {
			i++
		}
		return i > from
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if !digits() {
		return -1
	}
	if i < len(b) && b[i] == '.' {
		if i++; !digits() {
			return -1
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if !digits() {
			return -1
		}
	}
	return i
}

func skipContainer(b []byte, i, depth int) int {
	if depth > maxDepth {
		return -1
	}
	it := iter{b: b, i: i, depth: depth}
	for it.next() {
	}
	return it.end
}

// iter walks the members of an object, or the elements of an array, that starts
// at i. After the last one end is the position behind it, or -1 if the text is
// no JSON.
type iter struct {
	b     []byte
	i     int
	depth int

	key   []byte // between its quotes, escapes and all; nil in an array
	val   []byte
	end   int
	begun bool
}

func (it *iter) next() bool {
	b, end := it.b, byte(']')
	it.end = -1
	if !it.begun {
		if it.i < 0 || it.i >= len(b) || b[it.i] != '{' && b[it.i] != '[' {
			return false
		}
		it.begun, it.key = true, nil
		if b[it.i] == '{' {
			it.key = b[it.i:it.i]
		}
		if it.isObject() {
			end = '}'
		}
		it.i = skipSpace(b, it.i+1)
		if it.i < len(b) && b[it.i] == end {
			it.end = it.i + 1
			return false
		}
	} else {
		if it.isObject() {
			end = '}'
		}
		switch {
		case it.i < len(b) && b[it.i] == ',':
			it.i = skipSpace(b, it.i+1)
		case it.i < len(b) && b[it.i] == end:
			it.end = it.i + 1
			return false
		default:
			return false
		}
	}
	if it.isObject() {
		if it.i >= len(b) || b[it.i] != '"' {
			return false
		}
		j := skipString(b, it.i)
		if j < 0 {
			return false
		}
		it.key = b[it.i+1 : j-1]
		it.i = skipSpace(b, j)
		if it.i >= len(b) || b[it.i] != ':' {
			return false
		}
		it.i = skipSpace(b, it.i+1)
	}
	j := skipValue(b, it.i, it.depth)
	if j < 0 {
		return false
	}
	it.val = b[it.i:j:j]
	it.i = skipSpace(b, j)
	return true
}

func (it *iter) isObject() bool { return it.key != nil }

// name gives the member's key, decoded if it carries escapes.
func (it *iter) name() []byte {
	if bytes.IndexByte(it.key, '\\') < 0 {
		return it.key
	}
	s, _ := unquote(append(append([]byte{'"'}, it.key...), '"'))
	return []byte(s)
}

// member gives the value of the first member with that name in an object that
// is known to be valid JSON; nil if there is none.
func member(obj json.RawMessage, name string) json.RawMessage {
	it := iter{b: obj, i: skipSpace(obj, 0)}
	for it.next() {
		if it.isObject() && string(it.name()) == name {
			return it.val
		}
	}
	return nil
}

// unquote gives the text of a JSON string; ok is false for any other value.
func unquote(raw json.RawMessage) (s string, ok bool) {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return "", false
	}
	inner := raw[1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 && bytes.IndexByte(inner, '"') < 0 {
		return string(inner), true
	}
	return s, json.Unmarshal(raw, &s) == nil
}

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

func isHex(b []byte) bool {
	for _, c := range b {
		if !isHexDigit(c) {
			return false
		}
	}
	return true
}

func isHexDigit(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}
