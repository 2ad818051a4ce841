package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"example.com/rpctop/internal/admission"
	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/jsonrpc"
)

// Call is one JSON-RPC request to one endpoint.
type Call struct {
	Endpoint fleet.EndpointID
	Method   string
	Params   json.RawMessage // a JSON array; nil: []
	Caller   fleet.Caller
	Timeout  time.Duration     // of this attempt; 0: the endpoint's own
	Header   map[string]string // forwarded; what frames a message or names a caller is dropped
	// NoCache passes the immutable cache by, as watches and corroboration must.
	NoCache bool
}

// Do hands one request over and waits for what it ends as. The error is a
// *fleet.Denial (errors.As) if and only if nothing was handed over for a reason
// of ours, and there is no other error: a caller that gave up before gets an
// attempt that is local-fault(cancelled), not sent, and charged to nobody.
func (d *Door) Do(ctx context.Context, c Call) (*fleet.Attempt, error) {
	e, err := d.open(c.Endpoint, c.Caller)
	if err != nil {
		return nil, err
	}
	defer d.running.Done()
	key, cacheable := immutableKey(c)
	if cacheable {
		if a := d.cached(c, key); a != nil {
			return a, nil
		}
	}
	id := d.lastID.Add(1)
	body, err := jsonrpc.AppendCall(nil, jsonrpc.Call{ID: id, Method: c.Method, Params: c.Params})
	if err != nil {
		return d.notARequest(c), nil
	}
	r := admission.Request{Endpoint: c.Endpoint, Method: c.Method, Caller: c.Caller}
	release, err := d.gates.Admit(ctx, d.now, r)
	if err != nil {
		return d.notAdmitted(c, err)
	}
	defer release()

	start := d.now()
	q := d.question(e, c, id, start)
	x := d.exchange(ctx, e, c.Header, body, orElse(c.Timeout, e.timeout), repeatable(c.Method))
	a := newAttempt(c, x, start)
	if x.local != nil {
		a.Outcome, a.Censored = *x.local, true
		return a, nil
	}
	x.answer.Body = d.redactor.body(x.answer.Body)
	d.judge(a, jsonrpc.Classify(q, x.answer), x.answer.Body, start)
	if cacheable {
		d.keep(key, a)
	}
	return a, nil
}

// DoBatch sends several calls to one endpoint as one HTTP request. They are
// admitted together or not at all; endpoint, caller, time-out and headers are
// those of the first. There is one attempt for each call, in their order; all
// share the timing. The error is as with Do.
func (d *Door) DoBatch(ctx context.Context, calls []Call) ([]*fleet.Attempt, error) {
	if len(calls) == 0 {
		return nil, nil
	}
	first := calls[0]
	e, err := d.open(first.Endpoint, first.Caller)
	if err != nil {
		return nil, err
	}
	defer d.running.Done()
	out := make([]*fleet.Attempt, len(calls))
	r := admission.Request{Endpoint: first.Endpoint, Method: jsonrpc.MethodBatch, Caller: first.Caller}
	members := make([]jsonrpc.Call, len(calls))
	last, safe := d.lastID.Add(uint64(len(calls))), true
	for i, c := range calls {
		r.Members = append(r.Members, c.Method)
		members[i] = jsonrpc.Call{ID: last - uint64(len(calls)-1-i), Method: c.Method, Params: c.Params}
		safe = safe && repeatable(c.Method)
	}
	body, err := jsonrpc.AppendBatch(nil, members)
	if err != nil {
		for i, c := range calls {
			out[i] = d.notARequest(c)
		}
		return out, nil
	}
	release, err := d.gates.Admit(ctx, d.now, r)
	if err != nil {
		for i, c := range calls {
			if out[i], err = d.notAdmitted(c, err); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	defer release()

	start := d.now()
	q := jsonrpc.Question{Method: jsonrpc.MethodBatch, ChainID: e.chainID, Now: start}
	for i, c := range calls {
		q.Members = append(q.Members, d.question(e, c, members[i].ID, start))
	}
	x := d.exchange(ctx, e, first.Header, body, orElse(first.Timeout, e.timeout), safe)
	for i, c := range calls {
		out[i] = newAttempt(c, x, start)
		if x.local != nil {
			out[i].Outcome, out[i].Censored = *x.local, true
		}
	}
	if x.local != nil {
		return out, nil
	}
	x.answer.Body = d.redactor.body(x.answer.Body)
	whole := jsonrpc.Classify(q, x.answer)
	for i := range calls {
		v := whole
		if len(whole.Items) == len(calls) {
			v = whole.Items[i].Verdict
		}
		d.judge(out[i], v, nil, start)
	}
	return out, nil
}

// open finds an endpoint and counts the call in; the caller counts it out.
func (d *Door) open(id fleet.EndpointID, caller fleet.Caller) (*endpoint, error) {
	deny := func(kind fleet.DenialKind, scope string) error {
		return &fleet.Denial{Kind: kind, Scope: scope, Endpoint: id, Caller: caller, At: d.now()}
	}
	e := d.endpoints[id]
	if e == nil {
		return nil, deny(fleet.DenyRule, "request") // no such endpoint in the config
	}
	if !d.enter() {
		return nil, deny(fleet.DenyShutdown, "global")
	}
	return e, nil
}

// notAdmitted passes a denial on, and tells a caller that gave up from it.
func (d *Door) notAdmitted(c Call, err error) (*fleet.Attempt, error) {
	var denial *fleet.Denial
	if errors.As(err, &denial) {
		return nil, err
	}
	a := &fleet.Attempt{Endpoint: c.Endpoint, Method: c.Method, Start: fleet.MillisOf(d.now()), Censored: true}
	a.Outcome = *localFault(fleet.SubCancelled, "cancelled by the caller before anything was sent")
	if errors.Is(err, context.DeadlineExceeded) {
		a.Outcome = *localFault(fleet.SubTimeout, "the call ran out of time before anything was sent")
	}
	return a, nil
}

// notARequest answers a call whose parameters are no JSON: wrong everywhere,
// so it is not even counted.
func (d *Door) notARequest(c Call) *fleet.Attempt {
	return &fleet.Attempt{
		Endpoint: c.Endpoint, Method: c.Method, Start: fleet.MillisOf(d.now()), Censored: true,
		Outcome: fleet.Outcome{
			Class: fleet.ClassBadRequest, Sub: "params", Origin: fleet.OriginLocal,
			Message: "the parameters are no JSON array or object",
		},
	}
}

func newAttempt(c Call, x *exchange, start time.Time) *fleet.Attempt {
	return &fleet.Attempt{
		Endpoint: c.Endpoint, Method: c.Method, Start: fleet.MillisOf(start), Timing: x.timing, Sent: x.sent,
	}
}

// judge completes an attempt by the verdict on its answer, and lets the limits
// learn from it. body is what a face may pass on.
func (d *Door) judge(a *fleet.Attempt, v jsonrpc.Verdict, body []byte, start time.Time) {
	a.Outcome = v.Outcome
	a.Outcome.Message = d.redactor.text(v.Outcome.Message)
	a.Result = bytes.Clone(v.Result)
	if v.Revert != nil && len(v.Revert.Data) > 0 {
		a.Result = fmt.Appendf(nil, `"0x%x"`, v.Revert.Data)
	}
	a.Body = body
	if !v.Outcome.OK() {
		a.Body = d.redactor.errorBody(body)
	}
	a.RetryAfter = d.gates.Learn(d.now(), admission.Lesson{
		Endpoint: a.Endpoint, Method: a.Method, Start: start, Outcome: a.Outcome, RetryAfter: v.Cooldown,
	})
}

func orElse(d, other time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return other
}

// repeatable reports whether a request may be sent again on a fresh connection
// when a kept one was dead: never what could change something twice.
func repeatable(method string) bool {
	switch fleet.KindOf(method) {
	case fleet.KindSubmit:
		return false
	case fleet.KindOther:
		return method == "web3_clientVersion"
	}
	return true
}
