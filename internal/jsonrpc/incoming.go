package jsonrpc

import (
	"encoding/json"
	"errors"
)

// What can be wrong with a client's body as a whole.
var (
	ErrNotJSON = errors.New("the body is no JSON")
	ErrTooDeep = errors.New("the body is nested too deep")
	ErrTooMany = errors.New("the batch has too many members")
)

// Incoming is one request of a client, its members verbatim and undecoded.
type Incoming struct {
	ID      json.RawMessage // nil: a notification, which gets no answer
	Method  string
	Params  json.RawMessage // an array or an object; nil: none
	Problem string          // why this is no request; "": it is one
}

// ReadIncoming takes a client's body apart in one pass: a request, or a batch
// of at most most members, nested no deeper than depth. A member that is no
// request is told by its Problem; the error is one of those above. The slices
// point into b. Where a member of an object comes twice, the last one counts;
// what is sent on is written anew, so that nobody reads another one out of it.
func ReadIncoming(b []byte, depth, most int) (in []Incoming, batch bool, err error) {
	i := skipSpace(b, 0)
	if i == len(b) {
		return nil, false, ErrNotJSON
	}
	level := max(maxDepth-depth, 0) + 1
	var end int
	switch b[i] {
	case '{':
		var one Incoming
		one, end = readRequest(b, i, level)
		in = []Incoming{one}
	case '[':
		batch = true
		it := iter{b: b, i: i, depth: level}
		for it.next() {
			if len(in) == most {
				return nil, true, ErrTooMany
			}
			if it.val[0] != '{' {
				in = append(in, Incoming{ID: nullID, Problem: "not an object"})
				continue
			}
			one, _ := readRequest(it.val, 0, level+1)
			in = append(in, one)
		}
		end = it.end
	default:
		if end = skipValue(b, i, level); end >= 0 {
			in = []Incoming{{ID: nullID, Problem: "not an object"}}
		}
	}
	switch {
	case end >= 0 && skipSpace(b, end) == len(b):
		return in, batch, nil
	case end < 0 && depth < maxDepth && json.Valid(b):
		return nil, batch, ErrTooDeep
	}
	return nil, batch, ErrNotJSON
}

var nullID = json.RawMessage("null")

// readRequest reads the object that starts at i.
func readRequest(b []byte, i, depth int) (in Incoming, end int) {
	var version, id, method, params json.RawMessage
	it := iter{b: b, i: i, depth: depth}
	for it.next() {
		switch string(it.name()) {
		case "jsonrpc":
			version = it.val
		case "id":
			id = it.val
		case "method":
			method = it.val
		case "params":
			params = it.val
		}
	}
	in.ID = id
	if id != nil && id[0] != '"' && !isNumber(id) && !isNull(id) {
		in.ID, in.Problem = nullID, "the id is "+describe(id)
	}
	name, ok := unquote(method)
	switch {
	case in.Problem != "":
	case version != nil && string(version) != `"2.0"`:
		in.Problem = `jsonrpc is not "2.0"`
	case !ok || name == "":
		in.Problem = "the method is " + describe(method)
	case params != nil && params[0] != '[' && params[0] != '{' && !isNull(params):
		in.Problem = "the params are " + describe(params)
	}
	if in.Problem != "" && in.ID == nil {
		in.ID = nullID // an invalid request is no notification
	}
	in.Method = name
	if params != nil && !isNull(params) {
		in.Params = params
	}
	return in, it.end
}

// Member gives the value of a member of a JSON object that is valid; nil if
// there is none, or raw is no object.
func Member(raw json.RawMessage, name string) json.RawMessage {
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	return member(raw, name)
}

// Elements gives the first elements of a JSON array that is valid, at most
// most; nil if raw is no array.
func Elements(raw json.RawMessage, most int) (out []json.RawMessage) {
	if len(raw) == 0 || raw[0] != '[' {
		return nil
	}
	it := iter{b: raw}
	for len(out) < most && it.next() {
		out = append(out, it.val)
	}
	return out
}

// Text gives the text of a JSON string; ok is false for any other value.
func Text(raw json.RawMessage) (s string, ok bool) { return unquote(raw) }

// Outer gives the result and the error of a single answer, verbatim; nil where
// it has none. An error that is null counts as none.
func Outer(body []byte) (result, fail json.RawMessage) {
	env, end := readEnvelope(body, skipSpace(body, 0))
	if end < 0 {
		return nil, nil
	}
	if env.isError() {
		return nil, env.err
	}
	return env.result, nil
}
