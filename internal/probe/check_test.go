package probe

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/rpctop/internal/fleet"
)

func TestACheckReadsEverythingInEachRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door, tp := &fakeDoor{}, &tape{}
		begin := time.Now()
		CheckOnce(t.Context(), Check{Asker: door, Chains: chainOf(remote("a", 60_000, 10), local("b")), Rounds: 3, Sink: tp.sink})
		if took := time.Since(begin); took < 2*time.Second || took > 3*time.Second {
			t.Errorf("three rounds took %s, want their starts a second apart", took)
		}
		for _, what := range []string{"latest", "eth_chainId", "genesis", "safe", "finalized", "web3_clientVersion", "eth_syncing"} {
			if n := door.count("a", what); n != 3 {
				t.Errorf("%s asked %d times in 3 rounds", what, n)
			}
		}
		if len(tp.samples("a")) != 3 || len(tp.samples("b")) != 3 || len(tp.readings("")) != 30 {
			t.Errorf("%d and %d samples, %d readings", len(tp.samples("a")), len(tp.samples("b")), len(tp.readings("")))
		}
	})
}

func TestACheckOfAHangingEndpointEndsInOneTimeout(t *testing.T) {
	for name, hangs := range map[string]func(what string) bool{
		"at everything":           func(string) bool { return true },
		"at the chain id":         func(what string) bool { return what == "eth_chainId" },
		"at all but the head":     func(what string) bool { return what != "latest" },
		"at the head":             func(what string) bool { return what == "latest" },
		"at finality and genesis": func(what string) bool { return what == "finalized" || what == "genesis" },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tp := &tape{}
				door := &fakeDoor{answer: func(ctx context.Context, c call) (*fleet.Attempt, error) {
					if hangs(c.what) {
						return hang(ctx, c, 4*time.Second)
					}
					return healthy(ctx, c)
				}}
				begin := time.Now()
				CheckOnce(t.Context(), Check{Asker: door, Chains: chainOf(remote("a", 60_000, 0)), Sink: tp.sink})
				if took := time.Since(begin); took > 4100*time.Millisecond {
					t.Errorf("took %s with a time-out of 4 s", took)
				}
				s := tp.samples("a")
				if len(s) != 1 || s[0].Outcome.OK() == hangs("latest") {
					t.Errorf("samples %+v", s)
				}
			})
		})
	}
}

func TestARoundOfTheClockEndsWithinTwiceTheTimeout(t *testing.T) {
	// The worst that an endpoint can do: answer each question just in time.
	synctest.Test(t, func(t *testing.T) {
		door := &fakeDoor{answer: func(ctx context.Context, c call) (*fleet.Attempt, error) {
			if !wait(ctx, 3990*time.Millisecond) {
				return aborted(c), nil
			}
			a := ok(c, results[c.what])
			a.Timing.Cold = true
			return a, nil
		}}
		tp := &tape{}
		p := Start(t.Context(), Options{Asker: door, Chains: chainOf(local("a")), Sink: tp.sink})
		p.Suspect(idOf("a"))
		pass(time.Minute)
		p.Close()
		calls := door.seen("a", "latest")
		for i := 1; i < len(calls); i++ {
			if gap := calls[i].at.Sub(calls[i-1].at); gap > 9*time.Second {
				t.Errorf("round %d came after %s", i, gap)
			}
		}
		if len(tp.samples("a")) < 6 || len(tp.readings(fleet.ReadGenesis)) == 0 {
			t.Errorf("%d samples, %d readings of genesis", len(tp.samples("a")), len(tp.readings(fleet.ReadGenesis)))
		}
	})
}

func TestACheckWithOneSlotAsksTheRestAfterwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tp := &tape{}
		slot := make(chan struct{}, 1)
		door := &fakeDoor{answer: func(ctx context.Context, c call) (*fleet.Attempt, error) {
			select {
			case slot <- struct{}{}:
			default:
				return nil, &fleet.Denial{Kind: fleet.DenyInFlight, Scope: "endpoint", Endpoint: c.id}
			}
			defer func() { <-slot }()
			return healthy(ctx, c)
		}}
		var told tally
		CheckOnce(t.Context(), Check{Asker: door, Chains: chainOf(local("a")), Sink: tp.sink, Hooks: told.hooks()})
		s := tp.samples("a")
		denials, _ := told.told()
		if len(s) != 1 || s[0].ChainID != "100" || len(tp.readings("")) != 5 {
			t.Errorf("samples %+v, %d readings, %d denials", s, len(tp.readings("")), len(denials))
		}
		if len(denials) == 0 {
			t.Error("no denial was told")
		}
	})
}

func TestACheckThatIsCancelledEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tp := &tape{}
		door := &fakeDoor{answer: func(ctx context.Context, c call) (*fleet.Attempt, error) { return hang(ctx, c, 4*time.Second) }}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		CheckOnce(ctx, Check{Asker: door, Chains: chainOf(local("a")), Rounds: 10, Sink: tp.sink})
		if time.Since(begin) != time.Second || len(tp.in) != 0 {
			t.Errorf("took %s, emitted %v", time.Since(begin), tp.in)
		}
	})
}

func TestIdentifyNamesTheChainOrWhyNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		denial := &fleet.Denial{Kind: fleet.DenyRate, Scope: "global"}
		door := &fakeDoor{answer: func(ctx context.Context, c call) (*fleet.Attempt, error) {
			switch c.id.Name {
			case "gnosis":
				return healthy(ctx, c)
			case "hung":
				return hang(ctx, c, time.Second)
			case "text":
				return ok(c, `"hello"`), nil
			case "denied":
				return nil, denial
			default:
				return nil, errors.New("no such door")
			}
		}}
		var told tally
		begin := time.Now()
		got := Identify(t.Context(), door, []fleet.EndpointID{idOf("gnosis"), idOf("hung"), idOf("text"), idOf("denied"), idOf("lost")}, time.Second, told.hooks())
		if time.Since(begin) != time.Second {
			t.Errorf("took %s, the time-out is a second", time.Since(begin))
		}
		type brief struct{ name, id, class string }
		var have []brief
		for _, i := range got {
			have = append(have, brief{i.Endpoint.Name, i.ChainID, i.Outcome.Class.String()})
		}
		want := []brief{
			{"gnosis", "100", "ok"}, {"hung", "", "transport-failure"}, {"text", "", "malformed"}, {"denied", "", ""}, {"lost", "", ""},
		}
		if diff := cmp.Diff(want, have, cmp.AllowUnexported(brief{})); diff != "" {
			t.Errorf("identities (-want +got):\n%s", diff)
		}
		if got[3].Denial != denial || got[4].Denial != nil {
			t.Error("a denial is told as a denial, and nothing else is")
		}
		if _, faults := told.told(); len(faults) != 1 || !strings.Contains(faults[0], "no such door") {
			t.Errorf("faults %q", faults)
		}
	})
}
