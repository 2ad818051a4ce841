package jsonrpc

import (
	"time"

	"example.com/rpctop/internal/fleet"
)

// Finer reasons that this package gives besides those of fleet.
const (
	// transport-failure
	subHTTP     = "http"
	subRedirect = "redirect"

	// malformed
	subText     = "text"     // a sentence where JSON was due
	subHTML     = "html"     // a page where JSON was due
	subEmpty    = "empty"    // nothing
	subJSON     = "json"     // broken JSON
	subEncoding = "encoding" // packed in a way that we did not ask for
	subID       = "id"       // another request's id
	subIDType   = "id-type"  // 1 became "1"
	subNoResult = "no-result"
	subBoth     = "both" // result and error
	subBatch    = "batch"
	subNull     = "null"     // null where a value is due
	subQuantity = "quantity" // a quantity that cannot be read
	subShape    = "shape"    // a result of another kind
	subOther    = "mismatch" // another block's or transaction's data

	// tx-rejected
	subNonce   = "nonce"
	subPolicy  = "policy"
	subFunds   = "funds"
	subInvalid = "invalid"

	// remote-denial, unsupported
	subAuth   = "auth"
	subPlan   = "plan"
	subHost   = "host"
	subMethod = "method"
	subTag    = "tag"
	subParam  = "param"

	// node-limit
	subBody    = "body"
	subRange   = "range"
	subGas     = "gas"
	subEVMTime = "evm-time"
	subSize    = "size"

	// others
	subSender   = "sender"   // rate-limited: the sending account, not us
	subUnknown  = "identity" // wrong-chain: chain id 0
	subHalt     = "halt"     // deterministic-revert: the EVM stopped otherwise
	subState    = "state"    // server-error: the tip's state is missing
	subSyncing  = "syncing"
	subUpstream = "upstream"
	subIndexing = "indexing"
	subInternal = "internal"
)

// How long an endpoint rests after a throttle.
const (
	CooldownDefault = time.Second     // no hint was given; the caller doubles it
	CooldownMax     = 5 * time.Minute // a hint asks for more
	CooldownQuota   = time.Hour       // a day's or month's allowance is used up
	quotaMax        = 24 * time.Hour
)

// consequence is what follows from a class and sub.
type consequence struct {
	class                   fleet.Class
	sub                     string // "": any other of the class
	failover, charge, retry bool
}

// consequences: for each class the exceptions first, then the rule.
var consequences = []consequence{
	{fleet.ClassOK, "", false, false, false},
	{fleet.ClassDeterministicRevert, "", false, false, false},
	{fleet.ClassTxKnown, "", false, false, false},
	{fleet.ClassTxRejected, subPolicy, true, false, false}, // a rule of that node alone
	{fleet.ClassTxRejected, "", false, false, false},
	{fleet.ClassBadRequest, "", false, false, false},
	{fleet.ClassUnsupported, "", true, false, false},
	{fleet.ClassStateUnavailable, "", true, false, false},
	{fleet.ClassNodeLimit, subBatch, false, false, true}, // halve it
	{fleet.ClassNodeLimit, "", true, false, false},
	{fleet.ClassNotYetVisible, "", true, false, true},
	{fleet.ClassRateLimited, subSender, false, false, true}, // elsewhere it is the same account
	{fleet.ClassRateLimited, "", true, false, false},
	{fleet.ClassRemoteDenial, "", true, true, false},

	{fleet.ClassTransportFailure, subRedirect, true, true, false},
	{fleet.ClassTransportFailure, "", true, true, true},

	// What is systematic will be the same next time.
	{fleet.ClassMalformed, subHTML, true, true, false},
	{fleet.ClassMalformed, subIDType, true, true, false},
	{fleet.ClassMalformed, subQuantity, true, true, false},
	{fleet.ClassMalformed, subShape, true, true, false},
	{fleet.ClassMalformed, subOther, true, true, false},
	{fleet.ClassMalformed, subEncoding, true, true, false},
	{fleet.ClassMalformed, "", true, true, true},

	{fleet.ClassServerError, fleet.SubUnrecognised, true, false, true},
	{fleet.ClassServerError, "", true, true, true},
	{fleet.ClassStale, "", true, false, true},
	{fleet.ClassForked, "", true, false, true},
	{fleet.ClassWrongChain, subUnknown, true, true, true}, // may only be starting
	{fleet.ClassWrongChain, "", true, true, false},
	{fleet.ClassLocalDenial, "", false, false, false},
	{fleet.ClassLocalFault, fleet.SubCancelled, false, false, false},
	{fleet.ClassLocalFault, "", false, false, true},
}

func consequenceOf(class fleet.Class, sub string) consequence {
	for _, c := range consequences {
		if c.class == class && (c.sub == "" || c.sub == sub) {
			return c
		}
	}
	return consequence{class: class}
}
