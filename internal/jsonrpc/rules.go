package jsonrpc

import "example.com/rpctop/internal/fleet"

const (
	gateway = fleet.OriginGateway
	node    = fleet.OriginNode
	chain   = fleet.OriginChain
)

// words is a row's list of patterns; match.go says how they are read.
type words = []string

// rules say what an error means. The first row that fits decides, so the order
// is part of the meaning: the EVM's verdict before all (a revert may carry any
// text), then the method, then the message, then the HTTP status, the bare
// code last. Every row has an example in the tests that must hit that very row.
var rules = []rule{
	// The EVM ran.
	{
		name: "revert in words", on: onCall | onSubmit | onTrace,
		text:  words{"execution revert", "erc20 ", "transfer amount exceeds", "reverted", "vm exception .. revert", "revert ", "contract revert"},
		class: fleet.ClassDeterministicRevert, origin: chain,
	},
	{
		name:  "revert in words, any method",
		text:  words{"execution reverted", "execution was reverted"},
		class: fleet.ClassDeterministicRevert, origin: chain,
	},
	{
		name: "revert, by code, of a call", on: onCall | onTrace, codes: []int64{3},
		not:   words{"invalid argument", "invalid param", "rate limit", "too many request", "timeout", "timed out"},
		class: fleet.ClassDeterministicRevert, origin: chain,
	},
	{
		name: "always failing", on: onCall,
		text:  words{"always fail"},
		class: fleet.ClassDeterministicRevert, origin: chain,
	},
	{
		name: "out of the caller's own gas", on: onCall, when: ownGas,
		text:  words{"out of gas"},
		class: fleet.ClassDeterministicRevert, sub: subHalt, origin: chain,
	},
	{
		name: "node's gas cap", on: onCall | onTrace,
		text: words{
			"maximum allowed gas",
			"out of gas", "gas required exceeds allowance", "gas limit .. exceeds .. cap", "gas cap", "rpc gas",
			"gas uint64 overflow", "gas spent exceeded", "gas limit is too high", "gas too high",
			"exceeds the block gas limit", "exceeds block gas limit", "gas limit exceed", "gas exceeds",
		},
		class: fleet.ClassNodeLimit, sub: subGas, origin: node,
	},
	{
		name: "out of gas when mined at once", on: onSubmit,
		text:  words{"ran out of gas", "vm exception .. out of gas"},
		class: fleet.ClassDeterministicRevert, sub: subHalt, origin: chain,
	},
	{
		name: "EVM halted", on: onCall | onSubmit,
		text: words{
			"invalid opcode", "bad instruction", "invalid instruction", "opcode not found", "invalid jump",
			"bad jump", "stack underflow", "stack overflow", "stack limit", "write protection",
			"return data out of bounds", "max code size", "max call depth", "contract address collision",
			"mutable call in static", "evm error invalid", "evm error stack", "invalid feopcode",
			"state change during static",
		},
		class: fleet.ClassDeterministicRevert, sub: subHalt, origin: chain,
	},
	{
		name: "EVM out of time", on: onCall | onTrace,
		text: words{
			"execution cancelled", "execution canceled",
			"execution aborted", "execution timeout", "execution timed out", "evm timeout", "evm execution .. time",
			"call timeout", "call timed out", "execution took too long", "execution time limit", "tracing timeout",
			"trace timeout", "timeout .. during execution", "exceeded .. execution time",
		},
		not:   words{"upstream", "gateway"},
		class: fleet.ClassNodeLimit, sub: subEVMTime, origin: node,
	},
	{
		name: "revert bytes in data", on: onCall | onTrace | onSubmit, when: revertBytes,
		class: fleet.ClassDeterministicRevert, origin: chain,
	},
	{
		name: "VM error without bytes", on: onCall,
		text: words{
			"vm execution error", "vm execution failed", "vm exception", "evm execution error", "evm error",
			"vm error", "contract execution failed", "contract call failed", "call execution failed",
			"contract validation error",
		},
		class: fleet.ClassDeterministicRevert, origin: chain,
	},

	// A verdict on the transaction.
	{
		name: "transaction is known", on: onSubmit,
		text: words{
			"already finalized",
			"already known", "known transaction", "already imported", "already exists", "already in mempool",
			"already in the mempool", "already in pool", "already in the pool", "already in .. pool",
			"already in cache", "already in the cache", "already in .. queue", "already pending",
			"already submitted", "already been submitted", "already received", "already have", "already in block",
			"already in the block", "already in .. chain", "already mined", "already confirmed",
			"already been mined", "existing txn with same hash", "existing tx with same hash",
			"duplicate transaction", "transaction duplicate", "same hash was already",
		},
		not:   words{"nonce"},
		class: fleet.ClassTxKnown, origin: node,
	},
	{
		name: "sender's own rate", on: onSubmit,
		text: words{
			"sender is over rate limit", "sender .. rate limit", "account .. rate limit", "address .. rate limit",
			"too many .. from sender",
		},
		class: fleet.ClassRateLimited, sub: subSender, origin: gateway,
	},
	{
		name: "nonce gap refused", on: onSubmit,
		text: words{"gapped nonce",
			"nonce too high", "nonce is too high", "nonce .. too high", "nonce gap", "nonce too far",
			"nonce is too far", "nonce too distant", "nonce is too distant", "nonce .. too distant",
			"nonce too large", "future nonce", "nonce .. in the future", "nonce higher than",
		},
		class: fleet.ClassTxRejected, sub: subPolicy, origin: node,
	},
	{
		name: "nonce gap refused, by Besu's code", on: onSubmit, client: "besu", codes: []int64{-32006},
		class: fleet.ClassTxRejected, sub: subPolicy, origin: node,
	},
	{
		name: "another transaction holds the nonce", on: onSubmit,
		text: words{
			"replacement", "replace existing", "same nonce", "nonce is already used by", "replace pending",
			"would replace", "replacing existing",
		},
		not:   words{"future transaction"},
		class: fleet.ClassTxRejected, sub: subNonce, origin: node,
	},
	{
		name: "nonce used", on: onSubmit | onCall,
		text: words{
			"nonce too low", "nonce is too low", "nonce .. too low", "nonce .. lower than", "nonce .. less than",
			"old nonce", "nonce too old", "invalid nonce", "nonce invalid", "nonce is invalid", "incorrect nonce",
			"wrong nonce", "nonce mismatch", "nonce incorrect", "correct nonce", "invalid transaction nonce",
			"nonce already", "nonce has already", "nonce .. already been used", "nonce .. already used",
			"nonce expired", "sequence mismatch", "bad nonce", "expected nonce", "nonce out of order",
			"already reserved",
		},
		class: fleet.ClassTxRejected, sub: subNonce, origin: node,
	},
	{
		name: "nonce used, by Besu's code", on: onSubmit, client: "besu", codes: []int64{-32001},
		class: fleet.ClassTxRejected, sub: subNonce, origin: node,
	},
	{
		name: "funds missing in a trace of what was mined", on: onTrace,
		text:  words{"insufficient funds", "insufficient balance for"},
		class: fleet.ClassServerError, sub: subInternal, origin: node,
	},
	{
		name: "sender lacks funds", on: onSubmit | onCall,
		text: words{
			"for sender balance",
			"insufficient fund", "insufficient balance", "insufficient account balance", "insufficient eth",
			"upfront cost", "up front cost", "upfront gas cost", "exceeds account balance", "exceeds .. balance",
			"overdraft", "not enough funds", "not enough balance", "doesnt have enough funds",
			"does not have enough funds", "does not have enough balance", "doesnt have enough balance",
			"out of funds", "lack of funds", "balance too low", "balance is too low", "cost .. exceeds .. balance",
			"insufficient payer balance", "insufficient sender balance",
		},
		not:   words{"credit", "plan", "compute unit", "erc20", "transfer amount"},
		class: fleet.ClassTxRejected, sub: subFunds, origin: node,
	},
	{
		name: "sender lacks funds, by client's code", on: onSubmit, client: "besu", codes: []int64{-32004},
		class: fleet.ClassTxRejected, sub: subFunds, origin: node,
	},
	{
		name: "fee members contradict", on: onSubmit | onCall,
		text: words{
			"max priority fee per gas higher than", "tip above fee cap", "priority fee .. greater than max fee",
			"tip higher than fee cap", "priority fee .. higher than", "max priority fee .. exceed",
			"priority fee .. exceeds max fee",
		},
		class: fleet.ClassTxRejected, sub: subInvalid, origin: node,
	},
	{
		name: "fee below the base fee, in a call", on: onCall,
		text:  words{"less than .. base fee", "lower than .. base fee", "below .. base fee"},
		class: fleet.ClassTxRejected, sub: subInvalid, origin: node,
	},
	{
		name: "call could be no transaction", on: onCall,
		text:  words{"intrinsic gas", "sender not an eoa", "max initcode", "floor data gas"},
		class: fleet.ClassTxRejected, sub: subInvalid, origin: node,
	},
	{
		name: "pool wants more fee", on: onSubmit,
		text: words{
			"underpriced", "fee too low", "fee is too low", "fee .. too low", "tip too low", "tip .. below",
			"price too low", "price is too low", "gas price .. too low", "gas price below", "gas price .. below",
			"gas price .. less than", "gas price .. lower than", "below .. minimum", "less than .. minimum",
			"lower than .. minimum", "below base fee", "less than .. base fee", "lower than .. base fee",
			"below .. base fee", "max fee per gas .. less", "fee cap .. less", "max fee .. below",
			"priority fee .. below", "minimum fee", "min gas price", "fee floor", "insufficient fee",
			"effective priority fee", "increase .. fee", "increase .. gas price",
		},
		class: fleet.ClassTxRejected, sub: subPolicy, origin: node,
	},
	{
		name: "pool wants more fee, by Besu's code", on: onSubmit, client: "besu", codes: []int64{-32009},
		class: fleet.ClassTxRejected, sub: subPolicy, origin: node,
	},
	{
		name: "a rule of that pool", on: onSubmit,
		text: words{
			"txpool is full", "txpool full", "txpool .. limit", "tx pool .. full", "pool is full", "pool full", "pool .. is full", "mempool is full", "queue full", "queue is full",
			"too many transactions", "too many pending", "too many queued", "pool .. limit", "limit .. pool",
			"pool overflow", "account limit", "account slots", "exceeds the configured cap",
			"exceeds .. configured .. cap", "fee .. exceeds .. cap", "gas price .. exceeds .. cap",
			"replay protected", "future transaction tries", "blacklist", "blocklist", "banned", "sanction",
			"whitelist", "denylist", "not permitted", "not on .. allowlist",
			"transaction type not supported by .. pool", "no local", "private transactions only",
			"transaction dropped", "transaction .. was discarded", "transaction discarded",
			"not accepting transactions", "transaction limit",
		},
		class: fleet.ClassTxRejected, sub: subPolicy, origin: node,
	},
	{
		name: "transaction is invalid", on: onSubmit,
		text: words{
			"intrinsic gas", "exceeds block gas limit", "exceeds the block gas limit", "gas limit .. exceed",
			"gas limit is too high", "gas limit too high", "gas limit too low", "gas limit reached",
			"exceeds .. gas limit", "exceeds max gas", "out of gas", "gas limit is below", "gas too low",
			"floor data gas", "invalid sender", "sender not", "sender is not", "invalid signature",
			"signature .. invalid", "bad signature", "invalid chain id", "incorrect chain", "wrong chain id",
			"chain id .. mismatch", "chain id .. not match", "chain id does not match", "different chain id",
			"chain id .. expected", "have chain id", "oversized data", "transaction too large", "transaction size",
			"data too large", "init code", "initcode", "negative value", "invalid transaction",
			"transaction invalid", "invalid tx", "transaction type .. not", "type not supported",
			"unsupported transaction type", "unsupported tx type", "typed transaction", "blob",
			"authorization list", "missing transaction", "transaction rejected", "execution layer rejected",
			"invalid .. signature", "malformed transaction", "code already", "gas uint64 overflow",
			"transaction gas limit",
		},
		class: fleet.ClassTxRejected, sub: subInvalid, origin: node,
	},
	{
		name: "bytes are no transaction", on: onSubmit,
		text: words{
			"rlp", "unmarshal", "decode", "decoding", "unexpected end", "invalid hex",
			"odd length", "missing 0x", "without 0x",
		},
		class: fleet.ClassBadRequest, origin: node,
	},
	{
		name: "rejected, by the code of EIP-1474", on: onSubmit, codes: []int64{-32003},
		class: fleet.ClassTxRejected, sub: subInvalid, origin: node,
	},

	// Over a limit of this endpoint alone.
	{
		name: "batch too large", on: onBatch,
		text: words{
			"batch too large", "batch .. too large", "batch size", "batch limit", "batch .. limit", "batch length",
			"batch .. exceed", "too many .. batch", "maximum .. batch", "max batch", "limit .. batch",
			"number of .. batch", "batch .. too many", "batch .. maximum", "batch of more than", "batch .. at most",
			"batch .. no more than", "more than .. batch", "payload too large", "request entity too large",
			"request too large", "body too large", "content length too large", "body .. too large",
			"too many .. requests in", "batch .. allowed", "requests per batch", "response too large",
			"response size",
		},
		plain: true, class: fleet.ClassNodeLimit, sub: subBatch, origin: gateway,
	},
	{
		name: "batch not taken", on: onBatch,
		text: words{
			"batch .. not support", "batch .. unsupported", "batch .. disabled", "batch .. not allowed",
			"batch .. not enabled", "batch .. not available", "batch .. forbidden", "batch .. not implemented",
			"no batch", "unsupported batch", "does not support batch", "doesnt support batch",
		},
		class: fleet.ClassUnsupported, sub: subBatch, origin: gateway,
	},
	{
		name:  "batch limit told of one call",
		text:  words{"batch too large", "batch size", "max batch", "requests per batch", "batch limit"},
		class: fleet.ClassNodeLimit, sub: subBatch, origin: gateway,
	},
	{
		name: "blocks not there yet for logs", on: onLogs,
		text: words{
			"beyond current head", "beyond the current head", "beyond .. head", "block range extends beyond",
			"greater than latest", "greater than the latest", "higher than .. latest", "exceeds .. latest block",
			"exceeds the current block", "after last accepted block", "ahead of the", "unknown block",
			"header not found", "block not found", "could not find block", "filter .. cannot be found",
			"in the future", "future block",
		},
		class: fleet.ClassNotYetVisible, origin: node,
	},
	{
		name: "log range or result too large", on: onLogs,
		text: words{
			"specify an address",
			"range", "more than .. results", "more than .. logs", "more than .. blocks", "too many results",
			"too many logs", "too many blocks", "too many events", "max results", "maximum .. results",
			"limit of .. results", "results exceed", "result .. exceed", "results limit", "logs .. exceed",
			"logs .. limit", "log .. limit", "exceed .. logs", "exceed .. blocks", "exceeds .. block",
			"blocks .. exceed", "block limit", "limited to .. block", "limit .. blocks", "maximum .. blocks",
			"max .. blocks", "up to .. block", "at most .. block", "query timeout", "query timed out",
			"query took too long", "query execution", "query exceed", "query .. too", "response size",
			"response is too", "response too", "result set too", "result window", "size exceeded", "exceeds max",
			"exceed max", "too many addresses", "too many topics", "block span", "block distance", "narrow",
			"reduce", "smaller .. block", "eth get logs is limited", "eth get logs .. limit",
			"get logs .. limited to",
		},
		not: words{
			"invalid block range", "invalid range", "begin block", "rate limit", "end block .. less",
			"from block .. greater", "per second", "quota", "retry after", "too many requests", "pruned",
			"not available", "archive",
		},
		class: fleet.ClassNodeLimit, sub: subRange, origin: gateway,
	},
	{
		name: "log range too large, by QuickNode's code", on: onLogs, codes: []int64{-32614},
		class: fleet.ClassNodeLimit, sub: subRange, origin: gateway,
	},
	{
		name: "range too large elsewhere",
		text: words{
			"block range .. too", "block range .. limit", "block range .. exceed", "range .. exceeds limit",
			"range too large", "range too wide", "exceeds max block", "blocks .. requested exceed", "proof window",
			"distance to target block exceeds", "request .. beyond .. history limit", "reward percentile",
		},
		class: fleet.ClassNodeLimit, sub: subRange, origin: node,
	},
	{
		name: "answer too large for it",
		text: words{
			"response size", "response too large", "response is too large", "response exceeded", "response exceeds",
			"result too large", "result size", "content length too large", "max message size", "message too large",
			"larger than max", "too large to",
		},
		class: fleet.ClassNodeLimit, sub: subSize, origin: gateway,
	},
	{
		name: "request too large for it",
		text: words{
			"request entity too large", "request too large", "payload too large", "body too large",
			"request body .. large", "request size", "too much data", "oversized", "too many params",
		},
		plain: true, class: fleet.ClassNodeLimit, sub: subBody, origin: gateway,
	},

	// A tag that the endpoint cannot resolve.
	{
		name: "tag not known", on: onBlock | onState | onLogs | onTx, at: atSafe | atFinalized | atPending,
		text: words{
			"not found", "unknown", "unsupported", "not supported", "not available", "invalid block",
			"invalid argument", "invalid param", "invalid input", "invalid tag", "not exist", "doesnt exist",
			"is not known", "missing", "not yet", "cannot unmarshal", "hex string", "not implemented",
			"no finalized", "no safe",
		},
		not: words{"rate limit", "too many", "key", "project", "unauthor", "timeout", "timed out", "upstream",
			"method .. does not exist", "method .. not found", "method not", "trie node", "contract",
			"invalid params",
		},
		class: fleet.ClassUnsupported, sub: subTag, origin: node,
	},
	{
		name: "tag not known, by code", on: onBlock | onState | onLogs | onTx, at: atSafe | atFinalized | atPending, codes: []int64{-39001, -32001, -32602},
		class: fleet.ClassUnsupported, sub: subTag, origin: node,
	},
	{
		name: "tag not known, by its name",
		text: words{
			"finalized block is not", "finalized block not", "safe block is not", "safe block not",
			"finalized .. not supported", "safe tag", "finalized tag", "pending block is not", "pending block not",
			"pending state is not", "pending .. not supported", "pending state not", "invalid block tag",
			"unsupported block tag", "unknown block tag", "block tag .. not", "tag .. not supported",
		},
		class: fleet.ClassUnsupported, sub: subTag, origin: node,
	},
	{
		name: "block by object not taken", on: onState, at: atObject, codes: []int64{-32602, -32000, -32603},
		text: words{
			"cannot unmarshal object", "invalid argument", "invalid param", "invalid block", "invalid input",
			"invalid type", "expected .. string", "invalid request", "hex string", "unsupported", "not supported",
			"deserialize", "unknown field", "require canonical",
		},
		class: fleet.ClassUnsupported, sub: subParam, origin: node,
	},

	// State and history that are gone.
	{
		name: "the tip's own state is missing", on: onState, at: atLatest | atPending | atSafe | atFinalized,
		text: words{
			"missing trie node", "state .. is not available", "state not available", "state .. not found",
			"state unavailable", "no state found", "state root not found",
		},
		not:   words{"historical"},
		class: fleet.ClassServerError, sub: subState, origin: node,
	},
	{
		name: "old state is gone",
		text: words{
			"proof .. not available", "proof unavailable",
			"missing trie node", "historical state", "state is not available", "state .. is not available",
			"state not available", "state .. not available", "state unavailable", "state .. unavailable",
			"state .. not found", "state not found", "no state available", "no state found",
			"state has been deleted", "state histor", "pruned", "pruning", "archive", "ancient block",
			"history expired", "expired history", "history is not available", "history unavailable",
			"historical .. not available", "historical .. unavailable", "historical data", "historical request",
			"too old", "older than .. oldest", "before the earliest", "below .. earliest", "earliest available",
			"earliest block available", "lower than the earliest", "oldest available", "oldest block",
			"only .. recent blocks", "only .. last .. blocks", "last .. blocks only", "not available for block",
			"state at block .. not", "out of range of available", "beyond .. retention", "no historical rpc",
			"header .. ancient", "missing state", "state root not found", "required historical",
		},
		not:   words{"state override"},
		class: fleet.ClassStateUnavailable, origin: node,
	},
	{name: "old state is gone, by code", codes: []int64{4444}, class: fleet.ClassStateUnavailable, origin: node},

	// Not there yet.
	{
		name: "transactions are being indexed",
		text: words{
			"transaction indexing", "indexing is in progress", "indexing in progress", "still indexing",
			"is indexing", "being indexed", "not indexed yet", "not yet indexed", "index .. in progress",
			"log index .. not ready",
		},
		class: fleet.ClassNotYetVisible, sub: subIndexing, origin: node,
	},
	{
		name: "node is behind by its own word",
		text: words{
			"not synced", "not fully synced", "still syncing", "is syncing", "in sync mode", "not in sync",
			"out of sync", "sync in progress", "initial sync", "lagging", "node is behind", "not caught up",
			"catching up", "node .. not ready", "still synchroniz", "is synchroniz",
		},
		class: fleet.ClassStale, sub: subSyncing, origin: node,
	},
	{
		name: "block not there yet",
		text: words{
			"header not found", "header for hash not found", "header .. not found", "unknown block",
			"unknown header", "block not found", "block .. not found", "blocks not found",
			"block .. does not exist", "block does not exist", "block doesnt exist", "block .. not exist",
			"no block found", "no such block", "block not available", "block is not available",
			"block .. not available", "block .. unavailable", "block unavailable", "could not find block",
			"couldnt find block", "cannot find block", "can not find block", "cant find block",
			"failed to find block", "block .. cannot be found", "block .. could not be found", "block .. not have",
			"not have .. block", "doesnt have .. block", "havent .. block", "block .. not yet", "not yet available",
			"not available yet", "future block", "block .. in the future", "block .. is out of range",
			"block out of range", "block number out of range", "block .. higher than", "block .. greater than",
			"block .. above", "block .. ahead of", "block .. beyond", "block number .. too high",
			"block .. too high", "requested .. higher than", "height .. must be less", "height .. not available",
			"height .. not found", "missing block", "missing header", "block is missing", "block .. missing",
			"not currently canonical", "not canonical", "unfinalized data", "no header", "invalid block height",
			"requested block is", "block .. not processed", "block .. not imported", "not produced yet",
		},
		not: words{
			"block .. range .. limit", "method", "begin block", "from block .. greater", "timeout", "backend",
			"blocked", "key", "project", "endpoint",
		},
		class: fleet.ClassNotYetVisible, origin: node,
	},
	{
		name: "nothing there, in EIP-1474's words", on: onBlock | onTx | onState | onTrace | onLogs,
		text:  words{"resource not found"},
		class: fleet.ClassNotYetVisible, origin: node,
	},
	{
		name: "transaction not there yet", on: onTx | onTrace,
		text: words{
			"not found", "transaction .. unknown", "unknown transaction", "no transaction", "no receipt",
			"not mined", "is pending", "still pending", "not yet", "does not exist", "doesnt exist",
		},
		not:   words{"method", "endpoint", "project", "key", "app"},
		class: fleet.ClassNotYetVisible, origin: node,
	},

	// The endpoint does not offer it.
	{
		name: "method not offered",
		text: words{
			"does not exist is not available", "method .. not found", "method not found", "method .. not exist",
			"method .. not available", "method .. unavailable", "method .. not support", "method .. unsupported",
			"method .. not whitelist", "method .. not allow", "method .. not permitted", "method .. not implement",
			"method .. disabled", "method .. not enabled", "method .. disallowed", "method .. restricted",
			"method .. blocked", "method .. forbidden", "method .. not authorized", "method .. not recognized",
			"method .. deprecated", "method .. requires .. plan", "method .. paid", "method .. upgrade",
			"method .. denied", "method .. not part", "method .. not served", "unsupported method",
			"unsupported rpc", "unknown method", "unknown rpc", "invalid method", "unrecognized method",
			"unrecognised method", "no such method", "not whitelisted method", "disallowed method",
			"forbidden method", "blocked method", "restricted method", "method whitelist", "cannot find method",
			"could not find method", "not implemented", "namespace .. not", "module .. not", "api .. not enabled",
			"rpc .. not enabled", "rpc call .. not", "rpc not supported", "call not supported",
			"function not supported", "notifications not supported", "subscriptions not supported",
			"subscription .. not supported", "filters .. not supported", "filters not supported",
			"filter .. not supported", "not supported by this", "trace .. not available", "tracing is not",
			"debug .. not available", "debug and trace", "trace .. requires", "debug .. requires",
			"state override .. not",
		},
		not:   words{"temporar", "currently", "try again"},
		class: fleet.ClassUnsupported, sub: subMethod, origin: gateway,
	},
	{
		name: "method not offered, by code", codes: []int64{-32601, -32604},
		class: fleet.ClassUnsupported, sub: subMethod, origin: node,
	},
	{
		name: "method not on the plan, by QuickNode's code", codes: []int64{-32612, -32613},
		class: fleet.ClassUnsupported, sub: subPlan, origin: gateway,
	},

	// Refused for our volume.
	{
		name: "over the rate per second",
		text: words{
			"per second", "requests sec", "reqs sec", "req sec", "rps", "compute units per", "cups", "throughput",
			"per minute", "requests min", "rate limit .. second",
		},
		plain: true, class: fleet.ClassRateLimited, origin: gateway,
	},
	{
		name: "over the rate, by name",
		text: words{"rate limit", "ratelimit", "rate exceed", "request rate", "too many request"},
		not: words{
			"monthly", "month", "daily", "per day", "a day", "quota", "credit", "24 hour", "capacity limit",
			"allowance",
		},
		plain: true, class: fleet.ClassRateLimited, origin: gateway,
	},
	{
		name: "allowance used up",
		text: words{
			"month", "daily", "per day", "24 hour", "requests a day", "quota", "credits", "out of credit",
			"credit limit", "capacity limit", "usage limit", "usage cap", "plan limit", "exceeded your plan",
			"exceeded the plan", "plan .. exceed", "subscription limit", "package limit", "spending limit",
			"usage exceed", "allotment", "allocation exceeded", "request allowance", "bandwidth limit",
			"out of compute units", "free tier limit", "free tier .. exceed", "limit .. free tier",
			"exceeded .. free", "trial .. exceed",
		},
		not:   words{"invalid", "not found", "does not exist"},
		plain: true, class: fleet.ClassRateLimited, sub: fleet.SubQuota, origin: gateway,
	},
	{
		name: "allowance used up, by Infura's code", codes: []int64{infuraDayUsed},
		class: fleet.ClassRateLimited, sub: fleet.SubQuota, origin: gateway,
	},
	{
		name: "over the rate",
		text: words{
			"rate is exceed", "rate has been exceed", "too many call", "too many concurrent",
			"too many connections", "too many attempts", "too many queries", "too frequent", "throttl", "slow down",
			"slowdown", "request limit", "requests limit", "call limit", "limit reached", "limit exceed",
			"limit has been", "limit hit", "limit of requests", "exceeded the .. limit", "exceeded your .. limit",
			"exceeded limit", "exceeds .. limit", "exceeded .. requests", "over .. limit", "over limit",
			"over capacity", "capacity exceed", "exceeded .. capacity", "max requests", "maximum requests",
			"maximum number of requests", "concurrent request", "concurrency", "backoff", "back off",
			"rejected due to rate", "requests exceed", "request count exceed",
			"excessive request", "error code 1015", "you are being rate", "flood", "reduce .. request", "cool down",
			"cooldown",
		},
		not:   words{"gas limit", "size limit", "stack limit"},
		plain: true, class: fleet.ClassRateLimited, origin: gateway,
	},

	// Refused for who we are.
	{
		name: "host or origin refused",
		text: words{
			"invalid host", "host .. not allowed", "host not allowed", "host .. not permitted", "host .. rejected",
			"unknown host header", "origin .. not", "unspecified origin", "invalid origin", "origin rejected",
			"origin denied", "referer", "referrer", "ip .. not allowed", "ip .. denied", "ip address .. not",
			"ip .. not in", "whitelist", "allowlist", "allow list", "white list", "not on .. list", "country",
			"region", "geoblock", "georestrict", "geograph", "jurisdiction", "user agent", "banned", "blacklist",
			"blocklist", "blocked", "error code 1020", "error code 1006",
		},
		plain: true, class: fleet.ClassRemoteDenial, sub: subHost, origin: gateway,
	},
	{
		name: "plan does not cover it",
		text: words{
			"upgrade", "payment", "billing", "subscription", "not available on .. plan", "not included in",
			"paid plan", "free plan", "freetier", "your plan", "current plan", "plan .. not", "tier", "invoice",
			"past due", "unpaid", "trial",
		},
		not:   words{"upgrade required"},
		plain: true, class: fleet.ClassRemoteDenial, sub: subPlan, origin: gateway,
	},
	{
		name: "credentials refused",
		text: words{
			"unauthorized", "unauthorised", "unauthenticated", "not authorized", "not authorised", "authentication",
			"authorization", "authenticate", "forbidden", "access denied", "access is denied", "permission denied",
			"denied access", "no access", "not permitted", "credential", "api key", "apikey", "access key",
			"project id", "projectid", "project .. not found", "invalid project", "project not", "invalid key",
			"key .. invalid", "key .. not found", "key .. disabled", "key .. expired", "key .. revoked", "key not",
			"missing key", "invalid token", "missing token", "token .. invalid", "token .. expired",
			"token expired", "token is", "jwt", "bearer", "signature required", "app is", "app not",
			"app .. disabled", "app .. not found", "application .. disabled", "inactive", "account .. disabled",
			"account is", "account disabled", "suspended", "deactivated", "user not", "endpoint .. disabled",
			"endpoint disabled", "endpoint .. not found", "tenant",
		},
		plain: true, class: fleet.ClassRemoteDenial, sub: subAuth, origin: gateway,
	},

	// The request is wrong wherever it is put.
	{
		name: "batch not understood", on: onBatch, codes: []int64{-32600, -32700},
		class: fleet.ClassUnsupported, sub: subBatch, origin: gateway,
	},
	{
		name: "request is wrong",
		text: words{
			"unknown account",
			"wrong param", "wrong number of", "param count", "invalid param", "invalid argument", "invalid request",
			"invalid json", "invalid input", "invalid address", "invalid hex", "invalid hash", "invalid block",
			"invalid topic", "invalid filter", "invalid type", "invalid length", "invalid value", "invalid data",
			"invalid from", "invalid to ", "invalid id", "invalid opts", "invalid method parameter",
			"invalid range", "parameters .. invalid", "params .. invalid", "missing value", "missing required",
			"missing .. argument", "missing .. param", "missing 0x", "missing field", "too many argument",
			"too few argument", "not enough param", "expected .. param", "expects .. param", "param .. required",
			"required param", "parameter .. required", "parse error", "parse fail", "cannot parse",
			"could not parse", "failed to parse", "unable to parse", "error parsing", "unmarshal", "deserializ",
			"unexpected token", "unexpected end", "syntax error", "bad request", "malformed", "hex string",
			"odd length", "without 0x", "0x prefix", "incorrect length", "wrong length", "out of bounds",
			"incorrect param", "illegal", "must be .. hex", "must be a", "must specify", "cannot specify",
			"both .. specified", "should be", "not a valid", "is not valid", "checksum", "genesis is not traceable",
			"filter not found", "unknown field", "unknown filter", "begin block", "from block .. greater",
			"end .. begin", "empty request", "unsupported version", "incorrect json rpc", "subscription not found",
		},
		not:   words{"internal", "upstream", "backend", "database", "timeout"},
		class: fleet.ClassBadRequest, origin: node,
	},

	// It says itself that it failed.
	{
		name: "gateway has nobody behind it",
		text: words{
			"no backend", "no healthy", "no available", "no nodes", "no node ", "no upstream", "no provider",
			"no server", "no endpoint", "no live", "backend is offline", "backend offline", "backend .. unhealthy",
			"backend .. unavailable", "backends .. unhealthy", "backend .. down", "backend .. failed",
			"backend response", "backend error", "all backends", "all upstreams", "all nodes", "all providers",
			"all endpoints", "upstreams exhausted", "upstreams .. failed", "node .. unavailable", "node .. down",
			"node is down", "node is offline", "nodes .. unavailable", "nodes unavailable", "healthy to serve",
			"quorum", "not enough agreement", "not enough responses", "consensus not", "dispute",
			"low participants", "cannot reach", "unreachable", "couldnt route", "failed to route",
			"unable to route", "route your request", "suitable provider",
		},
		class: fleet.ClassServerError, sub: subUpstream, origin: gateway,
	},
	{
		name: "timed out behind the front",
		text: words{
			"timeout", "time out", "timed out", "deadline exceeded", "took too long", "taking too long",
			"request expired", "time limit",
		},
		class: fleet.ClassServerError, sub: fleet.SubTimeout, origin: gateway,
	},
	{
		name: "upstream failed",
		text: words{
			"gateway", "upstream", "connection refused", "connection reset", "connection closed",
			"connection error", "connection lost", "connect error", "connection to", "broken pipe",
			"unexpected eof", "eof ", "dial tcp", "no route to host", "network error", "network is unreachable",
			"socket", "econn", "proxy error", "failed to fetch", "fetch failed", "failed to connect",
			"failed to forward", "failed to proxy", "bad response from", "could not get response",
			"unable to complete request", "could not coalesce",
		},
		class: fleet.ClassServerError, sub: subUpstream, origin: gateway,
	},
	{
		name: "failed inside",
		text: words{
			"internal error", "internal server", "internal json rpc error", "internal rpc error",
			"internal failure", "internal issue", "server error", "server fault", "server failure",
			"unexpected error", "unknown error", "something went wrong", "temporary", "unavailable", "try again",
			"please retry", "retry later", "overload", "server is busy", "server busy", "system busy",
			"node is busy", "resource exhausted", "panic", "crash", "database", "leveldb", "rocksdb", "pebble",
			"mdbx", "disk ", "out of memory", "i o error", "io error", "shutting down", "shutdown", "is closed",
			"is stopped", "starting up", "not started", "not initialized", "not initialised", "not ready",
			"maintenance", "null pointer", "nullpointer", "nil pointer", "index out of range", "runtime error",
			"goroutine", "stack trace", "object reference", "failed to get", "failed to load", "failed to read",
			"failed to retrieve", "degraded", "outage",
		},
		class: fleet.ClassServerError, sub: subInternal, origin: node,
	},

	// The HTTP status, where the words say nothing known.
	{name: "HTTP says throttled", status: []int{429, 430, 509, 529}, class: fleet.ClassRateLimited, origin: gateway},
	{
		name: "HTTP says unauthorised", status: []int{401, 407},
		class: fleet.ClassRemoteDenial, sub: subAuth, origin: gateway,
	},
	{name: "HTTP asks for payment", status: []int{402}, class: fleet.ClassRemoteDenial, sub: subPlan, origin: gateway},
	{name: "HTTP says forbidden", status: []int{403}, class: fleet.ClassRemoteDenial, sub: subAuth, origin: gateway},
	{
		name: "HTTP says too large", on: onBatch, status: []int{413},
		class: fleet.ClassNodeLimit, sub: subBatch, origin: gateway,
	},
	{
		name: "HTTP says too large, of one call", status: []int{413},
		class: fleet.ClassNodeLimit, sub: subBody, origin: gateway,
	},
	{
		name: "HTTP says the gateway failed", status: []int{502, 503, 504, 520, 521, 522, 523, 524},
		class: fleet.ClassServerError, sub: subUpstream, origin: gateway,
	},

	// The bare code.
	{name: "revert, by code", codes: []int64{3}, class: fleet.ClassDeterministicRevert, origin: chain},
	{
		name: "VM error, by the code of Nethermind and OpenEthereum", on: onCall, client: "nethermind", codes: []int64{-32015},
		class: fleet.ClassDeterministicRevert, origin: chain,
	},
	{
		name: "throttled, by code", codes: []int64{429, -32005, -32007, -32029, -32429, -33300, -32090, -32097, 15},
		class: fleet.ClassRateLimited, origin: gateway,
	},
	{
		name: "trace rate, by QuickNode's code", on: onTrace, codes: []int64{-32009},
		class: fleet.ClassRateLimited, origin: gateway,
	},
	{name: "refused, by code", codes: []int64{401, 403}, class: fleet.ClassRemoteDenial, sub: subAuth, origin: gateway},
	{name: "payment, by code", codes: []int64{402}, class: fleet.ClassRemoteDenial, sub: subPlan, origin: gateway},
	{
		name: "nobody behind the gateway, by code", codes: []int64{-32011, -32055, 502, 503, 504},
		class: fleet.ClassServerError, sub: subUpstream, origin: gateway,
	},
	{
		name: "timed out, by Nethermind's code", client: "nethermind", codes: []int64{-32016},
		class: fleet.ClassServerError, sub: fleet.SubTimeout, origin: node,
	},
	{
		name: "not there, by code", on: onBlock | onTx | onState | onTrace | onLogs, codes: []int64{-32001, -39001},
		class: fleet.ClassNotYetVisible, origin: node,
	},
	{
		name: "not supported, by the code of EIP-1474", codes: []int64{-32004},
		class: fleet.ClassUnsupported, sub: subMethod, origin: node,
	},
	{
		name: "request is wrong, by code", codes: []int64{-32600, -32602, -32700, 400},
		class: fleet.ClassBadRequest, origin: node,
	},
	{
		name: "failed inside, by a code without words", when: noText, codes: []int64{-32603, 500},
		class: fleet.ClassServerError, sub: subInternal, origin: node,
	},
	{
		name: "resource unavailable, by code", when: noText, codes: []int64{-32002},
		class: fleet.ClassServerError, sub: subInternal, origin: node,
	},
}
