package proxy

import (
	"encoding/json"
	"net/http"
	"time"

	"example.com/rpctop/internal/failover"
	"example.com/rpctop/internal/fleet"
)

// JSON-RPC codes of the proxy's own answers.
const (
	codeOverloaded  = -32005
	codeNotListed   = -32601
	codeNoEndpoint  = -32050
	codeBehindFloor = -32051
	codeTimeOut     = -32052
	codeNotJSON     = -32700
	codeNotARequest = -32600
	codeNotFound    = -32000 // of a filter, as geth has it
)

// own is an answer that no endpoint gave.
type own struct {
	status     int
	code       int
	class      string
	message    string
	reason     string
	retryable  bool
	retryAfter time.Duration
	endpoints  []standing
}

// standing says why an endpoint did not serve.
type standing struct {
	Endpoint string `json:"endpoint"`
	Why      string `json:"why"`
	Needs    string `json:"needs,omitempty"`
}

// ownData tells a program what a text tells a person.
type ownData struct {
	Origin       string     `json:"origin"`
	Class        string     `json:"class"`
	Reason       string     `json:"reason"`
	Retryable    bool       `json:"retryable"`
	RetryAfterMS int64      `json:"retryAfterMs,omitempty"`
	Endpoints    []standing `json:"endpoints,omitempty"`
}

type ownError struct {
	Code    int     `json:"code"`
	Message string  `json:"message"`
	Data    ownData `json:"data"`
}

func (o own) reply() reply {
	e := ownError{o.code, o.message, ownData{"local", o.class, o.reason, o.retryable, o.retryAfter.Milliseconds(), o.endpoints}}
	if o.reason != "" {
		e.Message += ": " + o.reason
	}
	b, err := json.Marshal(e)
	if err != nil { // strings and numbers always encode
		b = []byte(`{"code":-32603,"message":"internal error"}`)
	}
	return reply{status: o.status, fail: b, class: o.class, retryAfter: o.retryAfter}
}

func notJSON(why string) reply {
	return own{status: http.StatusBadRequest, code: codeNotJSON, class: "bad-request", message: "parse error", reason: why}.reply()
}

func notARequest(why string) reply {
	return own{status: http.StatusBadRequest, code: codeNotARequest, class: "bad-request", message: "invalid request", reason: why}.reply()
}

func notListed(method string) reply {
	return own{code: codeNotListed, class: fleet.ClassLocalDenial.String(), message: "the method " + fleet.SanitizeMax(method, 80) + " is refused locally",
		reason: refusal(method)}.reply()
}

func filterNotFound(why string) reply {
	return own{code: codeNotFound, class: "not-found", message: "filter not found", reason: why}.reply()
}

func batchTooLarge() reply {
	return own{status: http.StatusBadGateway, code: codeNoEndpoint, class: fleet.ClassLocalDenial.String(), message: "not asked",
		reason: "the answers of this batch exceed the proxy's limit; send smaller batches"}.reply()
}

// leastWait is what an overloaded client is told to wait where nobody said.
const leastWait = time.Second

// ended makes the answer to a call that no endpoint's answer is passed on for.
func ended(res failover.CallResult) reply {
	o := own{status: http.StatusServiceUnavailable, code: codeNoEndpoint, class: res.End.Class.String(), reason: res.Reason(),
		message: "no endpoint could answer", retryable: true, endpoints: standings(res.Reasons)}
	if res.End.Message != "" && len(res.Trace) == 0 {
		o.reason = res.End.Message
	}
	switch res.End.Class {
	case fleet.ClassLocalDenial, fleet.ClassRateLimited:
		switch fleet.DenialKind(res.End.Sub) {
		case fleet.DenyMethod:
			return own{code: codeNotListed, class: o.class, message: "refused locally", reason: o.reason}.reply()
		case fleet.DenyHost:
			return own{status: http.StatusForbidden, code: codeNoEndpoint, class: o.class, message: "refused locally", reason: o.reason}.reply()
		case fleet.DenyRule:
			o.retryable = false
		case fleet.SubResponseCap:
			o.status, o.message, o.retryable = http.StatusBadGateway, "the answer is too large", false
		default:
			o.status, o.code, o.class, o.message = http.StatusTooManyRequests, codeOverloaded, "overloaded", "overloaded"
			o.retryAfter = max(res.RetryAfter, leastWait)
		}
	case fleet.ClassStale:
		o.code, o.class, o.message = codeBehindFloor, failover.SubBehindFloor, "no endpoint is up to what this session has seen"
		o.retryAfter = max(res.RetryAfter, leastWait)
	case fleet.ClassLocalFault:
		if res.End.Sub == fleet.SubTimeout {
			o.status, o.code, o.class, o.message = http.StatusGatewayTimeout, codeTimeOut, "time-out", "the call ran out of time"
		}
	}
	r := o.reply()
	r.gone = res.End.Class == fleet.ClassLocalFault && res.End.Sub == fleet.SubCancelled
	return r
}

func standings(in []fleet.Candidate) []standing {
	out := make([]standing, 0, len(in))
	for _, c := range in {
		if !c.Eligible {
			out = append(out, standing{c.Endpoint, c.Why, c.Needs})
		}
	}
	return out
}
