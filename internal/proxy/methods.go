package proxy

import (
	"encoding/json"
	"strconv"
	"strings"

	"example.com/rpctop/internal/jsonrpc"
)

// method is what the proxy knows of a method that it passes on.
type method struct {
	tag  int  // index of the parameter that names a block; noTag: none
	use  use  // what else it does
	tip  bool // its answer is of the newest block, always
	gone bool // its answer may be null: "do not have it"
}

const noTag = -1

// use says which way a method takes.
type use uint8

const (
	useRead   use = iota
	useSend       // of a raw transaction
	useNew        // of a filter
	useFilter     // that exists
)

// known lists the methods that are passed on without further ado. It is a list
// and no pattern: what is not in it is refused, whatever it is called.
var known = map[string]method{
	"eth_chainId": {tag: noTag}, "net_version": {tag: noTag}, "web3_clientVersion": {tag: noTag}, "eth_syncing": {tag: noTag},
	"eth_protocolVersion": {tag: noTag}, "net_listening": {tag: noTag}, "net_peerCount": {tag: noTag}, "web3_sha3": {tag: noTag},
	"eth_config": {tag: noTag}, "eth_capabilities": {tag: noTag},

	"eth_blockNumber": {tag: noTag, tip: true}, "eth_gasPrice": {tag: noTag, tip: true}, "eth_maxPriorityFeePerGas": {tag: noTag, tip: true},
	"eth_blobBaseFee": {tag: noTag, tip: true}, "eth_baseFee": {tag: noTag, tip: true}, "eth_feeHistory": {tag: 1},

	"eth_call": {tag: 1}, "eth_estimateGas": {tag: 1}, "eth_createAccessList": {tag: 1}, "eth_simulateV1": {tag: 1},
	"eth_getBalance": {tag: 1}, "eth_getCode": {tag: 1}, "eth_getTransactionCount": {tag: 1},
	"eth_getStorageAt": {tag: 2}, "eth_getStorageValues": {tag: 1}, "eth_getProof": {tag: 2},

	"eth_getBlockByNumber": {tag: 0}, "eth_getHeaderByNumber": {tag: 0}, "eth_getBlockReceipts": {tag: 0},
	"eth_getBlockTransactionCountByNumber": {tag: 0}, "eth_getUncleCountByBlockNumber": {tag: 0},
	"eth_getTransactionByBlockNumberAndIndex": {tag: 0}, "eth_getUncleByBlockNumberAndIndex": {tag: 0},
	"eth_getRawTransactionByBlockNumberAndIndex": {tag: 0},

	"eth_getBlockByHash": {tag: noTag, gone: true}, "eth_getHeaderByHash": {tag: noTag, gone: true},
	"eth_getBlockTransactionCountByHash": {tag: noTag, gone: true}, "eth_getUncleCountByBlockHash": {tag: noTag, gone: true},
	"eth_getTransactionByBlockHashAndIndex": {tag: noTag}, "eth_getUncleByBlockHashAndIndex": {tag: noTag},
	"eth_getRawTransactionByBlockHashAndIndex": {tag: noTag}, "eth_getRawTransactionByHash": {tag: noTag, gone: true},
	"eth_getTransactionByHash": {tag: noTag, gone: true}, "eth_getTransactionReceipt": {tag: noTag, gone: true},

	"eth_getLogs": {tag: noTag}, "eth_sendRawTransaction": {tag: noTag, use: useSend},

	"eth_newFilter": {tag: noTag, use: useNew}, "eth_newBlockFilter": {tag: noTag, use: useNew}, "eth_newPendingTransactionFilter": {tag: noTag, use: useNew},
	"eth_getFilterChanges": {tag: noTag, use: useFilter}, "eth_getFilterLogs": {tag: noTag, use: useFilter}, "eth_uninstallFilter": {tag: noTag, use: useFilter},
}

// tagOf is the block parameter of the methods that only a configuration allows.
func tagOf(name string) int {
	switch name {
	case "debug_traceCall":
		return 1
	case "debug_traceBlockByNumber", "debug_getRawBlock", "debug_getRawHeader", "debug_getRawReceipts":
		return 0
	}
	return noTag
}

// neverPassed says why a method is passed on by no configuration; "": it may be.
func neverPassed(name string) string {
	switch name {
	case "eth_sendTransaction", "eth_sign", "eth_signTransaction", "eth_signTypedData", "eth_signTypedData_v1", "eth_signTypedData_v3", "eth_signTypedData_v4":
		return "it would use a key that an endpoint holds, and is never passed on"
	case "eth_subscribe", "eth_unsubscribe":
		return "subscriptions need a connection that stays, which is not offered over HTTP"
	}
	if strings.HasPrefix(name, "personal_") {
		return "it would use a key that an endpoint holds, and is never passed on"
	}
	return ""
}

// refusal says why a method that is not on the list is refused.
func refusal(name string) string {
	if why := neverPassed(name); why != "" {
		return why
	}
	return "it is not on the proxy's list; proxy.allow in the configuration adds methods"
}

// about is what a request's parameters tell of it.
type about struct {
	tip    bool   // the answer depends on the newest block
	latest bool   // it is about the tag "latest" or "pending"
	height uint64 // the block that is asked for by number; 0: none
	reach  uint64 // logs up to this block are asked for; 0: none
}

// read tells what a request is about. Params that cannot be read count as a
// question about the tip: the endpoint will say what is wrong with them.
func (m method) read(name string, params json.RawMessage) (a about) {
	a.tip = m.tip
	switch {
	case name == "eth_getLogs" || name == "eth_newFilter":
		if list := jsonrpc.Elements(params, 1); len(list) == 1 && jsonrpc.Member(list[0], "blockHash") == nil {
			a.block(jsonrpc.Member(list[0], "toBlock"))
			a.reach, a.height = a.height, 0
		}
	case m.tag != noTag:
		var block json.RawMessage
		if list := jsonrpc.Elements(params, m.tag+1); len(list) > m.tag {
			block = list[m.tag]
		}
		a.block(block)
	}
	return a
}

// block takes the parameter that names a block: a tag, a number, or an object
// with a number or a hash. None stands for the newest block.
func (a *about) block(raw json.RawMessage) {
	if raw != nil && raw[0] == '{' {
		if jsonrpc.Member(raw, "blockHash") != nil {
			return
		}
		raw = jsonrpc.Member(raw, "blockNumber")
	}
	switch s, _ := jsonrpc.Text(raw); s {
	case "", "latest", "pending":
		a.tip, a.latest = true, true
	case "safe", "finalized", "earliest":
	default:
		if n, err := strconv.ParseUint(strings.TrimPrefix(s, "0x"), 16, 64); err == nil {
			a.height = n
		} else if len(s) != 66 { // a hash
			a.tip = true
		}
	}
}
