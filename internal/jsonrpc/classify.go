package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"

	"example.com/rpctop/internal/fleet"
)

// Question is what was asked, as far as judging the answer needs it.
type Question struct {
	Method    string          // MethodBatch for a batch
	ID        json.RawMessage // nil: the id is not checked
	Params    json.RawMessage // nil: unknown
	Members   []Question      // of a batch, in the order of the request
	ChainID   uint64          // expected; 0: not checked
	RawTxHash fleet.Hash      // hash of the bytes sent; zero: not checked
	Client    string          // what web3_clientVersion said; "": unknown
	Now       time.Time       // for dates in hints; zero: unknown
}

// MethodBatch is the method of a Question that asks for several things.
const MethodBatch = "batch"

// Answer is what came back: an HTTP answer, or the fault that there was instead.
type Answer struct {
	Status    int                 // 0: there was none
	Header    map[string][]string // canonical keys
	Body      []byte
	Fault     Fault
	FaultText string // redacted; "": a text of ours stands in
}

// Verdict is what an answer means and what follows from it.
type Verdict struct {
	Outcome fleet.Outcome
	Result  json.RawMessage // verbatim, shared with the answer's body; nil unless the class is ok

	Failover  bool          // this request should go to another endpoint now
	Charge    bool          // a fault of the endpoint, for its health or its gates
	RetrySame bool          // the same request may go to the same endpoint again
	Cooldown  time.Duration // rest of the endpoint; 0: none

	Revert        *Revert // what the revert says; nil if it says nothing
	Nonconforming string  // accepted against the letter: what; "" if nothing was
	Items         []Item  // of a batch, in the order of the request
	Rule          string  // the row of the table that decided; "" if none did
	Detail        string  // third-party text for the live screen only: never to be stored
	Body          []byte  // the body as it was judged, unpacked; nil without one
}

// Item is the verdict on one member of a batch.
type Item struct {
	ID      json.RawMessage
	Verdict Verdict
}

// Classify judges one answer. It never fails: what nobody recognises has a
// class of its own. The order of judgement: our own fault, the transport's, a
// complete JSON-RPC body, the id, the error's meaning; HTTP status last.
func Classify(q Question, a Answer) Verdict {
	j := judge{q: &q, a: &a}
	if a.Fault != FaultNone {
		return j.fault()
	}
	body, problem := unpack(&a)
	if problem != nil {
		if errors.Is(problem, errTooLarge) {
			a.Fault = FaultResponseCap
			return j.fault()
		}
		return j.malformed(subEncoding, problem.Error())
	}
	v := j.body(body)
	v.Body = body
	return v
}

// judge carries one question and its answer through the judgement.
type judge struct {
	q *Question
	a *Answer
}

// verdict makes a verdict with what follows from its class.
func (j *judge) verdict(class fleet.Class, sub string, origin fleet.Origin, message string) Verdict {
	c := consequenceOf(class, sub)
	return Verdict{
		Outcome:  fleet.Outcome{Class: class, Sub: sub, Origin: origin, Status: j.a.Status, Message: fleet.Sanitize(message)},
		Failover: c.failover, Charge: c.charge, RetrySame: c.retry,
	}
}

func (j *judge) malformed(sub, message string) Verdict {
	return j.verdict(fleet.ClassMalformed, sub, fleet.OriginNode, message)
}

// body judges a complete body by its first byte.
func (j *judge) body(body []byte) Verdict {
	start := 0
	bom := bytes.HasPrefix(body, []byte("\ufeff"))
	if bom {
		start = len("\ufeff")
	}
	start = skipSpace(body, start)
	batch := j.q.Method == MethodBatch
	if start < len(body) {
		var v Verdict
		done := false
		switch body[start] {
		case '{':
			if env, end := readEnvelope(body, start); end >= 0 && skipSpace(body, end) == len(body) {
				v, done = j.object(env, batch)
			}
		case '[':
			if envs, end := readEnvelopes(body, start); end >= 0 && skipSpace(body, end) == len(body) {
				v, done = j.array(envs, batch)
			}
		}
		if done {
			if bom {
				v.note("byte order mark before the answer")
			}
			return v
		}
	}
	return j.bare(body)
}

// object judges one JSON object; done is false if it is no JSON-RPC answer and
// the HTTP status has the word.
func (j *judge) object(env envelope, batch bool) (v Verdict, done bool) {
	if !env.answers() {
		if !j.httpOK() || !env.claimsRPC() {
			return j.foreign(env), true
		}
		return j.malformed(subNoResult, "neither result nor error"), true
	}
	if batch {
		return j.batch([]envelope{env}, true), true
	}
	return j.single(env), true
}

// array judges a JSON array.
func (j *judge) array(envs []envelope, batch bool) (v Verdict, done bool) {
	if batch {
		return j.batch(envs, false), true
	}
	// One error in an array still says what is wrong; a value in one is not
	// what was asked for.
	if len(envs) == 1 && envs[0].isError() {
		v := j.single(envs[0])
		v.note("array for a single request")
		return v, true
	}
	return j.malformed(subBatch, "array for a single request"), true
}

// single judges one answer to one question.
func (j *judge) single(env envelope) Verdict {
	if env.duplicate != "" {
		return j.malformed(subShape, "member "+env.duplicate+" twice")
	}
	var v Verdict
	idNote, idBad := checkID(j.q.ID, env)
	if env.isError() {
		if env.result != nil && !isNull(env.result) {
			return j.malformed(subBoth, "both result and error")
		}
		v = j.rpcError(env)
		// A gateway that refuses before it reads the request does not know the
		// id. Such a refusal carries no value that could be somebody else's.
		if idBad != nil && unreadID(env.id) && v.Outcome.Origin == fleet.OriginGateway {
			idNote, idBad = "refusal with an id of its own", nil
		}
	}
	if idBad != nil {
		return j.malformed(idBad.sub, idBad.text)
	}
	if !env.isError() {
		v = j.result(env.result)
	}
	v.note(idNote)
	v.note(env.departure())
	if v.Outcome.OK() && j.a.Status != 200 && j.a.Status != 0 {
		v.note("result with HTTP " + itoa(j.a.Status))
	}
	return v
}

func (j *judge) httpOK() bool { return j.a.Status == 0 || j.a.Status >= 200 && j.a.Status < 300 }

// note records a departure from the letter that was accepted; the first stands.
func (v *Verdict) note(what string) {
	if v.Nonconforming == "" {
		v.Nonconforming = what
	}
}
