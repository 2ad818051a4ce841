package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"example.com/rpctop/internal/failover"
	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/jsonrpc"
)

const (
	sendMethod = "eth_sendRawTransaction"
	// lookTime is what a look-up may take, beside the call's own time.
	lookTime = 3 * time.Second
	// lookAt is the number of endpoints that a look-up asks.
	lookAt = 2
)

// readRaw reads the transaction of a send. One of a type that we do not know
// has a hash all the same, and no sender.
func readRaw(ch *chain, params json.RawMessage) (*relay, bool) {
	list := jsonrpc.Elements(params, 1)
	if len(list) == 0 {
		return nil, false
	}
	raw, err := jsonrpc.ParseData(list[0])
	if err != nil || len(raw) == 0 {
		return nil, false
	}
	r := &relay{raw: bytes.Clone(params)}
	r.ch = ch
	var tx types.Transaction
	if tx.UnmarshalBinary(raw) != nil {
		r.hash = fleet.Hash(crypto.Keccak256Hash(raw))
		r.sender = common.BytesToAddress(r.hash[:]) // a key of its own
		return r, true
	}
	r.hash, r.nonce = fleet.Hash(tx.Hash()), tx.Nonce()
	sender, err := types.Sender(types.LatestSignerForChainID(tx.ChainId()), &tx)
	if err != nil {
		sender = common.BytesToAddress(r.hash[:])
	}
	r.sender, r.signed = sender, err == nil
	return r, true
}

// send hands a signed transaction over and says what became of it. Its
// identical bytes may go out again; nothing is ever signed or changed.
func (s *Server) send(ctx context.Context, ch *chain, in jsonrpc.Incoming, who client) reply {
	call := failover.CallRequest{Chain: ch.Name, Method: in.Method, Params: in.Params, Header: who.header,
		Caller: fleet.CallerProxy, Deadline: s.o.Limits.Call, Explicit: who.session != ""}
	tx, ok := readRaw(ch, in.Params)
	if !ok { // the endpoint says what is wrong with it
		return s.pass(ch, s.o.Caller.Call(ctx, call))
	}
	var unsure *failover.CallResult // the first attempt whose fate is not known
	attempts := 0
	for {
		res := s.o.Caller.Call(ctx, call)
		s.metrics.call(ch, res)
		attempts += res.Attempts()
		switch fate := fateOf(res, tx.hash); fate {
		case fateTaken:
			return s.taken(tx, who, res.Attempt.Endpoint.Name, attempts)
		case fateOtherHash, fateUnknown:
			if fate == fateOtherHash {
				s.o.Log.Error("an endpoint took a transaction and named another hash", "chain", ch.Name, "endpoint", res.Attempt.Endpoint.Name, "hash", tx.hash.String())
				s.o.Suspect(res.Attempt.Endpoint)
			}
			if unsure == nil {
				unsure = &res
			}
			for _, h := range res.Trace {
				call.Exclude = append(call.Exclude, h.Endpoint)
			}
			if at, found := s.look(ctx, tx, who, call.Exclude); found {
				return s.taken(tx, who, at, attempts)
			}
		case fateNonce:
			if at, found := s.look(ctx, tx, who, nil); found {
				return s.taken(tx, who, at, attempts)
			}
			return s.finish(tx, who, unsure, res, attempts)
		case fateNobody:
			if unsure == nil || call.Bound || ctx.Err() != nil {
				return s.finish(tx, who, unsure, res, attempts)
			}
			// Nobody else is left: the same bytes once more to the endpoint
			// that may have them. "Already known" is as good as a hash.
			call.Only, call.Bound, call.Exclude = unsure.Attempt.Endpoint.Name, true, nil
			continue
		default:
			return s.finish(tx, who, unsure, res, attempts)
		}
		if ctx.Err() != nil || call.Bound {
			return s.finish(tx, who, unsure, *unsure, attempts)
		}
	}
}

// fate is what became of a send.
type fate uint8

const (
	fateRefused   fate = iota // an endpoint's last word, or ours
	fateTaken                 // it is in a pool or in the chain
	fateOtherHash             // taken, under a hash that is not its own
	fateUnknown               // it may have been taken
	fateNonce                 // its nonce is used: by itself, perhaps
	fateNobody                // nobody was asked
)

func fateOf(res failover.CallResult, hash fleet.Hash) fate {
	switch {
	case res.Unknown:
		if res.Attempt == nil {
			return fateNobody
		}
		return fateUnknown
	case !res.Answered && len(res.Trace) == 0:
		return fateNobody
	case !res.Answered || res.Attempt == nil:
		return fateRefused
	}
	switch o := res.Attempt.Outcome; o.Class {
	case fleet.ClassTxKnown:
		return fateTaken
	case fleet.ClassOK:
		if got, err := jsonrpc.ParseHash(res.Attempt.Result); err == nil && got == hash {
			return fateTaken
		}
		return fateOtherHash
	case fleet.ClassTxRejected:
		if o.Sub == "nonce" {
			return fateNonce
		}
	}
	return fateRefused
}

// taken answers with the hash of the bytes, and keeps an eye on them.
func (s *Server) taken(tx *relay, who client, endpoint string, attempts int) reply {
	s.enter(tx, who, endpoint)
	return reply{result: json.RawMessage(`"` + tx.hash.String() + `"`), class: fleet.ClassOK.String(), endpoint: endpoint, attempts: attempts}
}

func (s *Server) enter(tx *relay, who client, endpoint string) {
	now := s.o.Now()
	tx.endpoint, tx.at, tx.shown = endpoint, now, now
	tx.looked = s.refOf(tx.ch).number
	s.book.relayed(tx, who.session, now)
}

// finish answers with the last call's end, or, where an earlier attempt may
// have been taken, says just that.
func (s *Server) finish(tx *relay, who client, unsure *failover.CallResult, res failover.CallResult, attempts int) reply {
	if unsure == nil {
		rep := s.pass(tx.ch, res)
		rep.attempts = attempts
		return rep
	}
	s.enter(tx, who, "") // it is looked after, and sent once more if nobody shows it
	rep := own{status: 503, code: codeNoEndpoint, class: unsure.End.Class.String(), message: "transaction " + tx.hash.String() + " may have been sent",
		reason: unsure.Reason(), retryable: true}.reply()
	rep.attempts, rep.gone = attempts, res.End.Sub == fleet.SubCancelled && res.End.Class == fleet.ClassLocalFault
	return rep
}

// look asks a few endpoints for a transaction, in a time of its own: a client
// that leaves does not make its fate less worth knowing.
func (s *Server) look(ctx context.Context, tx *relay, who client, exclude []string) (endpoint string, found bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime)
	defer cancel()
	res := s.o.Caller.Call(ctx, failover.CallRequest{Chain: tx.ch.Name, Method: "eth_getTransactionByHash", Params: hashParams(tx.hash),
		Header: who.header, Caller: fleet.CallerProxy, Exclude: slices.Clone(exclude), Attempts: lookAt, Deadline: lookTime, Explicit: true})
	s.metrics.call(tx.ch, res)
	if !res.Answered || !res.End.OK() {
		return "", false
	}
	return res.Attempt.Endpoint.Name, true
}

func hashParams(h fleet.Hash) json.RawMessage { return json.RawMessage(`["` + h.String() + `"]`) }
