package devnet

import (
	"encoding/json"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// view shows the chain as it was at a height: tags are resolved against it, and
// what came later is not there.
type view struct {
	node   *node
	height uint64
}

// blockParam is the index of the parameter of a method that names a block.
func blockParam(method string) (int, bool) {
	switch method {
	case "eth_getBlockByNumber", "eth_getHeaderByNumber", "eth_getBlockReceipts",
		"eth_getBlockTransactionCountByNumber", "eth_getTransactionByBlockNumberAndIndex":
		return 0, true
	case "eth_call", "eth_estimateGas", "eth_createAccessList", "eth_getBalance", "eth_getCode",
		"eth_getTransactionCount", "eth_feeHistory":
		return 1, true
	case "eth_getStorageAt", "eth_getProof":
		return 2, true
	}
	return 0, false
}

// ask replaces the tags of a call by heights.
func (v view) ask(c *call) {
	if c.Method == "eth_getLogs" {
		v.askLogs(c)
		return
	}
	i, ok := blockParam(c.Method)
	if !ok {
		return
	}
	var params []json.RawMessage
	if len(c.Params) > 0 && json.Unmarshal(c.Params, &params) != nil || len(params) < i {
		return // the node says what is wrong with it
	}
	if len(params) == i {
		params = append(params, json.RawMessage(`"latest"`))
	}
	var tag string
	if json.Unmarshal(params[i], &tag) == nil {
		params[i] = mustJSON(v.resolve(tag))
		c.Params = mustJSON(params)
	}
}

func (v view) askLogs(c *call) {
	var filters []map[string]json.RawMessage
	if json.Unmarshal(c.Params, &filters) != nil || len(filters) == 0 || filters[0]["blockHash"] != nil {
		return
	}
	for _, k := range []string{"fromBlock", "toBlock"} {
		tag := "latest"
		if raw := filters[0][k]; raw != nil && json.Unmarshal(raw, &tag) != nil {
			return
		}
		at := v.resolve(tag)
		if n, err := hexutil.DecodeUint64(at); k == "toBlock" && err == nil && n > v.height {
			at = hexutil.EncodeUint64(v.height)
		}
		filters[0][k] = mustJSON(at)
	}
	c.Params = mustJSON(filters)
}

// resolve gives the height that a tag has in this view; heights and "earliest"
// stay as they are.
func (v view) resolve(tag string) string {
	switch tag {
	case "latest", "pending", "":
		return hexutil.EncodeUint64(v.height)
	case "safe":
		return hexutil.EncodeUint64(below(v.height, safeDepth))
	case "finalized":
		return hexutil.EncodeUint64(below(v.height, finalDepth))
	}
	return tag
}

// hide takes out of a reply what the view does not know yet.
func (v view) hide(c call, r *reply) {
	if c.Method == "eth_blockNumber" {
		r.Result, r.Error = mustJSON(hexutil.Uint64(v.height)), nil
		return
	}
	if i, ok := blockParam(c.Method); ok && v.later(c, i) {
		if i == 0 {
			r.Result, r.Error = json.RawMessage(`null`), nil
		} else {
			r.fail(-32000, "header not found")
		}
		return
	}
	switch c.Method {
	case "eth_getBlockByHash", "eth_getHeaderByHash", "eth_getTransactionByHash", "eth_getTransactionReceipt":
		var at struct{ Number, BlockNumber json.RawMessage }
		if json.Unmarshal(r.Result, &at) != nil {
			return
		}
		for _, raw := range []json.RawMessage{at.Number, at.BlockNumber} {
			if n, ok := quantity(raw); ok && n > v.height {
				r.Result = json.RawMessage(`null`)
			}
		}
	}
}

// later reports whether a call names, by height or by hash, a block above the
// view.
func (v view) later(c call, i int) bool {
	var params []json.RawMessage
	if json.Unmarshal(c.Params, &params) != nil || len(params) <= i {
		return false
	}
	if n, ok := quantity(params[i]); ok {
		return n > v.height
	}
	var at struct {
		BlockHash   *common.Hash
		BlockNumber json.RawMessage
	}
	var hash common.Hash
	switch {
	case json.Unmarshal(params[i], &hash) == nil:
	case json.Unmarshal(params[i], &at) != nil:
		return false
	case at.BlockHash != nil:
		hash = *at.BlockHash
	default:
		n, ok := quantity(at.BlockNumber)
		return ok && n > v.height
	}
	n, ok := v.node.heightOf(hash)
	return ok && n > v.height
}

// tagOf is the string parameter at an index, "" if there is none.
func tagOf(c call, i int) string {
	var params []json.RawMessage
	var tag string
	if json.Unmarshal(c.Params, &params) != nil || len(params) <= i || json.Unmarshal(params[i], &tag) != nil {
		return ""
	}
	return tag
}
