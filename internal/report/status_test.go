package report

import (
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/rpctop/internal/fleet"
)

var update = flag.Bool("update", false, "write the golden files anew")

func snapshot() *fleet.Snapshot {
	lag, blocks := fleet.Millis(2_300), int64(3)
	code := int64(-32005)
	return &fleet.Snapshot{At: 1_800_000_000_123, Leader: &fleet.LeaderView{PID: 7, Role: "serve", Author: "ann", Version: "v1", Since: 1_800_000_000_000},
		Chains: []fleet.ChainView{{
			Name: "gnosis", ChainID: 100, State: "degraded", Incumbent: "official",
			Reference: &fleet.Reference{Number: 38_211_904, Hash: fleet.Hash{0xab}, Corroborated: true},
			Alarms:    []string{"far is on another chain"},
			Overrides: []fleet.Override{{Action: fleet.ActionPin, Chain: "gnosis", Endpoint: "official", Author: "ann", Reason: "why not", Since: 1_800_000_000_000}},
			Endpoints: []fleet.EndpointView{
				{Name: "official", State: "lagging", Role: "pinned, serving", Last: fleet.Outcome{Class: fleet.ClassOK, Origin: fleet.OriginNode},
					Head: &fleet.Head{Number: 38_211_901, Hash: fleet.Hash{0xcd}}, LagMS: &lag, LagBlocks: &blocks, P50: 41_049, P95: 88_000, Successes: 3,
					ChainID: "100", Client: "Nethermind", Samples: 3, Denials: 2, Cost: fleet.CostTerms{Known: true, Total: 41.234}},
				{Name: "far", State: "wrong-chain", Role: "backup", Last: fleet.Outcome{Class: fleet.ClassRateLimited, Code: &code, Origin: fleet.OriginGateway},
					ChainID: "340282366920938463463374607431768211456", Evidence: "chain id",
					Gate: &fleet.Gate{Name: "wrong-chain", Evidence: "chain id", Until: 1_800_000_600_000}},
				{Name: "silent", State: "unknown", Role: "backup"},
			},
			Watches: []fleet.WatchView{
				{WatchSpec: fleet.WatchSpec{Name: "registration", Token: "0x11", Owner: "0x22", Spender: "0x33", Required: "100"}, Verdict: fleet.WatchInconsistent,
					Since: 1_800_000_000_000, Number: 38_211_900, Hash: fleet.Hash{0xef}, Odd: []string{"far"}, Text: "far says 7",
					Answers: []fleet.WatchAnswer{{Endpoint: "official", Value: "100000000000000000000", Latest: "100000000000000000000", LatestHead: 38_211_901, LatestHash: fleet.Hash{1}},
						{Endpoint: "far", Value: "7", LatestNon: "reverts"}, {Endpoint: "silent", NonAnswer: "denied by us"}}},
				{WatchSpec: fleet.WatchSpec{Name: "new"}},
			},
		}},
	}
}

func TestTheStatusIsTheContract(t *testing.T) {
	got, err := json.MarshalIndent(StatusOf(snapshot()), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/status.golden.json"
	if *update {
		if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
		t.Errorf("the contract has changed (-want +got):\n%s", diff)
	}
}

func TestWhatWasNotReadIsNeverANumber(t *testing.T) {
	b, err := json.Marshal(StatusOf(snapshot()).Chains[0].Endpoints[2])
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"cost_ms", "head", "lag_blocks", "lag_ms", "gate", "chain_id"} {
		if v, ok := m[key]; !ok || v != nil {
			t.Errorf("%s of an endpoint without an answer is %v, want null", key, v)
		}
	}
	if m["head_hash"] != "" {
		t.Errorf("its hash is %v, want nothing", m["head_hash"])
	}
}

func TestAWatchThatIsInconsistentIsDegraded(t *testing.T) {
	for verdict, want := range map[string]int{fleet.WatchInconsistent: ExitDegraded, fleet.WatchLagging: ExitGood, fleet.WatchUnanswered: ExitGood, "": ExitGood} {
		v := &fleet.Snapshot{Chains: []fleet.ChainView{{State: "ok", Watches: []fleet.WatchView{{Verdict: verdict}}}}}
		if got := ExitOf(v); got != want {
			t.Errorf("exit %d with a watch that is %q, want %d", got, verdict, want)
		}
	}
}

func TestExitCodesFollowTheWorstChain(t *testing.T) {
	for name, tc := range map[string]struct {
		states []string
		want   int
	}{
		"all ok":                      {[]string{"ok", "ok"}, ExitGood},
		"one gated":                   {[]string{"ok", "degraded"}, ExitDegraded},
		"one stalled":                 {[]string{"stalled", "ok"}, ExitDegraded},
		"none eligible beats all":     {[]string{"degraded", "none"}, ExitNone},
		"none eligible, in any order": {[]string{"none", "ok"}, ExitNone},
	} {
		t.Run(name, func(t *testing.T) {
			v := &fleet.Snapshot{}
			for _, s := range tc.states {
				v.Chains = append(v.Chains, fleet.ChainView{State: s})
			}
			if got := ExitOf(v); got != tc.want {
				t.Errorf("exit %d, want %d", got, tc.want)
			}
		})
	}
}
