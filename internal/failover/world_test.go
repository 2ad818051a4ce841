package failover

import (
	"encoding/binary"
	"encoding/json"
	"strings"

	"example.com/rpctop/internal/fleet"
)

// reporter is what testing.T and rapid.T share.
type reporter interface {
	Helper()
	Errorf(string, ...any)
	Fatalf(string, ...any)
	Fatal(...any)
}

// world folds rows as the engine would, by a clock of its own.
type world struct {
	t      reporter
	s      *State
	at     fleet.Millis
	events []fleet.Event
}

const startAt = fleet.Millis(1_800_000_000_000)

// blockAt gives block n of a chain that makes one per bt ms, as honest
// endpoints state it.
func blockAt(n uint64, bt fleet.Millis) fleet.Head {
	return fleet.Head{Number: n, Hash: hashOf(n, 0), Parent: hashOf(n-1, 0), Time: uint64((startAt + fleet.Millis(n)*bt) / 1000)}
}

func hashOf(n uint64, fork byte) fleet.Hash {
	var h fleet.Hash
	binary.BigEndian.PutUint64(h[8:], n)
	h[0], h[31] = 0xb0, fork
	return h
}

func spec(bt fleet.Millis, names ...string) fleet.ChainSpec {
	c := fleet.ChainSpec{Name: "main", ChainID: 100, BlockTime: bt}
	for _, n := range names {
		name, tier, _ := strings.Cut(n, ":")
		e := fleet.EndpointSpec{Name: name, Operator: "op-" + name, Every: 1_000, Timeout: 4_000, Fingerprint: "f-" + name}
		e.Tier = len(tier) // "a:" is tier 0, "a:x" tier 1
		c.Endpoints = append(c.Endpoints, e)
	}
	return c
}

func newWorld(t reporter, chains ...fleet.ChainSpec) *world {
	w := &world{t: t, at: startAt + 1_000_000}
	w.put(fleet.Lead{Version: "test", PID: 1, Role: "test", Wall: w.at})
	w.put(fleet.Config{Policy: fleet.DefaultPolicy(), Seed: 7, Chains: chains})
	return w
}

func (w *world) put(in fleet.Input) []fleet.Event {
	w.t.Helper()
	seq := uint64(1)
	if w.s != nil {
		seq = w.s.Seq + 1
	}
	s, evs := Step(w.s, fleet.Row{Seq: seq, At: w.at, Input: in})
	w.s = s
	w.events = append(w.events, evs...)
	return evs
}

func id(name string) fleet.EndpointID { return fleet.EndpointID{Chain: "main", Name: name} }

// good is an honest sample.
func (w *world) good(name string, head fleet.Head) fleet.Sample {
	return fleet.Sample{Endpoint: id(name), Start: w.at - 20, Outcome: fleet.Outcome{Class: fleet.ClassOK, Origin: fleet.OriginNode, Status: 200},
		Timing: fleet.Timing{Total: 20_000}, Head: &head, ChainID: "100", ChainIDClass: fleet.ClassOK}
}

func (w *world) bad(name string, class fleet.Class, sub string) fleet.Sample {
	return fleet.Sample{Endpoint: id(name), Start: w.at - 20, Outcome: fleet.Outcome{Class: class, Sub: sub}, Timing: fleet.Timing{Total: 50_000}}
}

// tipOf is the height of an honest chain now.
func (w *world) tipOf(bt fleet.Millis) uint64 { return uint64((w.at - startAt) / bt) }

// run lets seconds pass: each second every endpoint is sampled by its
// behaviour (nil: silent), then the tick.
func (w *world) run(seconds int, how map[string]func() *fleet.Sample) {
	w.t.Helper()
	for range seconds {
		for _, e := range w.chain().Endpoints {
			if f := how[e.Spec.Name]; f != nil {
				if s := f(); s != nil {
					w.at += 7
					s.Start = w.at - fleet.Millis(s.Timing.Total/1000)
					w.put(*s)
				}
			}
		}
		w.at = (w.at/1000 + 1) * 1000
		w.put(fleet.Tick{})
	}
}

func (w *world) chain() *Chain { return w.s.Chain("main") }

func (w *world) honest(name string, bt fleet.Millis) func() *fleet.Sample {
	return w.behind(name, bt, 0)
}

func (w *world) behind(name string, bt fleet.Millis, n uint64) func() *fleet.Sample {
	return func() *fleet.Sample {
		s := w.good(name, blockAt(w.tipOf(bt)-n, bt))
		return &s
	}
}

func (w *world) frozenAt(name string, h fleet.Head) func() *fleet.Sample {
	return func() *fleet.Sample { s := w.good(name, h); return &s }
}

func (w *world) failing(name string, class fleet.Class, sub string) func() *fleet.Sample {
	return func() *fleet.Sample { s := w.bad(name, class, sub); return &s }
}

func (w *world) state(name string) string { return StateOf(w.chain(), w.chain().Endpoint(name)) }

func (w *world) wantState(name, want string) {
	w.t.Helper()
	if got := w.state(name); got != want {
		e := w.chain().Endpoint(name)
		w.t.Errorf("%s is %s, want %s (gate %+v, lag %v)", name, got, want, e.Gate, e.Lag)
	}
}

func (w *world) wantServes(want string) {
	w.t.Helper()
	if got := w.chain().Incumbent; got != want {
		w.t.Errorf("%q serves, want %q; events:\n%s", got, want, w.history())
	}
}

func (w *world) history() string {
	var b strings.Builder
	for _, e := range w.events {
		b.WriteString(e.At.Time().Format("15:04:05.000") + " " + string(e.Kind) + " " + e.Endpoint + " " + e.From + "->" + e.To + " " + e.Reason + "\n")
	}
	return b.String()
}

func (w *world) last(kind fleet.EventKind) fleet.Event {
	w.t.Helper()
	for i := len(w.events) - 1; i >= 0; i-- {
		if w.events[i].Kind == kind {
			return w.events[i]
		}
	}
	w.t.Fatalf("no event of kind %s; there were:\n%s", kind, w.history())
	return fleet.Event{}
}

func (w *world) count(kind fleet.EventKind) int {
	n := 0
	for _, e := range w.events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

func encode(t reporter, s *State) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
