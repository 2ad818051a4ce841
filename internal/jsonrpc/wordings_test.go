package jsonrpc

import "testing"

// Wordings of clients and providers beyond the cases: what they say must give
// the same class whatever the code and the casing.
var wordings = []struct {
	class, sub string
	examples   []example
}{
	{"rate-limited", "", []example{
		{code: -32005, message: "hm"}, // the bare code speaks
		{code: -32007, message: "15/second request limit reached - reduce calls per second or upgrade your account at quicknode.com"},
		{code: 429, message: "Your app has exceeded its compute units per second capacity. If you have retries enabled, you can safely ignore this message."},
		{code: -32000, message: "Too Many Requests"},
		{code: -32603, message: "RATE_LIMIT_EXCEEDED"},
		{code: 15, message: "Too many requests, reason: call rate limit exhausted, retry in 10s"},
		{code: -32097, message: "rate-limit reached, please slow down"},
		{code: -32005, message: "Limit exceeded"},
		{code: -32090, message: "Too many requests, try again in 5s"},
		{code: -32000, message: "exceeded the request limit, please upgrade"},
		{status: 429, code: -32000, message: "nope"},
		{code: -32603, message: "request throttled"},
		{code: -32000, message: "You've exceeded the rate limit of your plan. Upgrade"},
		{code: -33300, message: "project exceeded"},
	}},
	{"rate-limited", "quota", []example{
		{code: -32005, message: "daily request count exceeded, request rate limited"},
		{status: 403, code: -32600, message: "Monthly capacity limit exceeded"},
		{status: 402, code: -32000, message: "quota exceeded"},
		{code: -32001, message: "You have run out of credits"},
		{code: 429, message: "usage limit reached for this month"},
		{code: -32029, message: "You have exceeded your daily limit"},
	}},
	{"remote-denial", "", []example{
		{code: -32016, message: "unauthorized"},
		{code: -32600, message: "Must be authenticated!"},
		{status: 401, code: -32000, message: "invalid API key"},
		{code: -32002, message: "rejected due to project ID settings"},
		{code: -32051, message: "API key disabled, reason: API key is not allowed to access blockchain, json-rpc code: -32051"},
		{code: -32000, message: "Unauthorized: You must authenticate your request with an API key."},
		{code: -32000, message: "App is inactive"},
		{code: -32000, message: "project not found"},
		{status: 403, code: -32600, message: "x"},
	}},
	{"unsupported", "", []example{
		{method: "debug_traceCall", code: -32000, message: "debug_traceCall is not available on the Free tier - upgrade"},
		{method: "eth_newFilter", code: -32603, message: "method not allowed"},
		{method: "trace_block", code: -32601, message: "Method not found"},
		{method: "trace_block", code: -32604, message: "Method not enabled"},
		{method: "eth_newFilter", code: -32004, message: "Method not supported"},
		{method: "eth_newFilter", code: -32600, message: "Unsupported method: eth_newFilter on ETH_MAINNET"},
		{method: "eth_getBlockByNumber", params: `["safe",false]`, code: -39001, message: "Unknown block"},
		{method: "eth_getBlockByNumber", params: `["finalized",false]`, code: -32602, message: "invalid argument 0: hex string without 0x prefix"},
		{params: `[{},"finalized"]`, code: -32000, message: "finalized block not found"},
		{method: MethodBatch, code: -32600, message: "Invalid Request"},
	}},
	{"state-unavailable", "", []example{
		{params: `[{},"0x10"]`, code: -32000, message: "required historical state unavailable (reexec=128)"},
		{params: `[{},"0x10"]`, code: -32603, message: "World state unavailable for block 0x10"},
		{params: `[{},"0x10"]`, code: -32000, message: "No state available for block 0x10"},
		{params: `[{},"0x10"]`, code: -32000, message: "This request is not supported because your node is running with state pruning. Run with --pruning=archive."},
		{params: `[{},"0x10"]`, code: -32701, message: "Archive requests require a personal token"},
		{method: "eth_getBlockByNumber", params: `["0x10",false]`, code: 4444, message: "pruned history unavailable"},
		{method: logs, code: -32000, message: "pruned history unavailable"},
		{params: `[{},"0x10"]`, code: -32000, message: "state at block #16 is pruned"},
		{params: `[{},"0x10"]`, code: -32000, message: "old data not available due to pruning"},
	}},
	{"not-yet-visible", "", []example{
		{code: -32000, message: "block not found"},
		{code: -32000, message: "Unknown block"},
		{method: "eth_getBlockByNumber", params: `["latest",false]`, code: -32001, message: "Unknown block number"},
		{code: -32001, message: "block not found: 0x64"},
		{code: -39001, message: "Unknown block"},
		{code: -32603, message: "upstream does not have the requested block yet"},
		{code: -32000, message: "hash 0xaa is not currently canonical"},
		{method: "eth_getTransactionReceipt", code: -32000, message: "Transaction not found"},
		{method: logs, code: -32000, message: "One of the blocks specified in filter (fromBlock, toBlock or blockHash) cannot be found."},
		{code: -32000, message: "cannot query unfinalized data"},
		{code: -32602, message: "height 101 must be less than or equal to the current blockchain height 100"},
	}},
	{"node-limit", "", []example{
		{method: logs, code: -32602, message: "range 1000000 exceeds limit of 10000"},
		{method: logs, code: -32602, message: "Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size"},
		{method: logs, code: -32005, message: "query returned more than 10000 results"},
		{method: logs, code: -32000, message: "exceed maximum block range: 5000"},
		{method: logs, code: -32005, message: "query timeout exceeded"},
		{method: logs, code: 35, message: "ranges over 10000 blocks are not supported on freetier"},
		{method: logs, code: -32600, message: "Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Upgrade to PAYG"},
		{method: logs, code: -32614, message: "eth_getLogs is limited to a 10,000 range"},
		{method: logs, code: -32000, message: "requested too many blocks from 0 to 5000, maximum is set to 2048"},
		{code: -32000, message: "execution timeout"},
		{method: "eth_estimateGas", code: -32000, message: "gas required exceeds allowance (30000000)"},
		{code: -32003, message: "response too large"},
		{method: MethodBatch, code: -32600, message: "maximum batch size is 1000 requests"},
	}},
	{"tx-known", "", []example{
		{method: send, code: -32000, message: "ALREADY_EXISTS: already known"},
		{method: send, code: -32010, message: "AlreadyKnown"},
		{method: send, code: -32000, message: "Known transaction"},
		{method: send, code: -32000, message: "known transaction: 3b7baba5"},
		{method: send, code: -32603, message: "tx already in cache"},
		{method: send, code: -32000, message: "existing txn with same hash"},
		{method: send, code: -32010, message: "Transaction with the same hash was already imported."},
		{method: send, code: -32000, message: "tx already exists in mempool"},
		{method: send, code: -32603, message: "Internal error", data: `{"message":"already known"}`},
	}},
	{"tx-rejected", "nonce", []example{
		{method: send, code: -32000, message: "nonce too low"},
		{method: send, code: -32001, message: "Nonce too low"},
		{method: send, code: -32010, message: "OldNonce, Current nonce: 8, nonce of rejected tx: 7"},
		{method: send, code: -32000, message: "the tx doesn't have the correct nonce. account has nonce of: 5 tx has nonce of: 4"},
		{method: send, code: -32010, message: "Transaction nonce is too low. Try incrementing the nonce."},
		{method: send, code: -32000, message: "replacement transaction underpriced"},
		{method: send, code: -32000, message: "could not replace existing tx"},
		{method: send, code: -32010, message: "Transaction gas price supplied is too low. There is another transaction with same nonce in the queue."},
		{method: send, code: -32000, message: "NONCE_TOO_LOW"},
	}},
	{"tx-rejected", "policy", []example{
		{method: send, code: -32000, message: "transaction underpriced: gas tip cap 1, minimum needed 2"},
		{method: send, code: -32010, message: "FeeTooLow, MaxFeePerGas too low"},
		{method: send, code: -32009, message: "Gas price below configured minimum gas price"},
		{method: send, code: -32000, message: "txpool is full"},
		{method: send, code: -32000, message: "sequencer pending tx pool full, please try again"},
		{method: send, code: -32000, message: "queue full"},
		{method: send, code: -32000, message: "tx fee (1.50 ether) exceeds the configured cap (1.00 ether)"},
		{method: send, code: -32000, message: "only replay-protected (EIP-155) transactions allowed over RPC"},
		{method: send, code: -32010, message: "NonceGap, Future nonce. Expected nonce: 4"},
		{method: send, code: -32000, message: "Nonce too high. Expected nonce to be 4 but got 6. Note that transactions can't be queued when automining."},
	}},
	{"tx-rejected", "funds", []example{
		{method: send, code: -32000, message: "insufficient funds for gas * price + value: balance 5, tx cost 21000"},
		{method: send, code: -32004, message: "Upfront cost exceeds account balance"},
		{method: send, code: -32010, message: "InsufficientFunds, Account balance: 0"},
		{method: send, code: -32000, message: "sender doesn't have enough funds to send tx. The upfront cost is: 10"},
		{method: send, code: -32003, message: "insufficient funds for transfer"},
	}},
	{"tx-rejected", "invalid", []example{
		{method: send, code: -32000, message: "exceeds block gas limit"},
		{method: send, code: -32000, message: "invalid sender"},
		{method: send, code: -32000, message: "invalid chain id for signer: have 1 want 5"},
		{method: send, code: -32000, message: "oversized data: transaction size 200000, limit 131072"},
	}},
	{"deterministic-revert", "", []example{
		{code: -32000, message: "VM Exception while processing transaction: revert ERC20: transfer amount exceeds balance"},
		{code: -32603, message: "Error: VM Exception while processing transaction: reverted with reason string 'rate limit exceeded'"},
		{code: 3, message: "execution reverted: rate limit exceeded"},
		{code: 3, message: "execution reverted: unauthorized"},
		{code: -32015, message: "Transaction execution error.", data: `"Reverted 0x"`},
		{code: -32000, message: "Execution reverted", data: `"0x"`},
		{code: -32008, message: "execution reverted: CONTRACT_REVERT_EXECUTED"},
	}},
	{"server-error", "", []example{
		{code: -32010, message: "backend is offline"},
		{code: -32015, message: "gateway timeout"},
		{code: -32002, message: "request timed out"},
		{code: -32603, message: "method handler crashed"},
		{status: 503, code: -32001, message: "Unable to complete request at this time."},
		{code: -32055, message: "No nodes available"},
		{code: -32000, message: "failed to get quorum"},
		{status: 500, code: -32603, message: "Internal server error"},
		{code: 12, message: "Can't route your request to suitable provider, if you specified certain providers revise the list"},
		{params: callAtLatest, code: -32000, message: "missing trie node ab (path )"},
	}},
	{"server-error", "unrecognised", []example{
		{code: -32000, message: "lorem ipsum"},
		{code: 77, message: ""},
		{code: -32603, message: "lorem ipsum"},
		{status: 500, code: -32000, message: "lorem ipsum"},
	}},
	{"bad-request", "", []example{
		{code: -32602, message: "missing value for required argument 0"},
		{code: -32602, message: "invalid argument 0: hex string has length 39, want 40 for common.Address"},
		{code: -32600, message: "Invalid Request"},
		{code: -32700, message: "parse error"},
		{status: 400, code: -32602, message: "Invalid params"},
		{code: -32602, message: "too many arguments, want at most 3"},
		{method: logs, code: -32602, message: "invalid block range params"},
		{code: -32602, message: "Failed to deserialize the JSON body into the target type"},
	}},
	{"stale", "", []example{
		{code: -32000, message: "node is still syncing"},
		{status: 503, code: -32000, message: "client is syncing"},
	}},
}

func TestWordingsOfClientsAndProviders(t *testing.T) {
	for _, w := range wordings {
		for _, e := range w.examples {
			v := e.classify()
			o := v.Outcome
			if o.Class.String() != w.class || w.sub != "" && o.Sub != w.sub {
				t.Errorf("%s %d %q: %s(%s) by row %q, want %s(%s)", e.method, e.code, e.message, o.Class, o.Sub, v.Rule, w.class, w.sub)
			}
		}
	}
}
