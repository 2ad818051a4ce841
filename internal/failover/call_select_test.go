package failover

import (
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/rpctop/internal/fleet"
)

// threeFar is a chain whose A serves and is some blocks behind, B a little.
func threeFar(t reporter, a, b uint64) *world {
	w := newWorld(t, spec(1_000, "A:", "B:", "C:"))
	w.run(5, w.allHonest())
	all := w.allHonest()
	all["A"], all["B"] = w.behind("A", 1_000, a), w.behind("B", 1_000, b)
	w.run(10, all)
	w.wantServes("A")
	return w
}

func (d *desk) allGive() *desk {
	d.script = map[string]answerer{}
	for _, e := range d.w.chain().Endpoints {
		d.script[e.Spec.Name] = gives(e.Spec.Name)
	}
	return d
}

func TestNobodyBelowTheFloorIsAsked(t *testing.T) {
	w := threeFar(t, 1, 0)
	d := newDesk(w, nil).allGive()
	floor := w.chain().Endpoint("A").Head.Number + 1
	r := d.call(CallRequest{Tip: true, Floor: floor})
	d.wantHanded("B")
	if want := []string{"A->B stale(behind-floor)"}; !slices.Equal(d.over, want) {
		t.Errorf("failovers %v, want %v", d.over, want)
	}
	r = d.call(CallRequest{Tip: true, Floor: floor + 1_000})
	if r.Answered || r.End.Class != fleet.ClassStale || r.End.Sub != SubBehindFloor || r.Attempt != nil {
		t.Errorf("ended as %+v", r.End)
	}
	for _, x := range r.Reasons {
		if x.Eligible || !strings.Contains(x.Why, "below block") {
			t.Errorf("reason of %s: %+v", x.Endpoint, x)
		}
	}
}

func TestReadsOfTheTipPassOverALaggardAndCountAsFailover(t *testing.T) {
	d := newDesk(threeFar(t, 6, 0), nil).allGive()
	d.call(CallRequest{Tip: true})
	d.call(CallRequest{})
	d.wantHanded("B", "A")
	if want := []string{"A->B stale(lagging)"}; !slices.Equal(d.over, want) {
		t.Errorf("failovers %v, want %v", d.over, want)
	}
}

func TestASessionsEndpointIsPreferredWhileItMayServe(t *testing.T) {
	w := honestPair(t, "C")
	d := newDesk(w, nil).allGive()
	d.call(CallRequest{Only: "C"})
	w.do(fleet.Command{Action: fleet.ActionEject, Endpoint: "C"})
	d.call(CallRequest{Only: "C"})
	r := d.call(CallRequest{Only: "C", Bound: true})
	d.wantHanded("C", "A")
	if r.End.Class != fleet.ClassNoEndpoint {
		t.Errorf("a call bound to an endpoint that may not serve ended as %+v", r.End)
	}
	if len(d.over) != 0 {
		t.Errorf("failovers %v", d.over)
	}
}

func TestExcludedEndpointsAreNotAsked(t *testing.T) {
	d := newDesk(honestPair(t, "C"), nil).allGive()
	d.call(CallRequest{Exclude: []string{"A", "B"}})
	d.wantHanded("C")
}

func TestACallMayBringItsOwnNumberOfAttempts(t *testing.T) {
	d := newDesk(honestPair(t, "C"), map[string]answerer{"A": unavailable(), "B": unavailable(), "C": gives("c")})
	d.call(CallRequest{Attempts: 1})
	d.wantHanded("A")
}

// allDown gates A and B as down, and C as stale.
func allDown(t reporter) *world {
	w := honestPair(t, "C")
	all := w.allHonest()
	all["C"] = w.frozenAt("C", blockAt(w.tipOf(1_000), 1_000))
	w.run(45, all)
	for range 4 {
		w.put(w.bad("A", fleet.ClassTransportFailure, "reset"))
		w.put(w.bad("B", fleet.ClassTransportFailure, "reset"))
	}
	w.wantState("A", GateDown)
	w.wantState("B", GateDown)
	w.wantState("C", GateStale)
	return w
}

func TestReadsAreServedDegradedWhenNobodyIsEligible(t *testing.T) {
	d := newDesk(allDown(t), nil).allGive()
	r := d.call(CallRequest{Tip: true, Floor: 1 << 60})
	d.wantHanded("C")
	if !r.Degraded || !r.Answered || !strings.Contains(r.Trace[0].Why, "degraded") {
		t.Errorf("degraded %v, trace %+v", r.Degraded, r.Trace)
	}
	for name, q := range map[string]CallRequest{
		"an explicit session": {Explicit: true},
		"a write":             {Method: "eth_sendRawTransaction"},
	} {
		t.Run(name, func(t *testing.T) {
			d.handed = nil
			r := d.call(q)
			d.wantHanded()
			if r.End.Class != fleet.ClassNoEndpoint || r.Degraded || len(r.Reasons) != 3 {
				t.Errorf("ended as %+v", r.End)
			}
		})
	}
}

func TestAStrictPinIsNotServedByAnotherEvenDegraded(t *testing.T) {
	w := honestPair(t, "C")
	w.do(fleet.Command{Action: fleet.ActionPin, Endpoint: "A", Strict: true})
	all := w.allHonest()
	all["C"] = w.frozenAt("C", blockAt(w.tipOf(1_000), 1_000))
	w.run(45, all)
	for range 4 {
		w.put(w.bad("A", fleet.ClassTransportFailure, "reset"))
	}
	w.wantState("A", GateDown)
	w.wantState("C", GateStale)
	d := newDesk(w, nil).allGive()
	r := d.call(CallRequest{})
	d.wantHanded("A")
	if !r.Degraded {
		t.Errorf("ended as %+v", r)
	}
}

func TestADegradedReadGoesOnToTheNextThatIsLeft(t *testing.T) {
	d := newDesk(allDown(t), map[string]answerer{"A": unavailable(), "B": gives("b"), "C": unavailable()})
	r := d.call(CallRequest{})
	d.wantHanded("C", "A", "B")
	if !r.Degraded || !r.Answered {
		t.Errorf("ended as %+v", r.End)
	}
}

func TestAPoolThatRestsIsOverloaded(t *testing.T) {
	w := honestPair(t)
	for name, hold := range map[string]fleet.Millis{"A": 60_000, "B": 20_000} {
		w.put(fleet.Failure{Endpoint: id(name), Kind: fleet.KindState, Outcome: fleet.Outcome{Class: fleet.ClassRateLimited, Status: 429}, Hold: hold})
	}
	w.wantState("A", GateThrottled)
	w.wantState("B", GateThrottled)
	d := newDesk(w, nil)
	r := d.call(CallRequest{})
	d.wantHanded()
	if r.End.Class != fleet.ClassRateLimited || r.RetryAfter != 20*time.Second {
		t.Errorf("ended as %+v, retry after %v, want the shortest hold of 20 s", r.End, r.RetryAfter)
	}
}

func TestAnEndpointThatRestsKeepsMissingFromBeingFinal(t *testing.T) {
	w := honestPair(t)
	w.put(fleet.Failure{Endpoint: id("B"), Kind: fleet.KindState, Outcome: fleet.Outcome{Class: fleet.ClassRateLimited, Status: 429}, Hold: 20_000})
	d := newDesk(w, map[string]answerer{"A": says(fleet.ClassUnsupported, "method")})
	if r := d.call(CallRequest{}); r.End.Class != fleet.ClassRateLimited || r.Covered {
		t.Errorf("ended as %+v", r.End)
	}
}

func TestCallsToWhatIsNotThere(t *testing.T) {
	d := newDesk(honestPair(t), nil)
	if r := d.c.Call(t.Context(), CallRequest{Chain: "nowhere", Method: "eth_call"}); r.End.Class != fleet.ClassNoEndpoint || !strings.Contains(r.End.Message, "nowhere") {
		t.Errorf("ended as %+v", r.End)
	}
	d.c.State = func() *State { return nil }
	if r := d.call(CallRequest{}); r.End.Class != fleet.ClassNoEndpoint {
		t.Errorf("ended as %+v", r.End)
	}
}

// I8: budget moves requests, and nothing else.
func TestAfterTheBudgetIsBackTheFirstIsFirstAgain(t *testing.T) {
	d := newDesk(honestPair(t), map[string]answerer{"A": noBudget(time.Hour), "B": gives("b")})
	for range 50 {
		d.call(CallRequest{})
	}
	d.script["A"] = gives("a")
	if r := d.call(CallRequest{}); r.Attempt.Endpoint.Name != "A" {
		t.Errorf("%s answered", r.Attempt.Endpoint.Name)
	}
	if d.over[0] != "A->B local-denial(rate)" {
		t.Errorf("failovers %v", d.over[:1])
	}
}
