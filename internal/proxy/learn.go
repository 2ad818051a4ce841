package proxy

import (
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/jsonrpc"
)

// learn takes from an answer what later ones must not fall behind, and raises
// a pending nonce to what was relayed.
func (s *Server) learn(ch *chain, v view, a about, in jsonrpc.Incoming, rep *reply, now time.Time, ref ref) {
	// A pending block is nobody's head, and what lies far above the reference is believed by nobody.
	if n, ok := height(in.Method, rep.result); ok && !namesPending(in.Params) && (!ref.known || n <= ref.most) {
		s.book.served(ch, v, n, ref)
		s.o.Saw(ch.endpoint(rep.endpoint), n)
	}
	switch in.Method {
	case "eth_getTransactionReceipt", "eth_getTransactionByHash":
		if n, ok := height(in.Method, rep.result); ok {
			if h, ok := firstHash(in.Params); ok {
				s.book.seen(ch, h, n)
			}
		}
	case "eth_getTransactionCount":
		if a.latest && v.relays {
			s.raiseNonce(ch, in.Params, rep, now)
		}
	}
}

func namesPending(params json.RawMessage) bool {
	list := jsonrpc.Elements(params, 1)
	if len(list) == 0 {
		return false
	}
	tag, _ := jsonrpc.Text(list[0])
	return tag == "pending"
}

// raiseNonce: an endpoint that does not know a relayed transaction yet would
// make its sender use the nonce again.
func (s *Server) raiseNonce(ch *chain, params json.RawMessage, rep *reply, now time.Time) {
	list := jsonrpc.Elements(params, 2)
	if len(list) < 2 {
		return
	}
	who, ok1 := jsonrpc.Text(list[0])
	tag, _ := jsonrpc.Text(list[1])
	n, err := jsonrpc.ParseUint64(rep.result)
	if !ok1 || tag != "pending" || err != nil || !common.IsHexAddress(who) {
		return
	}
	if next, ok := s.book.nextNonce(ch, common.HexToAddress(who), now); ok && next > n {
		rep.result = strconv.AppendQuote(nil, "0x"+strconv.FormatUint(next, 16))
	}
}

// height is the block that an answer shows; false: it shows none.
func height(method string, result json.RawMessage) (uint64, bool) {
	member := ""
	switch method {
	case "eth_blockNumber":
		n, err := jsonrpc.ParseUint64(result)
		return n, err == nil
	case "eth_getBlockByNumber", "eth_getBlockByHash":
		member = "number"
	case "eth_getTransactionReceipt", "eth_getTransactionByHash":
		member = "blockNumber"
	default:
		return 0, false
	}
	n, err := jsonrpc.ParseUint64(jsonrpc.Member(result, member))
	return n, err == nil
}

func firstHash(params json.RawMessage) (fleet.Hash, bool) {
	list := jsonrpc.Elements(params, 1)
	if len(list) == 0 {
		return fleet.Hash{}, false
	}
	h, err := jsonrpc.ParseHash(list[0])
	return h, err == nil
}

// nulls remembers what no endpoint had, and at which height of the chain: it
// is not asked of everybody again before the next block. The zero value is
// ready.
type nulls struct {
	mu sync.Mutex
	at map[nullKey]uint64
}

// nullKey is a question for something by its hash.
type nullKey struct {
	ch     *chain // nil: not to be remembered
	method string
	hash   fleet.Hash
}

// maxNulls bounds the memory; when it is full, it begins anew.
const maxNulls = 4096

func nullKeyOf(ch *chain, in jsonrpc.Incoming) nullKey {
	h, ok := firstHash(in.Params)
	if !ok {
		return nullKey{}
	}
	return nullKey{ch, in.Method, h}
}

func (n *nulls) holds(k nullKey, ref ref) bool {
	if k.ch == nil || !ref.known {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	at, ok := n.at[k]
	return ok && at == ref.number
}

func (n *nulls) put(k nullKey, ref ref) {
	if k.ch == nil || !ref.known {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.at == nil || len(n.at) >= maxNulls {
		n.at = make(map[nullKey]uint64)
	}
	n.at[k] = ref.number
}
