package jsonrpc

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strconv"

	"example.com/rpctop/internal/fleet"
)

func itoa(n int) string { return strconv.Itoa(n) }

// envelope is one response object, its members verbatim and undecoded; nil
// stands for a member that is not there.
type envelope struct {
	version, id, result, err json.RawMessage

	// text is what an object that is no JSON-RPC answer says for itself.
	text      json.RawMessage
	code      json.RawMessage
	duplicate string // a member that came twice with different values
}

// readEnvelope reads the object that starts at i and validates the whole of it
// on the way; end is -1 if it is no JSON.
func readEnvelope(b []byte, i int) (env envelope, end int) {
	it := iter{b: b, i: i, depth: 1}
	for it.next() {
		var slot *json.RawMessage
		name := it.name()
		switch string(name) {
		case "jsonrpc":
			slot = &env.version
		case "id":
			slot = &env.id
		case "result":
			slot = &env.result
		case "error":
			slot = &env.err
		case "code", "statusCode", "status":
			if env.code == nil {
				env.code = it.val
			}
			continue
		case "message", "Message", "msg", "detail", "details", "reason", "error_description", "error_message", "errorMessage", "title":
			if env.text == nil {
				env.text = it.val
			}
			continue
		default:
			continue
		}
		if *slot != nil && !bytes.Equal(*slot, it.val) {
			env.duplicate = fleet.SanitizeMax(string(name), 20)
		}
		*slot = it.val
	}
	return env, it.end
}

// readEnvelopes reads an array of response objects; an element of any other
// kind becomes an envelope without members.
func readEnvelopes(b []byte, i int) (envs []envelope, end int) {
	it := iter{b: b, i: i, depth: 1}
	for it.next() {
		var env envelope
		if it.val[0] == '{' {
			env, _ = readEnvelope(it.val, 0)
		}
		envs = append(envs, env)
	}
	return envs, it.end
}

// isError reports a member error that says something; null and absence do not.
func (e *envelope) isError() bool { return e.err != nil && !isNull(e.err) }

// answers reports whether the object is a JSON-RPC answer: it has a result, or
// an error that is an object. {"error":"text"} is a JSON-RPC answer only with
// the protocol's other members.
func (e *envelope) answers() bool {
	if e.isError() {
		return e.err[0] == '{' || e.claimsRPC()
	}
	return e.result != nil
}

func (e *envelope) claimsRPC() bool { return e.version != nil || e.id != nil }

// departure names what is against the letter and does no harm.
func (e *envelope) departure() string {
	switch {
	case e.version == nil:
		return "no jsonrpc member"
	case string(e.version) != `"2.0"`:
		return "jsonrpc is not \"2.0\""
	case e.err != nil && isNull(e.err):
		return "error null beside a result"
	case e.isError() && e.result != nil:
		return "result null beside an error"
	case e.isError() && e.err[0] != '{':
		return "error is no object"
	}
	return ""
}

type idProblem struct{ sub, text string }

// checkID compares the answer's id with the question's. An error to a single
// request may carry null or none: it can only be ours.
func checkID(want json.RawMessage, env envelope) (note string, bad *idProblem) {
	got := env.id
	switch {
	case want == nil:
		return "", nil
	case got == nil || isNull(got):
		switch {
		case isNull(want):
			return "", nil
		case !env.isError():
			return "", &idProblem{subID, "answer without an id"}
		case got == nil:
			return "error without an id", nil
		}
		return "", nil
	}
	if sameID(want, got) {
		if !bytes.Equal(want, got) && got[0] != '"' {
			return "id written differently", nil
		}
		return "", nil
	}
	if (want[0] == '"') != (got[0] == '"') && idText(want) == idText(got) {
		return "", &idProblem{subIDType, "the id's type changed (" + fleet.SanitizeMax(string(want), 40) + " to " + fleet.SanitizeMax(string(got), 40) + ")"}
	}
	return "", &idProblem{subID, "answer to another request's id"}
}

func idText(raw json.RawMessage) string {
	if s, ok := unquote(raw); ok {
		return s
	}
	return string(raw)
}

// sameID compares ids as JSON values: 1 and 1.0 are one number, "1" is none.
func sameID(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if len(a) == 0 || len(b) == 0 || len(a) > 64 || len(b) > 64 {
		return false
	}
	if a[0] == '"' && b[0] == '"' {
		x, ok1 := unquote(a)
		y, ok2 := unquote(b)
		return ok1 && ok2 && x == y
	}
	return isNumber(a) && isNumber(b) && sameNumber(a, b)
}

func isNumber(raw json.RawMessage) bool {
	return len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

func sameNumber(a, b json.RawMessage) bool {
	// An exponent could ask for a number of any size; ids have none.
	if bytes.ContainsAny(a, "eE") || bytes.ContainsAny(b, "eE") {
		return false
	}
	x, ok1 := new(big.Rat).SetString(string(a))
	y, ok2 := new(big.Rat).SetString(string(b))
	return ok1 && ok2 && x.Cmp(y) == 0
}

// unreadID reports the ids that servers put where they never read ours.
func unreadID(id json.RawMessage) bool {
	switch string(id) {
	case "", "null", "0", "-1", `""`, `"0"`, "false":
		return true
	}
	return false
}
