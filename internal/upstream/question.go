package upstream

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/jsonrpc"
)

// blobTx is the type byte of transactions that travel with a sidecar, which is
// no part of what their hash is taken of.
const blobTx = 0x03

// question states what was asked, for the judgement of the answer.
func (d *Door) question(e *endpoint, c Call, id uint64, now time.Time) jsonrpc.Question {
	q := jsonrpc.Question{
		Method: c.Method, ID: strconv.AppendUint(nil, id, 10), Params: c.Params, ChainID: e.chainID, Now: now,
	}
	if fleet.KindOf(c.Method) == fleet.KindSubmit {
		q.RawTxHash = rawTxHash(c.Params)
	}
	return q
}

// rawTxHash is the hash of the raw transaction in a send's parameters; zero
// where it cannot be told from the bytes alone.
func rawTxHash(params json.RawMessage) fleet.Hash {
	var list []json.RawMessage
	var raw string
	if json.Unmarshal(params, &list) != nil || len(list) == 0 || json.Unmarshal(list[0], &raw) != nil {
		return fleet.Hash{}
	}
	b, err := hex.DecodeString(strings.TrimPrefix(raw, "0x"))
	if err != nil || len(b) == 0 || b[0] == blobTx {
		return fleet.Hash{}
	}
	return fleet.Hash(crypto.Keccak256Hash(b))
}
