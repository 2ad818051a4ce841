package jsonrpc

import (
	"encoding/json"
	"fmt"
	"testing"

	"example.com/rpctop/internal/fleet"
)

// example is an error that must hit the row of its name.
type example struct {
	rule    string
	method  string // "": eth_call
	params  string
	client  string
	status  int // 0: 200
	code    int
	message string
	data    string
}

const hexTLA = "0x7000ca77" +
	"0000000000000000000000001111111111111111111111111111111111111111" +
	"0000000000000000000000000000000000000000000000000000000000000000" +
	"0000000000000000000000000000000000000000000000000000000000000001"

const (
	callAtLatest = `[{"to":"0x1111111111111111111111111111111111111111"},"latest"]`
	callWithGas  = `[{"to":"0x1111111111111111111111111111111111111111","gas":"0x5208"},"latest"]`
	callByObject = `[{"to":"0x1111111111111111111111111111111111111111"},{"blockHash":"0xaa"}]`
	send         = "eth_sendRawTransaction"
	logs         = "eth_getLogs"
)

var examples = []example{
	{rule: "revert in words", code: 3, message: "execution reverted"},
	{rule: "revert in words, any method", method: "eth_getProof", code: -32000, message: "execution reverted"},
	{rule: "revert, by code, of a call", code: 3, message: "InsufficientLiquidity()"},
	{rule: "always failing", method: "eth_estimateGas", code: -32000, message: "gas required exceeds allowance or always failing transaction"},
	{rule: "out of the caller's own gas", params: callWithGas, code: -32000, message: "out of gas"},
	{rule: "node's gas cap", code: -32000, message: "err: out of gas (supplied gas 25000000)"},
	{rule: "out of gas when mined at once", method: send, code: -32000, message: "Transaction ran out of gas"},
	{rule: "EVM halted", code: -32000, message: "invalid opcode: INVALID"},
	{rule: "EVM out of time", code: -32000, message: "execution aborted (timeout = 5s)"},
	{rule: "revert bytes in data", code: -32603, message: "Internal JSON-RPC error.", data: `{"data":"` + hexTLA + `"}`},
	{rule: "VM error without bytes", code: -32015, message: "VM execution error."},

	{rule: "transaction is known", method: send, code: -32000, message: "already known"},
	{rule: "sender's own rate", method: send, code: -32017, message: "sender is over rate limit"},
	{rule: "nonce gap refused", method: send, code: -32006, message: "Nonce too high"},
	{rule: "nonce gap refused, by Besu's code", method: send, client: "besu/v24.1.0", code: -32006, message: "see the log"},
	{rule: "another transaction holds the nonce", method: send, code: -32000, message: "replacement transaction underpriced"},
	{rule: "nonce used", method: send, code: -32000, message: "nonce too low: next nonce 8, tx nonce 7"},
	{rule: "nonce used, by Besu's code", method: send, client: "besu/v24.1.0", code: -32001, message: "see the log"},
	{rule: "funds missing in a trace of what was mined", method: "debug_traceTransaction", code: -32000, message: "insufficient funds for gas * price + value"},
	{rule: "sender lacks funds", method: send, code: -32000, message: "insufficient funds for gas * price + value"},
	{rule: "sender lacks funds, by client's code", method: send, client: "besu/v24.1.0", code: -32004, message: "see the log"},
	{rule: "fee members contradict", method: send, code: -32000, message: "max priority fee per gas higher than max fee per gas"},
	{rule: "fee below the base fee, in a call", code: -32000, message: "max fee per gas less than block base fee: address 0x1, maxFeePerGas: 1, baseFee: 2"},
	{rule: "call could be no transaction", method: "eth_estimateGas", code: -32000, message: "intrinsic gas too low"},
	{rule: "pool wants more fee", method: send, code: -32000, message: "transaction underpriced"},
	{rule: "pool wants more fee, by Besu's code", method: send, client: "besu/v24.1.0", code: -32009, message: "see the log"},
	{rule: "a rule of that pool", method: send, code: -32000, message: "txpool is full"},
	{rule: "transaction is invalid", method: send, code: -32000, message: "intrinsic gas too low: have 21000, want 53000"},
	{rule: "bytes are no transaction", method: send, code: -32602, message: "rlp: expected input list for types.LegacyTx"},
	{rule: "rejected, by the code of EIP-1474", method: send, code: -32003, message: "not today"},

	{rule: "batch too large", method: MethodBatch, code: -32600, message: "batch too large"},
	{rule: "batch not taken", method: MethodBatch, code: -32600, message: "batch requests are not supported"},
	{rule: "batch limit told of one call", code: -32600, message: "max batch size is 100"},
	{rule: "blocks not there yet for logs", method: logs, code: -32000, message: "block range extends beyond current head block"},
	{rule: "log range or result too large", method: logs, code: -32005, message: "query returned more than 10000 results"},
	{rule: "log range too large, by QuickNode's code", method: logs, code: -32614, message: "see the docs"},
	{rule: "range too large elsewhere", method: "eth_getProof", code: -32000, message: "distance to target block exceeds maximum proof window"},
	{rule: "answer too large for it", code: -32003, message: "response too large"},
	{rule: "request too large for it", code: -32600, message: "request body too large"},

	{rule: "tag not known", method: "eth_getBlockByNumber", params: `["finalized",false]`, code: -32000, message: "finalized block not found"},
	{rule: "tag not known, by code", method: "eth_getBlockByNumber", params: `["safe",false]`, code: -39001, message: "Nope"},
	{rule: "tag not known, by its name", method: "eth_getBlockByNumber", code: -32000, message: "safe block not found"},
	{rule: "block by object not taken", params: callByObject, code: -32602, message: "invalid argument 1: json: cannot unmarshal object into Go value of type string"},

	{rule: "the tip's own state is missing", params: callAtLatest, code: -32000, message: "missing trie node ab (path ) state 0xcd is not available"},
	{rule: "old state is gone", params: `[{},"0xf4240"]`, code: -32000, message: "missing trie node ab (path )"},
	{rule: "old state is gone, by code", method: "eth_getBlockByNumber", code: 4444, message: "gone"},

	{rule: "transactions are being indexed", method: "eth_getTransactionReceipt", code: -32000, message: "transaction indexing is in progress"},
	{rule: "node is behind by its own word", code: -32000, message: "node is not synced"},
	{rule: "block not there yet", code: -32000, message: "header not found"},
	{rule: "transaction not there yet", method: "debug_traceTransaction", code: -32000, message: "transaction not found"},
	{rule: "nothing there, in EIP-1474's words", method: "eth_getBlockReceipts", params: `["0x1"]`, code: -32001, message: "Resource not found"},

	{rule: "method not offered", code: -32601, message: "the method eth_call does not exist/is not available"},
	{rule: "method not offered, by code", code: -32604, message: "see the config"},
	{rule: "method not on the plan, by QuickNode's code", method: "debug_traceCall", code: -32612, message: "see the dashboard"},

	{rule: "over the rate per second", code: 429, message: "compute units per second capacity exceeded"},
	{rule: "over the rate, by name", code: -32016, message: "over rate limit"},
	{rule: "allowance used up", code: 429, message: "Monthly capacity limit exceeded"},
	{rule: "allowance used up, by Infura's code", status: 402, code: -33000, message: "see the dashboard"},
	{rule: "over the rate", code: -32029, message: "request limit reached"},

	{rule: "host or origin refused", code: -32600, message: "Unspecified origin not on whitelist."},
	{rule: "plan does not cover it", code: -32000, message: "please upgrade"},
	{rule: "credentials refused", code: -32600, message: "Must be authenticated!"},

	{rule: "batch not understood", method: MethodBatch, code: -32600, message: "invalid"},
	{rule: "request is wrong", code: -32602, message: "wrong param count: 0 != 2"},

	{rule: "gateway has nobody behind it", status: 503, code: -32011, message: "no backend is currently healthy to serve traffic"},
	{rule: "timed out behind the front", code: -32015, message: "Upstream node timed out"},
	{rule: "upstream failed", code: -32603, message: "dial tcp: connection refused"},
	{rule: "failed inside", code: -32603, message: "Internal error"},

	{rule: "HTTP says throttled", status: 429, code: -1, message: "hm"},
	{rule: "HTTP says unauthorised", status: 401, code: -32600, message: "hm"},
	{rule: "HTTP asks for payment", status: 402, code: -1, message: "hm"},
	{rule: "HTTP says forbidden", status: 403, code: -32600, message: "hm"},
	{rule: "HTTP says too large", method: MethodBatch, status: 413, code: -1, message: "hm"},
	{rule: "HTTP says too large, of one call", status: 413, code: -1, message: "hm"},
	{rule: "HTTP says the gateway failed", status: 503, code: -32001, message: "hm"},

	{rule: "revert, by code", method: "foo_simulate", code: 3, message: "hm"},
	{rule: "VM error, by the code of Nethermind and OpenEthereum", client: "Nethermind/v1.25", code: -32015, message: "hm"},
	{rule: "throttled, by code", code: -32005, message: "hm"},
	{rule: "trace rate, by QuickNode's code", method: "debug_traceBlockByNumber", code: -32009, message: "hm"},
	{rule: "refused, by code", code: 403, message: "hm"},
	{rule: "payment, by code", code: 402, message: "hm"},
	{rule: "nobody behind the gateway, by code", code: -32055, message: "hm"},
	{rule: "timed out, by Nethermind's code", client: "Nethermind/v1.25", code: -32016, message: "hm"},
	{rule: "not there, by code", method: "eth_getBlockByNumber", code: -32001, message: "hm"},
	{rule: "not supported, by the code of EIP-1474", code: -32004, message: "hm"},
	{rule: "request is wrong, by code", code: -32602, message: "hm"},
	{rule: "failed inside, by a code without words", code: -32603, message: ""},
	{rule: "resource unavailable, by code", code: -32002, message: ""},
}

func (e example) classify() Verdict {
	q := Question{Method: e.method, ID: json.RawMessage("7"), Client: e.client}
	if q.Method == "" {
		q.Method = "eth_call"
	}
	if e.params != "" {
		q.Params = json.RawMessage(e.params)
	}
	status := e.status
	if status == 0 {
		status = 200
	}
	text, _ := json.Marshal(e.message)
	data := ""
	if e.data != "" {
		data = `,"data":` + e.data
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"error":{"code":%d,"message":%s%s}}`, e.code, text, data)
	if q.Method == MethodBatch {
		q.ID = nil
		q.Members = []Question{{Method: "eth_chainId", ID: json.RawMessage("7")}, {Method: "eth_blockNumber", ID: json.RawMessage("8")}}
	}
	return Classify(q, Answer{Status: status, Body: []byte(body)})
}

func TestEveryRowHasAnExampleThatHitsIt(t *testing.T) {
	rows := map[string]*rule{}
	for i := range rules {
		if rows[rules[i].name] != nil {
			t.Errorf("row %q twice", rules[i].name)
		}
		rows[rules[i].name] = &rules[i]
	}
	seen := map[string]bool{}
	for _, e := range examples {
		r := rows[e.rule]
		if r == nil {
			t.Errorf("example for %q, which is no row", e.rule)
			continue
		}
		seen[e.rule] = true
		v := e.classify()
		if v.Rule != e.rule {
			t.Errorf("%q hits row %q, want %q", e.message, v.Rule, e.rule)
		}
		if v.Outcome.Class != r.class || v.Outcome.Sub != r.sub || v.Outcome.Origin != r.origin {
			t.Errorf("%q: %s/%s/%s, want the row's", e.message, v.Outcome.Class, v.Outcome.Sub, v.Outcome.Origin)
		}
	}
	for name := range rows {
		if !seen[name] {
			t.Errorf("row %q has no example", name)
		}
	}
}

func TestRowsAreWellFormed(t *testing.T) {
	for _, r := range rules {
		if r.name == "" || r.class == fleet.ClassNone || r.origin == fleet.OriginNone {
			t.Errorf("row %q lacks a name, class or origin", r.name)
		}
		if len(r.text) == 0 && len(r.codes) == 0 && len(r.status) == 0 && r.when == 0 {
			t.Errorf("row %q would take everything", r.name)
		}
		for _, p := range append(append(words{}, r.text...), r.not...) {
			if n := normalise(p); p == "" || p[0] == ' ' || n != normalise(n) || !patternIn(n+" "+n, p) && !patternIn(" "+p+" ", p) {
				t.Errorf("row %q: pattern %q can never match", r.name, p)
			}
		}
	}
}
