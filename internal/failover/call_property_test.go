package failover

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"example.com/rpctop/internal/fleet"
)

var anyEnd = []fleet.Class{
	fleet.ClassOK, fleet.ClassDeterministicRevert, fleet.ClassTxKnown, fleet.ClassTxRejected, fleet.ClassBadRequest, fleet.ClassUnsupported,
	fleet.ClassStateUnavailable, fleet.ClassNodeLimit, fleet.ClassNotYetVisible, fleet.ClassRateLimited, fleet.ClassRemoteDenial,
	fleet.ClassTransportFailure, fleet.ClassTransportFailure, fleet.ClassMalformed, fleet.ClassServerError, fleet.ClassServerError, fleet.ClassWrongChain,
}

// health is all that this process knows of its endpoints besides the state.
func (d *desk) health() (out []any) {
	for _, e := range d.w.chain().Endpoints {
		h := d.c.hotOf(id(e.Spec.Name))
		out = append(out, h.run.Load(), h.until.Load(), h.gate, h.opens)
	}
	return out
}

// Each attempt selects anew by the state of its moment, never asks what may
// not serve, and no call exceeds its attempts; denials and cancels change
// nothing (I1, I2, I3, I6).
func TestWhateverHappensACallKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walk(t, func(w *world, _ *State, _ fleet.Input) {
			if rapid.IntRange(0, 3).Draw(t, "call") > 0 {
				return
			}
			d := newDesk(w, map[string]answerer{})
			if n := rapid.IntRange(0, 5).Draw(t, "attempts"); n > 0 {
				w.attempts(n)
			}
			q := CallRequest{Method: rapid.SampledFrom([]string{"eth_call", "eth_getLogs", "eth_sendRawTransaction", "acme_doIt"}).Draw(t, "method"),
				Tip: rapid.Bool().Draw(t, "tip"), Explicit: rapid.Bool().Draw(t, "explicit"), Only: rapid.SampledFrom([]string{"", "a", "b", "nobody"}).Draw(t, "only")}
			if rapid.Bool().Draw(t, "floored") {
				q.Floor = w.tipOf(1_000) - rapid.Uint64Range(0, 3).Draw(t, "floor")
			}
			for range 4 {
				d.mischief(t, &q)
			}
		})
	})
}

// mischief lets one call run among endpoints that do anything, while the state
// moves, and checks each hop.
func (d *desk) mischief(t *rapid.T, q *CallRequest) {
	w := d.w
	handed, denied, uncertain := 0, 0, false
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cancelled := false
	asked := map[string]bool{}
	ask := func(_ context.Context, a AttemptAsk) (*fleet.Attempt, error) {
		name := a.Endpoint.Name
		e := w.chain().Endpoint(name)
		g := d.c.hotOf(a.Endpoint).gated(d.now)
		degraded := d.nobodyEligible()
		switch {
		case cancelled:
			t.Fatalf("%s was asked after a cancel", name)
		case uncertain:
			t.Fatalf("%s got a write again whose fate is unknown", name)
		case e.Gate != nil && !degraded, g != nil && g.Name != GateDown:
			t.Fatalf("%s was asked under gate %+v, hot %+v", name, e.Gate, g)
		case e.Gate != nil && (e.Gate.Name != GateStale && e.Gate.Name != GateDown || q.Explicit || modeOf(q.Method) != modeRead):
			t.Fatalf("%s served degraded under gate %s", name, e.Gate.Name)
		case q.Floor > 0 && !degraded && (e.Head == nil || e.Head.Number < q.Floor):
			t.Fatalf("%s was asked below the floor", name)
		case asked[name] && d.untried(asked, q):
			t.Fatalf("%s was asked again while another is untried", name)
		}
		asked[name] = true
		before := d.health()
		switch rapid.IntRange(0, 9).Draw(t, "end") {
		case 0:
			denied++
			d.sameAfter = before
			return noBudget(time.Second)(ctx, a)
		case 1:
			handed++
			cancelled = true
			cancel()
			d.sameAfter, uncertain = before, modeOf(q.Method) != modeRead
			return &fleet.Attempt{Sent: true, Censored: true, Outcome: localEnd(fleet.SubCancelled, "")}, nil
		case 2: // the state moves meanwhile
			w.at += 700
			in := anyInput(t, w)
			w.put(in)
			d.now = w.at.Time()
		}
		d.sameAfter = nil
		handed++
		at := &fleet.Attempt{Sent: rapid.Bool().Draw(t, "sent"), Timing: fleet.Timing{Total: 1_000},
			Outcome: fleet.Outcome{Class: rapid.SampledFrom(anyEnd).Draw(t, "class")}}
		uncertain = next(modeOf(q.Method), at.Outcome, at.Sent) == unknown
		return at, nil
	}
	for _, n := range []string{"a", "b", "c"} {
		d.script[n] = ask
	}
	limit := w.s.Policy.Attempts
	r := d.callIn(ctx, *q)
	switch {
	case handed > limit:
		t.Fatalf("%d attempts, at most %d allowed", handed, limit)
	case r.Attempts() != handed || len(r.Denials) != denied:
		t.Fatalf("the trace has %d attempts and %d denials of %d and %d", r.Attempts(), len(r.Denials), handed, denied)
	case denied > 0 && !r.Answered && !r.Unknown && !cancelled && handed < limit && r.End.Class != fleet.ClassLocalDenial && r.End.Class != fleet.ClassLocalFault && !final(q.Method, r):
		t.Fatalf("a denial among the outcomes ended as %s: %s", r.End.Class, r.Reason())
	case r.Unknown != uncertain:
		t.Fatalf("unknown is %v, want %v: %s", r.Unknown, uncertain, r.Reason())
	case d.sameAfter != nil && !slices.Equal(d.sameAfter, d.health()):
		t.Fatal("a denial or a cancel changed an endpoint's health")
	}
}

// final: a failure that ended the call where it was, whatever came before.
func final(method string, r CallResult) bool {
	last := r.Trace[len(r.Trace)-1]
	return last.Denial == nil && next(modeOf(method), last.Outcome, last.Sent) == giveUp
}

func (d *desk) nobodyEligible() bool {
	for _, x := range Order(d.w.s, d.w.chain(), Ask{}).Candidates {
		if x.Eligible && !d.c.hotOf(id(x.Endpoint)).out(d.now) {
			return false
		}
	}
	return true
}

func (d *desk) untried(asked map[string]bool, q *CallRequest) bool {
	for _, x := range Order(d.w.s, d.w.chain(), Ask{}).Candidates {
		e := d.w.chain().Endpoint(x.Endpoint)
		if x.Eligible && !asked[x.Endpoint] && !d.c.hotOf(id(x.Endpoint)).out(d.now) && (q.Floor == 0 || e.Head != nil && e.Head.Number >= q.Floor) {
			return true
		}
	}
	return false
}

func TestManyCallsAtOnce(t *testing.T) {
	w := honestPair(t, "C")
	states := []*State{w.s}
	for range 20 {
		w.run(1, w.allHonest())
		states = append(states, w.s)
	}
	var mu sync.Mutex
	n := 0
	c := &Caller{Now: func() time.Time { return w.at.Time() }, Sleep: func(context.Context, time.Duration) error { return nil },
		State: func() *State { mu.Lock(); defer mu.Unlock(); n++; return states[n%len(states)] },
		Asker: askFunc(func(ctx context.Context, a AttemptAsk) (*fleet.Attempt, error) {
			if a.Endpoint.Name == "A" {
				return unavailable()(ctx, a)
			}
			return gives("1")(ctx, a)
		})}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				if r := c.Call(t.Context(), CallRequest{Chain: "main", Method: "eth_call", Tip: true}); !r.Answered {
					t.Errorf("ended as %+v", r.End)
				}
			}
		})
	}
	all.Wait()
}

type askFunc func(context.Context, AttemptAsk) (*fleet.Attempt, error)

func (f askFunc) Ask(ctx context.Context, a AttemptAsk) (*fleet.Attempt, error) { return f(ctx, a) }
