package failover

import (
	"strings"
	"sync/atomic"

	"example.com/rpctop/internal/fleet"
)

// mode says what may be done with a method besides asking once.
type mode uint8

const (
	modeRead     mode = iota
	modeRaw           // a signed transaction: its identical bytes may go out again
	modeMutation      // may change something, so it is handed over once
)

// readPrefixes begin the names of methods without a kind of their own that
// read only. What is not listed may change something.
var readPrefixes = [...]string{
	"eth_get", "eth_protocolVersion", "eth_accounts", "eth_coinbase", "eth_mining", "eth_hashrate", "eth_pendingTransactions", "eth_config", "eth_capabilities",
	"net_", "web3_", "txpool_", "trace_", "arbtrace_", "debug_trace", "debug_get", "debug_storageRangeAt", "ots_", "erigon_", "rollup_", "optimism_", "zks_",
}

func modeOf(method string) mode {
	switch fleet.KindOf(method) {
	case fleet.KindSubmit:
		return modeRaw
	case fleet.KindOther:
		for _, p := range readPrefixes {
			if strings.HasPrefix(method, p) {
				return modeRead
			}
		}
		return modeMutation
	}
	return modeRead
}

// step is what follows from an attempt.
type step uint8

const (
	passOn  step = iota // the client gets it as it is
	another             // the next endpoint is asked
	giveUp              // a failure that no other endpoint can mend
	unknown             // a write that may have happened: giveUp, and the face looks it up
)

// Subs that decide about the next step.
const (
	subPolicy   = "policy"   // tx-rejected: a rule of that node alone
	subBatch    = "batch"    // node-limit: too many members
	subIdentity = "identity" // wrong-chain: chain id 0, it may only be starting
)

// SubBehindFloor is, with class stale, the end of a call for which nobody's
// head is high enough.
const SubBehindFloor = "behind-floor"

// subLagging is why a read of the tip passed an endpoint over.
const subLagging = "lagging"

// next is the table of outcomes, its column "try another".
func next(m mode, o fleet.Outcome, sent bool) step {
	elsewhere := another // for what the endpoint did not carry out for certain
	if m == modeMutation {
		elsewhere = giveUp
	}
	switch o.Class {
	case fleet.ClassTxRejected:
		if o.Sub == subPolicy && m == modeRaw {
			return another
		}
		return passOn
	case fleet.ClassUnsupported, fleet.ClassRemoteDenial:
		return another
	case fleet.ClassRateLimited:
		if o.Sub == fleet.SubSender {
			return passOn // elsewhere it is the same account
		}
		return another
	case fleet.ClassNodeLimit:
		if o.Sub == subBatch {
			return passOn // smaller batches help, other endpoints do not
		}
		return elsewhere
	case fleet.ClassStateUnavailable, fleet.ClassNotYetVisible, fleet.ClassStale, fleet.ClassForked, fleet.ClassWrongChain:
		return elsewhere
	case fleet.ClassTransportFailure, fleet.ClassMalformed, fleet.ClassServerError:
		if m == modeRead || !sent {
			return another
		}
		return unknown
	case fleet.ClassLocalDenial, fleet.ClassLocalFault: // the response cap; cancelled, out of time, shutting down
		if m != modeRead && sent {
			return unknown
		}
		return giveUp
	}
	return passOn
}

// repeatable reports whether the same endpoint may be asked once more in the
// same call: its failure was of the moment. A write of unknown fate has ended
// the call before.
func repeatable(o fleet.Outcome) bool {
	switch o.Class {
	case fleet.ClassTransportFailure, fleet.ClassMalformed, fleet.ClassServerError:
		return true
	}
	return false
}

// telling orders classes by how much they say of a call that has failed: what
// is about us first, then what passes, last what only counts when all agree.
func telling(c fleet.Class) int {
	for i, x := range [...]fleet.Class{
		fleet.ClassLocalDenial, fleet.ClassRateLimited, fleet.ClassLocalFault,
		fleet.ClassServerError, fleet.ClassMalformed, fleet.ClassTransportFailure,
		fleet.ClassStale, fleet.ClassForked, fleet.ClassWrongChain, fleet.ClassNotYetVisible,
		fleet.ClassRemoteDenial, fleet.ClassStateUnavailable, fleet.ClassNodeLimit, fleet.ClassTxRejected,
	} {
		if x == c {
			return i
		}
	}
	return 100
}

// retryBudget lets a fifth of the calls ask an endpoint again: a call earns
// one, a repeat costs five. The zero value holds a first stock, so that a quiet
// client may repeat too.
type retryBudget struct{ earned atomic.Int64 }

const (
	repeatCost  = 5
	repeatStock = 10 * repeatCost  // at the start
	repeatMost  = 100 * repeatCost // saved at most
)

func (b *retryBudget) earn() {
	if v := b.earned.Load(); v < repeatMost-repeatStock {
		b.earned.CompareAndSwap(v, v+1) // a lost race loses a fifth of a repeat
	}
}

func (b *retryBudget) has() bool { return b.earned.Load()+repeatStock >= repeatCost }

func (b *retryBudget) spend() bool {
	for {
		v := b.earned.Load()
		if v+repeatStock < repeatCost {
			return false
		}
		if b.earned.CompareAndSwap(v, v-repeatCost) {
			return true
		}
	}
}
