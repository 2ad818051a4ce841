package failover

import (
	"strings"
	"time"

	"example.com/rpctop/internal/fleet"
)

// CallResult is how a call ended, with the trace of how it came there.
type CallResult struct {
	// Attempt is the answer to pass on when the call has one (End then has its
	// class), else the most telling failure; nil: nothing was handed over that
	// has an answer.
	Attempt *fleet.Attempt
	// End is what the call ended as. Its class is that of the answer, or
	//   local-denial  a limit of ours refused, alone or mixed with failures: OVERLOADED
	//   rate-limited  the endpoints rest: overloaded as well
	//   no-endpoint   nobody may serve; Reasons says why
	//   stale         with SubBehindFloor: nobody's head is high enough
	//   local-fault   cancelled, or out of time
	// or the most telling class of the failures.
	End fleet.Outcome
	// Answered: Attempt is an answer to be passed on as it is, an error of the
	// client's own making or a revert included.
	Answered bool
	// Unknown: a write may have happened. The caller looks it up before it
	// says anything.
	Unknown bool
	// Covered: every endpoint that could know said the same (see End), so that
	// "missing" and "unsupported" are final.
	Covered    bool
	Degraded   bool // answered by an endpoint that is stale or down
	Trace      []Hop
	Denials    []*fleet.Denial
	RetryAfter time.Duration     // the shortest wait that was named; 0: none
	Reasons    []fleet.Candidate // of a call without an answer: each endpoint's standing
}

// Hop is one attempt, or one refusal of our own, of a call.
type Hop struct {
	Endpoint string
	Outcome  fleet.Outcome // of a denial: local-denial
	Latency  fleet.Micros
	Sent     bool          // bytes may have left
	Denial   *fleet.Denial // not nil: nothing was handed over
	Why      string        // why this endpoint was chosen, after what the one before ended as

	attempt *fleet.Attempt // nil: denied
}

// Attempts counts what was handed over.
func (r CallResult) Attempts() int {
	n := 0
	for _, h := range r.Trace {
		if h.Denial == nil {
			n++
		}
	}
	return n
}

// Reason tells the call in one line: each endpoint that was asked, and what it
// said.
func (r CallResult) Reason() string {
	if len(r.Trace) == 0 {
		return r.End.Message
	}
	var b strings.Builder
	for i, h := range r.Trace {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(h.Endpoint + ": " + h.said())
	}
	return b.String()
}

func (h Hop) said() string {
	if h.Denial != nil {
		return h.Denial.Error()
	}
	return h.Outcome.Evidence()
}

// hop adds to the trace.
func (k *run) hop(p choice, a *fleet.Attempt, d *fleet.Denial) {
	h := Hop{Endpoint: p.seat.id.Name, Denial: d, Why: p.seat.why}
	if len(k.res.Trace) > 0 || p.degraded || p.repeat {
		h.Why = k.why(p)
	}
	if d != nil {
		h.Outcome = deniedAs(d)
		k.wait(d.RetryAfter)
	} else {
		h.Outcome, h.Latency, h.Sent = a.Outcome, a.Timing.Total, a.Sent
		k.wait(a.RetryAfter)
	}
	h.attempt = a
	k.res.Trace = append(k.res.Trace, h)
}

func (k *run) why(p choice) string {
	before := ""
	if n := len(k.res.Trace); n > 0 {
		h := k.res.Trace[n-1]
		before = h.Endpoint + " ended as " + short(h.Outcome) + ": "
	}
	switch {
	case p.repeat:
		return before + "no other endpoint is left, asked again after a pause"
	case p.degraded:
		return before + "nobody is eligible, served degraded from the best that is left (" + p.seat.why + ")"
	}
	return before + "the next in order that was not asked yet (" + p.seat.why + ")"
}

func short(o fleet.Outcome) string {
	if o.Sub == "" {
		return o.Class.String()
	}
	return o.Class.String() + "(" + o.Sub + ")"
}

// deniedAs is the outcome that a denial stands for: what filled the failure
// cache, where that was the endpoint's word, else want of budget or a rule of
// ours.
func deniedAs(d *fleet.Denial) fleet.Outcome {
	if d.Recorded != nil && !d.WantOfBudget() {
		return *d.Recorded
	}
	return fleet.Outcome{Class: fleet.ClassLocalDenial, Sub: string(d.Kind), Origin: fleet.OriginLocal, Message: d.Error()}
}

func (k *run) wait(d time.Duration) {
	if d > 0 && (k.res.RetryAfter == 0 || d < k.res.RetryAfter) {
		k.res.RetryAfter = d
	}
}
