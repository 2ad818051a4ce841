package failover

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"example.com/rpctop/internal/fleet"
)

func TestManyFailuresLoseAgainstASlowerCleanEndpoint(t *testing.T) {
	w := newWorld(t, spec(1_000, "fast:", "clean:"))
	for i := range 10 {
		w.at += 100
		s := w.good("fast", blockAt(w.tipOf(1_000), 1_000))
		if i%5 < 3 {
			s = w.bad("fast", fleet.ClassTransportFailure, "reset")
		}
		s.Timing.Total = 50_000
		w.put(s)
		c := w.good("clean", blockAt(w.tipOf(1_000), 1_000))
		c.Timing.Total = 250_000
		w.put(c)
	}
	costs := w.s.costs(w.chain(), fleet.KindHead)
	if costs[0].Total <= costs[1].Total {
		t.Errorf("60 %% failures at 50 ms cost %.0f ms, a clean 250 ms costs %.0f ms", costs[0].Total, costs[1].Total)
	}
}

// anyInput draws a row's content about a small chain, hostile values included.
func anyInput(t *rapid.T, w *world) fleet.Input {
	name := rapid.SampledFrom([]string{"a", "b", "c", "stranger"}).Draw(t, "endpoint")
	head := func() *fleet.Head {
		n := w.tipOf(1_000) + rapid.SampledFrom([]uint64{0, 0, 0, 0, ^uint64(0) - 2, ^uint64(0), 1, 5, 1_000_000}).Draw(t, "ahead")
		h := blockAt(n, 1_000)
		if rapid.Bool().Draw(t, "fork") {
			h.Hash = hashOf(n, 3)
		}
		h.Time = rapid.SampledFrom([]uint64{h.Time, h.Time, h.Time, 0, ^uint64(0), uint64(w.at / 1000)}).Draw(t, "time")
		return &h
	}
	outcome := func() fleet.Outcome {
		return fleet.Outcome{Class: rapid.SampledFrom([]fleet.Class{fleet.ClassOK, fleet.ClassOK, fleet.ClassOK, fleet.ClassTransportFailure, fleet.ClassRateLimited,
			fleet.ClassRemoteDenial, fleet.ClassServerError, fleet.ClassMalformed, fleet.ClassLocalFault, fleet.ClassNone}).Draw(t, "class")}
	}
	switch rapid.IntRange(0, 11).Draw(t, "kind") {
	case 10, 11:
		if r, ok := anyAnswer(t, w, outcome); ok {
			return r
		}
	case 0:
		return fleet.Tick{}
	case 1:
		return fleet.Reading{Endpoint: id(name), What: rapid.SampledFrom([]fleet.ReadingKind{fleet.ReadGenesis, fleet.ReadConfirm, fleet.ReadCallAt, fleet.ReadFinalized}).Draw(t, "what"),
			Outcome: outcome(), Number: w.tipOf(1_000), Hash: hashOf(w.tipOf(1_000), byte(rapid.IntRange(0, 1).Draw(t, "h")))}
	case 2:
		return fleet.Failure{Endpoint: id(name), Kind: fleet.KindState, Outcome: outcome(), Total: 1_000, Run: rapid.IntRange(0, 4).Draw(t, "run")}
	case 3:
		return fleet.Traffic{Endpoint: id(name), Kind: fleet.KindState, Counts: []fleet.ClassCount{{Class: outcome().Class, N: 3}},
			Latency: []fleet.BucketCount{{Bucket: 100, N: 2}}, Denials: 1}
	case 4:
		return fleet.Command{ID: "x", Author: "ann", Chain: "main", Endpoint: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "who"),
			Action: rapid.SampledFrom([]fleet.Action{fleet.ActionPin, fleet.ActionEject, fleet.ActionClear}).Draw(t, "action"),
			Until:  w.at + fleet.Millis(rapid.IntRange(1, 30_000).Draw(t, "until")), Strict: rapid.Bool().Draw(t, "strict")}
	}
	s := fleet.Sample{Endpoint: id(name), Start: w.at - 30, Outcome: outcome(), Timing: fleet.Timing{Total: fleet.Micros(rapid.Int64Range(-5, 1<<40).Draw(t, "us"))},
		Hold: fleet.Millis(rapid.IntRange(0, 10_000).Draw(t, "hold"))}
	if s.Outcome.OK() {
		s.Head = head()
		s.ChainID = rapid.SampledFrom([]string{"100", "100", "100", "100", "", "0", "1"}).Draw(t, "chain id")
		s.ChainIDClass = fleet.ClassOK
	}
	return s
}

// anyAnswer draws the answer to a question that the fold has asked.
func anyAnswer(t *rapid.T, w *world, outcome func() fleet.Outcome) (fleet.Reading, bool) {
	wishes := w.chain().Wishes
	if len(wishes) == 0 {
		return fleet.Reading{}, false
	}
	x := rapid.SampledFrom(wishes).Draw(t, "wish")
	r := fleet.Reading{Endpoint: id(x.Endpoint), What: x.What, Outcome: outcome(), Number: x.Number, Hash: x.Hash, Watch: "w"}
	switch {
	case x.What == fleet.ReadCommon:
		r.Hash = hashOf(x.Number, byte(rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "side")))
	case x.What == fleet.ReadWatch && x.Watch == "" && rapid.Bool().Draw(t, "at latest"):
		r.What = fleet.ReadWatchHead
		if h := w.chain().Endpoint(x.Endpoint).Head; h != nil {
			r.Number, r.Hash = h.Number, h.Hash
		}
	}
	if r.Outcome.OK() {
		r.Value = rapid.SampledFrom([]string{"7", "7", "7", "8"}).Draw(t, "value")
	}
	return r, true
}

func walk(t *rapid.T, step func(w *world, before *State, in fleet.Input)) {
	c := watched(1_000, "a:", "b:", "c:x")
	c.Endpoints[2].Local = false
	w := newWorld(t, c)
	n := rapid.IntRange(1, 80).Draw(t, "rows")
	for range n {
		w.at += fleet.Millis(rapid.SampledFrom([]int{0, 1, 300, 1_000, 20_000, 700_000}).Draw(t, "pause"))
		before := w.s
		in := anyInput(t, w)
		w.put(in)
		step(w, before, in)
	}
}

func TestNobodyUnderAHardGateEverServes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walk(t, func(w *world, _ *State, in fleet.Input) {
			c := w.chain()
			r := Order(w.s, c, Ask{Kind: fleet.KindState, Tip: true})
			for i, x := range r.Candidates {
				if e := c.Endpoint(x.Endpoint); x.Eligible != (i < r.Eligible) || x.Eligible && e.Gate != nil {
					t.Fatalf("%s is eligible under gate %+v", x.Endpoint, e.Gate)
				}
			}
			if len(r.Candidates) != len(c.Endpoints) {
				t.Fatalf("%d candidates of %d endpoints", len(r.Candidates), len(c.Endpoints))
			}
			e := c.Endpoint(c.Incumbent)
			if e != nil && e.Gate != nil && e.Gate.Name != GateThrottled {
				t.Fatalf("%s serves under gate %s after %#v\n%s", c.Incumbent, e.Gate.Name, in, w.history())
			}
			if e := c.Endpoint(r.Degraded); e != nil && (e.Gate.Quarantine() || !e.identified(c)) {
				t.Fatalf("%s would serve degraded under gate %s", r.Degraded, e.Gate.Name)
			}
		})
	})
}

func TestAStateReadBackFromACheckpointGoesOnAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var other *State
		walk(t, func(w *world, before *State, in fleet.Input) {
			if other != nil {
				// The twin was read back some rows ago, and has folded the same rows since.
				other, _ = Step(other, fleet.Row{Seq: w.s.Seq, At: w.at, Input: in})
				if a, b := encode(w.t, w.s), encode(w.t, other); a != b {
					t.Fatalf("after %#v the states differ:\n%s\n%s", in, a, b)
				}
			}
			if rapid.IntRange(0, 9).Draw(t, "checkpoint") == 0 {
				other = &State{}
				if err := json.Unmarshal([]byte(encode(w.t, w.s)), other); err != nil {
					t.Fatal(err)
				}
			}
		})
	})
}

func TestStepLeavesTheOldStateAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		was, text := (*State)(nil), ""
		walk(t, func(w *world, before *State, _ fleet.Input) {
			if was == before && was != nil {
				if now := encode(w.t, before); now != text {
					t.Fatalf("the old state changed:\n%s\n%s", text, now)
				}
			}
			was, text = w.s, encode(w.t, w.s)
		})
	})
}

func TestADenialChangesNoDecision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walk(t, func(w *world, _ *State, _ fleet.Input) {
			next, events := Step(w.s, fleet.Row{Seq: w.s.Seq + 1, At: w.s.At, Input: fleet.Traffic{Endpoint: id("a"), Kind: fleet.KindState, Denials: 5}})
			if len(events) != 0 {
				t.Fatalf("denials caused %v", events)
			}
			a, b := *w.s, *next
			b.Seq = a.Seq
			b.Chains = slices.Clone(b.Chains)
			c := *b.Chains[0]
			c.Endpoints = slices.Clone(c.Endpoints)
			e := *c.Endpoints[0]
			e.Denials -= 5
			c.Endpoints[0], b.Chains[0] = &e, &c
			if x, y := encode(w.t, &a), encode(w.t, &b); x != y {
				t.Fatalf("denials changed the state:\n%s\n%s", x, y)
			}
		})
	})
}

func TestTheOrderOfSamplesAtOneTimeDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Not at a limit: within a round a sample may be one block later than another.
		lag := rapid.SliceOfN(rapid.SampledFrom([]uint64{0, 1, 6, 12, 50, 70}), 3, 3).Draw(t, "lags")
		end := func(order []int) string {
			w := newWorld(t, spec(1_000, "a:", "b:", "c:x"))
			for range 20 {
				w.at += 1_000
				for _, i := range order {
					n := []string{"a", "b", "c"}[i]
					w.put(w.good(n, blockAt(w.tipOf(1_000)-lag[i], 1_000)))
					if e := w.chain().Endpoint(n); e.Confirm != 0 {
						w.put(fleet.Reading{Endpoint: id(n), What: fleet.ReadConfirm, Outcome: fleet.Outcome{Class: fleet.ClassOK}, Number: e.Confirm, Hash: hashOf(e.Confirm, 0)})
					}
				}
				w.put(fleet.Tick{})
			}
			return w.state("a") + " " + w.state("b") + " " + w.state("c") + " at " + utoa(w.chain().Ref.Number)
		}
		if one, other := end([]int{0, 1, 2}), end([]int{2, 1, 0}); one != other {
			t.Fatalf("lags %v: one order ends as %s, the other as %s", lag, one, other)
		}
	})
}
