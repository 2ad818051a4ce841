package jsonrpc

import (
	"encoding/json"
	"testing"
)

func TestBatchesAreJudgedMemberByMember(t *testing.T) {
	const (
		one   = `{"jsonrpc":"2.0","id":1,"result":"0x1"}`
		two   = `{"jsonrpc":"2.0","id":2,"result":"0x64"}`
		other = `{"jsonrpc":"2.0","id":9,"result":"0x64"}`
	)
	for _, tt := range []struct {
		name, body      string
		class, a, b     string
		failover, retry bool
		note            bool
	}{
		{"in order", `[` + one + `,` + two + `]`, "ok", "ok", "ok", false, false, false},
		{"reordered", `[` + two + `,` + one + `]`, "ok", "ok", "ok", false, false, false},
		{"the same answer twice does no harm", `[` + one + `,` + one + `,` + two + `]`, "ok", "ok", "ok", false, false, false},
		{"an answer nobody asked for", `[` + one + `,` + two + `,` + other + `]`, "ok", "ok", "ok", false, false, true},
		{"one missing", `[` + one + `]`, "malformed", "ok", "malformed", true, true, false},
		{"none", `[]`, "malformed", "malformed", "malformed", true, true, false},
		{"elements that are no objects", `[1,"x",null]`, "malformed", "malformed", "malformed", true, true, true},
		{"a single result for all", one, "malformed", "ok", "malformed", true, true, true},
		{"a single throttle for all", `{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"rate limit"}}`, "rate-limited", "rate-limited", "rate-limited", true, false, true},
		{"a throttle without an id for the rest", `[` + one + `,{"jsonrpc":"2.0","id":null,"error":{"code":429,"message":"rate limit"}}]`, "rate-limited", "ok", "rate-limited", true, false, false},
		{"too large, told under the first id", `[{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"batch too large"}}]`, "node-limit", "node-limit", "node-limit", false, true, false},
		{"one reverted", `[` + one + `,{"jsonrpc":"2.0","id":2,"error":{"code":3,"message":"execution reverted"}}]`, "deterministic-revert", "ok", "deterministic-revert", false, false, false},
		{"one not there and one refused", `[{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Must be authenticated!"}},{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"x"}}]`, "remote-denial", "remote-denial", "unsupported", true, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := Question{Method: MethodBatch, Members: []Question{
				{Method: "eth_chainId", ID: json.RawMessage("1")},
				{Method: "eth_call", ID: json.RawMessage("2")},
			}}
			v := Classify(q, Answer{Status: 200, Body: []byte(tt.body)})
			if len(v.Items) != 2 {
				t.Fatalf("%d items", len(v.Items))
			}
			a, b := v.Items[0].Verdict.Outcome.Class.String(), v.Items[1].Verdict.Outcome.Class.String()
			if v.Outcome.Class.String() != tt.class || a != tt.a || b != tt.b {
				t.Errorf("%s [%s %s], want %s [%s %s]", v.Outcome.Class, a, b, tt.class, tt.a, tt.b)
			}
			if v.Failover != tt.failover || v.RetrySame != tt.retry || (v.Nonconforming != "") != tt.note {
				t.Errorf("failover %v, retry %v, nonconforming %q", v.Failover, v.RetrySame, v.Nonconforming)
			}
		})
	}
}
