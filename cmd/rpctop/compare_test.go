package main

import (
	"fmt"
	"log/slog"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"example.com/rpctop/internal/config"
	"example.com/rpctop/internal/devnet"
	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/report"
)

var spender = common.HexToAddress("0x00000000000000000000000000000000000000be")

// pool is three real nodes of one chain behind fronts, with a token of which
// 100 are allowed.
type pool struct {
	*devnet.Net
	t     *testing.T
	token common.Address
}

func newPool(t *testing.T, fronts ...devnet.FrontSpec) *pool {
	t.Helper()
	if len(fronts) == 0 {
		for _, n := range []string{"a", "b", "c"} {
			fronts = append(fronts, devnet.FrontSpec{Name: n, Operator: n})
		}
	}
	n, err := devnet.Start(t.Context(), devnet.Options{Seed: 3, Manual: true, History: 12, HeadTime: time.Now(), Fronts: fronts})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	p := &pool{Net: n, t: t}
	p.token, err = n.DeployToken()
	p.must(err)
	p.must(n.Mine(1))
	p.allow(100)
	p.must(n.Mine(4))
	return p
}

func (p *pool) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *pool) allow(n int64) {
	p.t.Helper()
	p.must(p.Approve(p.token, spender, big.NewInt(n)))
	p.must(p.Mine(1))
}

// check runs `check` on the fronts, as the verb does.
func (p *pool) check(rounds int) fleet.ChainView {
	p.t.Helper()
	c := config.Chain{Name: "dev", ChainID: p.ChainID(), Genesis: p.Genesis(), BlockTime: time.Second,
		Watches: []config.Watch{{Name: "w", Token: p.token, Owner: p.Owner(), Spender: spender}}}
	for _, f := range p.Fronts() {
		c.Endpoints = append(c.Endpoints, config.Endpoint{Name: f.Name(), Operator: f.Operator(), URL: config.Secret(f.URL()), Local: true, Timeout: 5 * time.Second})
	}
	cfg := config.Default()
	cfg.Chains = []config.Chain{c}
	a := &app{log: slog.New(slog.DiscardHandler)}
	v, err := a.checkOnce(p.t.Context(), cfg, rounds)
	p.must(err)
	return v.Chains[0]
}

func stateOf(v fleet.ChainView, name string) string {
	for _, e := range v.Endpoints {
		if e.Name == name {
			return e.State
		}
	}
	return ""
}

func saysOf(w fleet.WatchView, name string) fleet.WatchAnswer {
	for _, a := range w.Answers {
		if a.Endpoint == name {
			return a
		}
	}
	return fleet.WatchAnswer{}
}

func word(n uint64) string { return fmt.Sprintf(`"0x%064x"`, n) }

const allowanceSelector = "0xdd62ed3e"

func TestWatchesOnRealNodes(t *testing.T) {
	forged := devnet.Fault{Kind: devnet.Forged, Selector: allowanceSelector, Body: word(7)}
	for name, tt := range map[string]struct {
		setup   func(p *pool)
		fronts  []devnet.FrontSpec
		verdict string
		odd     []string
		text    []string
		c       fleet.WatchAnswer // of endpoint c: Value and the start of NonAnswer
		state   string            // of c
	}{
		"C1 equal": {verdict: fleet.WatchConsistent, c: fleet.WatchAnswer{Value: "100"}, state: "ok"},
		"C2 three behind across an approve": {setup: func(p *pool) { p.must(p.SetLag("c", 3)); p.allow(250) },
			verdict: fleet.WatchLagging, odd: []string{"c"}, text: []string{"c has 100 at block", "sees the change in 3 blocks"}, c: fleet.WatchAnswer{Value: "100", Latest: "100"}},
		"C3 a forged value at one hash": {setup: func(p *pool) { p.must(p.Front("c").Set(forged)) },
			verdict: fleet.WatchInconsistent, odd: []string{"c"}, text: []string{"a, b say 100", "c says 7", "at block"}, c: fleet.WatchAnswer{Value: "7"}, state: "ok"},
		"C5 a chain-id lie takes it out": {setup: func(p *pool) { p.must(p.Front("c").Set(devnet.Fault{Kind: devnet.WrongChain})) },
			verdict: fleet.WatchConsistent, text: []string{"2 say 100"}, state: "wrong-chain"},
		"C6 one id, another genesis": {setup: func(p *pool) { p.must(p.Front("c").Set(devnet.Fault{Kind: devnet.OtherGenesis})) },
			verdict: fleet.WatchConsistent, state: "wrong-chain"},
		"C7 one that mines apart": {setup: func(p *pool) { p.must(p.Fork("c", true)); p.must(p.Mine(3)) },
			verdict: "", state: "forked"},
		"C9 0x is no 0": {setup: func(p *pool) {
			p.must(p.Front("c").Set(devnet.Fault{Kind: devnet.Forged, Selector: allowanceSelector, Body: `"0x"`}))
		}, verdict: fleet.WatchConsistent, c: fleet.WatchAnswer{NonAnswer: "malformed: 0x"}, state: "ok"},
		"C12 a height liar gates itself": {setup: func(p *pool) { p.must(p.Front("c").Set(devnet.Fault{Kind: devnet.Ahead, Blocks: 1_000_000})) },
			verdict: fleet.WatchConsistent, text: []string{"2 say 100"}, state: "forked"},
		"C15 one against one": {fronts: []devnet.FrontSpec{{Name: "b", Operator: "b"}, {Name: "c", Operator: "c"}}, setup: func(p *pool) { p.must(p.Front("c").Set(forged)) },
			verdict: fleet.WatchInconsistent, odd: []string{"b", "c"}, text: []string{"b says 100, c says 7", "no majority"}, c: fleet.WatchAnswer{Value: "7"}, state: "ok"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPool(t, tt.fronts...)
			if tt.setup != nil {
				tt.setup(p)
			}
			v := p.check(1)
			w := v.Watches[0]
			if tt.verdict != "" && (w.Verdict != tt.verdict || !slices.Equal(w.Odd, tt.odd)) {
				t.Errorf("%s, odd %v: %s; want %s, odd %v", w.Verdict, w.Odd, w.Text, tt.verdict, tt.odd)
			}
			for _, part := range tt.text {
				if !strings.Contains(w.Text, part) {
					t.Errorf("the text lacks %q: %s", part, w.Text)
				}
			}
			got := saysOf(w, "c")
			if got.Value != tt.c.Value || !strings.HasPrefix(got.NonAnswer, tt.c.NonAnswer) || tt.c.NonAnswer == "" && got.NonAnswer != "" {
				t.Errorf("c says %+v, want %+v", got, tt.c)
			}
			if tt.state != "" && stateOf(v, "c") != tt.state {
				t.Errorf("c is %s, want %s: %+v", stateOf(v, "c"), tt.state, v.Endpoints)
			}
			snap := &fleet.Snapshot{Chains: []fleet.ChainView{v}}
			if exit := report.ExitOf(snap); w.Verdict == fleet.WatchInconsistent && exit != report.ExitDegraded {
				t.Errorf("exit code %d with an inconsistent watch", exit)
			}
		})
	}
}

func TestATableSaysWhatAWatchCameTo(t *testing.T) {
	v := &fleet.Snapshot{Chains: []fleet.ChainView{{Name: "dev", Watches: []fleet.WatchView{
		{WatchSpec: fleet.WatchSpec{Name: "w"}, Verdict: fleet.WatchInconsistent, Text: "c says 7"},
		{WatchSpec: fleet.WatchSpec{Name: "new"}},
	}}}}
	var out strings.Builder
	if err := printTable(&out, v, true); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"  watch w is inconsistent: c says 7\n", "  watch new is not compared yet\n"} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("the table lacks %q:\n%s", line, out.String())
		}
	}
}
