package jsonrpc

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Call is one request of a batch. Params is a JSON array; nil stands for none.
type Call struct {
	ID     uint64
	Method string
	Params json.RawMessage
}

// AppendRequest appends one request with the given parameters.
func AppendRequest(dst []byte, id uint64, method string, params ...any) ([]byte, error) {
	raw := json.RawMessage("[]")
	if len(params) > 0 {
		b, err := json.Marshal(params)
		if err != nil {
			return dst, fmt.Errorf("encode params of %s: %w", method, err)
		}
		raw = b
	}
	return AppendCall(dst, Call{ID: id, Method: method, Params: raw})
}

// AppendCall appends one request whose parameters are encoded already.
func AppendCall(dst []byte, c Call) ([]byte, error) {
	params := c.Params
	if len(params) == 0 {
		params = json.RawMessage("[]")
	}
	if params[0] != '[' && params[0] != '{' || !json.Valid(params) {
		return dst, fmt.Errorf("encode params of %s: neither a JSON array nor an object", c.Method)
	}
	name, err := json.Marshal(c.Method)
	if err != nil {
		return dst, fmt.Errorf("encode method: %w", err)
	}
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = strconv.AppendUint(dst, c.ID, 10)
	dst = append(append(dst, `,"method":`...), name...)
	dst = append(append(dst, `,"params":`...), params...)
	return append(dst, '}'), nil
}

// AppendBatch appends several requests as one batch. An empty batch is an
// error: JSON-RPC forbids it.
func AppendBatch(dst []byte, calls []Call) ([]byte, error) {
	if len(calls) == 0 {
		return dst, fmt.Errorf("encode batch: no calls")
	}
	start := len(dst)
	dst = append(dst, '[')
	for i, c := range calls {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = AppendCall(dst, c); err != nil {
			return dst[:start], err
		}
	}
	return append(dst, ']'), nil
}
