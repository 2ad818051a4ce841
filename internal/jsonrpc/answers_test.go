package jsonrpc

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"example.com/rpctop/internal/fleet"
)

func ask(method, params string) Question {
	q := Question{Method: method, ID: json.RawMessage("1")}
	if params != "" {
		q.Params = json.RawMessage(params)
	}
	return q
}

func answerOK(result string) Answer {
	return Answer{Status: 200, Body: []byte(`{"jsonrpc":"2.0","id":1,"result":` + result + `}`)}
}

const block64 = `{"number":"0x64","hash":"0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",` +
	`"parentHash":"0xa9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9a9","timestamp":"0x692c2220"}`

func TestResultsAreJudgedByTheirMethod(t *testing.T) {
	tests := []struct {
		name, method, params, result string
		class                        fleet.Class
		sub                          string
	}{
		{"a head that wraps 64 bits is no head", "eth_blockNumber", "", `"0x10000000000000001"`, fleet.ClassMalformed, subQuantity},
		{"a height as a fraction is none", "eth_blockNumber", "", `1.5`, fleet.ClassMalformed, subQuantity},
		{"a height with an exponent is none", "eth_blockNumber", "", `1e3`, fleet.ClassMalformed, subQuantity},
		{"a negative height is none", "eth_blockNumber", "", `"-0x1"`, fleet.ClassMalformed, subQuantity},
		{"a balance of 256 bits fits", "eth_getBalance", "", `"0x` + strings.Repeat("f", 64) + `"`, fleet.ClassOK, ""},
		{"a balance of 257 bits does not", "eth_getBalance", "", `"0x1` + strings.Repeat("f", 64) + `"`, fleet.ClassMalformed, subQuantity},
		{"a null balance is not zero", "eth_getBalance", "", `null`, fleet.ClassMalformed, subNull},
		{"a null call result is not empty", "eth_call", "", `null`, fleet.ClassMalformed, subNull},
		{"empty bytes are a result", "eth_call", "", `"0x"`, fleet.ClassOK, ""},
		{"an odd digit is no byte", "eth_call", "", `"0x123"`, fleet.ClassMalformed, subShape},
		{"a sentence is no call result", "eth_call", "", `"hello"`, fleet.ClassMalformed, subShape},
		{"a throttle dressed as a result", "eth_call", "", `"rate limit exceeded"`, fleet.ClassRateLimited, ""},
		{"null latest is an endpoint without a chain", "eth_getBlockByNumber", `["latest",false]`, `null`, fleet.ClassMalformed, subNull},
		{"null at a height is not there yet", "eth_getBlockByNumber", `["0x64",false]`, `null`, fleet.ClassNotYetVisible, ""},
		{"null at safe is a tag not known", "eth_getBlockByNumber", `["safe",false]`, `null`, fleet.ClassUnsupported, subTag},
		{"a block of the asked height", "eth_getBlockByNumber", `["0x64",false]`, block64, fleet.ClassOK, ""},
		{"a block of another height", "eth_getBlockByNumber", `["0x65",false]`, block64, fleet.ClassMalformed, subOther},
		{"a block of another hash", "eth_getBlockByHash", `["0x` + strings.Repeat("bb", 32) + `",false]`, block64, fleet.ClassMalformed, subOther},
		{"a block without a timestamp", "eth_getBlockByNumber", "", `{"number":"0x1","hash":"0x` + strings.Repeat("bb", 32) + `","parentHash":"0x` + strings.Repeat("bb", 32) + `"}`, fleet.ClassMalformed, subQuantity},
		{"a pending block has no hash", "eth_getBlockByNumber", `["pending",false]`, `{"number":null,"hash":null,"parentHash":"0x` + strings.Repeat("bb", 32) + `","timestamp":"0x1"}`, fleet.ClassOK, ""},
		{"a null receipt is not there yet", "eth_getTransactionReceipt", "", `null`, fleet.ClassNotYetVisible, ""},
		{"a receipt in no block is not there yet", "eth_getTransactionReceipt", "", `{"transactionHash":"0x` + strings.Repeat("cc", 32) + `","blockNumber":null}`, fleet.ClassNotYetVisible, ""},
		{"a receipt of another transaction", "eth_getTransactionReceipt", `["0x` + strings.Repeat("dd", 32) + `"]`, `{"transactionHash":"0x` + strings.Repeat("cc", 32) + `","blockNumber":"0x1"}`, fleet.ClassMalformed, subOther},
		{"a pending transaction is there", "eth_getTransactionByHash", "", `{"hash":"0x` + strings.Repeat("cc", 32) + `","blockNumber":null}`, fleet.ClassOK, ""},
		{"null logs are no empty list", "eth_getLogs", "", `null`, fleet.ClassMalformed, subNull},
		{"an object is no list of logs", "eth_getLogs", "", `{}`, fleet.ClassMalformed, subShape},
		{"null of a method nobody knows stands", "foo_bar", "", `null`, fleet.ClassOK, ""},
		{"a send that gives no hash", "eth_sendRawTransaction", "", `"0x12"`, fleet.ClassMalformed, subShape},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := Classify(ask(tt.method, tt.params), answerOK(tt.result))
			if v.Outcome.Class != tt.class || v.Outcome.Sub != tt.sub {
				t.Errorf("%s(%s): %s", v.Outcome.Class, v.Outcome.Sub, v.Outcome.Message)
			}
			if (v.Result != nil) != v.Outcome.OK() || v.Outcome.OK() && string(v.Result) != tt.result {
				t.Errorf("result %q", v.Result)
			}
		})
	}
}

func TestTheHashOfASendMustBeThatOfTheBytes(t *testing.T) {
	q := ask("eth_sendRawTransaction", "")
	q.RawTxHash = fleet.Hash{1}
	if v := Classify(q, answerOK(`"`+q.RawTxHash.String()+`"`)); !v.Outcome.OK() {
		t.Errorf("own hash: %s", v.Outcome.Evidence())
	}
	if v := Classify(q, answerOK(`"`+fleet.Hash{2}.String()+`"`)); v.Outcome.Class != fleet.ClassMalformed || v.Outcome.Sub != subOther || !v.Charge {
		t.Errorf("another hash: %s", v.Outcome.Evidence())
	}
}

func TestIdentityIsComparedWithTheExpectedChain(t *testing.T) {
	for _, tt := range []struct {
		method, result string
		expected       uint64
		class          fleet.Class
	}{
		{"eth_chainId", `"0x1"`, 1, fleet.ClassOK},
		{"eth_chainId", `"0x89"`, 1, fleet.ClassWrongChain},
		{"eth_chainId", `137`, 1, fleet.ClassWrongChain},
		{"eth_chainId", `"137"`, 137, fleet.ClassMalformed},
		{"eth_chainId", `null`, 1, fleet.ClassMalformed},
		{"eth_chainId", `"0x0"`, 0, fleet.ClassWrongChain},
		{"eth_chainId", `"0xffffffffffffffffffff"`, 1, fleet.ClassWrongChain},
		{"net_version", `"1"`, 1, fleet.ClassOK},
		{"net_version", `"137"`, 1, fleet.ClassWrongChain},
		{"net_version", `"1"`, 61, fleet.ClassOK}, // its network id is 1
	} {
		q := ask(tt.method, "")
		q.ChainID = tt.expected
		if v := Classify(q, answerOK(tt.result)); v.Outcome.Class != tt.class {
			t.Errorf("%s %s with %d expected: %s", tt.method, tt.result, tt.expected, v.Outcome.Evidence())
		}
	}
}

func TestBodiesThatAreNoPlainAnswer(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		body   string
		class  fleet.Class
		sub    string
		note   bool
	}{
		{"a throttle in plain text, HTTP 200", 200, "Too many requests, slow down", fleet.ClassRateLimited, "", false},
		{"an empty array", 200, `[]`, fleet.ClassMalformed, subBatch, false},
		{"an array around a value", 200, `[{"jsonrpc":"2.0","id":1,"result":"0x10"}]`, fleet.ClassMalformed, subBatch, false},
		{"an array around a throttle", 200, `[{"jsonrpc":"2.0","id":1,"error":{"code":429,"message":"rate limit"}}]`, fleet.ClassRateLimited, "", true},
		{"result and error", 200, `{"jsonrpc":"2.0","id":1,"result":"0x10","error":{"code":1,"message":"x"}}`, fleet.ClassMalformed, subBoth, false},
		{"two results that differ", 200, `{"jsonrpc":"2.0","id":1,"result":"0x10","result":"0x11"}`, fleet.ClassMalformed, subShape, false},
		{"an answer without an id", 200, `{"jsonrpc":"2.0","result":"0x10"}`, fleet.ClassMalformed, subID, false},
		{"an answer without a version", 200, `{"id":1,"result":"0x10"}`, fleet.ClassOK, "", true},
		{"an id as 1.0", 200, `{"jsonrpc":"2.0","id":1.0,"result":"0x10"}`, fleet.ClassOK, "", true},
		{"two answers in one body", 200, `{"jsonrpc":"2.0","id":1,"result":"0x10"}{"jsonrpc":"2.0","id":1,"result":"0x10"}`, fleet.ClassMalformed, subJSON, false},
		{"a cut answer that claims to be complete", 200, `{"jsonrpc":"2.0","id":1,"result":"0x1`, fleet.ClassMalformed, subJSON, false},
		{"white space around an answer", 200, "\n {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"0x10\"}\r\n", fleet.ClassOK, "", false},
		{"a byte order mark", 200, "\ufeff{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"0x10\"}", fleet.ClassOK, "", true},
		{"an answer as a JSON string", 200, `"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"0x10\"}"`, fleet.ClassMalformed, subText, false},
		{"a throttle with an id of its own", 200, `{"jsonrpc":"2.0","id":0,"error":{"code":429,"message":"rate limit"}}`, fleet.ClassRateLimited, "", true},
		{"a revert with an id of its own", 200, `{"jsonrpc":"2.0","id":0,"error":{"code":3,"message":"execution reverted"}}`, fleet.ClassMalformed, subID, false},
		{"an error that is a string", 200, `{"jsonrpc":"2.0","id":1,"error":"rate limit exceeded"}`, fleet.ClassRateLimited, "", true},
		{"a code that is a string", 200, `{"jsonrpc":"2.0","id":1,"error":{"code":"-32005","message":"hm"}}`, fleet.ClassRateLimited, "", false},
		{"a gateway's own JSON, 401", 401, `{"message":"No API key found in request"}`, fleet.ClassRemoteDenial, subAuth, false},
		{"a gateway's own JSON, 403", 403, `{"message":"Forbidden"}`, fleet.ClassRemoteDenial, subAuth, false},
		{"a gateway's own JSON, 429", 429, `{"error":"Too Many Requests"}`, fleet.ClassRateLimited, "", false},
		{"a gateway's own JSON, 500", 500, `{"message":"Internal server error"}`, fleet.ClassTransportFailure, subHTTP, false},
		{"a gateway's own JSON, 200", 200, `{"message":"welcome"}`, fleet.ClassMalformed, subNoResult, false},
		{"a used-up quota in plain text, 403", 403, "quota exceeded", fleet.ClassRateLimited, fleet.SubQuota, false},
		{"a plain 402", 402, "", fleet.ClassRemoteDenial, subPlan, false},
		{"a plain 404", 404, "404 page not found", fleet.ClassTransportFailure, subHTTP, false},
		{"a refused country", 451, "", fleet.ClassRemoteDenial, subHost, false},
		{"a page that blocks us", 403, "<!DOCTYPE html><html><title>Attention Required! | Cloudflare</title></html>", fleet.ClassRemoteDenial, subAuth, false},
		{"a result beside HTTP 500", 500, `{"jsonrpc":"2.0","id":1,"result":"0x10"}`, fleet.ClassOK, "", true},
		{"no content", 204, "", fleet.ClassMalformed, subEmpty, false},
		{"a single body too large", 413, "", fleet.ClassNodeLimit, subBody, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := Classify(ask("eth_blockNumber", ""), Answer{Status: tt.status, Body: []byte(tt.body)})
			if v.Outcome.Class != tt.class || v.Outcome.Sub != tt.sub || (v.Nonconforming != "") != tt.note {
				t.Errorf("%s, nonconforming %q, row %q", v.Outcome.Evidence(), v.Nonconforming, v.Rule)
			}
		})
	}
}

func TestPagesAreNamedByHashAndNotStored(t *testing.T) {
	v := Classify(ask("eth_call", ""), Answer{Status: 200, Body: []byte("<html><title>Sign \x1b[2Jin</title>secret text</html>")})
	if v.Detail != "Sign [2Jin" || strings.Contains(v.Outcome.Message, "secret") || strings.Contains(v.Outcome.Message, "Sign") || !strings.Contains(v.Outcome.Message, "sha256") {
		t.Errorf("message %q, detail %q", v.Outcome.Message, v.Detail)
	}
}

func TestRedirectsNeverShowTheirTarget(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		a := Answer{Status: status, Header: map[string][]string{"Location": {"https://a.example/CANARYKEY"}}}
		v := Classify(ask("eth_call", ""), a)
		if v.Outcome.Class != fleet.ClassTransportFailure || v.Outcome.Sub != subRedirect || v.RetrySame || strings.Contains(v.Outcome.Message, "CANARY") || !strings.Contains(v.Outcome.Message, "https") {
			t.Errorf("%d: %s", status, v.Outcome.Evidence())
		}
	}
}

func TestFaultsKeepTheirKind(t *testing.T) {
	for _, r := range faultTable {
		v := Classify(ask("eth_call", ""), Answer{Fault: r.fault, FaultText: "told\x1b by the door"})
		if v.Outcome.Class != r.class || v.Outcome.Sub != r.sub || v.Outcome.Message != "told by the door" {
			t.Errorf("%s: %s", r.fault, v.Outcome.Evidence())
		}
		local := r.class == fleet.ClassLocalDenial || r.class == fleet.ClassLocalFault
		if local != (v.Outcome.Origin == fleet.OriginLocal) || local && v.Charge {
			t.Errorf("%s: origin %s, charge %v", r.fault, v.Outcome.Origin, v.Charge)
		}
	}
	if v := Classify(ask("eth_call", ""), Answer{Fault: "gremlins"}); v.Outcome.Class != fleet.ClassTransportFailure || !v.Failover {
		t.Errorf("a fault nobody listed: %s", v.Outcome.Evidence())
	}
	v := Classify(ask("eth_call", ""), Answer{Fault: FaultEOFReused})
	if v.Charge || v.Failover || !v.RetrySame {
		t.Error("a stale kept connection goes to the same endpoint first, and charges nobody")
	}
}

func TestRestsFollowTheHints(t *testing.T) {
	now := time.Date(2025, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name         string
		header       map[string][]string
		message      string
		data         string
		code, status int
		want         time.Duration
	}{
		{"seconds", map[string][]string{"Retry-After": {"7"}}, "x", "", 429, 429, 7 * time.Second},
		{"a fraction", map[string][]string{"Retry-After": {"0.5"}}, "x", "", 429, 429, 500 * time.Millisecond},
		{"zero rests the default", map[string][]string{"Retry-After": {"0"}}, "x", "", 429, 429, CooldownDefault},
		{"a negative one rests the default", map[string][]string{"Retry-After": {"-5"}}, "x", "", 429, 429, CooldownDefault},
		{"nonsense rests the default", map[string][]string{"Retry-After": {"soon"}}, "x", "", 429, 429, CooldownDefault},
		{"a day is capped", map[string][]string{"Retry-After": {"86400"}}, "x", "", 429, 429, CooldownMax},
		{"a huge one is capped", map[string][]string{"Retry-After": {"9999999999"}}, "x", "", 429, 429, CooldownMax},
		{"a date against our clock", map[string][]string{"Retry-After": {"Sun, 30 Nov 2025 12:00:20 GMT"}}, "x", "", 429, 429, 20 * time.Second},
		{"a date against the answer's own", map[string][]string{"Retry-After": {"Sun, 30 Nov 2025 15:00:20 GMT"}, "Date": {"Sun, 30 Nov 2025 15:00:00 GMT"}}, "x", "", 429, 429, 20 * time.Second},
		{"a past date rests the default", map[string][]string{"Retry-After": {"Sun, 30 Nov 2025 11:00:00 GMT"}}, "x", "", 429, 429, CooldownDefault},
		{"a date in the old form", map[string][]string{"Retry-After": {"Sunday, 30-Nov-25 12:00:30 GMT"}}, "x", "", 429, 429, 30 * time.Second},
		{"backoff_seconds", nil, "x", `{"rate":{"backoff_seconds":12.5}}`, -32005, 200, 12500 * time.Millisecond},
		{"retryAfterMs", nil, "x", `{"retryAfterMs":"250"}`, -32005, 200, 250 * time.Millisecond},
		{"try_again_in", nil, "x", `{"try_again_in":"853.2ms"}`, -32005, 200, 853200 * time.Microsecond},
		{"words", nil, "rate limit, retry in 10s", "", -32005, 200, 10 * time.Second},
		{"words in minutes", nil, "rate limit, try again in 2 minutes", "", -32005, 200, 2 * time.Minute},
		{"a reset as a Unix time", map[string][]string{"X-Ratelimit-Reset": {"1764504040"}}, "x", "", 429, 429, 40 * time.Second},
		{"the header before the words", map[string][]string{"Retry-After": {"3"}}, "retry in 10s", "", 429, 429, 3 * time.Second},
		{"a used-up month is not healed in seconds", map[string][]string{"Retry-After": {"2"}}, "monthly quota exceeded", "", 429, 429, CooldownQuota},
		{"Infura's day ends at midnight", nil, "x", "", -33000, 402, 12 * time.Hour},
		{"an overloaded gateway says when", map[string][]string{"Retry-After": {"4"}}, "no healthy backend", "", -32011, 503, 4 * time.Second},
		{"a revert rests nobody", map[string][]string{"Retry-After": {"4"}}, "execution reverted", "", 3, 200, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body := map[string]any{"code": tt.code, "message": tt.message}
			if tt.data != "" {
				body["data"] = json.RawMessage(tt.data)
			}
			b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "error": body})
			if err != nil {
				t.Fatal(err)
			}
			q := ask("eth_call", "")
			q.Now = now
			v := Classify(q, Answer{Status: tt.status, Header: tt.header, Body: b})
			if v.Cooldown != tt.want {
				t.Errorf("%s rests %s, want %s", v.Outcome.Evidence(), v.Cooldown, tt.want)
			}
		})
	}
}
