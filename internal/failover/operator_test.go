package failover

import (
	"strings"
	"testing"

	"example.com/rpctop/internal/fleet"
)

// do judges a command as the engine does, and folds it if it is accepted.
func (w *world) do(cmd fleet.Command) fleet.Verdict {
	w.t.Helper()
	cmd.Chain, cmd.Author = "main", "ann"
	v := Judge(w.s, cmd)
	if v.Accepted {
		w.put(cmd)
	}
	return v
}

func threeHonest(t *testing.T) (*world, behaviours) {
	w := newWorld(t, spec(1_000, "a:", "b:x", "c:xx"))
	all := behaviours{"a": w.honest("a", 1_000), "b": w.honest("b", 1_000), "c": w.honest("c", 1_000)}
	w.run(5, all)
	w.wantServes("a")
	return w, all
}

func TestAPinOutranksTierAndCostUntilItExpires(t *testing.T) {
	w, all := threeHonest(t)
	if v := w.do(fleet.Command{Action: fleet.ActionPin, Endpoint: "c", Reason: "maintenance", Until: w.at + 60_000}); !v.Accepted {
		t.Fatal(v.Message)
	}
	w.wantServes("c")
	if e := w.last(fleet.EventSwitch); !strings.Contains(e.Reason, "pinned by ann: maintenance") {
		t.Errorf("the switch's reason is %q", e.Reason)
	}
	w.run(50, all)
	w.wantServes("c")
	w.run(15, all)
	if e := w.last(fleet.EventOverride); !strings.Contains(e.Reason, "expired") {
		t.Errorf("the end of the pin is told as %q", e.Reason)
	}
	w.wantServes("a")
}

func TestAPinnedEndpointThatIsGatedLetsOthersServeUnderAnAlarm(t *testing.T) {
	for name, tc := range map[string]struct {
		strict bool
		want   string
	}{"a plain pin": {false, "a"}, "a strict one lets nobody else serve": {true, ""}} {
		t.Run(name, func(t *testing.T) {
			w, all := threeHonest(t)
			w.do(fleet.Command{Action: fleet.ActionPin, Endpoint: "c", Strict: tc.strict})
			w.wantServes("c")
			all["c"] = w.failing("c", fleet.ClassTransportFailure, "refused")
			w.run(5, all)
			w.wantServes(tc.want)
			if e := w.last(fleet.EventAlarm); !strings.Contains(w.history(), "the pinned c is down") {
				t.Errorf("no alarm for the pin; last is %q", e.Reason)
			}
			all["c"] = w.honest("c", 1_000)
			for range 3 {
				w.run(1, all)
				w.put(fleet.Reading{Endpoint: id("c"), What: fleet.ReadCallAt, Outcome: fleet.Outcome{Class: fleet.ClassOK}})
			}
			w.run(1, all)
			w.wantServes("c")
		})
	}
}

func TestAPinYieldsToFreshnessUnlessStrict(t *testing.T) {
	for _, strict := range []bool{false, true} {
		w, all := threeHonest(t)
		w.do(fleet.Command{Action: fleet.ActionPin, Endpoint: "c", Strict: strict})
		all["c"] = w.frozenAt("c", blockAt(w.tipOf(1_000), 1_000))
		w.run(6, all)
		w.wantState("c", StateLagging)
		first := Order(w.s, w.chain(), Ask{Kind: fleet.KindState, Tip: true}).First()
		if (first == "c") != strict {
			t.Errorf("strict %v: reads of the tip go to %s", strict, first)
		}
	}
}

func TestWhatTheOperatorMayNotDo(t *testing.T) {
	w, all := threeHonest(t)
	all["c"] = func() *fleet.Sample {
		s := w.good("c", blockAt(4, 1_000))
		s.ChainID, s.ChainIDClass = "5", fleet.ClassWrongChain
		return &s
	}
	w.run(1, all)
	for name, tc := range map[string]struct {
		cmd  fleet.Command
		code string
	}{
		"pin to a quarantined endpoint": {fleet.Command{Action: fleet.ActionPin, Endpoint: "c"}, "unsafe"},
		"pin to an unknown endpoint":    {fleet.Command{Action: fleet.ActionPin, Endpoint: "zz"}, "unknown-endpoint"},
		"pin to nothing":                {fleet.Command{Action: fleet.ActionPin}, "unknown-endpoint"},
		"a pin that has ended already":  {fleet.Command{Action: fleet.ActionPin, Endpoint: "b", Until: w.at - 1}, "invalid"},
		"an unknown verb":               {fleet.Command{Action: "punish", Endpoint: "b"}, "invalid"},
		"act on what has changed": {fleet.Command{Action: fleet.ActionEject, Endpoint: "a",
			Expect: &fleet.Expect{Serving: false, State: "ok", Eligible: 2}}, "changed"},
		"act on a state that has changed": {fleet.Command{Action: fleet.ActionEject, Endpoint: "c",
			Expect: &fleet.Expect{State: "ok", Eligible: 2}}, "changed"},
	} {
		t.Run(name, func(t *testing.T) {
			before := encode(t, w.s)
			if v := w.do(tc.cmd); v.Accepted || v.Code != tc.code || v.Message == "" {
				t.Errorf("verdict %+v, want code %s", v, tc.code)
			}
			if encode(t, w.s) != before {
				t.Error("a refused command changed the state")
			}
		})
	}
	if v := Judge(w.s, fleet.Command{Action: fleet.ActionPin, Chain: "nowhere", Endpoint: "a", Author: "ann"}); v.Code != "unknown-chain" || !strings.Contains(v.Message, "main") {
		t.Errorf("an unknown chain: %+v", v)
	}
}

func TestEjectingTheLastEligibleEndpointAsksOnceMore(t *testing.T) {
	w, all := threeHonest(t)
	for _, n := range []string{"a", "b"} {
		if v := w.do(fleet.Command{Action: fleet.ActionEject, Endpoint: n}); !v.Accepted {
			t.Fatal(v.Message)
		}
	}
	w.run(1, all)
	w.wantServes("c")
	if v := w.do(fleet.Command{Action: fleet.ActionEject, Endpoint: "c"}); v.Code != "last-eligible" {
		t.Errorf("verdict %+v, want last-eligible", v)
	}
	if v := w.do(fleet.Command{Action: fleet.ActionEject, Endpoint: "c", Yes: true}); !v.Accepted {
		t.Error(v.Message)
	}
	w.wantServes("")
	w.do(fleet.Command{Action: fleet.ActionClear})
	w.wantServes("a")
	if n := len(w.s.Overrides); n != 0 {
		t.Errorf("%d overrides after clearing the chain", n)
	}
}

func TestOverridesOutliveARestart(t *testing.T) {
	w, all := threeHonest(t)
	w.do(fleet.Command{Action: fleet.ActionPin, Endpoint: "b", Reason: "r", Until: w.at + 3_600_000})
	over := w.s.Overrides
	w.at += 1_000
	w.put(fleet.Lead{Version: "test", PID: 2, Role: "test", Wall: w.at})
	c := spec(1_000, "a:", "b:x", "c:xx")
	w.put(fleet.Config{Policy: fleet.DefaultPolicy(), Seed: 7, Chains: []fleet.ChainSpec{c}, Overrides: over})
	n := w.count(fleet.EventSwitch)
	w.run(5, all)
	w.wantServes("b")
	if w.count(fleet.EventSwitch) != n {
		t.Errorf("a restart switched:\n%s", w.history())
	}
}

func TestSoftSwitchingFreezesWhenItFlaps(t *testing.T) {
	w := newWorld(t, spec(1_000, "a:", "b:"))
	w.s.Policy.StickyBeaten, w.s.Policy.StickyDwell = 2_000, 3_000
	slow := map[string]bool{}
	ans := func(name string) func() *fleet.Sample {
		return func() *fleet.Sample {
			s := w.good(name, blockAt(w.tipOf(1_000), 1_000))
			s.Timing.Total = 20_000
			if slow[name] {
				s.Timing.Total = 900_000
			}
			return &s
		}
	}
	all := behaviours{"a": ans("a"), "b": ans("b")}
	w.run(5, all)
	for range 80 {
		slow["a"], slow["b"] = w.chain().Incumbent == "a", w.chain().Incumbent == "b"
		w.run(10, all)
		if w.chain().FrozenAt != 0 {
			break
		}
	}
	if w.chain().FrozenAt == 0 {
		t.Fatalf("never frozen:\n%s", w.history())
	}
	soft := 0
	for _, s := range w.chain().Switches {
		if s.Soft {
			soft++
		}
	}
	if soft != flapMost+1 {
		t.Errorf("frozen after %d soft switches, want %d", soft, flapMost+1)
	}
	n := w.count(fleet.EventSwitch)
	slow["a"], slow["b"] = w.chain().Incumbent == "a", w.chain().Incumbent == "b"
	w.run(60, all)
	if w.count(fleet.EventSwitch) != n {
		t.Error("a soft switch while frozen")
	}
	if !strings.Contains(w.history(), "FLAP") {
		t.Error("no FLAP alarm")
	}
	w.do(fleet.Command{Action: fleet.ActionClear})
	if c := w.chain(); c.FrozenAt != 0 || c.softSwitches(w.s.At) != 0 {
		t.Error("clear did not thaw soft switching")
	}
}

func TestTwoGoodEndpointsThatTradeTheLowestLatencyDoNotFlap(t *testing.T) {
	w := newWorld(t, spec(1_000, "a:", "b:"))
	turn := 0
	ans := func(name string, odd int) func() *fleet.Sample {
		return func() *fleet.Sample {
			turn++
			s := w.good(name, blockAt(w.tipOf(1_000), 1_000))
			s.Timing.Total = 20_000
			if (turn/2+odd)%2 == 0 {
				s.Timing.Total = 26_000
			}
			return &s
		}
	}
	w.run(300, behaviours{"a": ans("a", 0), "b": ans("b", 1)})
	if n := w.count(fleet.EventSwitch); n != 1 {
		t.Errorf("%d switches:\n%s", n, w.history())
	}
}
