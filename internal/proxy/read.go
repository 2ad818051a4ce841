package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"example.com/rpctop/internal/failover"
	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/jsonrpc"
)

// read carries a question out that changes nothing.
func (s *Server) read(ctx context.Context, ch *chain, m method, in jsonrpc.Incoming, who client) reply {
	a, now, ref := m.read(in.Method, in.Params), s.o.Now(), s.refOf(ch)
	v := s.book.view(ch, who.session, in.Params, now, ref)
	r := failover.CallRequest{
		Chain: ch.Name, Method: in.Method, Params: in.Params, Header: who.header, Caller: fleet.CallerProxy, Deadline: s.o.Limits.Call,
		Tip: a.tip, Height: a.height, Explicit: who.session != "",
	}
	if a.tip {
		r.Floor, r.Only = v.floor, v.only
	} else if v.named {
		r.Only = v.only
	}
	if a.reach > 0 && ref.known && a.reach <= ref.number {
		// An endpoint that is not there yet gives the logs that it has, and
		// does not say that some are missing.
		r.Floor = max(r.Floor, a.reach)
	}
	var memo nullKey
	if m.gone {
		memo = nullKeyOf(ch, in)
		r.Attempts, _, _ = s.facts(ch)
		if s.nulls.holds(memo, ref) {
			r.Attempts = 1
		}
	}
	r.Accept = s.accept(ch, a, in.Method, r.Floor, r.Explicit)
	res := s.ask(ctx, ch, r)
	if m.gone && res.End.Class == fleet.ClassNotYetVisible {
		if res.Covered {
			s.nulls.put(memo, ref)
		} else if r.Attempts == 1 && s.nulls.holds(memo, ref) {
			res.Covered = true // as it was a moment ago, at this height
		}
	}
	rep := s.pass(ch, res)
	if rep.fail == nil && res.Answered {
		s.learn(ch, v, a, in, &rep, now, ref)
	}
	return rep
}

// ask calls, and waits a while where nobody has yet what the session has seen.
func (s *Server) ask(ctx context.Context, ch *chain, r failover.CallRequest) failover.CallResult {
	res := s.o.Caller.Call(ctx, r)
	if res.End.Class != fleet.ClassStale || res.Answered {
		return res
	}
	_, blockTime, _ := s.facts(ch)
	wait := min(2*blockTime, 10*time.Second)
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	again := time.NewTicker(min(max(blockTime/8, 50*time.Millisecond), time.Second))
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return res
		case <-again.C:
		}
		next := s.o.Caller.Call(ctx, r)
		if ctx.Err() != nil && !next.Answered {
			return res
		}
		if res = next; res.End.Class != fleet.ClassStale || res.Answered {
			return res
		}
	}
}

// accept gives the last look at an answer before it is passed on; nil where
// there is nothing to look at.
func (s *Server) accept(ch *chain, a about, method string, floor uint64, explicit bool) func(*fleet.Attempt) *failover.Rejection {
	switch {
	case method == "eth_chainId" && ch.ID != 0:
		return func(at *fleet.Attempt) *failover.Rejection {
			if n, err := jsonrpc.ParseUint64(at.Result); err == nil && n == ch.ID {
				return nil
			}
			s.o.Suspect(at.Endpoint)
			return reject(fleet.ClassWrongChain, "", fmt.Sprintf("is chain %s, expected %d", fleet.SanitizeMax(string(at.Result), 40), ch.ID))
		}
	case method == "eth_blockNumber", method == "eth_getBlockByNumber" && a.latest:
		return func(at *fleet.Attempt) *failover.Rejection {
			n, ok := height(method, at.Result)
			if !ok {
				return nil
			}
			if ref := s.refOf(ch); ref.known && n > ref.most {
				s.o.Suspect(at.Endpoint)
				return reject(fleet.ClassForked, "ahead", "block "+utoa(n)+" is too far above the reference head "+utoa(ref.number))
			}
			if n < floor && (explicit || !s.gated(at.Endpoint)) {
				return reject(fleet.ClassStale, failover.SubBehindFloor, "answered with block "+utoa(n)+", the session has seen "+utoa(floor))
			}
			return nil
		}
	case method == "eth_getTransactionReceipt", method == "eth_getTransactionByHash", method == "eth_getBlockByHash":
		return func(at *fleet.Attempt) *failover.Rejection {
			n, ok := height(method, at.Result)
			if ref := s.refOf(ch); ok && ref.known && n > ref.most {
				s.o.Suspect(at.Endpoint)
				return reject(fleet.ClassForked, "ahead", "block "+utoa(n)+" is too far above the reference head "+utoa(ref.number))
			}
			return nil
		}
	}
	return nil
}

func reject(c fleet.Class, sub, why string) *failover.Rejection {
	return &failover.Rejection{Outcome: fleet.Outcome{Class: c, Sub: sub, Origin: fleet.OriginNode, Message: why}}
}

// gated reports whether an endpoint serves only because nobody may.
func (s *Server) gated(id fleet.EndpointID) bool {
	st := s.o.State()
	if st == nil {
		return false
	}
	c := st.Chain(id.Chain)
	if c == nil {
		return false
	}
	e := c.Endpoint(id.Name)
	return e != nil && e.Gate != nil
}

// pass makes the client's answer from how a call ended, and counts it.
func (s *Server) pass(ch *chain, res failover.CallResult) reply {
	s.metrics.call(ch, res)
	for _, h := range res.Trace {
		if h.Denial == nil && h.Outcome.Class == fleet.ClassWrongChain {
			s.o.Suspect(ch.endpoint(h.Endpoint))
		}
	}
	rep, ok := asItIs(res)
	if !ok {
		rep = ended(res)
	}
	rep.attempts = res.Attempts()
	_, _, stalled := s.facts(ch)
	switch {
	case !res.Answered:
	case res.Degraded:
		rep.degraded = "nobody is eligible; " + rep.endpoint + " may be behind"
	case stalled:
		rep.degraded = "no endpoint of the chain has a new block"
	case s.disputed(ch):
		rep.degraded = "the endpoints of the chain are on two forks, and nobody knows which is right"
	}
	return rep
}

// asItIs gives an endpoint's own words where they are the answer: results,
// reverts, errors of the client's own making, and what all endpoints say alike.
func asItIs(res failover.CallResult) (reply, bool) {
	at := res.Attempt
	if at == nil {
		return reply{}, false
	}
	rep := reply{class: res.End.Class.String(), endpoint: at.Endpoint.Name}
	if res.Answered && at.Outcome.OK() && at.Result != nil {
		rep.result = at.Result
		return rep, true
	}
	if at.Outcome.Class != res.End.Class {
		return reply{}, false
	}
	result, fail := jsonrpc.Outer(at.Body)
	if res.Unknown && (res.End.Sub != fleet.SubUnrecognised || fail == nil) {
		return reply{}, false // an error that nobody knows is the endpoint's word all the same
	}
	switch {
	case res.Answered:
	case result != nil && string(result) != "null":
		return reply{}, false // a result that was rejected
	case res.End.Class == fleet.ClassNotYetVisible && result != nil && !res.Covered:
		return reply{}, false // "missing" needs everybody's word
	case res.End.Class == fleet.ClassUnsupported && !res.Covered:
		return reply{}, false
	case res.End.Class == fleet.ClassServerError && (res.End.Sub != fleet.SubUnrecognised || fail == nil):
		return reply{}, false
	case !verdict(res.End.Class):
		return reply{}, false
	}
	if fail == nil && result == nil {
		if !res.Answered {
			return reply{}, false
		}
		fail = worded(at.Outcome)
	}
	rep.result, rep.fail = result, fail
	return rep, true
}

// verdict lists the classes whose last word goes to the client as it is.
func verdict(c fleet.Class) bool {
	switch c {
	case fleet.ClassUnsupported, fleet.ClassStateUnavailable, fleet.ClassNodeLimit, fleet.ClassNotYetVisible, fleet.ClassTxRejected, fleet.ClassServerError:
		return true
	}
	return false
}

// worded makes an error of an answer that was none of JSON-RPC, and yet the
// last word: a gateway's plain "bad request", for one.
func worded(o fleet.Outcome) json.RawMessage {
	code := codeNotARequest
	if o.Code != nil {
		code = int(*o.Code)
	}
	b, err := json.Marshal(ownError{code, o.Message, ownData{Origin: o.Origin.String(), Class: o.Class.String(), Reason: o.Evidence()}})
	if err != nil { // strings and numbers always encode
		return json.RawMessage(`{"code":-32603,"message":"internal error"}`)
	}
	return b
}

func utoa(n uint64) string { return strconv.FormatUint(n, 10) }
