package failover

import (
	"testing"

	"example.com/rpctop/internal/fleet"
)

func TestFailuresThatAllShareAreThisMachines(t *testing.T) {
	for name, tc := range map[string]struct {
		a, b    string // subs
		accept  bool   // b's TCP connection was accepted
		excused bool
		sub     string
	}{
		"all names fail at once":                    {"dns", "dns", false, true, "network"},
		"all certificates look not yet valid":       {"tls-not-yet-valid", "tls-not-yet-valid", true, true, "clock"},
		"every request times out after a sleep":     {"timeout", "timeout", false, true, "network"},
		"two different faults are two faults":       {"dns", "timeout", false, false, ""},
		"a TCP accept shows that the network works": {"timeout", "timeout", true, false, ""},
		"refused connections prove the network":     {"refused", "refused", false, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, spec(1_000, "a:", "b:x"))
			w.run(5, behaviours{"a": w.honest("a", 1_000), "b": w.honest("b", 1_000)})
			w.at += 5_000
			fail := func(name, sub string, accept bool) func() *fleet.Sample {
				return func() *fleet.Sample {
					s := w.bad(name, fleet.ClassTransportFailure, sub)
					if accept {
						s.Timing.Connect = 900
					}
					return &s
				}
			}
			w.run(8, behaviours{"a": fail("a", tc.a, tc.sub == "clock"), "b": fail("b", tc.b, tc.accept)})
			for _, n := range []string{"a", "b"} {
				e := w.chain().Endpoint(n)
				if tc.excused && (e.Failures != 0 || e.Gate != nil || e.Last.Class != fleet.ClassLocalFault || e.Last.Sub != tc.sub) {
					t.Errorf("%s was charged: %d failures, gate %v, last %v", n, e.Failures, e.Gate, e.Last)
				}
				if !tc.excused && e.Failures == 0 {
					t.Errorf("%s was excused", n)
				}
			}
			if tc.excused {
				w.wantServes("a")
			}
		})
	}
}

func TestOneEndpointOrOneOperatorExcusesNothing(t *testing.T) {
	c := spec(1_000, "a:", "b:")
	c.Endpoints[1].Operator = c.Endpoints[0].Operator
	w := newWorld(t, c)
	w.at += 5_000
	w.run(4, behaviours{"a": w.failing("a", fleet.ClassTransportFailure, "dns"), "b": w.failing("b", fleet.ClassTransportFailure, "dns")})
	for _, n := range []string{"a", "b"} {
		w.wantState(n, GateDown)
	}
}

func TestTwoDeadNamesBesideALivingEndpointAreTheirOwnFault(t *testing.T) {
	w := newWorld(t, spec(1_000, "a:", "b:x", "c:x"))
	w.run(10, behaviours{"a": w.honest("a", 1_000), "b": w.failing("b", fleet.ClassTransportFailure, "dns"), "c": w.failing("c", fleet.ClassTransportFailure, "dns")})
	w.wantState("b", GateDown)
	w.wantState("c", GateDown)
	w.wantServes("a")
}

func TestANewerSampleDoesNotOvertakeAHeldFailure(t *testing.T) {
	w := newWorld(t, spec(1_000, "a:", "b:"))
	w.run(3, behaviours{"a": w.honest("a", 1_000), "b": w.honest("b", 1_000)})
	w.at += 5_000
	w.put(w.bad("a", fleet.ClassTransportFailure, "timeout"))
	if e := w.chain().Endpoint("a"); e.Failures != 0 {
		t.Fatal("a doubtful failure was charged at once")
	}
	w.put(w.good("a", blockAt(w.tipOf(1_000), 1_000)))
	if e := w.chain().Endpoint("a"); e.Failures != 1 || e.Run != 0 {
		t.Errorf("%d failures, a run of %d; want the failure before the success", e.Failures, e.Run)
	}
}
