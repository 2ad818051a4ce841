package jsonrpc

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"

	"example.com/rpctop/internal/fleet"
)

// shape is the form that a method's result must have.
type shape uint8

const (
	shapeAny       shape = iota // not known here, or free
	shapeUint                   // a quantity of 64 bits
	shapeBig                    // a quantity of 256 bits
	shapeCount                  // a quantity, or null for an unknown block
	shapeData                   // bytes of any length
	shapeChainID                //
	shapeNetwork                // net_version: a decimal string
	shapeBlock                  // a block, or null
	shapeTx                     // a transaction, or null
	shapeReceipt                // a receipt, or null
	shapeFound                  // anything, or null for "not there"
	shapeArray                  // an array; null is none
	shapeSomething              // anything but null
	shapeTxHash                 // the hash of the bytes that were sent
)

var shapes = map[string]shape{
	"eth_blockNumber": shapeUint, "eth_estimateGas": shapeUint, "eth_getTransactionCount": shapeUint, "net_peerCount": shapeUint,
	"eth_gasPrice": shapeBig, "eth_maxPriorityFeePerGas": shapeBig, "eth_blobBaseFee": shapeBig, "eth_baseFee": shapeBig,
	"eth_getBalance":                       shapeBig,
	"eth_getBlockTransactionCountByNumber": shapeCount, "eth_getBlockTransactionCountByHash": shapeCount,
	"eth_getUncleCountByBlockNumber": shapeCount, "eth_getUncleCountByBlockHash": shapeCount,
	"eth_call": shapeData, "eth_getCode": shapeData, "eth_getStorageAt": shapeData,
	"eth_chainId": shapeChainID, "net_version": shapeNetwork,
	"eth_getBlockByNumber": shapeBlock, "eth_getBlockByHash": shapeBlock,
	"eth_getTransactionByHash": shapeTx, "eth_getTransactionReceipt": shapeReceipt,
	"eth_getBlockReceipts": shapeFound, "eth_getHeaderByNumber": shapeFound, "eth_getHeaderByHash": shapeFound,
	"eth_getTransactionByBlockNumberAndIndex": shapeFound, "eth_getTransactionByBlockHashAndIndex": shapeFound,
	"eth_getRawTransactionByHash": shapeFound,
	"eth_getLogs":                 shapeArray, "eth_getFilterLogs": shapeArray, "eth_getFilterChanges": shapeArray,
	"eth_syncing": shapeSomething, "web3_clientVersion": shapeSomething, "eth_feeHistory": shapeSomething, "eth_getProof": shapeSomething,
	"eth_simulateV1": shapeSomething, "eth_createAccessList": shapeSomething, "eth_subscribe": shapeSomething, "eth_newFilter": shapeSomething,
	"eth_newBlockFilter": shapeSomething, "eth_sendRawTransactionSync": shapeSomething,
	"eth_sendRawTransaction": shapeTxHash,
}

// ok is the verdict on a result that is in order.
func (j *judge) ok(raw json.RawMessage, note string) Verdict {
	return Verdict{
		Outcome: fleet.Outcome{Class: fleet.ClassOK, Origin: fleet.OriginNode, Status: j.a.Status},
		Result:  raw, Nonconforming: note,
	}
}

// result judges a result by what the method must give. It reads no more of it
// than that needs.
func (j *judge) result(raw json.RawMessage) Verdict {
	s := shapes[j.q.Method]
	if isNull(raw) {
		return j.null(raw, s)
	}
	switch s {
	case shapeUint, shapeCount:
		return j.quantity(raw, 64)
	case shapeBig:
		return j.quantity(raw, 256)
	case shapeChainID:
		return j.chainID(raw)
	case shapeNetwork:
		return j.network(raw)
	case shapeData:
		if len(raw) < 4 || raw[0] != '"' || raw[1] != '0' || raw[2]|0x20 != 'x' || !isHex(raw[3:len(raw)-1]) {
			return j.misshapen(raw, subShape, "bytes due, got "+describe(raw))
		}
		if len(raw)%2 != 0 {
			return j.malformed(subShape, "bytes with an odd number of digits")
		}
	case shapeBlock:
		return j.block(raw)
	case shapeTx:
		return j.found(raw, "hash")
	case shapeReceipt:
		return j.found(raw, "transactionHash")
	case shapeArray:
		if raw[0] != '[' {
			return j.misshapen(raw, subShape, "array due, got "+describe(raw))
		}
	case shapeTxHash:
		return j.sent(raw)
	}
	return j.ok(raw, "")
}

// misshapen judges a result of the wrong form. Some gateways dress a throttle
// as a result.
func (j *judge) misshapen(raw json.RawMessage, sub, message string) Verdict {
	if s, ok := unquote(raw); ok {
		if v, ok := j.plainRule(s); ok {
			return v
		}
	}
	return j.malformed(sub, message)
}

// null judges null: for some methods it is the specified "do not have it", for
// the rest it is no value at all.
func (j *judge) null(raw json.RawMessage, s shape) Verdict {
	at := placeOf(j.q)
	switch s {
	case shapeAny:
		return j.ok(raw, "")
	case shapeTx, shapeReceipt:
		return j.verdict(fleet.ClassNotYetVisible, "", fleet.OriginNode, "not there (null)")
	case shapeBlock, shapeCount, shapeFound:
		switch at {
		case atSafe, atFinalized, atPending:
			return j.verdict(fleet.ClassUnsupported, subTag, fleet.OriginNode, "no block at that tag (null)")
		case atEarliest:
			return j.verdict(fleet.ClassStateUnavailable, "", fleet.OriginNode, "no first block (null)")
		case atLatest:
			return j.malformed(subNull, "no latest block (null)")
		}
		return j.verdict(fleet.ClassNotYetVisible, "", fleet.OriginNode, "block not there (null)")
	}
	return j.malformed(subNull, "null where a value is due")
}

func (j *judge) quantity(raw json.RawMessage, bits int) Verdict {
	_, note, err := parseBits(raw, bits)
	if err != nil {
		return j.misshapen(raw, subQuantity, err.Error())
	}
	return j.ok(raw, note)
}

func (j *judge) chainID(raw json.RawMessage) Verdict {
	id, note, err := parseBits(raw, 256)
	if err != nil {
		return j.misshapen(raw, subQuantity, "chain id: "+err.Error())
	}
	return j.identity(id, raw, note)
}

// identity compares a chain id that was read with the expected one.
func (j *judge) identity(id *big.Int, raw json.RawMessage, note string) Verdict {
	switch {
	case id.Sign() == 0:
		v := j.verdict(fleet.ClassWrongChain, subUnknown, fleet.OriginNode, "reports chain 0: identity unknown")
		v.note(note)
		return v
	case j.q.ChainID != 0 && (!id.IsUint64() || id.Uint64() != j.q.ChainID):
		v := j.verdict(fleet.ClassWrongChain, "", fleet.OriginNode, fmt.Sprintf("is chain %s, expected %d", id, j.q.ChainID))
		v.note(note)
		return v
	}
	return j.ok(raw, note)
}

// otherNetwork lists the chains whose network id is known to differ from their
// chain id, and the local ones whose network id is arbitrary.
var otherNetwork = map[uint64]bool{61: true, 63: true, 1337: true, 31337: true, 5777: true}

func (j *judge) network(raw json.RawMessage) Verdict {
	s, isString := unquote(raw)
	var id *big.Int
	note := ""
	if n, err := strconv.ParseUint(s, 10, 64); isString && err == nil {
		id = new(big.Int).SetUint64(n)
	} else {
		var err error
		if id, note, err = parseBits(raw, 256); err != nil {
			return j.misshapen(raw, subShape, "network id: "+err.Error())
		}
		if note == "" {
			note = "network id in hex"
		}
	}
	if otherNetwork[j.q.ChainID] {
		return j.ok(raw, note)
	}
	return j.identity(id, raw, note)
}

func (j *judge) block(raw json.RawMessage) Verdict {
	at, form := placeOf(j.q), blockPlain
	if at == atPending {
		form = blockPending
	}
	head, note, err := readBlock(raw, form)
	if err != nil {
		if raw[0] != '{' {
			return j.misshapen(raw, subShape, err.Error())
		}
		return j.malformed(subQuantity, err.Error())
	}
	asked := element(j.q.Params, 0)
	switch at {
	case atNumber:
		if n, err := ParseUint64(asked); err == nil && n != head.Number {
			return j.malformed(subOther, fmt.Sprintf("asked for block %d, got %d", n, head.Number))
		}
	case atHash:
		if h, err := ParseHash(asked); err == nil && h != head.Hash {
			return j.malformed(subOther, "asked for a block by hash, got another")
		}
	}
	return j.ok(raw, note)
}

// found judges a transaction or a receipt by the hash it carries.
func (j *judge) found(raw json.RawMessage, hashMember string) Verdict {
	if raw[0] != '{' {
		return j.misshapen(raw, subShape, "object due, got "+describe(raw))
	}
	var hash, blockHash, number, status json.RawMessage
	it := iter{b: raw}
	for it.next() {
		switch string(it.key) {
		case hashMember:
			hash = it.val
		case "blockHash":
			blockHash = it.val
		case "blockNumber":
			number = it.val
		case "status":
			status = it.val
		}
	}
	got, err := ParseHash(hash)
	if err != nil {
		return j.malformed(subShape, err.Error())
	}
	if want, err := ParseHash(element(j.q.Params, 0)); err == nil && want != got {
		return j.malformed(subOther, "asked for one transaction, got another")
	}
	receipt := hashMember == "transactionHash"
	if number == nil || isNull(number) {
		if receipt {
			return j.verdict(fleet.ClassNotYetVisible, "", fleet.OriginNode, "receipt of a transaction that is in no block")
		}
		return j.ok(raw, "")
	}
	_, note, err := parseBits(number, 64)
	if err != nil {
		return j.malformed(subQuantity, "block number: "+err.Error())
	}
	if receipt && blockHash != nil && isNull(blockHash) {
		return j.verdict(fleet.ClassNotYetVisible, "", fleet.OriginNode, "receipt of a transaction that is in no block")
	}
	if receipt && status != nil && !isNull(status) {
		_, statusNote, err := parseBits(status, 8)
		if err != nil {
			return j.malformed(subQuantity, "receipt status: "+err.Error())
		}
		if note == "" {
			note = statusNote
		}
	}
	return j.ok(raw, note)
}

// sent judges the hash that an accepted transaction comes back with. Another
// hash than that of the bytes is a finding about the endpoint's integrity.
func (j *judge) sent(raw json.RawMessage) Verdict {
	h, err := ParseHash(raw)
	switch {
	case err != nil:
		return j.misshapen(raw, subShape, err.Error())
	case !j.q.RawTxHash.IsZero() && h != j.q.RawTxHash:
		return j.malformed(subOther, "hash of another transaction than the one sent")
	}
	return j.ok(raw, "")
}
