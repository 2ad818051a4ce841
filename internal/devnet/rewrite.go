package devnet

import (
	"bytes"
	"encoding/json"
	"slices"
)

const sendRaw = "eth_sendRawTransaction"

// call is one JSON-RPC request, as far as a front needs it.
type call struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params,omitempty"`
}

// reply is one JSON-RPC answer; result and error stay as the node wrote them.
type reply struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// fail turns the reply into an error.
func (r *reply) fail(code int, message string) {
	r.Result = nil
	r.Error = mustJSON(struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}{code, message})
}

// request is the body of an HTTP request; calls is empty if it is no JSON-RPC.
type request struct {
	raw   []byte
	batch bool
	calls []call
}

func parseRequest(body []byte) request {
	req := request{raw: body}
	if t := bytes.TrimLeft(body, " \t\r\n"); len(t) > 0 && t[0] == '[' {
		req.batch = json.Unmarshal(body, &req.calls) == nil
		if !req.batch {
			req.calls = nil
		}
		return req
	}
	var c call
	if json.Unmarshal(body, &c) == nil && c.Method != "" {
		req.calls = []call{c}
	}
	return req
}

// method is the method of a single call, "batch", or "".
func (q request) method() string {
	switch {
	case q.batch:
		return "batch"
	case len(q.calls) == 1:
		return q.calls[0].Method
	}
	return ""
}

// methods lists the methods of all calls.
func (q request) methods() []string {
	ms := make([]string, len(q.calls))
	for i, c := range q.calls {
		ms[i] = c.Method
	}
	return ms
}

// members lists the methods of a batch, nil for a single call.
func (q request) members() []string {
	if !q.batch {
		return nil
	}
	return q.methods()
}

// fail answers every call with the same error.
func (q request) fail(code int, message string) []byte {
	rs := make([]reply, len(q.calls))
	for i, c := range q.calls {
		rs[i] = reply{JSONRPC: "2.0", ID: c.ID}
		rs[i].fail(code, message)
	}
	if q.batch {
		return mustJSON(rs)
	}
	if len(rs) == 0 {
		rs = make([]reply, 1)
		rs[0].JSONRPC = "2.0"
		rs[0].fail(code, message)
	}
	return mustJSON(rs[0])
}

// encode writes the request again after before (nil: as it came) has seen each
// call.
func (q request) encode(before func(*call)) ([]byte, error) {
	if before == nil || len(q.calls) == 0 {
		return q.raw, nil
	}
	cs := slices.Clone(q.calls)
	for i := range cs {
		before(&cs[i])
	}
	if q.batch {
		return json.Marshal(cs)
	}
	return json.Marshal(cs[0])
}

// bend applies a bender to the node's answer; false: it is no answer to this
// request, and goes out as it is.
func (q request) bend(body []byte, b *bender) ([]byte, bool) {
	var rs []reply
	if q.batch {
		if json.Unmarshal(body, &rs) != nil {
			return nil, false
		}
	} else {
		rs = make([]reply, 1)
		if len(q.calls) == 0 || json.Unmarshal(body, &rs[0]) != nil {
			return nil, false
		}
	}
	if b.after != nil {
		for i := range rs {
			if c, ok := q.asked(rs[i].ID); ok {
				b.after(c, &rs[i])
			}
		}
	}
	if !q.batch {
		return mustJSON(rs[0]), true
	}
	if b.whole != nil {
		return b.whole(rs), true
	}
	return mustJSON(rs), true
}

func (q request) asked(id json.RawMessage) (call, bool) {
	for _, c := range q.calls {
		if bytes.Equal(c.ID, id) {
			return c, true
		}
	}
	return call{}, false
}

// mustJSON encodes values that cannot fail: our own structs around JSON that
// was decoded before.
func mustJSON(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // results stay as the node wrote them
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
