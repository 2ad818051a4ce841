package failover

import (
	"slices"
	"strings"
	"testing"

	"example.com/rpctop/internal/fleet"
)

// headCase is a failure case about heads: rows, then what an operator sees.
type headCase struct {
	bt     fleet.Millis
	names  []string
	rows   func(w *world)
	state  map[string]string
	flags  map[string]string // a flag that must be shown
	says   map[string]string // a part of the evidence
	chain  string            // the chain's state; "" is not checked
	silent bool              // no event but service and the first switch
}

// tagged is the reading of a tag.
func (w *world) tagged(name string, what fleet.ReadingKind, n uint64, fork byte) {
	w.t.Helper()
	w.put(fleet.Reading{Endpoint: id(name), What: what, Outcome: okay, Number: n, Hash: hashOf(n, fork)})
}

func TestFailureCasesAboutHeads(t *testing.T) {
	for name, tt := range map[string]headCase{
		"056 a head that steps back is a wobble, and no reorg": {bt: 2_000, names: []string{"a:", "b:"}, rows: func(w *world) {
			tip := w.tipOf(2_000)
			for _, n := range []uint64{tip, tip - 1, tip, tip - 1, tip} {
				w.at += 300
				w.put(w.good("a", blockAt(n, 2_000)))
				w.put(w.good("b", blockAt(tip, 2_000)))
			}
			if len(reorgs(w)) != 0 {
				w.t.Errorf("a reorg was told without a changed hash:\n%s", w.history())
			}
			if ref := w.chain().Ref.Number; ref != tip {
				w.t.Errorf("the reference went to %d, from %d", ref, tip)
			}
		}, state: map[string]string{"a": StateOK}, flags: map[string]string{"a": "multi-backend"}, silent: true},
		"057 an endpoint that advances days behind is stale": {bt: 12_000, names: []string{"a:", "b:", "c:"}, rows: func(w *world) {
			old := w.tipOf(12_000) - 50
			for i := range uint64(3) {
				w.at += 12_000
				w.put(w.good("b", blockAt(w.tipOf(12_000), 12_000)))
				w.put(w.good("c", blockAt(w.tipOf(12_000), 12_000)))
				w.put(w.good("a", blockAt(old+i, 12_000)))
			}
		}, state: map[string]string{"a": GateStale, "b": StateOK}},
		"058 syncing says no, and the head is old": {bt: 12_000, names: []string{"a:", "b:", "c:"}, rows: func(w *world) {
			for range 3 {
				w.at += 12_000
				w.put(w.good("b", blockAt(w.tipOf(12_000), 12_000)))
				w.put(w.good("c", blockAt(w.tipOf(12_000), 12_000)))
				w.put(w.good("a", blockAt(w.tipOf(12_000)-60, 12_000)))
				w.put(fleet.Reading{Endpoint: id("a"), What: fleet.ReadSyncing, Outcome: okay, Value: "no"})
			}
		}, state: map[string]string{"a": GateStale}},
		"059 syncing is no gate": {bt: 12_000, names: []string{"a:", "b:"}, rows: func(w *world) {
			w.put(w.good("b", blockAt(w.tipOf(12_000), 12_000)))
			w.put(w.good("a", blockAt(w.tipOf(12_000)-1, 12_000)))
			w.put(fleet.Reading{Endpoint: id("a"), What: fleet.ReadSyncing, Outcome: okay, Value: "yes, at 99 of 100"})
		}, state: map[string]string{"a": StateOK, "b": StateOK}},
		"060 a chain that stalls everywhere gates nobody": {bt: 2_000, names: []string{"a:", "b:", "c:"}, rows: func(w *world) {
			h := blockAt(w.tipOf(2_000), 2_000)
			w.run(600, behaviours{"a": w.frozenAt("a", h), "b": w.frozenAt("b", h), "c": w.frozenAt("c", h)})
			if n := w.count(fleet.EventSwitch); n != 1 {
				w.t.Errorf("%d switches while the chain stood still", n)
			}
		}, state: map[string]string{"a": StateOK, "b": StateOK, "c": StateOK}, chain: "stalled"},
		"061 a height of another layer is not believed": {bt: 2_000, names: []string{"a:", "b:", "c:"}, rows: func(w *world) {
			far := blockAt(w.tipOf(2_000), 2_000)
			far.Number = 640_000_000
			far.Hash, far.Parent = hashOf(far.Number, 1), hashOf(far.Number-1, 1)
			w.run(5, behaviours{"a": w.frozenAt("a", far), "b": w.honest("b", 2_000), "c": w.honest("c", 2_000)})
		}, state: map[string]string{"a": GateForked, "b": StateOK, "c": StateOK}, says: map[string]string{"a": "nobody confirms"}},
		"063 finalized above latest once is shown, and passed over": {bt: 12_000, names: []string{"a:", "b:"}, rows: func(w *world) {
			tip := w.tipOf(12_000)
			w.put(w.good("a", blockAt(tip, 12_000)))
			w.put(w.good("b", blockAt(tip, 12_000)))
			w.tagged("a", fleet.ReadFinalized, tip+3, 0)
			if r := Order(w.s, w.chain(), Ask{Kind: fleet.KindState, Tip: true}); r.First() != "b" {
				w.t.Errorf("a read of the tip goes to %s", r.First())
			}
		}, state: map[string]string{"a": StateLagging}, flags: map[string]string{"a": "self-inconsistent"}, says: map[string]string{"a": "finalized 3 above latest"}},
		"063 and when it persists it is gated": {bt: 12_000, names: []string{"a:", "b:"}, rows: func(w *world) {
			tip := w.tipOf(12_000)
			for range 2 {
				w.put(w.good("a", blockAt(tip, 12_000)))
				w.put(w.good("b", blockAt(tip, 12_000)))
				w.tagged("a", fleet.ReadFinalized, tip+3, 0)
			}
		}, state: map[string]string{"a": GateStale, "b": StateOK}, says: map[string]string{"a": "inconsistent: finalized 3 above latest"}},
		"063 and a consistent answer ends it": {bt: 12_000, names: []string{"a:", "b:"}, rows: func(w *world) {
			tip := w.tipOf(12_000)
			for _, n := range []uint64{tip + 3, tip + 3, tip - 30} {
				w.put(w.good("a", blockAt(tip, 12_000)))
				w.put(w.good("b", blockAt(tip, 12_000)))
				w.tagged("a", fleet.ReadFinalized, n, 0)
			}
		}, state: map[string]string{"a": StateOK}},
		"finalized that goes back is shown": {bt: 12_000, names: []string{"a:", "b:"}, rows: func(w *world) {
			tip := w.tipOf(12_000)
			for _, n := range []uint64{tip - 30, tip - 62} {
				w.put(w.good("a", blockAt(tip, 12_000)))
				w.put(w.good("b", blockAt(tip, 12_000)))
				w.tagged("a", fleet.ReadFinalized, n, 0)
			}
		}, state: map[string]string{"a": StateLagging}, says: map[string]string{"a": "finalized went back"}},
		"finality at the tip is no contradiction": {bt: 1_000, names: []string{"a:", "b:"}, rows: func(w *world) {
			tip := w.tipOf(1_000)
			w.put(w.good("a", blockAt(tip, 1_000)))
			w.tagged("a", fleet.ReadFinalized, tip+1, 0) // a block came in between
		}, state: map[string]string{"a": StateOK}},
		"a chain without the tags is no worse": {bt: 1_000, names: []string{"a:", "b:"}, rows: func(w *world) {
			w.put(w.good("a", blockAt(w.tipOf(1_000), 1_000)))
			w.put(w.good("b", blockAt(w.tipOf(1_000), 1_000)))
			for _, what := range []fleet.ReadingKind{fleet.ReadSafe, fleet.ReadFinalized} {
				w.put(fleet.Reading{Endpoint: id("a"), What: what, Outcome: no(fleet.ClassUnsupported, "unknown block tag")})
			}
		}, state: map[string]string{"a": StateOK}, silent: true},
		"another finalized hash than two others is a deep fork": {bt: 12_000, names: []string{"a:", "b:", "c:"}, rows: func(w *world) {
			tip := w.tipOf(12_000)
			for i, n := range []string{"a", "b", "c"} {
				w.put(w.good(n, blockAt(tip, 12_000)))
				w.tagged(n, fleet.ReadFinalized, tip-64, byte(max(0, 1-i)))
			}
		}, state: map[string]string{"a": GateForked, "b": StateOK, "c": StateOK}, says: map[string]string{"a": "forked(deep): finalized"}},
		"another finalized hash than one other is nobody's": {bt: 12_000, names: []string{"a:", "b:"}, rows: func(w *world) {
			tip := w.tipOf(12_000)
			for i, n := range []string{"a", "b"} {
				w.put(w.good(n, blockAt(tip, 12_000)))
				w.tagged(n, fleet.ReadFinalized, tip-64, byte(i))
			}
		}, state: map[string]string{"a": StateOK, "b": StateOK}},
		"064 several blocks in one second": {bt: 250, names: []string{"a:", "b:"}, rows: func(w *world) {
			w.run(60, behaviours{"a": w.honest("a", 250), "b": w.honest("b", 250)})
		}, state: map[string]string{"a": StateOK, "b": StateOK}, silent: true},
		"066 20 blocks are 9 s on a fast chain": {bt: 450, names: []string{"a:", "b:", "c:"}, rows: func(w *world) {
			w.run(30, behaviours{"a": w.behind("a", 450, 20), "b": w.honest("b", 450), "c": w.honest("c", 450)})
		}, state: map[string]string{"a": StateLagging, "b": StateOK}},
		"067 a block two minutes ahead of our clock": {bt: 12_000, names: []string{"a:", "b:", "c:"}, rows: func(w *world) {
			h := blockAt(w.tipOf(12_000)+1, 12_000)
			h.Time = uint64(w.at/1000) + 120
			w.put(w.good("b", blockAt(w.tipOf(12_000), 12_000)))
			w.put(w.good("c", blockAt(w.tipOf(12_000), 12_000)))
			w.put(w.good("a", h))
		}, state: map[string]string{"a": GateForked, "b": StateOK, "c": StateOK}, says: map[string]string{"a": "lies in the future"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, spec(tt.bt, tt.names...))
			tt.rows(w)
			w.at += 3_000
			w.put(fleet.Tick{})
			v := View(w.s).Chains[0]
			for name, want := range tt.state {
				w.wantState(name, want)
				e := v.Endpoints[w.chain().index(name)]
				if part := tt.says[name]; !strings.Contains(e.Evidence, part) {
					t.Errorf("%s: the evidence lacks %q: %s", name, part, e.Evidence)
				}
				if flag := tt.flags[name]; flag != "" && !slices.Contains(e.Flags, flag) {
					t.Errorf("%s: flags %v lack %s", name, e.Flags, flag)
				}
			}
			if tt.chain != "" && v.State != tt.chain {
				t.Errorf("the chain is %s, want %s", v.State, tt.chain)
			}
			if tt.silent && w.count(fleet.EventGate)+w.count(fleet.EventAlarm) > 0 {
				t.Errorf("something was told:\n%s", w.history())
			}
		})
	}
}

func TestCase120OneOfThreeOnAnotherBlockRejoinsAfterEightSeconds(t *testing.T) {
	bt := fleet.Millis(2_000)
	w := newWorld(t, local(spec(bt, "a:", "b:", "c:")))
	p := newPeers(w)
	all := behaviours{"a": w.honest("a", bt), "b": w.honest("b", bt), "c": w.honest("c", bt)}
	p.play(4, all)
	base := w.tipOf(bt)
	p.fork = func(name string, n uint64) byte {
		if name == "a" && n > base {
			return 1
		}
		return 0
	}
	all["a"] = w.forked("a", bt, base, 1)
	p.play(9, all)
	w.wantState("a", GateForked)
	if g := w.chain().Endpoint("a").Gate; g != nil && (!strings.Contains(g.Evidence, "shallow") || !strings.Contains(g.Evidence, "b, c have")) {
		t.Errorf("evidence: %s", g.Evidence)
	}
	if n := w.chain().Endpoint("a").Failures; n != 0 {
		t.Errorf("a short fork at the tip was charged %d times", n)
	}
	p.fork, all["a"] = func(string, uint64) byte { return 0 }, w.honest("a", bt)
	p.play(4, all)
	w.wantState("a", StateOK)
	if r := reorgs(w); len(r) != 1 || !strings.Contains(r[0].Reason, "a rejoined after") || !strings.Contains(r[0].Reason, "depth") {
		t.Errorf("told as %v", r)
	}
}

// Honest endpoints of a chain of ten blocks a second that differ by up to
// 300 ms, and of a 12 s chain polled every 6 s: C16.
func TestHonestEndpointsAreNeverGatedNorCompared(t *testing.T) {
	for name, bt := range map[string]fleet.Millis{"ten blocks a second": 100, "a block in 12 s": 12_000} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, watched(bt, "a:", "b:", "c:"))
			p := newPeers(w)
			late := func(name string, ms fleet.Millis) func() *fleet.Sample {
				return func() *fleet.Sample {
					s := w.good(name, blockAt(uint64((w.at-startAt-ms)/bt), bt))
					return &s
				}
			}
			p.play(600, behaviours{"a": late("a", 0), "b": late("b", 150), "c": late("c", 300)})
			if n := w.count(fleet.EventGate) + w.count(fleet.EventAlarm); n != 0 || w.count(fleet.EventSwitch) != 1 {
				t.Errorf("%d gates and alarms, %d switches:\n%s", n, w.count(fleet.EventSwitch), w.history())
			}
			for _, e := range w.chain().Endpoints {
				if soft, _, _ := w.chain().bounds(); e.Lag == nil || *e.Lag >= soft {
					t.Errorf("%s has lag %v", e.Spec.Name, e.Lag)
				}
			}
		})
	}
}
