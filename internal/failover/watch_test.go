package failover

import (
	"slices"
	"strings"
	"testing"

	"example.com/rpctop/internal/fleet"
)

func watched(bt fleet.Millis, names ...string) fleet.ChainSpec {
	c := local(spec(bt, names...))
	c.Watches = []fleet.WatchSpec{{Name: "w", Token: "0x1111111111111111111111111111111111111111", Owner: "0x2222222222222222222222222222222222222222", Spender: "0x3333333333333333333333333333333333333333"}}
	return c
}

func (w *world) watch() fleet.WatchView { return View(w.s).Chains[0].Watches[0] }

func TestVerdictsOfAWatch(t *testing.T) {
	type value = func(name string, n uint64, h fleet.Hash) (string, fleet.Outcome)
	type latest = func(name string, n uint64) (string, fleet.Outcome)
	say := func(by map[string]string) value {
		return func(name string, _ uint64, _ fleet.Hash) (string, fleet.Outcome) {
			if v, ok := by[name]; ok {
				return v, okay
			}
			return "100", okay
		}
	}
	fail := func(o fleet.Outcome, names ...string) value {
		return func(name string, _ uint64, _ fleet.Hash) (string, fleet.Outcome) {
			if slices.Contains(names, name) {
				return "", o
			}
			return "100", okay
		}
	}
	for name, tt := range map[string]struct {
		value  value
		latest latest
		want   string
		odd    string
		text   []string
		non    string // a's
	}{
		"C1 equal":                        {value: say(nil), want: fleet.WatchConsistent, text: []string{"3 say 100"}},
		"C3 a forged value at one hash":   {value: say(map[string]string{"b": "999"}), want: fleet.WatchInconsistent, odd: "b", text: []string{"b says 999", "a, c say 100", "0xb0"}},
		"C4 a pruned state is no answer":  {value: fail(no(fleet.ClassStateUnavailable, "missing trie node"), "a"), want: fleet.WatchConsistent, non: "state is pruned: missing trie node"},
		"C9 no code is no answer":         {value: fail(no(fleet.ClassMalformed, "0x: no code"), "a"), want: fleet.WatchConsistent, non: "malformed: 0x: no code"},
		"a revert is no answer":           {value: fail(no(fleet.ClassDeterministicRevert, ""), "a"), want: fleet.WatchConsistent, non: "reverts"},
		"one answer confirms nothing":     {value: fail(no(fleet.ClassNotYetVisible, "header not found"), "a", "c"), want: fleet.WatchUnconfirmed, text: []string{"one answer, 100", "a: does not have the block"}},
		"no answer is not 0":              {value: fail(no(fleet.ClassMalformed, "0x"), "a", "b", "c"), want: fleet.WatchUnanswered},
		"32 zero bytes are 0":             {value: say(map[string]string{"a": "0", "b": "0", "c": "0"}), want: fleet.WatchConsistent, text: []string{"3 say 0"}},
		"C14 our own denial names itself": {value: fail(no(fleet.ClassLocalDenial, "budget"), "a"), want: fleet.WatchConsistent, non: "denied by us: budget"},
		"a forged latest alone is named": {value: say(nil), latest: func(name string, _ uint64) (string, fleet.Outcome) {
			return map[string]string{"a": "100", "b": "100", "c": "5"}[name], okay
		}, want: fleet.WatchUnverifiable, odd: "c", text: []string{"c has 5 at latest", "by its own word 100"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, watched(1_000, "a:", "b:", "c:"))
			p := newPeers(w)
			p.value, p.latest = tt.value, tt.latest
			p.play(3, behaviours{"a": w.honest("a", 1_000), "b": w.honest("b", 1_000), "c": w.honest("c", 1_000)})
			v := w.watch()
			if v.Verdict != tt.want || strings.Join(v.Odd, ",") != tt.odd {
				t.Fatalf("%s, odd %v: %s; want %s, odd %q", v.Verdict, v.Odd, v.Text, tt.want, tt.odd)
			}
			for _, part := range tt.text {
				if !strings.Contains(v.Text, part) {
					t.Errorf("the text lacks %q: %s", part, v.Text)
				}
			}
			a := answerOf(v.Answers, "a")
			if a == nil {
				t.Fatalf("no answer of a: %+v", v.Answers)
			}
			if tt.non != "" && (a.NonAnswer != tt.non || a.Value != "") {
				t.Errorf("a says %q, non-answer %q, want %q", a.Value, a.NonAnswer, tt.non)
			}
			w.wantState("a", StateOK)
			alarm := strings.Contains(strings.Join(View(w.s).Chains[0].Alarms, " "), "watch w is inconsistent")
			if alarm != (tt.want == fleet.WatchInconsistent) {
				t.Errorf("alarms %v under %s", View(w.s).Chains[0].Alarms, v.Verdict)
			}
		})
	}
}

// approved is an allowance that turns from 0 to 100 in a block.
func approved(at uint64) func(string, uint64, fleet.Hash) (string, fleet.Outcome) {
	return func(_ string, n uint64, _ fleet.Hash) (string, fleet.Outcome) {
		if n >= at {
			return "100", okay
		}
		return "0", okay
	}
}

func TestThreeBlocksBehindAnApproveIsLaggingAndNeverInconsistent(t *testing.T) {
	w := newWorld(t, watched(1_000, "a:", "b:", "c:"))
	p := newPeers(w)
	p.value = approved(w.tipOf(1_000) + 6)
	p.play(20, behaviours{"a": w.honest("a", 1_000), "b": w.honest("b", 1_000), "c": w.behind("c", 1_000, 3)})
	var said []string
	for _, e := range w.events {
		if e.Kind == fleet.EventWatch {
			said = append(said, e.Sub)
			if e.Sub == fleet.WatchLagging && (e.Endpoint != "c" || !strings.Contains(e.Reason, "c has 0 at block") || !strings.Contains(e.Reason, "sees the change in 3 blocks")) {
				t.Errorf("told as: %s", e.Reason)
			}
		}
	}
	if got := strings.Join(said, " "); got != "consistent lagging consistent" {
		t.Errorf("verdicts %q; events:\n%s", got, w.history())
	}
}

func TestAForgedAllowanceIsNamedWithinTwoRoundsByTwoReads(t *testing.T) {
	w := newWorld(t, watched(1_000, "a:", "b:", "c:"))
	p := newPeers(w)
	all := behaviours{"a": w.honest("a", 1_000), "b": w.honest("b", 1_000), "c": w.honest("c", 1_000)}
	p.play(5, all)
	reads := 0
	p.value = func(name string, _ uint64, _ fleet.Hash) (string, fleet.Outcome) {
		if name == "c" {
			reads++
			return "1", okay
		}
		return "7", okay
	}
	p.play(2, all)
	if v := w.watch(); v.Verdict != fleet.WatchInconsistent || !slices.Equal(v.Odd, []string{"c"}) {
		t.Fatalf("%s %v after two rounds: %s", v.Verdict, v.Odd, v.Text)
	}
	if reads < 2 {
		t.Errorf("named after %d reads", reads)
	}
	e := w.last(fleet.EventWatch)
	if e.Sub != fleet.WatchInconsistent || e.Endpoint != "c" || !strings.Contains(string(e.Data), `"value":"1"`) || !strings.Contains(string(e.Data), `"value":"7"`) {
		t.Errorf("event %+v %s", e, e.Data)
	}
	p.value = func(string, uint64, fleet.Hash) (string, fleet.Outcome) { return "7", okay }
	p.play(3, all)
	if v := w.watch(); v.Verdict != fleet.WatchConsistent || len(v.Odd) != 0 {
		t.Errorf("still %s", v.Verdict)
	}
}

func TestAValueThatDiffersOnceIsNotCalledInconsistent(t *testing.T) {
	w := newWorld(t, watched(1_000, "a:", "b:"))
	p := newPeers(w)
	first := true
	p.value = func(name string, _ uint64, _ fleet.Hash) (string, fleet.Outcome) {
		if name == "b" && first {
			first = false
			return "1", okay
		}
		return "7", okay
	}
	p.play(4, behaviours{"a": w.honest("a", 1_000), "b": w.honest("b", 1_000)})
	for _, e := range w.events {
		if e.Kind == fleet.EventWatch && e.Sub == fleet.WatchInconsistent {
			t.Errorf("told as %s", e.Reason)
		}
	}
	if v := w.watch(); v.Verdict != fleet.WatchConsistent {
		t.Errorf("%s: %s", v.Verdict, v.Text)
	}
}

func TestOneAgainstOneNamesBothValues(t *testing.T) {
	w := newWorld(t, watched(1_000, "a:", "b:"))
	p := newPeers(w)
	p.value = func(name string, _ uint64, _ fleet.Hash) (string, fleet.Outcome) {
		return map[string]string{"a": "1", "b": "2"}[name], okay
	}
	p.play(3, behaviours{"a": w.honest("a", 1_000), "b": w.honest("b", 1_000)})
	if v := w.watch(); v.Verdict != fleet.WatchInconsistent || !slices.Equal(v.Odd, []string{"a", "b"}) || !strings.Contains(v.Text, "no majority") {
		t.Errorf("%s %v: %s", v.Verdict, v.Odd, v.Text)
	}
}

func TestAnOddValueAtABlockThatNobodyElseHasIsUnverifiable(t *testing.T) {
	w := newWorld(t, watched(1_000, "a:", "b:", "c:"))
	p := newPeers(w)
	p.latest = func(name string, n uint64) (string, fleet.Outcome) {
		if name == "c" {
			return "9", okay
		}
		return "7", okay
	}
	p.value = func(name string, n uint64, h fleet.Hash) (string, fleet.Outcome) {
		if name != "c" && w.chain().Endpoint(name).Head.Number != n && n == w.chain().Endpoint("c").Head.Number {
			return "", no(fleet.ClassStateUnavailable, "pruned")
		}
		return "7", okay
	}
	p.play(4, behaviours{"a": w.honest("a", 1_000), "b": w.honest("b", 1_000), "c": w.behind("c", 1_000, 2)})
	if v := w.watch(); v.Verdict != fleet.WatchUnverifiable && v.Verdict != fleet.WatchConsistent {
		t.Errorf("%s: %s", v.Verdict, v.Text)
	}
	seen := false
	for _, e := range w.events {
		seen = seen || e.Kind == fleet.EventWatch && e.Sub == fleet.WatchUnverifiable && e.Endpoint == "c"
	}
	if !seen {
		t.Errorf("never unverifiable:\n%s", w.history())
	}
}

func TestADenialOfOursChangesNoVerdict(t *testing.T) {
	for _, denied := range [][]string{{"a"}, {"a", "b"}} {
		t.Run(strings.Join(denied, " and "), func(t *testing.T) {
			w := newWorld(t, watched(1_000, "a:", "b:"))
			p := newPeers(w)
			all := behaviours{"a": w.honest("a", 1_000), "b": w.honest("b", 1_000)}
			p.play(3, all)
			p.value = func(name string, _ uint64, _ fleet.Hash) (string, fleet.Outcome) {
				if slices.Contains(denied, name) {
					return "", no(fleet.ClassLocalDenial, "denied locally (budget, endpoint)")
				}
				return "7", okay
			}
			p.play(5, all)
			if v := w.watch(); v.Verdict != fleet.WatchConsistent || answerOf(v.Answers, "a").Value != "" || !strings.HasPrefix(answerOf(v.Answers, "a").NonAnswer, "denied by us") {
				t.Errorf("%s: %+v", v.Verdict, v.Answers)
			}
			if n := w.count(fleet.EventWatch); n != 1 {
				t.Errorf("%d changes of the verdict, want the first alone:\n%s", n, w.history())
			}
		})
	}
}

func TestAnEndpointThatAnswersForBlocksThatNobodyHasIsNotBelieved(t *testing.T) {
	w := newWorld(t, watched(1_000, "a:", "b:", "c:"))
	p := newPeers(w)
	p.value = func(name string, _ uint64, _ fleet.Hash) (string, fleet.Outcome) {
		if name == "a" {
			return "3", okay
		}
		return "7", okay
	}
	p.ignores = map[string]bool{"a": true}
	p.play(3, behaviours{"a": w.honest("a", 1_000), "b": w.honest("b", 1_000), "c": w.honest("c", 1_000)})
	v := w.watch()
	if v.Verdict != fleet.WatchConsistent || answerOf(v.Answers, "a").NonAnswer != "ignores the block argument" {
		t.Errorf("%s: %+v", v.Verdict, v.Answers)
	}
}
