package probe

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/rpctop/internal/fleet"
)

// during runs a prober against one endpoint for some virtual time.
func during(t *testing.T, d time.Duration, spec fleet.EndpointSpec, answer func(context.Context, call) (*fleet.Attempt, error), meanwhile func(*Prober)) (*fakeDoor, *tape) {
	t.Helper()
	door, tp := &fakeDoor{answer: answer}, &tape{}
	synctest.Test(t, func(t *testing.T) {
		p := Start(t.Context(), Options{Asker: door, Chains: chainOf(spec), Sink: tp.sink})
		if meanwhile != nil {
			meanwhile(p)
		}
		pass(d)
		p.Close()
	})
	return door, tp
}

func TestTheFirstRoundReadsEverything(t *testing.T) {
	_, tp := during(t, 2*time.Second, remote("a", 60_000, 0), nil, nil)
	s := tp.samples("a")
	if len(s) != 1 {
		t.Fatalf("%d samples", len(s))
	}
	want := fleet.Sample{
		Endpoint: idOf("a"), Start: s[0].Start,
		Outcome: fleet.Outcome{Class: fleet.ClassOK, Origin: fleet.OriginNode, Status: 200},
		Timing:  fleet.Timing{Total: 50_000},
		Head:    &fleet.Head{Number: 1000, Hash: hashOf(t, hashA), Parent: hashOf(t, hashB), Time: 0x65000000},
		ChainID: "100", ChainIDClass: fleet.ClassOK,
	}
	if diff := cmp.Diff(want, s[0]); diff != "" {
		t.Errorf("sample (-want +got):\n%s", diff)
	}
	if _, first := tp.in[0].(fleet.Sample); !first {
		t.Error("the sample does not come before the readings of its round")
	}
	got := map[fleet.ReadingKind]string{}
	for _, r := range tp.readings("") {
		got[r.What] = fmt.Sprintf("%s %d %s", r.Outcome.Class, r.Number, r.Value)
	}
	wantReadings := map[fleet.ReadingKind]string{
		fleet.ReadGenesis: "ok 0 " + hashB, fleet.ReadFinalized: "ok 900 " + hashB, fleet.ReadSafe: "ok 950 " + hashB,
		fleet.ReadClient: "ok 0 geth/v1", fleet.ReadSyncing: "ok 0 no",
	}
	if diff := cmp.Diff(wantReadings, got); diff != "" {
		t.Errorf("readings (-want +got):\n%s", diff)
	}
}

func TestTheCalendarOfQuestions(t *testing.T) {
	const rounds = 201 // 0 to 200
	for _, tc := range []struct {
		name string
		spec fleet.EndpointSpec
		want map[string]int
	}{
		{"somebody else's endpoint", remote("a", 1000, 0), map[string]int{
			"eth_chainId": 21, "finalized": 21, "safe": 21, "web3_clientVersion": 21, "eth_syncing": 21, "genesis": 3}},
		{"an endpoint of one's own", local("a"), map[string]int{
			"eth_chainId": rounds, "finalized": 21, "safe": 21, "web3_clientVersion": 21, "eth_syncing": 21, "genesis": 3}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			door, _ := during(t, 210*time.Second, tc.spec, nil, nil)
			latest := door.seen("a", "latest")
			if len(latest) < rounds+1 {
				t.Fatalf("%d rounds", len(latest))
			}
			end := latest[rounds].at
			for what, want := range tc.want {
				n := 0
				for _, c := range door.seen("a", what) {
					if c.at.Before(end) {
						n++
					}
				}
				if n != want {
					t.Errorf("%s: asked %d times in %d rounds, want %d", what, n, rounds, want)
				}
			}
		})
	}
}

func TestANewConnectionAsksWhoIsThere(t *testing.T) {
	rounds := 0
	door, tp := during(t, 8500*time.Millisecond, remote("a", 1000, 0), func(ctx context.Context, c call) (*fleet.Attempt, error) {
		a, err := healthy(ctx, c)
		if c.what == "latest" {
			rounds++
			a.Timing.Cold = rounds == 1 || rounds == 5
		}
		return a, err
	}, nil)
	if n := door.count("a", "eth_chainId"); n != 2 {
		t.Errorf("chain id asked %d times, want at the start and at the reconnection", n)
	}
	if n := door.count("a", "genesis"); n != 2 {
		t.Errorf("genesis asked %d times, want at the start and at the reconnection", n)
	}
	for i, s := range tp.samples("a") {
		asked := i == 0 || i == 4
		if (s.ChainID == "100") != asked || s.Timing.Cold != asked {
			t.Errorf("sample %d: chain id %q, cold %v", i, s.ChainID, s.Timing.Cold)
		}
	}
}

func TestAConnectionThatIsNewAtTheEndOfARoundMakesIdentityDueInTheNext(t *testing.T) {
	door, _ := during(t, 5*time.Second, remote("a", 1000, 0), func(ctx context.Context, c call) (*fleet.Attempt, error) {
		a, err := healthy(ctx, c)
		a.Timing.Cold = c.what == "eth_syncing" // the last question of the first round
		return a, err
	}, nil)
	latest, ids := door.seen("a", "latest"), door.seen("a", "eth_chainId")
	if len(ids) != 2 || !ids[1].at.Equal(latest[1].at) {
		t.Errorf("heads asked %v, chain id %v", latest, ids)
	}
}

func TestWhatFoundNoFreeSlotIsAskedAgainInTheSameRound(t *testing.T) {
	for _, what := range []string{"latest", "eth_chainId"} {
		t.Run(what, func(t *testing.T) {
			var denied atomic.Bool
			door, tp := during(t, 2*time.Second, remote("a", 60_000, 0), func(ctx context.Context, c call) (*fleet.Attempt, error) {
				if c.what == what && !denied.Swap(true) {
					return nil, &fleet.Denial{Kind: fleet.DenyInFlight, Scope: "endpoint", Endpoint: c.id}
				}
				return healthy(ctx, c)
			}, nil)
			if s := tp.samples("a"); len(s) != 1 || s[0].Head == nil || s[0].ChainID != "100" {
				t.Errorf("samples %+v", s)
			}
			if n := door.count("a", what); n != 1 {
				t.Errorf("asked %d times", n)
			}
		})
	}
}

func TestALateChainIDIsStillPartOfItsSample(t *testing.T) {
	_, tp := during(t, 3*time.Second, remote("a", 60_000, 0), func(ctx context.Context, c call) (*fleet.Attempt, error) {
		if c.what == "eth_chainId" {
			wait(ctx, time.Second)
		}
		return healthy(ctx, c)
	}, nil)
	if s := tp.samples("a"); len(s) != 1 || s[0].ChainID != "100" {
		t.Errorf("samples %+v", s)
	}
}

func TestAnEndpointThatDoesNotAnswerIsAskedForItsHeadOnly(t *testing.T) {
	var up atomic.Bool
	door, tp := during(t, 20*time.Second, remote("a", 1000, 0), func(ctx context.Context, c call) (*fleet.Attempt, error) {
		if !up.Load() {
			return failed(c, fleet.ClassTransportFailure, "refused"), nil
		}
		return healthy(ctx, c)
	}, func(*Prober) {
		pass(10 * time.Second)
		up.Store(true)
	})
	var first, second int // before and after it came up
	for _, c := range door.seen("a", "eth_chainId") {
		if c.end.Sub(c.at) == 0 {
			first++
		} else {
			second++
		}
	}
	if first != 1 {
		t.Errorf("a dead endpoint was asked for its chain id %d times", first)
	}
	if second == 0 || len(tp.readings(fleet.ReadGenesis)) == 0 {
		t.Error("once it answers, its identity is read")
	}
	for _, s := range tp.samples("a") {
		if (s.Head == nil) != (s.Outcome.Class == fleet.ClassTransportFailure) {
			t.Errorf("sample %s with head %v", s.Outcome.Evidence(), s.Head)
		}
		if s.Outcome.OK() {
			if s.ChainID != "100" {
				t.Error("the first sample after it came up has no chain id")
			}
			break
		}
	}
}

func TestADeepRoundCallsAtTheHeadsHash(t *testing.T) {
	for _, tc := range []struct {
		name   string
		byHash fleet.Class
		calls  int
		class  fleet.Class
		hash   bool
	}{
		{"by hash", fleet.ClassOK, 0, fleet.ClassOK, true},
		{"by number where the form by hash is refused", fleet.ClassBadRequest, 1, fleet.ClassOK, false},
		{"with what the endpoint says about its state", fleet.ClassNotYetVisible, 0, fleet.ClassNotYetVisible, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			door, tp := during(t, 3*time.Second, remote("a", 60_000, 0), func(ctx context.Context, c call) (*fleet.Attempt, error) {
				if c.what == "call-by-hash" && tc.byHash != fleet.ClassOK {
					return failed(c, tc.byHash, ""), nil
				}
				return healthy(ctx, c)
			}, func(p *Prober) { p.Suspect(idOf("a")) })
			rs := tp.readings(fleet.ReadCallAt)
			if len(rs) != 1 || door.count("a", "call-by-number") != tc.calls {
				t.Fatalf("readings %+v, %d calls by number", rs, door.count("a", "call-by-number"))
			}
			if r := rs[0]; r.Outcome.Class != tc.class || r.Number != 1000 || r.Hash.IsZero() == tc.hash {
				t.Errorf("reading %+v", r)
			}
		})
	}
}
