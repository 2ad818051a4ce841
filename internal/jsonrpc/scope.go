package jsonrpc

import (
	"encoding/json"
	"strings"

	"example.com/rpctop/internal/fleet"
)

// scopeOf says what kind of thing a method asks.
func scopeOf(method string) scope {
	if method == MethodBatch {
		return onBatch
	}
	var s scope
	switch fleet.KindOf(method) {
	case fleet.KindSubmit:
		s |= onSubmit
	case fleet.KindState:
		s |= onState
	case fleet.KindLogs:
		s |= onLogs
	}
	switch {
	case strings.HasPrefix(method, "eth_send"):
		s |= onSubmit
	case strings.HasPrefix(method, "eth_getBlock"), strings.HasPrefix(method, "eth_getHeader"),
		strings.HasPrefix(method, "eth_getUncle"), strings.HasPrefix(method, "eth_getTransactionByBlock"),
		method == "eth_feeHistory":
		s |= onBlock
	case strings.HasPrefix(method, "eth_getTransactionBy"), method == "eth_getTransactionReceipt", method == "eth_getRawTransactionByHash":
		s |= onTx
	case method == "eth_call", method == "eth_estimateGas", method == "eth_createAccessList", method == "eth_simulateV1",
		method == "eth_callMany", method == "eth_multicallV1", method == "eth_callBundle", method == "debug_traceCall",
		method == "debug_traceCallMany", method == "trace_call", method == "trace_callMany", strings.HasPrefix(method, "eth_estimate"):
		s |= onCall | onState
	}
	if method == "eth_getBlockReceipts" {
		s |= onTx
	}
	if strings.HasPrefix(method, "debug_trace") || strings.HasPrefix(method, "trace_") ||
		strings.HasPrefix(method, "ots_trace") || strings.HasPrefix(method, "arbtrace_") {
		s |= onTrace
	}
	return s
}

// blockArgument is where a method takes its block.
var blockArgument = map[string]int{
	"eth_getBlockByNumber": 0, "eth_getBlockByHash": 0, "eth_getBlockReceipts": 0, "eth_getHeaderByNumber": 0,
	"eth_getBlockTransactionCountByNumber": 0, "eth_getUncleCountByBlockNumber": 0,
	"eth_getTransactionByBlockNumberAndIndex": 0, "eth_getUncleByBlockNumberAndIndex": 0,
	"debug_traceBlockByNumber": 0, "trace_block": 0, "eth_feeHistory": 1,
	"eth_call": 1, "eth_estimateGas": 1, "eth_createAccessList": 1, "eth_simulateV1": 1, "debug_traceCall": 1,
	"eth_getBalance": 1, "eth_getCode": 1, "eth_getTransactionCount": 1, "trace_call": 2,
	"eth_getStorageAt": 2, "eth_getProof": 2,
}

// element gives the n-th parameter; nil if there is none.
func element(params json.RawMessage, n int) json.RawMessage {
	i := skipSpace(params, 0)
	if i >= len(params) || params[i] != '[' {
		return nil
	}
	for it := (iter{b: params, i: i}); it.next(); n-- {
		if n == 0 {
			return it.val
		}
	}
	return nil
}

// placeOf says at which block was asked. Methods that leave it out mean the
// latest; a question whose parameters are not known says nothing.
func placeOf(q *Question) place {
	at, takes := blockArgument[q.Method]
	if !takes || q.Params == nil {
		return atUnknown
	}
	arg := element(q.Params, at)
	switch {
	case arg == nil || isNull(arg):
		return atLatest
	case arg[0] == '{':
		return atObject
	}
	s, ok := unquote(arg)
	switch {
	case !ok:
		return atUnknown
	case s == "latest" || s == "":
		return atLatest
	case s == "safe":
		return atSafe
	case s == "finalized":
		return atFinalized
	case s == "pending":
		return atPending
	case s == "earliest":
		return atEarliest
	case len(s) == 66:
		return atHash
	}
	return atNumber
}

// namesGas reports whether a call brings its own gas limit.
func namesGas(q *Question) bool {
	call := element(q.Params, 0)
	if len(call) == 0 || call[0] != '{' {
		return false
	}
	g := member(call, "gas")
	return g != nil && !isNull(g)
}
