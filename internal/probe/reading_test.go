package probe

import (
	"context"
	"fmt"
	"testing"
	"time"

	"example.com/rpctop/internal/fleet"
)

func TestTheChainIDIsStatedWhateverItIs(t *testing.T) {
	for _, tc := range []struct {
		name   string
		answer func(c call) *fleet.Attempt
		id     string
		class  fleet.Class
	}{
		{"right", func(c call) *fleet.Attempt { return ok(c, `"0x64"`) }, "100", fleet.ClassOK},
		{"zero", func(c call) *fleet.Attempt { return ok(c, `"0x0"`) }, "0", fleet.ClassOK},
		{"beyond 64 bits", func(c call) *fleet.Attempt { return ok(c, `"0x10000000000000000"`) }, "18446744073709551616", fleet.ClassOK},
		{"beyond a word of the EVM", func(c call) *fleet.Attempt {
			return ok(c, `"0x1`+fmt.Sprintf("%064d", 0)+`"`)
		}, "", fleet.ClassMalformed},
		{"no quantity", func(c call) *fleet.Attempt { return ok(c, `"gnosis"`) }, "", fleet.ClassMalformed},
		{"null", func(c call) *fleet.Attempt { return ok(c, `null`) }, "", fleet.ClassMalformed},
		{"of another chain", func(c call) *fleet.Attempt {
			a := failed(c, fleet.ClassWrongChain, "")
			a.Body = []byte(`{"jsonrpc":"2.0","id":1,"result":"0x1"}`)
			return a
		}, "1", fleet.ClassWrongChain},
		{"wrong and unreadable", func(c call) *fleet.Attempt {
			a := failed(c, fleet.ClassWrongChain, "")
			a.Body = []byte(`{`)
			return a
		}, "", fleet.ClassWrongChain},
		{"refused", func(c call) *fleet.Attempt { return failed(c, fleet.ClassUnsupported, "") }, "", fleet.ClassUnsupported},
		{"timed out", func(c call) *fleet.Attempt { return failed(c, fleet.ClassTransportFailure, fleet.SubTimeout) }, "", fleet.ClassTransportFailure},
	} {
		t.Run(tc.name, func(t *testing.T) {
			door, tp := during(t, 3*time.Second, remote("a", 1000, 0), func(ctx context.Context, c call) (*fleet.Attempt, error) {
				if c.what == "eth_chainId" {
					return tc.answer(c), nil
				}
				return healthy(ctx, c)
			}, nil)
			s := tp.samples("a")[0]
			if s.ChainID != tc.id || s.ChainIDClass != tc.class || !s.Outcome.OK() || s.Head == nil {
				t.Errorf("sample %s, chain id %q (%s); want %q (%s)", s.Outcome.Evidence(), s.ChainID, s.ChainIDClass, tc.id, tc.class)
			}
			again := door.count("a", "eth_chainId") > 1
			if again != (tc.id == "") {
				t.Errorf("asked again in the next round: %v, read: %q", again, tc.id)
			}
		})
	}
}

func TestGenesisIsAskedUntilItWasRead(t *testing.T) {
	for _, tc := range []struct {
		name   string
		answer func(c call) *fleet.Attempt
		asked  int // in 10 rounds
		class  fleet.Class
	}{
		{"read", func(c call) *fleet.Attempt { return ok(c, results["genesis"]) }, 1, fleet.ClassOK},
		{"timed out", func(c call) *fleet.Attempt { return failed(c, fleet.ClassTransportFailure, fleet.SubTimeout) }, 10, fleet.ClassTransportFailure},
		{"pruned", func(c call) *fleet.Attempt { return failed(c, fleet.ClassStateUnavailable, "") }, 1, fleet.ClassStateUnavailable},
		{"null", func(c call) *fleet.Attempt { return ok(c, "null") }, 1, fleet.ClassStateUnavailable},
		{"another block", func(c call) *fleet.Attempt { return ok(c, block(7, hashA)) }, 1, fleet.ClassMalformed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			door, tp := during(t, 12*time.Second, remote("a", 1000, 0), func(ctx context.Context, c call) (*fleet.Attempt, error) {
				if c.what == "genesis" {
					return tc.answer(c), nil
				}
				return healthy(ctx, c)
			}, nil)
			eleventh := door.seen("a", "latest")[10].at
			n := 0
			for _, c := range door.seen("a", "genesis") {
				if c.at.Before(eleventh) {
					n++
				}
			}
			if n != tc.asked {
				t.Errorf("asked %d times in 10 rounds, want %d", n, tc.asked)
			}
			r := tp.readings(fleet.ReadGenesis)[0]
			if r.Outcome.Class != tc.class || (r.Value != "") != (tc.class == fleet.ClassOK) || r.Hash.IsZero() != (tc.class != fleet.ClassOK) {
				t.Errorf("reading %+v", r)
			}
		})
	}
}

func TestABlockAnswerThatIsNoBlockIsMalformed(t *testing.T) {
	for _, result := range []string{`null`, `"0x10"`, `{"number":"0x1"}`} {
		_, tp := during(t, 2*time.Second, remote("a", 60_000, 0), func(ctx context.Context, c call) (*fleet.Attempt, error) {
			if c.what == "latest" {
				return ok(c, result), nil
			}
			return healthy(ctx, c)
		}, nil)
		s := tp.samples("a")
		if len(s) != 1 || s[0].Outcome.Class != fleet.ClassMalformed || s[0].Head != nil || s[0].Outcome.Message == "" {
			t.Errorf("%s: samples %+v", result, s)
		}
	}
}

func TestConfirmReadsTheBlockAtAHeight(t *testing.T) {
	for _, tc := range []struct {
		name   string
		result string
		class  fleet.Class
		hash   string
	}{
		{"there", block(990, hashA), fleet.ClassOK, hashA},
		{"not there", "null", fleet.ClassNotYetVisible, ""},
		{"another height", block(991, hashA), fleet.ClassMalformed, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			door, tp := during(t, 10*time.Second, remote("a", 60_000, 0), func(ctx context.Context, c call) (*fleet.Attempt, error) {
				if c.what == "block" {
					return ok(c, tc.result), nil
				}
				return healthy(ctx, c)
			}, func(p *Prober) {
				pass(2 * time.Second)
				p.Confirm(idOf("a"), 980)
				p.Confirm(idOf("a"), 990) // the last height asked is the one that counts
			})
			rs := tp.readings(fleet.ReadConfirm)
			if len(rs) != 1 || door.seen("a", "block")[0].params != `["0x3de",false]` {
				t.Fatalf("readings %+v, asked %v", rs, door.seen("a", "block"))
			}
			want := fleet.Hash{}
			if tc.hash != "" {
				want = hashOf(t, tc.hash)
			}
			if r := rs[0]; r.Outcome.Class != tc.class || r.Number != 990 || r.Hash != want {
				t.Errorf("reading %+v", r)
			}
		})
	}
}

func TestWhatSyncingSays(t *testing.T) {
	for result, want := range map[string]string{
		`false`: "no", `true`: "yes", `{"currentBlock":"0x10","highestBlock":"0x20"}`: "yes, at 16 of 32",
		`{"stages":[]}`: "yes", `null`: "", `"maybe"`: "",
	} {
		r := syncingReading(ok(call{id: idOf("a")}, result))
		if r.Value != want || r.Outcome.OK() != (want != "") {
			t.Errorf("%s: %q (%s), want %q", result, r.Value, r.Outcome.Class, want)
		}
	}
}

func TestAClientsVersionIsMadeFitToBeShown(t *testing.T) {
	r := clientReading(ok(call{id: idOf("a")}, `"geth\u001b[31m/v1\u202e"`))
	if r.Value != "geth[31m/v1" {
		t.Errorf("version %q", r.Value)
	}
	if r := clientReading(ok(call{id: idOf("a")}, `17`)); r.Outcome.Class != fleet.ClassMalformed || r.Value != "" {
		t.Errorf("a number as version: %+v", r)
	}
}

func hashOf(t *testing.T, s string) fleet.Hash {
	t.Helper()
	h, err := fleet.ParseHash(s)
	if err != nil {
		t.Fatal(err)
	}
	return h
}
