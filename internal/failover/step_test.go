package failover

import (
	"fmt"
	"strings"
	"testing"

	"example.com/rpctop/internal/fleet"
)

type behaviours = map[string]func() *fleet.Sample

func TestTheLowestTierServesFromTheStart(t *testing.T) {
	w := newWorld(t, spec(1_000, "backup:x", "own:"))
	w.run(3, behaviours{"own": w.honest("own", 1_000), "backup": w.honest("backup", 1_000)})
	w.wantServes("own")
	if n := w.count(fleet.EventSwitch); n != 1 {
		t.Errorf("%d switches at the start, want 1:\n%s", n, w.history())
	}
}

func TestAFrozenIncumbentIsNamedLaggingThenStaleAndLosesItsPlace(t *testing.T) {
	w := newWorld(t, spec(1_000, "own:", "b:x", "c:x"))
	all := behaviours{"own": w.honest("own", 1_000), "b": w.honest("b", 1_000), "c": w.honest("c", 1_000)}
	w.run(10, all)
	frozen := blockAt(w.tipOf(1_000), 1_000)
	all["own"] = w.frozenAt("own", frozen)
	w.run(5, all)
	w.wantState("own", StateLagging)
	w.wantServes("own")
	if first := Order(w.s, w.chain(), Ask{Kind: fleet.KindState, Tip: true}).First(); first == "own" {
		t.Error("reads of the tip still go to an endpoint beyond its soft lag")
	}
	w.run(30, all)
	w.wantState("own", GateStale)
	w.wantServes("b")
	if r := w.last(fleet.EventSwitch).Reason; !strings.Contains(r, "stale") || !strings.Contains(r, "behind") {
		t.Errorf("the switch does not say why: %q", r)
	}
	all["own"] = w.honest("own", 1_000)
	w.run(4, all)
	w.wantState("own", StateOK)
	w.wantServes("b") // the hold-down delays the return
	w.run(30, all)
	w.wantServes("own")
}

func TestAnIncumbentThatLagsIsBeatenByCost(t *testing.T) {
	c := spec(1_000, "a:", "b:")
	c.LagSoft, c.LagHard = 2_000, 600_000
	w := newWorld(t, c)
	all := behaviours{"a": w.honest("a", 1_000), "b": w.honest("b", 1_000)}
	w.run(40, all)
	w.wantServes("a")
	all["a"] = w.frozenAt("a", blockAt(w.tipOf(1_000), 1_000))
	w.run(10, all)
	w.wantServes("a")
	w.run(10, all)
	w.wantServes("b")
	if r := w.last(fleet.EventSwitch).Reason; !strings.Contains(r, "behind") {
		t.Errorf("the switch does not name the lag: %q", r)
	}
}

func TestAWrongChainIsGatedAtOnceAndTenMinutesOfRightAnswersEndIt(t *testing.T) {
	w := newWorld(t, spec(1_000, "a:", "b:"))
	all := behaviours{"a": w.honest("a", 1_000), "b": w.honest("b", 1_000)}
	w.run(5, all)
	all["a"] = func() *fleet.Sample {
		s := w.good("a", blockAt(w.tipOf(1_000), 1_000))
		s.ChainID, s.ChainIDClass = "1", fleet.ClassWrongChain
		return &s
	}
	w.run(1, all)
	w.wantState("a", GateWrongChain)
	w.wantServes("b")
	all["a"] = w.honest("a", 1_000)
	w.run(590, all)
	w.wantState("a", GateWrongChain)
	w.run(15, all)
	w.wantState("a", StateOK)
	all["a"] = func() *fleet.Sample {
		s := w.good("a", blockAt(w.tipOf(1_000), 1_000))
		s.ChainID, s.ChainIDClass = "1", fleet.ClassWrongChain
		return &s
	}
	w.run(1, all)
	w.wantState("a", GateIdentityFlap)
	all["a"] = w.honest("a", 1_000)
	w.run(1_000, all)
	w.wantState("a", GateIdentityFlap)
	w.put(fleet.Command{ID: "1", Author: "ann", Action: fleet.ActionClear, Chain: "main", Endpoint: "a"})
	w.run(2, all)
	w.wantState("a", StateOK)
}

func TestChainIdsThatSayNothing(t *testing.T) {
	for name, chainID := range map[string]string{"not read": "", "0x0": "0"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, spec(1_000, "a:"))
			w.run(3, behaviours{"a": func() *fleet.Sample {
				s := w.good("a", blockAt(w.tipOf(1_000), 1_000))
				s.ChainID, s.ChainIDClass = chainID, fleet.ClassServerError
				return &s
			}})
			w.wantState("a", GateIdentityUnknown)
			w.wantServes("")
			w.run(2, behaviours{"a": w.honest("a", 1_000)})
			w.wantState("a", StateOK)
			w.wantServes("a")
		})
	}
}

func TestAnotherGenesisIsAnotherChain(t *testing.T) {
	c := spec(1_000, "a:")
	c.Genesis = hashOf(0, 0)
	w := newWorld(t, c)
	w.run(3, behaviours{"a": w.honest("a", 1_000)})
	w.put(fleet.Reading{Endpoint: id("a"), What: fleet.ReadGenesis, Outcome: fleet.Outcome{Class: fleet.ClassOK}, Hash: hashOf(0, 9)})
	w.wantState("a", GateWrongChain)
	w.run(700, behaviours{"a": w.honest("a", 1_000)})
	w.wantState("a", GateWrongChain) // a right chain id does not heal a wrong genesis
}

func TestAMajorityAgainstTheConfiguredIdBlamesTheConfig(t *testing.T) {
	w := newWorld(t, spec(1_000, "a:", "b:", "c:"))
	other := func(name string) func() *fleet.Sample {
		return func() *fleet.Sample {
			s := w.good(name, blockAt(5, 1_000))
			s.ChainID, s.ChainIDClass = "1", fleet.ClassWrongChain
			return &s
		}
	}
	w.run(3, behaviours{"a": other("a"), "b": other("b"), "c": w.honest("c", 1_000)})
	if !strings.Contains(w.history(), "the config is probably wrong") {
		t.Errorf("nobody blames the config:\n%s", w.history())
	}
}

func TestALiarFarAheadGatesOnlyItself(t *testing.T) {
	for _, honest := range []int{1, 2, 4} {
		for _, first := range []bool{true, false} {
			t.Run(fmt.Sprintf("%d honest, liar first %v", honest, first), func(t *testing.T) {
				names := []string{"liar"}
				for i := range honest {
					names = append(names, fmt.Sprintf("h%d", i))
				}
				if !first {
					names = append(names[1:], "liar")
				}
				w := newWorld(t, spec(1_000, names...))
				all := behaviours{}
				for _, n := range names {
					all[n] = w.honest(n, 1_000)
				}
				all["liar"] = func() *fleet.Sample {
					h := blockAt(w.tipOf(1_000), 1_000)
					h.Number += 1_000_000
					h.Hash, h.Parent = hashOf(h.Number, 1), hashOf(h.Number-1, 1)
					s := w.good("liar", h)
					return &s
				}
				w.run(60, all)
				w.wantState("liar", GateForked)
				for _, n := range names {
					if n != "liar" {
						w.wantState(n, StateOK)
					}
				}
				if w.chain().Incumbent == "liar" {
					t.Error("the liar serves")
				}
			})
		}
	}
}

func TestALoneEndpointThatIsAheadIsAskedAndThenCounts(t *testing.T) {
	w := newWorld(t, spec(1_000, "a:", "old:"))
	tip := w.tipOf(1_000)
	w.put(w.good("old", blockAt(tip-60, 1_000)))
	w.put(w.good("a", blockAt(tip, 1_000)))
	a := w.chain().Endpoint("a")
	if a.Confirm != tip-60 {
		t.Fatalf("asked for height %d, want %d", a.Confirm, tip-60)
	}
	w.put(fleet.Reading{Endpoint: id("a"), What: fleet.ReadConfirm, Outcome: fleet.Outcome{Class: fleet.ClassOK}, Number: tip - 60, Hash: hashOf(tip-60, 0)})
	w.at += 20
	w.put(w.good("old", blockAt(tip-60, 1_000)))
	w.at += 3_000
	w.put(fleet.Tick{})
	w.wantState("a", StateOK)
	w.wantState("old", GateStale)
	if ref := w.chain().Ref.Number; ref != tip {
		t.Errorf("the reference is %d, want %d", ref, tip)
	}
	w.wantServes("a")
}

func TestAnEndpointThatShowsAnotherBlockMovesNoReferenceAndIsNotGatedByOneOtherAlone(t *testing.T) {
	w := newWorld(t, spec(1_000, "a:", "b:"))
	var tip uint64
	for range 5 {
		w.at += 1_000
		tip = w.tipOf(1_000)
		w.put(w.good("b", blockAt(tip, 1_000)))
		h := blockAt(tip+1, 1_000)
		h.Hash, h.Parent = hashOf(h.Number, 2), hashOf(h.Number-1, 2)
		w.put(w.good("a", h))
		if e := w.chain().Endpoint("a"); e.Confirm != 0 {
			w.put(fleet.Reading{Endpoint: id("a"), What: fleet.ReadConfirm, Outcome: fleet.Outcome{Class: fleet.ClassOK}, Number: e.Confirm, Hash: hashOf(e.Confirm, 2)})
		}
	}
	w.wantState("a", StateOK)
	w.wantState("b", StateOK)
	if ref := w.chain().Ref; ref.Number != tip || ref.Hash != hashOf(tip, 0) {
		t.Errorf("the reference is %d %s, which nobody but a has shown", ref.Number, ref.Hash.Short())
	}
}

func TestThrottles(t *testing.T) {
	for name, tc := range map[string]struct {
		hold fleet.Millis
		want string
	}{
		"one shorter than 5 s spills requests and keeps the incumbent": {3_000, "a"},
		"a longer one moves the incumbent":                             {60_000, "b"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, spec(1_000, "a:", "b:x"))
			w.run(5, behaviours{"a": w.honest("a", 1_000), "b": w.honest("b", 1_000)})
			s := w.bad("a", fleet.ClassRateLimited, "")
			s.Hold = tc.hold
			w.put(s)
			w.wantState("a", GateThrottled)
			w.wantServes(tc.want)
			if e := w.chain().Endpoint("a"); e.Failures != 0 || e.Run != 0 || e.Breaker.Open {
				t.Errorf("a throttle was charged: %d failures", e.Failures)
			}
			if first := Order(w.s, w.chain(), Ask{Kind: fleet.KindState}).First(); first != "b" {
				t.Errorf("requests go to %s during the hold", first)
			}
			w.at += tc.hold
			w.run(2, behaviours{"a": w.honest("a", 1_000), "b": w.honest("b", 1_000)})
			w.wantState("a", StateOK)
		})
	}
}

func TestARemoteDenialGatesUntilAProbeIsAnswered(t *testing.T) {
	w := newWorld(t, spec(1_000, "a:", "b:x"))
	all := behaviours{"a": w.honest("a", 1_000), "b": w.honest("b", 1_000)}
	w.run(5, all)
	w.put(w.bad("a", fleet.ClassRemoteDenial, "auth"))
	w.wantState("a", GateRefused)
	w.wantServes("b")
	if every, _ := w.s.Pace("main", w.chain().Endpoint("a")); every != 600_000 {
		t.Errorf("a refusing endpoint is probed every %d ms, want 10 min", every)
	}
	w.run(1, all)
	w.wantState("a", StateOK)
}

func TestTheBreakerOpensOnThreeFailuresAndClosesAfterThreeDeepRounds(t *testing.T) {
	w := newWorld(t, spec(1_000, "a:", "b:x"))
	all := behaviours{"a": w.honest("a", 1_000), "b": w.honest("b", 1_000)}
	w.run(5, all)
	all["a"] = w.failing("a", fleet.ClassTransportFailure, "refused")
	w.run(2, all)
	w.wantState("a", StateOK)
	w.run(1, all)
	w.wantState("a", GateDown)
	w.wantServes("b")
	first, deep := w.s.Pace("main", w.chain().Endpoint("a"))
	if first < 800 || first > 1_200 || !deep {
		t.Errorf("first back-off is %d ms, deep %v", first, deep)
	}
	w.run(3, all)
	if next, _ := w.s.Pace("main", w.chain().Endpoint("a")); next < 6_400 || next > 9_600 {
		t.Errorf("after three more failures the back-off is %d ms, want 8 s +-20 %%", next)
	}
	all["a"] = w.honest("a", 1_000)
	w.run(3, all)
	w.wantState("a", GateDown) // without the call at the hash no round is good
	for range 3 {
		w.wantState("a", GateDown)
		w.run(1, all)
		w.put(fleet.Reading{Endpoint: id("a"), What: fleet.ReadCallAt, Outcome: fleet.Outcome{Class: fleet.ClassOK}})
	}
	w.wantState("a", StateOK)
	w.wantServes("b")
	w.run(30, all)
	w.wantServes("a")
}

func TestTheBreakerOpensOnHalfOfTenFailing(t *testing.T) {
	w := newWorld(t, spec(1_000, "a:", "b:x"))
	w.run(2, behaviours{"a": w.honest("a", 1_000), "b": w.honest("b", 1_000)})
	w.at += 40_000
	for i := range 12 {
		w.at += 500
		if i%2 == 0 {
			w.put(w.bad("a", fleet.ClassServerError, ""))
		} else {
			w.put(w.good("a", blockAt(w.tipOf(1_000), 1_000)))
		}
	}
	w.put(w.bad("a", fleet.ClassServerError, ""))
	w.wantState("a", GateDown)
}

func TestNobodyIsEligibleIsAValueWithReasons(t *testing.T) {
	w := newWorld(t, spec(1_000, "a:", "b:x"))
	all := behaviours{"a": w.honest("a", 1_000), "b": w.honest("b", 1_000)}
	w.run(5, all)
	all["a"], all["b"] = w.failing("a", fleet.ClassTransportFailure, "refused"), w.failing("b", fleet.ClassTransportFailure, "timeout")
	w.run(5, all)
	w.wantServes("")
	r := Order(w.s, w.chain(), Ask{Kind: fleet.KindState})
	if r.Eligible != 0 || r.First() != "" || r.Degraded == "" {
		t.Errorf("eligible %d, first %q, degraded %q", r.Eligible, r.First(), r.Degraded)
	}
	for _, c := range r.Candidates {
		if !strings.Contains(c.Why, "down") || c.Needs == "" {
			t.Errorf("%s does not say why it is out: %q / %q", c.Endpoint, c.Why, c.Needs)
		}
	}
	if v := View(w.s).Chains[0]; v.State != "none" {
		t.Errorf("the chain is %s, want none", v.State)
	}
	all["b"] = w.honest("b", 1_000)
	for range 3 {
		w.run(1, all)
		w.put(fleet.Reading{Endpoint: id("b"), What: fleet.ReadCallAt, Outcome: fleet.Outcome{Class: fleet.ClassOK}})
	}
	w.wantServes("b") // the hold-down excludes nobody when nobody serves
}

func TestAStalledChainGatesNobody(t *testing.T) {
	w := newWorld(t, spec(1_000, "a:", "b:x"))
	all := behaviours{"a": w.honest("a", 1_000), "b": w.honest("b", 1_000)}
	w.run(5, all)
	h := blockAt(w.tipOf(1_000)-1, 1_000)
	all["a"], all["b"] = w.frozenAt("a", h), w.frozenAt("b", h)
	w.run(120, all)
	w.wantState("a", StateOK)
	w.wantState("b", StateOK)
	w.wantServes("a")
	if v := View(w.s).Chains[0]; v.State != "stalled" {
		t.Errorf("the chain is %s, want stalled", v.State)
	}
	if w.last(fleet.EventAlarm).Class != fleet.ClassChainStall {
		t.Errorf("no alarm of class chain-stall")
	}
}

func TestHonestEndpointsAreNeverLateByTheirPhase(t *testing.T) {
	// C16: a 12 s chain polled at 6 s, and a 0.1 s chain polled every second.
	for name, tc := range map[string]struct{ bt, every fleet.Millis }{
		"12 s blocks polled every 6 s":  {12_000, 6_000},
		"0.1 s blocks polled every 1 s": {100, 1_000},
	} {
		t.Run(name, func(t *testing.T) {
			c := spec(tc.bt, "a:", "b:", "c:")
			w := newWorld(t, c)
			from := w.at
			for w.at < from+600_000 {
				for i, n := range []string{"a", "b", "c"} {
					phase := fleet.Millis(i) * tc.every / 3
					if (w.at-from)%tc.every == phase {
						delay := fleet.Millis(i) * 100 // honest, but up to 300 ms late with its view
						s := w.good(n, blockAt(uint64((w.at-20-delay-startAt)/tc.bt), tc.bt))
						w.put(s)
						if e := w.chain().Endpoint(n); e.Confirm != 0 {
							w.put(fleet.Reading{Endpoint: id(n), What: fleet.ReadConfirm, Outcome: fleet.Outcome{Class: fleet.ClassOK}, Number: e.Confirm, Hash: hashOf(e.Confirm, 0)})
						}
						if e := w.chain().Endpoint(n); e.Gate != nil || w.state(n) != StateOK {
							t.Fatalf("at +%d ms %s is %s: %+v", w.at-from, n, w.state(n), e.Gate)
						}
					}
				}
				if w.at%1000 == 0 {
					w.put(fleet.Tick{})
				}
				w.at += 100
			}
			if n := w.count(fleet.EventSwitch); n != 1 {
				t.Errorf("%d switches among honest endpoints:\n%s", n, w.history())
			}
		})
	}
}
