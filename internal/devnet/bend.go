package devnet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
)

// bender bends a request on its way to the node and the answer on its way back.
// Nil funcs do nothing.
type bender struct {
	local  func(request) ([]byte, bool) // answers without the node
	before func(*call)                  // each call
	after  func(call, *reply)           // each reply, with the call as it was asked
	whole  func([]reply) []byte         // the array of a batch
}

// bender gives what a fault does to the content, nil if nothing.
func (f *Front) bender(fault Fault, height uint64) *bender {
	switch fault.Kind {
	case WrongID:
		return &bender{after: func(_ call, r *reply) { r.ID = json.RawMessage(`987654321`) }}
	case BatchReordered:
		return &bender{whole: func(rs []reply) []byte { slices.Reverse(rs); return mustJSON(rs) }}
	case BatchMissing:
		return &bender{whole: func(rs []reply) []byte { return mustJSON(rs[:max(0, len(rs)-1)]) }}
	case BatchObject:
		return &bender{whole: func([]reply) []byte {
			r := reply{JSONRPC: "2.0"}
			r.fail(-32600, "batch requests are not supported")
			return mustJSON(r)
		}}
	case Frozen, Behind:
		v := view{node: f.node, height: height}
		return &bender{before: v.ask, after: v.hide}
	case Ahead:
		return &bender{after: func(c call, r *reply) { raise(c, r, fault.Blocks) }}
	case WrongChain:
		id := fault.ChainID
		if id == 0 {
			id = f.node.chainID() + 1
		}
		return &bender{after: func(c call, r *reply) {
			switch {
			case r.Error != nil:
			case c.Method == "eth_chainId":
				r.Result = mustJSON(hexutil.Uint64(id))
			case c.Method == "net_version":
				r.Result = mustJSON(fmt.Sprint(id))
			}
		}}
	case OtherGenesis:
		return f.otherGenesis()
	case Forged:
		return &bender{after: func(c call, r *reply) {
			if c.Method == "eth_call" && (fault.Selector == "" || strings.HasPrefix(callData(c), strings.ToLower(fault.Selector))) {
				r.Result, r.Error = json.RawMessage(fault.Body), nil
			}
		}}
	case Private:
		return &bender{local: f.takePrivately}
	}
	return nil
}

// raise lifts the head that a reply claims; hashes stay what they were.
func raise(c call, r *reply, by uint64) {
	switch {
	case r.Error != nil:
	case c.Method == "eth_blockNumber":
		if n, ok := quantity(r.Result); ok {
			r.Result = mustJSON(hexutil.Uint64(n + by))
		}
	case c.Method == "eth_getBlockByNumber" && (tagOf(c, 0) == "latest" || tagOf(c, 0) == "pending"):
		var block map[string]json.RawMessage
		if json.Unmarshal(r.Result, &block) != nil {
			return
		}
		if n, ok := quantity(block["number"]); ok {
			block["number"] = mustJSON(hexutil.Uint64(n + by))
			r.Result = mustJSON(block)
		}
	}
}

// otherGenesis exchanges the hash of block 0 for another one wherever it
// occurs, both ways.
func (f *Front) otherGenesis() *bender {
	truth := []byte(strings.TrimPrefix(f.node.eth.BlockChain().Genesis().Hash().Hex(), "0x"))
	lie := []byte(strings.TrimPrefix(seeded(f.net.opts.Seed, "another genesis").Hex(), "0x"))
	return &bender{
		before: func(c *call) { c.Params = bytes.ReplaceAll(c.Params, lie, truth) },
		after: func(_ call, r *reply) {
			if r.Result != nil {
				r.Result = bytes.ReplaceAll(r.Result, truth, lie)
			}
		},
	}
}

// takePrivately answers a raw transaction with its hash and hands it to the
// miner alone.
func (f *Front) takePrivately(req request) ([]byte, bool) {
	if req.batch || req.method() != sendRaw {
		return nil, false
	}
	var params []hexutil.Bytes
	tx := new(types.Transaction)
	if json.Unmarshal(req.calls[0].Params, &params) != nil || len(params) != 1 || tx.UnmarshalBinary(params[0]) != nil {
		return nil, false // the node says what is wrong with it
	}
	f.net.minePrivately(tx)
	return mustJSON(reply{JSONRPC: "2.0", ID: req.calls[0].ID, Result: mustJSON(tx.Hash())}), true
}

// callData is the data of an eth_call in lower case, "" if there is none.
func callData(c call) string {
	var params []json.RawMessage
	var msg struct{ Data, Input string }
	if json.Unmarshal(c.Params, &params) != nil || len(params) == 0 || json.Unmarshal(params[0], &msg) != nil {
		return ""
	}
	if msg.Input != "" {
		return strings.ToLower(msg.Input)
	}
	return strings.ToLower(msg.Data)
}

// quantity reads a hex quantity out of JSON.
func quantity(raw json.RawMessage) (uint64, bool) {
	var n hexutil.Uint64
	if len(raw) == 0 || json.Unmarshal(raw, &n) != nil || string(raw) == "null" {
		return 0, false
	}
	return uint64(n), true
}

func (nd *node) chainID() uint64 { return nd.eth.BlockChain().Config().ChainID.Uint64() }

// heightOf is the height of a block that the node knows.
func (nd *node) heightOf(hash common.Hash) (uint64, bool) {
	h := nd.eth.BlockChain().GetHeaderByHash(hash)
	if h == nil {
		return 0, false
	}
	return h.Number.Uint64(), true
}
