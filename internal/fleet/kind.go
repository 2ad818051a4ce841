package fleet

import "fmt"

// Kind groups methods by what their answers depend on: latency, freshness and
// error rates are kept per kind. The numbers are stored.
type Kind uint8

// The kinds of method.
const (
	KindOther     Kind = iota
	KindHead           // the tip itself
	KindState          // state at the tip or at a block
	KindLogs           // log ranges
	KindHistory        // blocks, transactions, receipts by number or hash
	KindImmutable      // facts that never change: chain id, block by hash
	KindSubmit         // sends of raw transactions
	kindEnd
)

// Kinds is the number of kinds; arrays per kind have this length.
const Kinds = int(kindEnd)

var kindNames = [kindEnd]string{"other", "head", "state", "logs", "history", "immutable", "submit"}

// String gives the kind's word.
func (k Kind) String() string {
	if k < kindEnd {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// MarshalText writes the word.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a word.
func (k *Kind) UnmarshalText(b []byte) error {
	for i, n := range kindNames {
		if n == string(b) {
			*k = Kind(i)
			return nil
		}
	}
	return fmt.Errorf("kind of method %q is unknown", b)
}

var kindOf = map[string]Kind{
	"eth_blockNumber": KindHead, "eth_gasPrice": KindHead, "eth_maxPriorityFeePerGas": KindHead,
	"eth_feeHistory": KindHead, "eth_blobBaseFee": KindHead, "eth_baseFee": KindHead,
	"eth_syncing": KindHead, "eth_getBlockByNumber": KindHead,

	"eth_call": KindState, "eth_estimateGas": KindState, "eth_getBalance": KindState,
	"eth_getCode": KindState, "eth_getStorageAt": KindState, "eth_getStorageValues": KindState,
	"eth_getTransactionCount": KindState, "eth_getProof": KindState,
	"eth_createAccessList": KindState, "eth_simulateV1": KindState, "debug_traceCall": KindState,

	"eth_getLogs": KindLogs, "eth_newFilter": KindLogs, "eth_getFilterLogs": KindLogs,
	"eth_getFilterChanges": KindLogs, "eth_newBlockFilter": KindLogs,
	"eth_newPendingTransactionFilter": KindLogs, "eth_uninstallFilter": KindLogs,

	"eth_getTransactionByHash": KindHistory, "eth_getTransactionReceipt": KindHistory,
	"eth_getBlockReceipts": KindHistory, "eth_getBlockTransactionCountByNumber": KindHistory,
	"eth_getTransactionByBlockNumberAndIndex": KindHistory, "eth_getUncleCountByBlockNumber": KindHistory,
	"eth_getUncleByBlockNumberAndIndex": KindHistory,

	"eth_chainId": KindImmutable, "net_version": KindImmutable, "eth_getBlockByHash": KindImmutable,
	"eth_getBlockTransactionCountByHash": KindImmutable, "eth_getTransactionByBlockHashAndIndex": KindImmutable,
	"eth_getUncleCountByBlockHash": KindImmutable, "eth_getUncleByBlockHashAndIndex": KindImmutable,

	"eth_sendRawTransaction": KindSubmit, "eth_sendRawTransactionSync": KindSubmit,
	"eth_sendRawTransactionConditional": KindSubmit,
}

// KindOf is the one table from a method's name to its kind; a method that is
// not in it is KindOther.
func KindOf(method string) Kind { return kindOf[method] }
