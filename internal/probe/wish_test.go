package probe

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/rpctop/internal/fleet"
)

// watching is a chain with a watch.
func watching(specs ...fleet.EndpointSpec) []fleet.ChainSpec {
	c := chainOf(specs...)
	c[0].Watches = []fleet.WatchSpec{{Name: "w", Token: "0x1111111111111111111111111111111111111111",
		Owner: "0x2222222222222222222222222222222222222222", Spender: "0x3333333333333333333333333333333333333333"}}
	return c
}

func uintWord(n int) string { return fmt.Sprintf(`"0x%064x"`, n) }

func theWish(what fleet.ReadingKind) fleet.Wish {
	h, _ := fleet.ParseHash(hashA)
	return fleet.Wish{ID: 1, Endpoint: "a", What: what, Number: 990, Hash: h, Until: 20_000}
}

func TestAWishIsAnsweredByName(t *testing.T) {
	refuse := func(c call) *fleet.Attempt { return failed(c, fleet.ClassBadRequest, "") }
	type how = func(c call) *fleet.Attempt
	at := func(c call, byHash, byNumber, latest how) *fleet.Attempt {
		switch {
		case c.what == "call-by-hash":
			return byHash(c)
		case strings.Contains(c.params, `"latest"`):
			return latest(c)
		}
		return byNumber(c)
	}
	say := func(result string) how { return func(c call) *fleet.Attempt { return ok(c, result) } }
	for name, tt := range map[string]struct {
		wish  fleet.Wish
		eth   func(c call) *fleet.Attempt // answers eth_call
		block func(n int) string          // the block at the height, when asked for the n-th time
		want  []string                    // kind, number, value or class
		calls int
	}{
		"the common block":                 {wish: theWish(fleet.ReadCommon), want: []string{"common 990 " + hashA}, calls: 1},
		"a common block that is not there": {wish: theWish(fleet.ReadCommon), block: func(int) string { return "null" }, want: []string{"common 990 not-yet-visible"}, calls: 1},
		"a value at the hash and at latest": {wish: theWish(fleet.ReadWatch),
			eth:  func(c call) *fleet.Attempt { return at(c, say(uintWord(100)), say(uintWord(1)), say(uintWord(250))) },
			want: []string{"watch 990 100", "watch-head 1000 250"}, calls: 3},
		"32 zero bytes are 0":   {wish: theWish(fleet.ReadWatch), eth: say(uintWord(0)), want: []string{"watch 990 0", "watch-head 1000 0"}, calls: 3},
		"0x is not":             {wish: theWish(fleet.ReadWatch), eth: say(`"0x"`), want: []string{"watch 990 malformed", "watch-head 1000 malformed"}, calls: 3},
		"a wrong length is not": {wish: theWish(fleet.ReadWatch), eth: say(`"0x0001"`), want: []string{"watch 990 malformed", "watch-head 1000 malformed"}, calls: 3},
		"C11 without EIP-1898 by number, between two reads of the hash": {wish: theWish(fleet.ReadWatch),
			eth:  func(c call) *fleet.Attempt { return at(c, refuse, say(uintWord(100)), say(uintWord(100))) },
			want: []string{"watch 990 100", "watch-head 1000 100"}, calls: 6},
		"C11 a block that changes meanwhile discards the value": {wish: theWish(fleet.ReadWatch),
			eth: func(c call) *fleet.Attempt { return at(c, refuse, say(uintWord(100)), say(uintWord(100))) },
			block: func(n int) string {
				if n > 1 {
					return block(990, hashB)
				}
				return block(990, hashA)
			},
			want: []string{"watch 990 not-yet-visible", "watch-head 1000 100"}, calls: 6},
		"pruned": {wish: theWish(fleet.ReadWatch), eth: func(c call) *fleet.Attempt {
			return at(c, func(c call) *fleet.Attempt { return failed(c, fleet.ClassStateUnavailable, "") }, refuse, say(uintWord(9)))
		}, want: []string{"watch 990 state-unavailable", "watch-head 1000 9"}, calls: 3},
		"a block argument that is ignored": {wish: theWish(fleet.ReadBeyond), eth: say(`"0x"`), want: []string{"beyond 990 0x"}, calls: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				blocks := 0
				door := &fakeDoor{answer: func(_ context.Context, c call) (*fleet.Attempt, error) {
					switch {
					case c.method == "eth_call" && tt.eth != nil:
						return tt.eth(c), nil
					case c.what == "block" && tt.block != nil:
						blocks++
						return ok(c, tt.block(blocks)), nil
					}
					return ok(c, results[c.what]), nil
				}}
				var tp tape
				Check{Asker: door, Chains: watching(local("a")), Sink: tp.sink}.Ask(t.Context(), idOf("a"), 4*time.Second, tt.wish)
				var got []string
				for _, r := range tp.readings("") {
					value := r.Value
					if !r.Outcome.OK() {
						value = r.Outcome.Class.String()
					}
					got = append(got, fmt.Sprintf("%s %d %s", r.What, r.Number, value))
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Error(diff)
				}
				if n := door.count("", ""); n != tt.calls {
					t.Errorf("%d calls, want %d", n, tt.calls)
				}
			})
		})
	}
}

func TestAWishIsPutAfterItsDelayOutOfTheRegularBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door, tp, y := &fakeDoor{}, &tape{}, &tally{}
		p := Start(t.Context(), Options{Asker: door, Chains: watching(remote("a", 3_600_000, 100)), Sink: tp.sink, Hooks: y.hooks()})
		defer p.Close()
		pass(10 * time.Second)
		w := theWish(fleet.ReadCommon)
		w.Delay = 2_000
		before := p.UsedToday(idOf("a"))
		p.Ask(idOf("a"), w)
		pass(1900 * time.Millisecond)
		if n := len(tp.readings(fleet.ReadCommon)); n != 0 {
			t.Fatalf("%d answers before the delay was over", n)
		}
		pass(time.Second)
		if n := len(tp.readings(fleet.ReadCommon)); n != 1 {
			t.Fatalf("%d answers, want 1", n)
		}
		if used := p.UsedToday(idOf("a")); used.Calls != before.Calls+1 || used.Suspicion != before.Suspicion {
			t.Errorf("used %+v, before it was %+v", used, before)
		}
		w.Delay = 0
		for range 300 {
			p.Ask(idOf("a"), w)
			pass(100 * time.Millisecond)
		}
		if used := p.UsedToday(idOf("a")); used.Calls > 90 {
			t.Errorf("%d calls of a budget of 100, a tenth of which is kept for suspicion", used.Calls)
		}
		r := tp.readings(fleet.ReadCommon)
		if last := r[len(r)-1]; last.Outcome.Class != fleet.ClassLocalDenial || last.Number != 990 {
			t.Errorf("beyond the budget a wish was answered by %+v", last)
		}
		if denials, faults := y.told(); len(denials) == 0 || len(faults) != 0 {
			t.Errorf("%d denials, faults %v", len(denials), faults)
		}
	})
}

func TestComparisonsAreWithinTheBudgetOfADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door := &fakeDoor{}
		chains := watching(remote("a", 14_400, 10_000), remote("b", 14_400, 10_000))
		p := Start(t.Context(), Options{Asker: door, Chains: chains, Sink: func(fleet.Input) {}})
		for range 24 * 3600 / 43 {
			pass(43 * time.Second)
			for _, what := range []fleet.ReadingKind{fleet.ReadCommon, fleet.ReadWatch} {
				w := theWish(what)
				p.Ask(idOf("a"), w)
			}
		}
		p.Close()
		if n := door.count("a", ""); n > 10_000 || n < 8_500 {
			t.Errorf("%d calls in a day with a budget of 10000", n)
		}
		var worst time.Duration
		heads := door.seen("a", "latest")
		for i := 1; i < len(heads); i++ {
			worst = max(worst, heads[i].at.Sub(heads[i-1].at))
		}
		if worst > time.Minute {
			t.Errorf("no head was asked for during %s", worst)
		}
	})
}
