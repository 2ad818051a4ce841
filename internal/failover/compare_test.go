package failover

import (
	"encoding/json"
	"strings"
	"testing"

	"example.com/rpctop/internal/fleet"
)

// peers answer the fold's questions as endpoints would: fork says on which
// chain an endpoint has a block, value what it says of the watch there. A nil
// reading is silence.
type peers struct {
	w      *world
	put    map[uint64]bool
	fork   func(name string, n uint64) byte
	common func(w fleet.Wish) *fleet.Reading
	value  func(name string, n uint64, h fleet.Hash) (string, fleet.Outcome)
	latest func(name string, n uint64) (string, fleet.Outcome)
	asked  map[string]int
	// ignores names those that take no notice of the block argument.
	ignores map[string]bool
}

func newPeers(w *world) *peers {
	return &peers{w: w, put: map[uint64]bool{}, asked: map[string]int{}, fork: func(string, uint64) byte { return 0 },
		value: func(string, uint64, fleet.Hash) (string, fleet.Outcome) { return "7", okay }}
}

var okay = fleet.Outcome{Class: fleet.ClassOK}

func no(class fleet.Class, message string) fleet.Outcome {
	return fleet.Outcome{Class: class, Message: message}
}

// answer puts the answers to all wishes that are due, until none is.
func (p *peers) answer() {
	p.w.t.Helper()
	for {
		var next *fleet.Wish
		for _, x := range p.w.chain().Wishes {
			if !p.put[x.ID] && x.At+x.Delay <= p.w.at {
				next = &x
				break
			}
		}
		if next == nil {
			return
		}
		p.put[next.ID] = true
		p.asked[next.Endpoint]++
		for _, r := range p.readings(*next) {
			p.w.put(r)
		}
	}
}

func (p *peers) readings(x fleet.Wish) []fleet.Reading {
	r := fleet.Reading{Endpoint: id(x.Endpoint), What: x.What, Outcome: okay, Number: x.Number, Hash: x.Hash, Watch: x.Watch}
	switch x.What {
	case fleet.ReadCommon:
		if p.common != nil {
			if own := p.common(x); own != nil {
				return []fleet.Reading{*own}
			}
		}
		r.Hash = hashOf(x.Number, p.fork(x.Endpoint, x.Number))
		return []fleet.Reading{r}
	case fleet.ReadBeyond:
		if !p.ignores[x.Endpoint] {
			r.Outcome = no(fleet.ClassNotYetVisible, "header not found")
		}
		return []fleet.Reading{r}
	}
	r.Value, r.Outcome = p.value(x.Endpoint, x.Number, x.Hash)
	if x.Watch != "" {
		return []fleet.Reading{r}
	}
	r.Watch = "w"
	head := p.w.chain().Endpoint(x.Endpoint).Head
	l := fleet.Reading{Endpoint: id(x.Endpoint), What: fleet.ReadWatchHead, Watch: "w", Number: head.Number, Hash: head.Hash}
	if p.latest != nil {
		l.Value, l.Outcome = p.latest(x.Endpoint, head.Number)
	} else {
		l.Value, l.Outcome = p.value(x.Endpoint, head.Number, head.Hash)
	}
	return []fleet.Reading{r, l}
}

// play lets seconds pass with answers to all questions, ten times a second.
func (p *peers) play(seconds int, how behaviours) {
	p.w.t.Helper()
	for range seconds {
		for _, e := range p.w.chain().Endpoints {
			if f := how[e.Spec.Name]; f != nil {
				p.w.at += 7
				s := *f()
				s.Start = p.w.at - fleet.Millis(s.Timing.Total/1000)
				p.w.put(s)
			}
		}
		end := (p.w.at/1000 + 1) * 1000
		for p.w.at < end {
			p.answer()
			p.w.at = min(p.w.at+100, end)
		}
		p.w.put(fleet.Tick{})
		p.answer()
	}
}

// forked is an honest sample of a chain that parts after a height.
func (w *world) forked(name string, bt fleet.Millis, after uint64, fork byte) func() *fleet.Sample {
	return func() *fleet.Sample {
		h := blockAt(w.tipOf(bt), bt)
		if h.Number > after {
			h.Hash = hashOf(h.Number, fork)
		}
		if h.Number-1 > after {
			h.Parent = hashOf(h.Number-1, fork)
		}
		s := w.good(name, h)
		return &s
	}
}

func local(c fleet.ChainSpec) fleet.ChainSpec {
	for i := range c.Endpoints {
		c.Endpoints[i].Local = true
	}
	return c
}

func reorgs(w *world) []fleet.Event {
	var out []fleet.Event
	for _, e := range w.events {
		if e.Kind == fleet.EventAlarm && e.Sub == "reorg" {
			out = append(out, e)
		}
	}
	return out
}

func TestEndpointsThatAgreeAtTheCommonBlockAreLeftAlone(t *testing.T) {
	w := newWorld(t, local(spec(1_000, "a:", "b:", "c:")))
	p := newPeers(w)
	all := behaviours{"a": w.honest("a", 1_000), "b": w.behind("b", 1_000, 1), "c": w.behind("c", 1_000, 2)}
	p.play(30, all)
	c := w.chain()
	if c.Common == nil || !c.Common.Judged || c.Common.Hash != hashOf(c.Common.Number, 0) {
		t.Fatalf("no common block after 30 s: %+v", c.Common)
	}
	if low := c.Endpoint("c").Head.Number; c.Common.Number+1 > low || c.Common.Number+3 < low {
		t.Errorf("compared at %d, while the lowest head is %d", c.Common.Number, low)
	}
	if c.Split != nil || len(reorgs(w)) != 0 || w.count(fleet.EventGate) != 0 {
		t.Errorf("agreement was not left alone:\n%s", w.history())
	}
	if n := p.asked["a"]; n < 15 {
		t.Errorf("a local endpoint was asked %d times in 30 rounds", n)
	}
}

func TestARemoteEndpointIsComparedInEveryThirdRound(t *testing.T) {
	w := newWorld(t, spec(1_000, "a:", "b:"))
	p := newPeers(w)
	p.play(60, behaviours{"a": w.honest("a", 1_000), "b": w.honest("b", 1_000)})
	if n := p.asked["a"]; n < 18 || n > 21 {
		t.Errorf("asked %d times in 60 rounds, want every third", n)
	}
}

func TestTwoThatMineApartAreForkedAtTheRightHeight(t *testing.T) {
	for name, tt := range map[string]struct {
		deep  bool
		final uint64 // blocks below the fork's base; 0: not known
		base  uint64 // blocks below the tip at the start
		want  string
	}{
		"shallow": {base: 3, final: 20, want: "forked(shallow)"},
		"deep":    {base: 30, final: 20, want: "forked(deep)"},
		"unread":  {base: 3, want: "forked(shallow)"},
		"ancient": {base: 300, want: "forked(deep)"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, local(spec(1_000, "a:", "b:", "c:")))
			p := newPeers(w)
			tip := w.tipOf(1_000)
			base := tip - tt.base
			p.fork = func(name string, n uint64) byte {
				if name == "a" && n > base {
					return 5
				}
				return 0
			}
			all := behaviours{"a": w.forked("a", 1_000, base, 5), "b": w.honest("b", 1_000), "c": w.honest("c", 1_000)}
			if tt.final != 0 {
				for _, n := range []string{"b", "c"} {
					w.put(*all[n]())
					w.put(fleet.Reading{Endpoint: id(n), What: fleet.ReadFinalized, Outcome: okay, Number: tip - tt.final, Hash: hashOf(tip-tt.final, 0)})
				}
			}
			p.play(8, all)
			w.wantState("a", GateForked)
			w.wantState("b", StateOK)
			w.wantState("c", StateOK)
			g := w.chain().Endpoint("a").Gate
			if g == nil {
				t.Fatal("no gate")
			}
			for _, part := range []string{tt.want, "common up to block " + utoa(base), hashOf(1, 5).Short()[:4], "b, c"} {
				if !strings.Contains(g.Evidence, part) {
					t.Errorf("the evidence lacks %q: %s", part, g.Evidence)
				}
			}
			if ref := w.chain().Ref; ref.Hash != hashOf(ref.Number, 0) {
				t.Errorf("the reference is the fork's: %d %s", ref.Number, ref.Hash.Short())
			}
			w.wantServes("b")
			// It takes the others' chain: the fork heals by itself.
			p.fork = func(string, uint64) byte { return 0 }
			all["a"] = w.honest("a", 1_000)
			p.play(4, all)
			w.wantState("a", StateOK)
			if r := reorgs(w); len(r) != 1 || !strings.Contains(r[0].Reason, "a rejoined after") {
				t.Errorf("the healing was told as %v", r)
			}
		})
	}
}

func TestAReorgThatHealsIsToldWithItsDepthAndGatesNobody(t *testing.T) {
	bt := fleet.Millis(2_000)
	w := newWorld(t, local(spec(bt, "a:", "b:", "c:")))
	p := newPeers(w)
	all := behaviours{"a": w.honest("a", bt), "b": w.honest("b", bt), "c": w.honest("c", bt)}
	p.play(6, all)
	base := w.tipOf(bt) - 2
	p.fork = func(name string, n uint64) byte {
		if name == "a" && n > base {
			return 4
		}
		return 0
	}
	all["a"] = w.forked("a", bt, base, 4)
	p.play(3, all)
	if w.chain().Split == nil {
		t.Fatal("the fork was not noticed")
	}
	p.fork, all["a"] = func(string, uint64) byte { return 0 }, w.honest("a", bt)
	p.play(10, all)
	r := reorgs(w)
	if len(r) != 1 {
		t.Fatalf("%d reorgs were told:\n%s", len(r), w.history())
	}
	var data struct{ Number, Depth uint64 }
	if err := json.Unmarshal(r[0].Data, &data); err != nil || data.Depth != data.Number-base {
		t.Errorf("told %s (%v), the last common block is %d", r[0].Data, err, base)
	}
	if n := w.count(fleet.EventGate); n != 0 {
		t.Errorf("a reorg gated somebody:\n%s", w.history())
	}
}

func TestOneAgainstOneIsDisputedAndTheIncumbentStays(t *testing.T) {
	w := newWorld(t, local(spec(1_000, "a:", "b:")))
	p := newPeers(w)
	all := behaviours{"a": w.honest("a", 1_000), "b": w.honest("b", 1_000)}
	p.play(4, all)
	w.wantServes("a")
	base := w.tipOf(1_000)
	p.fork = func(name string, n uint64) byte {
		if name == "a" && n > base {
			return 6
		}
		return 0
	}
	slow := w.forked("a", 1_000, base, 6)
	all["a"] = func() *fleet.Sample { s := slow(); s.Timing.Total = 900_000; return s }
	p.play(10, all)
	if w.chain().Disputed() == "" {
		t.Fatalf("nobody calls it disputed:\n%s", w.history())
	}
	w.wantState("a", StateOK)
	w.wantState("b", StateOK)
	p.play(120, all)
	w.wantServes("a") // although it is much slower
	v := View(w.s).Chains[0]
	if v.Disputed == "" || len(v.Alarms) == 0 || !strings.Contains(strings.Join(v.Endpoints[0].Flags, " "), "disputed") {
		t.Errorf("disputed %q, alarms %v, flags %v", v.Disputed, v.Alarms, v.Endpoints[0].Flags)
	}
	p.fork, all["a"] = func(string, uint64) byte { return 0 }, w.honest("a", 1_000)
	p.play(10, all)
	if why := w.chain().Disputed(); why != "" {
		t.Errorf("still disputed after it has healed: %s", why)
	}
}

func TestOneOperatorTwiceIsNoMajority(t *testing.T) {
	c := local(spec(1_000, "a:", "b:", "c:"))
	c.Endpoints[1].Operator, c.Endpoints[2].Operator = "same", "same"
	w := newWorld(t, c)
	p := newPeers(w)
	p.fork = func(name string, n uint64) byte {
		if name == "a" {
			return 6
		}
		return 0
	}
	p.play(10, behaviours{"a": w.forked("a", 1_000, 0, 6), "b": w.honest("b", 1_000), "c": w.honest("c", 1_000)})
	w.wantState("a", StateOK)
	if w.chain().Disputed() == "" {
		t.Error("nobody calls it disputed")
	}
}

func TestABlockThatIsMissingBelowItsOwnHeadIsASplitBackend(t *testing.T) {
	w := newWorld(t, local(spec(1_000, "a:", "b:")))
	p := newPeers(w)
	tries := 0
	p.common = func(x fleet.Wish) *fleet.Reading {
		if x.Endpoint != "a" {
			return nil
		}
		tries++
		return &fleet.Reading{Endpoint: id("a"), What: fleet.ReadCommon, Number: x.Number, Outcome: no(fleet.ClassNotYetVisible, "no such block")}
	}
	p.play(2, behaviours{"a": w.honest("a", 1_000), "b": w.honest("b", 1_000)})
	if tries < 3 {
		t.Errorf("asked %d times, want 3", tries)
	}
	w.wantState("a", StateOK)
	if f := View(w.s).Chains[0].Endpoints[0].Flags; !strings.Contains(strings.Join(f, " "), "split-backend") {
		t.Errorf("flags %v", f)
	}
	if w.chain().Split != nil {
		t.Error("a missing block was taken for a fork")
	}
}

func TestAForkEndsByClearAndByAChangeOfTheConfig(t *testing.T) {
	for name, in := range map[string]fleet.Input{
		"clear":  fleet.Command{ID: "1", Author: "ann", Action: fleet.ActionClear, Chain: "main", Endpoint: "a"},
		"config": fleet.Config{Policy: fleet.DefaultPolicy(), Seed: 7, Chains: []fleet.ChainSpec{local(spec(1_000, "a:", "b:", "c:"))}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, local(spec(1_000, "a:", "b:", "c:")))
			p := newPeers(w)
			p.fork = func(name string, n uint64) byte {
				if name == "a" {
					return 6
				}
				return 0
			}
			all := behaviours{"a": w.forked("a", 1_000, 0, 6), "b": w.honest("b", 1_000), "c": w.honest("c", 1_000)}
			p.play(8, all)
			w.wantState("a", GateForked)
			if !strings.Contains(w.chain().Endpoint("a").Gate.Evidence, "forked(deep): has") || !strings.Contains(w.chain().Endpoint("a").Gate.Evidence, "block 0") {
				t.Errorf("evidence: %s", w.chain().Endpoint("a").Gate.Evidence)
			}
			w.put(in)
			w.wantState("a", StateOK)
			p.play(8, all) // it is on its fork still
			w.wantState("a", GateForked)
		})
	}
}
