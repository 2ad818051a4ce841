package probe

import (
	"encoding/json"
	"fmt"

	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/jsonrpc"
)

// sampleOf turns the answer to "latest" into a sample without the chain id.
func sampleOf(a *fleet.Attempt) fleet.Sample {
	s := fleet.Sample{
		Endpoint: a.Endpoint, Start: a.Start, Outcome: a.Outcome, Timing: a.Timing,
		Hold: fleet.Millis((a.RetryAfter + 999_999) / 1_000_000), // rounded up: never before they said
	}
	if !a.Outcome.OK() {
		return s
	}
	head, err := jsonrpc.ParseBlock(a.Result)
	if err != nil {
		s.Outcome = misread(a.Outcome, err)
		return s
	}
	s.Head = &head
	return s
}

// misread is the outcome of an answer that came, and is not what was asked for.
func misread(o fleet.Outcome, err error) fleet.Outcome {
	return fleet.Outcome{
		Class: fleet.ClassMalformed, Origin: fleet.OriginNode, Status: o.Status,
		Message: fleet.Sanitize(err.Error()),
	}
}

// maxChainID is the width in bits beyond which a number is no chain id: the
// EVM's CHAINID has one word.
const maxChainID = 256

// chainIDOf gives the id that the endpoint states, in decimal, whether or not
// it is the right one, and how the question ended. "" means that it could not
// be read.
func chainIDOf(a *fleet.Attempt) (string, fleet.Class) {
	class := a.Outcome.Class
	raw := json.RawMessage(a.Result)
	switch class {
	case fleet.ClassOK:
	case fleet.ClassWrongChain:
		if len(raw) == 0 { // a wrong id is no result, but the operator wants to see it
			var body struct {
				Result json.RawMessage `json:"result"`
			}
			if json.Unmarshal(a.Body, &body) != nil {
				return "", class
			}
			raw = body.Result
		}
	default:
		return "", class
	}
	n, _, err := jsonrpc.ParseQuantity(raw)
	switch {
	case err == nil && n.Sign() >= 0 && n.BitLen() <= maxChainID:
		return n.String(), class
	case class == fleet.ClassOK:
		return "", fleet.ClassMalformed
	default:
		return "", class
	}
}

// reading starts a reading from an attempt; the value is still to be read.
func reading(what fleet.ReadingKind, a *fleet.Attempt) fleet.Reading {
	return fleet.Reading{Endpoint: a.Endpoint, What: what, Outcome: a.Outcome, Total: a.Timing.Total}
}

// blockReading reads a block: its hash is the value. want is the height that
// was asked for; nil for a tag. absent is what null means here.
func blockReading(what fleet.ReadingKind, a *fleet.Attempt, want *uint64, absent fleet.Class) fleet.Reading {
	r := reading(what, a)
	if !r.Outcome.OK() {
		return r
	}
	if isNull(a.Result) {
		r.Outcome.Class = absent
		r.Outcome.Message = "no such block"
		return r
	}
	head, err := jsonrpc.ParseBlock(a.Result)
	if err == nil && want != nil && head.Number != *want {
		err = fmt.Errorf("asked for block %d, got block %d", *want, head.Number)
	}
	if err != nil {
		r.Outcome = misread(a.Outcome, err)
		return r
	}
	r.Number, r.Hash, r.Value = head.Number, head.Hash, head.Hash.String()
	return r
}

func clientReading(a *fleet.Attempt) fleet.Reading {
	r := reading(fleet.ReadClient, a)
	if !r.Outcome.OK() {
		return r
	}
	var version string
	if err := json.Unmarshal(a.Result, &version); err != nil {
		r.Outcome = misread(a.Outcome, fmt.Errorf("client version is no string"))
		return r
	}
	r.Value = fleet.Sanitize(version)
	return r
}

// syncingReading gives "no", or "yes" with what the endpoint says about it.
func syncingReading(a *fleet.Attempt) fleet.Reading {
	r := reading(fleet.ReadSyncing, a)
	if !r.Outcome.OK() {
		return r
	}
	var flag bool
	if json.Unmarshal(a.Result, &flag) == nil && !isNull(a.Result) {
		r.Value = "no"
		if flag {
			r.Value = "yes"
		}
		return r
	}
	var progress struct {
		Current json.RawMessage `json:"currentBlock"`
		Highest json.RawMessage `json:"highestBlock"`
	}
	if isNull(a.Result) || json.Unmarshal(a.Result, &progress) != nil {
		r.Outcome = misread(a.Outcome, fmt.Errorf("syncing is neither false nor an object"))
		return r
	}
	r.Value = "yes"
	current, err1 := jsonrpc.ParseUint64(progress.Current)
	highest, err2 := jsonrpc.ParseUint64(progress.Highest)
	if err1 == nil && err2 == nil {
		r.Value = fmt.Sprintf("yes, at %d of %d", current, highest)
	}
	return r
}

// callReading says whether the state at the head could be read. hash is zero
// if the call went by number, and so proves nothing about the hash.
func callReading(a *fleet.Attempt, number uint64, hash fleet.Hash) fleet.Reading {
	r := reading(fleet.ReadCallAt, a)
	r.Number, r.Hash = number, hash
	if !r.Outcome.OK() {
		return r
	}
	var data string
	if isNull(a.Result) || json.Unmarshal(a.Result, &data) != nil || len(data) < 2 || data[:2] != "0x" {
		r.Outcome = misread(a.Outcome, fmt.Errorf("result of a call is no hex string"))
		return r
	}
	r.Value = fleet.Sanitize(data)
	return r
}

func isNull(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }
