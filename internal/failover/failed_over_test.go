package failover

import (
	"strings"
	"testing"

	"example.com/rpctop/internal/fleet"
)

func (w *world) fails(from string, n int64, c fleet.FailoverCount) int {
	c.N = n
	return len(w.put(fleet.Traffic{Endpoint: id(from), Kind: fleet.KindState, Failovers: []fleet.FailoverCount{c}}))
}

func TestFailoversOfOneKindAreToldOnceInFiveSeconds(t *testing.T) {
	w := honestPair(t, "C")
	to := fleet.FailoverCount{To: "B", Class: fleet.ClassTransportFailure, Sub: "timeout"}
	if n := w.fails("A", 3, to); n != 1 {
		t.Fatalf("%d events, want the first told at once", n)
	}
	e := w.last(fleet.EventFailover)
	if e.From != "A" || e.To != "B" || e.Class != to.Class || e.Sub != "timeout" || string(e.Data) != `{"count":3}` || !strings.Contains(e.Reason, "3 calls were answered by B since A ended as transport-failure(timeout)") {
		t.Errorf("event %+v", e)
	}
	all := w.allHonest()
	for range 3 {
		w.run(1, all)
		w.fails("A", 2, to)
	}
	other := to
	other.Sub = "reset"
	w.fails("A", 1, other)
	if n := w.count(fleet.EventFailover); n != 2 {
		t.Errorf("%d events within 5 s, want 2: one for each reason\n%s", n, w.history())
	}
	w.run(3, all)
	if e := w.last(fleet.EventFailover); w.count(fleet.EventFailover) != 3 || string(e.Data) != `{"count":6}` {
		t.Errorf("after 5 s %s, want the 6 that came since\n%s", e.Data, w.history())
	}
	w.run(20, all)
	if n := w.count(fleet.EventFailover); n != 3 || len(w.chain().Failovers) != 0 {
		t.Errorf("%d events, and %d kinds kept, after quiet", n, len(w.chain().Failovers))
	}
}

func TestWhyACallFailedOverReadsAsASentence(t *testing.T) {
	for want, c := range map[string]fleet.FailoverCount{
		"since A is lagging":                              {Class: fleet.ClassStale, Sub: subLagging},
		"since A is behind the floor":                     {Class: fleet.ClassStale, Sub: SubBehindFloor},
		"since A was denied by our own limits (budget)":   {Class: fleet.ClassLocalDenial, Sub: "budget"},
		"1 call was answered by B since A ended as stale": {Class: fleet.ClassStale},
	} {
		w := honestPair(t)
		c.To = "B"
		w.fails("A", 1, c)
		if got := w.last(fleet.EventFailover).Reason; !strings.Contains(got, want) {
			t.Errorf("%q, want %q in it", got, want)
		}
	}
}

func TestTheKindsOfFailoverThatAreKeptAreBounded(t *testing.T) {
	w := honestPair(t)
	for i := range int64(3 * failoverKinds) {
		w.fails("A", 1, fleet.FailoverCount{To: "B", Class: fleet.ClassServerError, Sub: itoa(i)})
	}
	if n := len(w.chain().Failovers); n > failoverKinds {
		t.Errorf("%d kinds kept", n)
	}
	if n := w.count(fleet.EventFailover); n != 3*failoverKinds {
		t.Errorf("%d events, want each told", n)
	}
}

func TestFailoversChangeNoDecision(t *testing.T) {
	w := honestPair(t)
	before := encode(t, w.s)
	n := len(w.events)
	w.fails("A", 5, fleet.FailoverCount{To: "B", Class: fleet.ClassServerError})
	s := *w.s
	c := *s.Chains[0]
	c.Failovers = nil
	s.Chains = []*Chain{&c}
	s.Seq--
	s.Events -= uint64(len(w.events) - n)
	if got := encode(t, &s); got != before {
		t.Errorf("the state changed:\n%s\n%s", before, got)
	}
}

func TestFailuresCountedInTrafficMakeNoRun(t *testing.T) {
	w := honestPair(t)
	w.put(fleet.Traffic{Endpoint: id("A"), Kind: fleet.KindState, Counts: []fleet.ClassCount{{Class: fleet.ClassOK, N: 90}, {Class: fleet.ClassServerError, N: 8}}})
	w.put(fleet.Failure{Endpoint: id("A"), Kind: fleet.KindState, Outcome: fleet.Outcome{Class: fleet.ClassServerError}, Run: 1})
	w.wantState("A", StateOK)
	if e := w.chain().Endpoint("A"); e.Run != 1 || e.Failures != 9 {
		t.Errorf("run %d of %d failures, want 1 of 9", e.Run, e.Failures)
	}
}

func TestATrafficRowOfSuccessesEndsARun(t *testing.T) {
	w := honestPair(t)
	w.put(fleet.Failure{Endpoint: id("A"), Kind: fleet.KindState, Outcome: fleet.Outcome{Class: fleet.ClassServerError}, Run: 2})
	w.put(fleet.Traffic{Endpoint: id("A"), Kind: fleet.KindState, Counts: []fleet.ClassCount{{Class: fleet.ClassOK, N: 1}}})
	w.put(w.bad("A", fleet.ClassServerError, ""))
	w.wantState("A", StateOK)
	if e := w.chain().Endpoint("A"); e.Run != 1 {
		t.Errorf("run %d, want 1", e.Run)
	}
}
