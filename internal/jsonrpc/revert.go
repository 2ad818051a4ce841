package jsonrpc

import (
	"encoding/hex"
	"encoding/json"
	"strings"

	"example.com/rpctop/internal/fleet"
)

// Revert is what a revert says. A name is claimed only if its selector came as
// bytes; LooksLike is a name that only a text gave.
type Revert struct {
	Data      []byte   // the raw bytes; empty: the revert carries none
	Selector  string   // 0x and eight digits; "" without four bytes
	Name      string   // of the error, proven by the selector; "" if unknown
	Signature string   // with the types of its arguments
	Args      []string // addresses and bytes as hex, numbers as decimal; nil: unreadable
	Reason    string   // the text of Error(string), or a panic's meaning; sanitised
	LooksLike string   // for display only: no recovery acts on it
	Recovery  Recovery // whether an approve may be what is missing
}

// Recovery says what a guided approve and retry could build on. It never says
// that one is allowed: that takes the operator's configuration.
type Recovery uint8

// What the revert proves.
const (
	RecoveryNever         Recovery = iota // no allowance problem, or none that is proven
	RecoveryTokenUnproven                 // an allowance is too low, the token is not named
	RecoveryNeedUnproven                  // the token is named, the required amount is not
	RecoveryStated                        // token, allowance and need are all in the data
)

// String gives the word for screens and reports.
func (r Recovery) String() string {
	return [...]string{"never", "token not proven", "amount not given", "stated"}[min(r, RecoveryStated)]
}

// Allowance is what an allowance error states; "" stands for what it does not.
// Amounts are decimal.
type Allowance struct{ Token, Spender, Has, Needs string }

// Allowance reads the figures of a proven allowance error; ok is false for any
// other revert, and for one whose arguments cannot be read.
func (r *Revert) Allowance() (a Allowance, ok bool) {
	if r == nil || r.Recovery == RecoveryNever || r.Args == nil {
		return a, false
	}
	for i, role := range knownErrors[selectorOf(r.Data)].roles {
		switch role {
		case roleToken:
			a.Token = r.Args[i]
		case roleSpender:
			a.Spender = r.Args[i]
		case roleHas:
			a.Has = r.Args[i]
		case roleNeeds:
			a.Needs = r.Args[i]
		}
	}
	return a, true
}

// foundBytes are revert bytes as they were found in an error; ok says that a
// place for them was there, even if it was empty.
type foundBytes struct {
	data []byte
	ok   bool
}

// plausible reports bytes that have a revert's form.
func (f foundBytes) plausible() bool {
	if len(f.data) < 4 {
		return false
	}
	_, known := knownErrors[selectorOf(f.data)]
	return known || len(f.data)%32 == 4
}

// findRevert looks where clients put a revert's bytes: data as a string, as an
// object of any of several forms, an inner error.
func findRevert(e rpcErrorObject) foundBytes {
	f := bytesIn(e.data, 0)
	if len(f.data) > 0 || len(e.raw) == 0 || e.raw[0] != '{' {
		return f
	}
	it := iter{b: e.raw}
	for it.next() {
		if name := string(it.name()); name != "data" && carriesBytes(name) {
			if g := bytesIn(it.val, 1); g.ok {
				return g
			}
		}
	}
	return f
}

// carriesBytes lists the members that lead to revert bytes; ganache keys by
// transaction hash.
func carriesBytes(name string) bool {
	switch name {
	case "data", "result", "return", "returnData", "returnValue", "returndata", "output", "revertData", "revert", "errorData",
		"originalError", "error", "innerError", "err", "cause", "body", "info", "details", "value":
		return true
	}
	return len(name) == 66 && strings.HasPrefix(name, "0x")
}

func bytesIn(raw json.RawMessage, depth int) (f foundBytes) {
	if len(raw) == 0 || depth > 5 {
		return f
	}
	switch raw[0] {
	case '"':
		s, ok := unquote(raw)
		if !ok {
			return f
		}
		s = strings.TrimSpace(s)
		if strings.HasPrefix(s, "{") && json.Valid([]byte(s)) {
			return bytesIn(json.RawMessage(s), depth+1)
		}
		return hexIn(s)
	case '{', '[':
		it := iter{b: raw}
		for n := 0; it.next(); n++ {
			if it.isObject() && !carriesBytes(string(it.name())) || !it.isObject() && n >= 4 {
				continue
			}
			if g := bytesIn(it.val, depth+1); len(g.data) > 0 {
				return g
			} else if g.ok {
				f = g
			}
		}
	}
	return f
}

// hexIn reads bytes from a text that is meant to be them: hex alone, or after a
// word ("Reverted 0x…").
func hexIn(s string) foundBytes {
	if i := strings.Index(s, "0x"); i >= 0 {
		digits := hexRun(s[i+2:])
		if len(digits) == 0 && s == "0x" {
			return foundBytes{ok: true}
		}
		if len(digits) >= 8 && (i == 0 || len(digits) != 40 && len(digits) != 64) {
			return foundBytes{decodeHex(digits), true}
		}
		return foundBytes{}
	}
	word := s[strings.LastIndexByte(s, ' ')+1:]
	if len(word)%64 == 8 && isHex([]byte(word)) {
		if b := decodeHex(word); len(b) > 4 {
			return foundBytes{b, true}
		}
	}
	return foundBytes{}
}

func hexRun(s string) string {
	n := 0
	for n < len(s) && isHexDigit(s[n]) {
		n++
	}
	return s[:n]
}

// revertMax bounds the bytes of a revert that are kept.
const revertMax = 64 << 10

// decodeHex reads whole bytes; a lone last digit is dropped.
func decodeHex(digits string) []byte {
	digits = digits[:min(len(digits), 2*revertMax)]
	b, _ := hex.DecodeString(digits[:len(digits)&^1])
	return b
}

// bytesInText looks for revert bytes within a message. Addresses and hashes
// have other lengths; a bare selector must be a known one.
func bytesInText(s string) foundBytes {
	for {
		_, rest, ok := strings.Cut(s, "0x")
		if !ok {
			return foundBytes{}
		}
		digits := hexRun(rest)
		s = rest[len(digits):]
		if len(digits) == 8 {
			// "custom error 0x7000ca77: 0000…"
			more := strings.TrimPrefix(strings.TrimLeft(s, ": "), "0x")
			if tail := hexRun(more); strings.HasPrefix(s, ":") && len(tail) > 0 && len(tail)%64 == 0 {
				return foundBytes{decodeHex(digits + tail), true}
			}
			if b := decodeHex(digits); knownErrors[selectorOf(b)].name != "" {
				return foundBytes{b, true}
			}
		}
		if len(digits) > 8 && len(digits)%64 == 8 {
			return foundBytes{decodeHex(digits), true}
		}
	}
}

// decodeRevert reads the bytes by the table of known errors; nil if the error
// carries neither bytes nor a name.
func decodeRevert(f foundBytes, text string) *Revert {
	if len(f.data) == 0 {
		if g := bytesInText(text); g.ok {
			f = g
		}
	}
	r := &Revert{Data: f.data}
	if len(f.data) >= 4 {
		sel := selectorOf(f.data)
		r.Selector = "0x" + hex.EncodeToString(sel[:])
		if e, known := knownErrors[sel]; known {
			r.Name, r.Signature = e.name, e.signature()
			r.Args, r.Reason = e.decode(f.data[4:])
			if r.Args != nil {
				r.Recovery = e.recovery
			}
		}
	}
	if r.Name == "" || r.Reason != "" {
		r.LooksLike = namedInText(text + " " + r.Reason)
	}
	if !f.ok && r.LooksLike == "" {
		return nil
	}
	return r
}

// namedInText finds the name of a known error, or a known wording, in a text.
func namedInText(text string) string {
	if len(text) > matchMax {
		text = text[:matchMax]
	}
	for _, e := range errorList {
		if len(e.types) > 0 && e.name != "Error" && e.name != "Panic" && strings.Contains(text, e.name) {
			return e.name
		}
	}
	n := normalise(text)
	for _, w := range allowanceWords {
		if indexWord(n, w) >= 0 {
			return w
		}
	}
	return ""
}

// allowanceWords are the revert strings of tokens that mean a low allowance.
var allowanceWords = []string{
	"erc20 insufficient allowance", "transfer amount exceeds allowance", "insufficient allowance",
	"exceeds allowance", "low allowance", "not enough allowance", "allowance too low",
}

// shortText bounds a decoded text.
func shortText(b []byte) string { return fleet.SanitizeMax(string(b), 200) }
