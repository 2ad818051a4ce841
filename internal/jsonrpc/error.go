package jsonrpc

import (
	"encoding/json"
	"strconv"
	"strings"

	"example.com/rpctop/internal/fleet"
)

// rpcErrorObject is an error as it came; codes that are no whole number of 64
// bits are nil.
type rpcErrorObject struct {
	code    *int64
	message string
	data    json.RawMessage
	raw     json.RawMessage
}

func readError(raw json.RawMessage) rpcErrorObject {
	e := rpcErrorObject{raw: raw}
	if s, ok := unquote(raw); ok {
		e.message = s
		return e
	}
	if len(raw) == 0 || raw[0] != '{' {
		return e
	}
	it := iter{b: raw}
	for it.next() {
		switch string(it.name()) {
		case "code":
			e.code = readCode(it.val)
		case "message":
			if s, ok := unquote(it.val); ok {
				e.message = s
			} else if it.val[0] == '{' {
				e.message = innerText(it.val, 0)
			}
		case "data":
			e.data = it.val
		}
	}
	return e
}

func readCode(raw json.RawMessage) *int64 {
	s, ok := unquote(raw)
	if !ok {
		s = string(raw)
	}
	s = strings.TrimSuffix(strings.TrimSpace(s), ".0")
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

// innerText gathers what the inner objects of an error say: wrappers put the
// node's own words there.
func innerText(raw json.RawMessage, depth int) string {
	if s, ok := unquote(raw); ok {
		if len(s) > 600 || strings.HasPrefix(s, "0x") {
			return ""
		}
		return s
	}
	if len(raw) == 0 || raw[0] != '{' || depth > 4 {
		return ""
	}
	var parts []string
	it := iter{b: raw}
	for it.next() && len(parts) < 8 {
		switch string(it.name()) {
		case "message", "reason", "details", "detail", "error", "cause", "description", "data", "originalError", "innerError", "err", "body":
			if s := innerText(it.val, depth+1); s != "" {
				parts = append(parts, s)
			}
		}
	}
	return strings.Join(parts, " | ")
}

// unnamed takes the asked method's name out of a text: the words that it is
// made of (proof, state, logs) speak of the question, not of what was wrong.
func unnamed(text, method string) string {
	if !strings.Contains(method, "_") {
		return text
	}
	return strings.ReplaceAll(text, method, "method")
}

// rpcError judges a JSON-RPC error by the table.
func (j *judge) rpcError(env envelope) Verdict {
	e := readError(env.err)
	text := e.message
	if inner := innerText(e.data, 0); inner != "" {
		text += " | " + inner
	}
	if extra := wrapped(e.raw, "originalError", "error"); extra != nil {
		if inner := innerText(extra, 0); inner != "" {
			text += " | " + inner
		}
	}
	found := findRevert(e)
	f := facts{
		on: scopeOf(j.q.Method), at: placeOf(j.q), status: j.a.Status, code: e.code,
		text: normalise(unnamed(text, j.q.Method)),
	}
	f.who = detect(j.q.Client, j.a, f.text)
	if namesGas(j.q) {
		f.when |= ownGas
	}
	if found.plausible() {
		f.when |= revertBytes
	}
	if strings.TrimSpace(f.text) == "" {
		f.when |= noText
	}
	r := firstRule(&f, nil)
	if r == nil {
		r = &unrecognised
	}
	message := e.message
	if message == "" {
		message = text
	}
	v := j.ruled(r, message)
	v.Outcome.Code = e.code
	v.Cooldown = j.cooldown(v.Outcome, e.data, text)
	if v.Outcome.Class == fleet.ClassDeterministicRevert {
		v.Revert = decodeRevert(found, text)
	}
	return v
}

// unrecognised stands for the errors that no row knows: the endpoint is not
// charged with what may be the request's own fault.
var unrecognised = rule{name: "", class: fleet.ClassServerError, sub: fleet.SubUnrecognised, origin: fleet.OriginNode}

// ruled makes the verdict of a row.
func (j *judge) ruled(r *rule, message string) Verdict {
	v := j.verdict(r.class, r.sub, r.origin, message)
	v.Rule = r.name
	return v
}

// wrapped gives the first of the named members that is an object or a string.
func wrapped(obj json.RawMessage, names ...string) json.RawMessage {
	if len(obj) == 0 || obj[0] != '{' {
		return nil
	}
	for _, n := range names {
		if v := member(obj, n); len(v) > 0 && (v[0] == '{' || v[0] == '"') {
			return v
		}
	}
	return nil
}
