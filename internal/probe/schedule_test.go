package probe

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"example.com/rpctop/internal/fleet"
)

func TestEndpointsStartWithinASecondAndThenSpreadOverThePace(t *testing.T) {
	starts := func(seed uint64) (first, second map[string]time.Duration) {
		first, second = map[string]time.Duration{}, map[string]time.Duration{}
		synctest.Test(t, func(t *testing.T) {
			var specs []fleet.EndpointSpec
			for i := range 200 {
				specs = append(specs, remote(fmt.Sprintf("e%d", i), 10_000, 0))
			}
			door, begin := &fakeDoor{}, time.Now()
			p := Start(t.Context(), Options{Asker: door, Chains: chainOf(specs...), Seed: seed, Sink: func(fleet.Input) {}})
			pass(20 * time.Second)
			p.Close()
			for _, c := range door.seen("", "latest") {
				at := c.at.Sub(begin)
				if _, again := first[c.id.Name]; !again {
					first[c.id.Name] = at
				} else if _, again := second[c.id.Name]; !again {
					second[c.id.Name] = at
				}
			}
		})
		return first, second
	}
	first, second := starts(1)
	if len(first) != 200 || len(second) != 200 {
		t.Fatalf("%d endpoints started and %d had a second round, want 200 each", len(first), len(second))
	}
	var firsts, seconds [10]int
	for name, at := range first {
		if at >= time.Second {
			t.Errorf("%s started after %s", name, at)
		}
		firsts[at*10/time.Second%10]++
		gap := second[name] - at
		if gap < 5*time.Second || gap > 15*time.Second {
			t.Errorf("%s: second round %s after the first", name, gap)
		}
		seconds[second[name]%(10*time.Second)/time.Second]++
	}
	for i := range 10 {
		if firsts[i] > 45 || seconds[i] > 45 {
			t.Fatalf("a tenth of the time holds more than twice its share: first %v, then %v", firsts, seconds)
		}
	}
	if again, _ := starts(1); fmt.Sprint(again) != fmt.Sprint(first) {
		t.Error("the same seed gave another spread")
	}
	if other, _ := starts(2); fmt.Sprint(other) == fmt.Sprint(first) {
		t.Error("another seed gave the same spread")
	}
}

func TestAnEndpointIsProbedAtItsPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door := &fakeDoor{}
		p := Start(t.Context(), Options{Asker: door, Chains: chainOf(local("a"), remote("b", 10_000, 0)), Sink: func(fleet.Input) {}})
		defer p.Close()
		pass(5 * time.Minute)
		if n := door.count("a", "latest"); n < 298 || n > 301 {
			t.Errorf("%d rounds in 300 s at one a second", n)
		}
		if n := door.count("b", "latest"); n < 29 || n > 32 {
			t.Errorf("%d rounds in 300 s at one in ten seconds", n)
		}
	})
}

func TestARoundThatOverrunsItsTurnNeitherOverlapsNorCatchesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door := &fakeDoor{answer: func(ctx context.Context, c call) (*fleet.Attempt, error) {
			wait(ctx, 2500*time.Millisecond)
			return ok(c, results[c.what]), nil
		}}
		p := Start(t.Context(), Options{Asker: door, Chains: chainOf(local("a")), Sink: func(fleet.Input) {}})
		defer p.Close()
		pass(time.Minute)
		if n := door.atOnce("a", "latest"); n != 1 {
			t.Errorf("%d rounds were in flight at once", n)
		}
		calls := door.seen("a", "latest")
		for i := 2; i < len(calls); i++ {
			if gap := calls[i].at.Sub(calls[i-1].at); gap%time.Second != 0 || gap < 3*time.Second {
				t.Errorf("round %d came %s after the one before: off its grid, or at once", i, gap)
			}
		}
	})
}

func TestAHangingEndpointDelaysNoOther(t *testing.T) {
	rounds := func(hanging bool) (starts []time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			door := &fakeDoor{answer: func(ctx context.Context, c call) (*fleet.Attempt, error) {
				if c.id.Name == "hung" && hanging {
					return hang(ctx, c, 4*time.Second)
				}
				return healthy(ctx, c)
			}}
			var tp tape
			p := Start(t.Context(), Options{Asker: door, Chains: chainOf(local("hung"), local("a")), Sink: tp.sink})
			pass(time.Minute)
			p.Close()
			for _, c := range door.seen("a", "latest") {
				starts = append(starts, c.at.Sub(begin))
			}
			if hanging {
				for _, s := range tp.samples("hung") {
					if s.Outcome.Sub != fleet.SubTimeout {
						t.Errorf("sample of the hanging endpoint: %s", s.Outcome.Evidence())
					}
				}
				if n := len(tp.samples("hung")); n < 10 || n > 16 {
					t.Errorf("%d samples of an endpoint that costs a time-out of 4 s a round, in 60 s", n)
				}
			}
		})
		return starts
	}
	if with, without := rounds(true), rounds(false); fmt.Sprint(with) != fmt.Sprint(without) {
		t.Errorf("rounds of the healthy endpoint moved:\nwith    %v\nwithout %v", with, without)
	}
}

func TestAThrottledEndpointIsLeftAloneUntilItsRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var throttled atomic.Bool
		throttled.Store(true)
		door := &fakeDoor{answer: func(_ context.Context, c call) (*fleet.Attempt, error) {
			if throttled.Load() {
				a := failed(c, fleet.ClassRateLimited, "")
				a.RetryAfter = 30 * time.Second
				return a, nil
			}
			return ok(c, results[c.what]), nil
		}}
		tp := &tape{}
		p := Start(t.Context(), Options{Asker: door, Chains: chainOf(local("a")), Sink: tp.sink})
		defer p.Close()
		pass(2 * time.Second)
		throttled.Store(false)
		for range 25 {
			p.Suspect(idOf("a"))
			pass(time.Second)
		}
		if s := tp.samples("a"); len(s) != 1 || s[0].Hold != 30_000 {
			t.Fatalf("%d samples within the hold, want the one that brought it", len(s))
		}
		pass(10 * time.Second)
		if n := len(tp.samples("a")); n < 5 {
			t.Errorf("%d samples after the hold", n)
		}
	})
}

func TestAnEndpointThatRefusesUsIsAskedEveryTenMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door := &fakeDoor{answer: func(_ context.Context, c call) (*fleet.Attempt, error) {
			return failed(c, fleet.ClassRemoteDenial, "auth"), nil
		}}
		p := Start(t.Context(), Options{Asker: door, Chains: chainOf(local("a")), Sink: func(fleet.Input) {}})
		defer p.Close()
		pass(59 * time.Minute)
		if n := door.count("a", "latest"); n != 6 {
			t.Errorf("%d rounds in 59 minutes, want 6", n)
		}
	})
}

func TestABackoffReplacesThePaceAndMakesRoundsDeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door := &fakeDoor{}
		p := Start(t.Context(), Options{Asker: door, Chains: chainOf(local("a")), Sink: func(fleet.Input) {}})
		defer p.Close()
		pass(10 * time.Second)
		if n := door.count("a", "call-by-hash"); n != 0 {
			t.Fatalf("%d deep rounds without suspicion or back-off", n)
		}
		p.SetBackoff(idOf("a"), 20*time.Second)
		if p.Pace(idOf("a")) != 20*time.Second {
			t.Errorf("pace %s under a back-off of 20 s", p.Pace(idOf("a")))
		}
		before := door.count("a", "latest")
		pass(100 * time.Second)
		if n := door.count("a", "latest") - before; n != 5 {
			t.Errorf("%d rounds in 100 s at a back-off of 20 s", n)
		}
		if n := door.count("a", "call-by-hash"); n != 5 {
			t.Errorf("%d of 5 rounds under back-off were deep", n)
		}
		p.SetBackoff(idOf("a"), 0)
		before = door.count("a", "latest")
		pass(10 * time.Second)
		if n := door.count("a", "latest") - before; n < 10 || n > 11 {
			t.Errorf("%d rounds in the 10 s after the back-off", n)
		}
	})
}

func TestPauseStopsAllAndResumeGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door := &fakeDoor{}
		p := Start(t.Context(), Options{Asker: door, Chains: chainOf(local("a"), local("b")), Sink: func(fleet.Input) {}})
		defer p.Close()
		pass(10 * time.Second)
		p.Pause()
		pass(time.Second)
		before := door.count("", "latest")
		p.Suspect(idOf("a"))
		pass(time.Minute)
		if n := door.count("", "latest") - before; n != 0 {
			t.Errorf("%d rounds while paused", n)
		}
		p.Resume()
		pass(10 * time.Second)
		if n := door.count("", "latest") - before; n < 18 || n > 23 {
			t.Errorf("%d rounds of two endpoints in 10 s after the pause", n)
		}
	})
}

func TestAfterAPauseTheEndpointsAreSpreadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var specs []fleet.EndpointSpec
		for i := range 50 {
			specs = append(specs, local(fmt.Sprintf("e%d", i)))
		}
		door := &fakeDoor{}
		p := Start(t.Context(), Options{Asker: door, Chains: chainOf(specs...), Sink: func(fleet.Input) {}})
		defer p.Close()
		pass(5 * time.Second)
		p.Pause()
		pass(time.Minute)
		p.Resume()
		resumed := time.Now()
		pass(time.Second)
		at := map[time.Time]int{}
		for _, c := range door.seen("", "latest") {
			if !c.at.Before(resumed) {
				at[c.at]++
			}
		}
		for moment, n := range at {
			if n > 5 {
				t.Errorf("%d rounds began in one moment, %s after the pause", n, moment.Sub(resumed))
			}
		}
		if len(at) < 40 {
			t.Errorf("rounds began in %d moments", len(at))
		}
	})
}

func TestCloseAbortsWhatIsInFlightAndGivesNoSample(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door := &fakeDoor{answer: func(ctx context.Context, c call) (*fleet.Attempt, error) { return hang(ctx, c, time.Hour) }}
		tp := &tape{}
		p := Start(t.Context(), Options{Asker: door, Chains: chainOf(local("a"), local("b")), Sink: tp.sink})
		pass(2 * time.Second)
		begin := time.Now()
		p.Close()
		if time.Since(begin) != 0 || len(tp.in) != 0 {
			t.Errorf("close took %s and left %v", time.Since(begin), tp.in)
		}
		p.Suspect(idOf("a")) // after the end: nothing
		p.Suspect(idOf("nobody"))
		p.Close()
	})
}

func TestABugOfOursEndsNoClockAndChargesNobody(t *testing.T) {
	for _, where := range []string{"door", "sink"} {
		t.Run(where, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var broken atomic.Bool
				broken.Store(true)
				door := &fakeDoor{answer: func(ctx context.Context, c call) (*fleet.Attempt, error) {
					if where == "door" && broken.Load() {
						panic("bug in the door")
					}
					return healthy(ctx, c)
				}}
				tp := &tape{}
				var told tally
				p := Start(t.Context(), Options{
					Asker: door, Chains: chainOf(remote("a", 1000, 0)),
					Sink: func(in fleet.Input) {
						if where == "sink" && broken.Load() {
							panic("bug in the sink")
						}
						tp.sink(in)
					},
					Hooks: told.hooks(),
				})
				pass(5 * time.Second)
				broken.Store(false)
				if n := len(tp.samples("")) + len(tp.readings("")); n != 0 {
					t.Errorf("%d emitted", n)
				}
				pass(5 * time.Second)
				p.Close()
				_, faults := told.told()
				if len(faults) < 4 || !strings.Contains(faults[0], "bug in the "+where) || !strings.Contains(faults[0], "goroutine") {
					t.Errorf("faults told: %d", len(faults))
				}
				s := tp.samples("a")
				if len(s) < 4 {
					t.Fatalf("%d samples after the bug was gone", len(s))
				}
				for _, x := range s {
					if !x.Outcome.OK() {
						t.Errorf("sample %s", x.Outcome.Evidence())
					}
				}
			})
		})
	}
}
