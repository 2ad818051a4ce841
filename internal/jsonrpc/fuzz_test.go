package jsonrpc

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"example.com/rpctop/internal/fleet"
)

func FuzzClassify(f *testing.F) {
	for _, c := range loadCases(f) {
		for _, r := range c.Responses {
			f.Add(c.question(r).Method, r.Status, []byte(r.Body), "")
		}
		for _, b := range c.Expect.Equivalents {
			f.Add(c.Method, 200, []byte(b), "")
		}
	}
	f.Add("eth_call", 429, []byte(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"retry in 5m","data":{"retryAfter":"1h"}}}`), "Sun, 30 Nov 2025 12:00:45 GMT")
	f.Add("batch", 200, []byte(`[{"id":1,"error":{"code":"x","message":{"message":"y"}}},{"id":1},[],7]`), "-1")
	f.Fuzz(func(t *testing.T, method string, status int, body []byte, retryAfter string) {
		q := Question{Method: method, ID: json.RawMessage("1"), Params: json.RawMessage(`["0x10",false]`), ChainID: 1}
		if method == MethodBatch {
			q.ID, q.Members = nil, []Question{{Method: "eth_call", ID: json.RawMessage("1")}, {Method: "eth_getLogs", ID: json.RawMessage(`"a"`)}}
		}
		a := Answer{Status: status, Body: body, Header: map[string][]string{"Retry-After": {retryAfter}}}
		v := Classify(q, a)
		checkVerdict(t, v)
		for _, it := range v.Items {
			checkVerdict(t, it.Verdict)
		}
	})
}

func checkVerdict(t *testing.T, v Verdict) {
	t.Helper()
	if v.Outcome.Class == fleet.ClassNone || v.Outcome.Class > fleet.ClassNoEndpoint || v.Outcome.Origin == fleet.OriginNone {
		t.Fatalf("class %s, origin %s", v.Outcome.Class, v.Outcome.Origin)
	}
	if v.Result != nil && (!v.Outcome.OK() || !json.Valid(v.Result)) {
		t.Fatalf("class %s with result %q", v.Outcome.Class, v.Result)
	}
	if v.Charge && v.Outcome.Class == fleet.ClassRateLimited {
		t.Fatal("a throttle is charged")
	}
	if v.Cooldown < 0 || v.Cooldown > quotaMax || v.Outcome.Sub != fleet.SubQuota && v.Cooldown > CooldownMax {
		t.Fatalf("rest of %s", v.Cooldown)
	}
	texts := []string{v.Outcome.Message, v.Detail, v.Nonconforming}
	if v.Revert != nil {
		texts = append(texts, v.Revert.Reason, v.Revert.LooksLike)
		texts = append(texts, v.Revert.Args...)
	}
	for _, s := range texts {
		if !utf8.ValidString(s) || len(s) > fleet.MaxText || strings.ContainsFunc(s, unicode.IsControl) {
			t.Fatalf("text %q", s)
		}
	}
}

func FuzzQuantity(f *testing.F) {
	for _, s := range []string{`"0x0"`, `"0x"`, `"10"`, `"0x0000000000006050"`, `524323`, `"0x12D687"`, `null`, `1e99`, `-1`, `"\u0030x1"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, _, err := ParseQuantity(raw)
		if (v == nil) == (err == nil) {
			t.Fatalf("%q: %v %v", raw, v, err)
		}
		if err != nil {
			return
		}
		back, note, err := ParseQuantity(json.RawMessage(`"0x` + v.Text(16) + `"`))
		if err != nil || note != "" || back.Cmp(v) != 0 || v.Sign() < 0 {
			t.Fatalf("%q read as %s, which reads as %v (%q, %v)", raw, v, back, note, err)
		}
		n, err := ParseUint64(raw)
		if v.IsUint64() != (err == nil) || err == nil && new(big.Int).SetUint64(n).Cmp(v) != 0 {
			t.Fatalf("%q as 64 bits: %d %v", raw, n, err)
		}
	})
}

func FuzzRevert(f *testing.F) {
	for _, s := range []string{`"` + hexTLA + `"`, `"Reverted ` + hexTLA + `"`, `{"data":{"data":"0x08c379a0"}}`, `{"result":"` + hexTLA[:40] + `"}`, `"revert"`, `"0x"`} {
		f.Add([]byte(s), "execution reverted")
	}
	f.Add([]byte(`null`), "custom error 0x7000ca77: 00")
	f.Fuzz(func(t *testing.T, data []byte, message string) {
		if !json.Valid(data) {
			t.Skip("no input for this target")
		}
		text, err := json.Marshal(message)
		if err != nil {
			t.Skip("no input for this target")
		}
		body := `{"jsonrpc":"2.0","id":1,"error":{"code":3,"message":` + string(text) + `,"data":` + string(data) + `}}`
		v := Classify(Question{Method: "eth_call", ID: json.RawMessage("1")}, Answer{Status: 200, Body: []byte(body)})
		checkVerdict(t, v)
		if r := v.Revert; r != nil {
			if (r.Selector != "") != (len(r.Data) >= 4) || r.Args != nil && r.Name == "" || r.Recovery != RecoveryNever && r.Args == nil {
				t.Fatalf("%+v", r)
			}
		}
	})
}

// The scanner must accept exactly what encoding/json accepts.
func FuzzScannerAgreesWithEncodingJSON(f *testing.F) {
	for _, s := range []string{`{}`, `[]`, `{"a":[1,2,{"b":null}]}`, `[1,]`, `{"a"}`, `{"a":1,}`, `"\ud800"`, `"\x"`, `01`, `-`, `1.`, `1e`, `1E+2`, ` true `, `nul`, "\"\x01\"", `{"":{}}`, `[[[[`, `{,}`, `[,1]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		i := skipSpace(b, 0)
		end := skipValue(b, i, 0)
		ours := end >= 0 && skipSpace(b, end) == len(b)
		if theirs := json.Valid(b); ours != theirs {
			t.Fatalf("%q: ours %v, encoding/json %v", b, ours, theirs)
		}
	})
}

func TestDeepNestingIsRefusedLikeEncodingJSON(t *testing.T) {
	for _, n := range []int{1, 100, maxDepth, maxDepth + 1, 1 << 20} {
		b := []byte(strings.Repeat("[", n) + strings.Repeat("]", n))
		if ours := skipValue(b, 0, 0) == len(b); ours != json.Valid(b) {
			t.Errorf("depth %d: ours %v, encoding/json %v", n, ours, !ours)
		}
	}
}

func BenchmarkClassify(b *testing.B) {
	logs := `{"jsonrpc":"2.0","id":1,"result":[` + strings.Repeat(`{"address":"0x1111111111111111111111111111111111111111","data":"0x00","topics":[]},`, 1000) + `{}]}`
	for _, bb := range []struct{ name, method, body string }{
		{"small", "eth_blockNumber", `{"jsonrpc":"2.0","id":1,"result":"0x10"}`},
		{"logs", "eth_getLogs", logs},
		{"revert", "eth_call", `{"jsonrpc":"2.0","id":1,"error":{"code":3,"message":"execution reverted","data":"` + hexTLA + `"}}`},
		{"unrecognised", "eth_call", `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"lorem ipsum dolor sit amet"}}`},
	} {
		b.Run(bb.name, func(b *testing.B) {
			q := Question{Method: bb.method, ID: json.RawMessage("1")}
			a := Answer{Status: 200, Body: []byte(bb.body)}
			b.SetBytes(int64(len(bb.body)))
			b.ReportAllocs()
			for b.Loop() {
				Classify(q, a)
			}
		})
	}
}
