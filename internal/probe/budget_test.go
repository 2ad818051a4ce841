package probe

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"example.com/rpctop/internal/fleet"
)

// byDay counts calls by UTC day.
func byDay(calls []call) map[int64]int64 {
	m := map[int64]int64{}
	for _, c := range calls {
		m[DayOf(c.at)]++
	}
	return m
}

func TestADayStaysWithinItsBudget(t *testing.T) {
	cold := func(ctx context.Context, c call) (*fleet.Attempt, error) {
		a, err := healthy(ctx, c)
		a.Timing.Cold = true
		return a, err
	}
	down := func(_ context.Context, c call) (*fleet.Attempt, error) {
		return failed(c, fleet.ClassTransportFailure, "refused"), nil
	}
	for _, tc := range []struct {
		name    string
		every   fleet.Millis
		perDay  int64
		offset  time.Duration // start after midnight
		suspect time.Duration // 0: never
		answer  func(context.Context, call) (*fleet.Attempt, error)
		least   int64
	}{
		{name: "quiet", every: 8640, perDay: 10_000, least: 8_900},
		{name: "a pace that would use ten times the budget", every: 1000, perDay: 10_000, least: 8_900},
		{name: "suspected every half second all day long", every: 8640, perDay: 10_000, suspect: 500 * time.Millisecond, least: 9_900},
		{name: "every connection is new", every: 8640, perDay: 10_000, answer: cold, least: 8_500},
		{name: "down and suspected", every: 8640, perDay: 10_000, suspect: time.Second, answer: down, least: 9_900},
		{name: "started in the afternoon", every: 8640, perDay: 10_000, offset: 15 * time.Hour, suspect: 3 * time.Second, least: 4_000},
		{name: "a budget of a few calls", every: 8640, perDay: 25, suspect: time.Minute, least: 20},
		{name: "a budget of one call", every: 8640, perDay: 1, suspect: time.Minute, least: 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pass(tc.offset)
				door := &fakeDoor{answer: tc.answer}
				p := Start(t.Context(), Options{Asker: door, Chains: chainOf(remote("a", tc.every, tc.perDay)), Sink: func(fleet.Input) {}})
				today := DayOf(time.Now())
				end := midnightAfter(time.Now()).Add(-time.Second)
				for time.Now().Before(end) {
					if tc.suspect == 0 {
						pass(time.Until(end))
						break
					}
					p.Suspect(idOf("a"))
					pass(min(tc.suspect, time.Until(end)))
				}
				if used := p.UsedToday(idOf("a")).Calls; used != byDay(door.seen("a", ""))[today] {
					t.Errorf("%d calls counted, %d put", used, byDay(door.seen("a", ""))[today])
				}
				pass(24 * time.Hour) // and a quiet one after it
				p.Close()
				n := byDay(door.seen("a", ""))
				if n[today] > tc.perDay || n[today] < tc.least {
					t.Errorf("%d calls in the first day, want %d to %d", n[today], tc.least, tc.perDay)
				}
				if n[today+1] > tc.perDay || n[today+1] < tc.perDay*8/10 {
					t.Errorf("%d calls in the day after, of %d", n[today+1], tc.perDay)
				}
			})
		})
	}
}

func TestALongOutageMakesNoEndpointBlindForTheRestOfTheDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tp := &tape{}
		p := Start(t.Context(), Options{Asker: &fakeDoor{}, Chains: chainOf(remote("a", 8640, 10_000)), Sink: tp.sink})
		defer p.Close()
		end := time.Now().Add(23 * time.Hour)
		for time.Now().Before(end) {
			p.Suspect(idOf("a"))
			pass(time.Second)
		}
		var last fleet.Millis
		for _, s := range tp.samples("a") {
			if gap := s.Start - last; last != 0 && gap > 30_000 {
				t.Fatalf("no sample for %d ms up to %s", gap, s.Start.Time())
			}
			last = s.Start
		}
		if late := fleet.MillisOf(end) - last; late > 30_000 {
			t.Errorf("the last sample is %d ms old", late)
		}
	})
}

func TestTurnsStopWhenNineTenthsAreUsedAndSuspicionHasTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pass(time.Hour)
		door, tp := &fakeDoor{}, &tape{}
		var told tally
		p := Start(t.Context(), Options{
			Asker: door, Chains: chainOf(remote("a", 10_000, 1000)), Sink: tp.sink,
			Hooks: told.hooks(),
			Used:  map[fleet.EndpointID]Usage{idOf("a"): {Day: DayOf(time.Now()), Calls: 900}},
		})
		defer p.Close()
		pass(time.Hour)
		if n := door.count("a", ""); n != 0 || len(tp.samples("")) != 0 {
			t.Fatalf("%d calls, %d samples: nine tenths were used", n, len(tp.samples("")))
		}
		denials, _ := told.told()
		if len(denials) != 1 || denials[0].Kind != fleet.DenyBudget || denials[0].RetryAfter < 22*time.Hour || p.Denials(idOf("a")) != 1 {
			t.Errorf("denials %v, counted %d; want one, until midnight", denials, p.Denials(idOf("a")))
		}
		p.Suspect(idOf("a"))
		pass(time.Second)
		if n := len(tp.samples("a")); n != 1 {
			t.Errorf("%d samples of a suspicion within the reserve", n)
		}
		for range 200 {
			p.Suspect(idOf("a"))
			pass(time.Second)
		}
		if used := p.UsedToday(idOf("a")); used.Calls != 1000 || used.Suspicion != 100 {
			t.Errorf("used %+v, want all of 1000, 100 of them out of turn", used)
		}
		pass(22*time.Hour - 300*time.Second) // past midnight
		n := door.count("a", "")
		pass(10 * time.Minute)
		if door.count("a", "") == n {
			t.Error("no call in the new day")
		}
		if used := p.UsedToday(idOf("a")); used.Calls > 100 {
			t.Errorf("used %+v some minutes into the new day", used)
		}
	})
}

func TestATurnThatIsRefusedForTheDayIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pass(time.Hour)
		door := &fakeDoor{}
		p := Start(t.Context(), Options{
			Asker: door, Chains: chainOf(remote("a", 10_000, 1000)), Sink: func(fleet.Input) {},
			// The first round's seven questions use up what is left for turns.
			Used: map[fleet.EndpointID]Usage{idOf("a"): {Day: DayOf(time.Now()), Calls: 893}},
		})
		defer p.Close()
		pass(time.Hour)
		if calls, denials := door.count("a", ""), p.Denials(idOf("a")); calls != 7 || denials != 1 {
			t.Errorf("%d calls and %d denials, want 7 and 1", calls, denials)
		}
	})
}

func TestANewDayIsNotWaitedIntoByYesterdaysPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pass(10 * time.Hour)
		door, midnight := &fakeDoor{}, midnightAfter(time.Now())
		p := Start(t.Context(), Options{
			Asker: door, Chains: chainOf(remote("a", 10_000, 100)), Sink: func(fleet.Input) {},
			Used: map[fleet.EndpointID]Usage{idOf("a"): {Day: DayOf(time.Now()), Calls: 80}},
		})
		defer p.Close()
		pass(14*time.Hour - time.Second)
		if n := door.count("a", "latest"); n < 2 || n > 5 {
			t.Fatalf("%d rounds out of 10 calls that were left", n)
		}
		pass(21 * time.Second)
		calls := door.seen("a", "latest")
		if last := calls[len(calls)-1].at; last.Before(midnight) {
			t.Errorf("20 s into the new day, the last round was at %s", last.UTC())
		}
	})
}

func TestARestoredBudgetThatIsUsedUpRefusesSuspicionToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door := &fakeDoor{}
		p := Start(t.Context(), Options{
			Asker: door, Chains: chainOf(remote("a", 10_000, 1000)), Sink: func(fleet.Input) {},
			Used: map[fleet.EndpointID]Usage{idOf("a"): {Day: DayOf(time.Now()), Calls: 1000}},
		})
		defer p.Close()
		for range 60 {
			p.Suspect(idOf("a"))
			p.Confirm(idOf("a"), 7)
			pass(time.Second)
		}
		if n := door.count("a", ""); n != 0 {
			t.Errorf("%d calls beyond the budget", n)
		}
		if n := p.Denials(idOf("a")); n < 60 || n > 125 {
			t.Errorf("%d denials counted of 60 suspicions and 60 confirmations", n)
		}
	})
}

func TestAUsageOfAnotherDayIsVoid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := Start(t.Context(), Options{
			Asker: &fakeDoor{}, Chains: chainOf(remote("a", 10_000, 1000)), Sink: func(fleet.Input) {},
			Used: map[fleet.EndpointID]Usage{idOf("a"): {Day: DayOf(time.Now()) - 1, Calls: 1000}},
		})
		defer p.Close()
		pass(2 * time.Second)
		if used := p.UsedToday(idOf("a")); used.Calls < 5 || used.Calls > 10 {
			t.Errorf("used %+v after the first round", used)
		}
		if p.Used()[idOf("a")] != p.UsedToday(idOf("a")) {
			t.Error("the two views differ")
		}
	})
}

func TestADenialYieldsNothingAndCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var denying atomic.Bool
		denying.Store(true)
		door := &fakeDoor{answer: func(ctx context.Context, c call) (*fleet.Attempt, error) {
			if denying.Load() {
				return nil, &fleet.Denial{Kind: fleet.DenyRate, Scope: "global", Endpoint: c.id}
			}
			return healthy(ctx, c)
		}}
		tp := &tape{}
		p := Start(t.Context(), Options{Asker: door, Chains: chainOf(remote("a", 1000, 5_000_000)), Sink: tp.sink})
		defer p.Close()
		pass(30 * time.Second)
		if n := len(tp.samples("")) + len(tp.readings("")); n != 0 {
			t.Errorf("denials were emitted as %d rows", n)
		}
		if p.Denials(idOf("a")) < 29 {
			t.Errorf("%d denials counted in 30 rounds", p.Denials(idOf("a")))
		}
		if used := p.UsedToday(idOf("a")); used.Calls != 0 {
			t.Errorf("denied calls were counted: %+v", used)
		}
		denying.Store(false)
		pass(3 * time.Second)
		s := tp.samples("a")
		if len(s) < 2 || !s[0].Outcome.OK() || s[0].ChainID != "100" {
			t.Errorf("after the denials: %+v", s)
		}
	})
}

func TestTheStatedCostOfADayHolds(t *testing.T) {
	for _, spec := range []fleet.EndpointSpec{
		remote("free", 20_000, 0), remote("bound", 8640, 10_000), {Name: "own", Every: 20_000, Local: true, Timeout: 4000},
	} {
		t.Run(spec.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				door := &fakeDoor{}
				p := Start(t.Context(), Options{Asker: door, Chains: chainOf(spec), Sink: func(fleet.Input) {}})
				pass(24*time.Hour - time.Second)
				p.Close()
				got, want := int64(door.count("", "")), CallsPerDay(chainOf(spec)[0], spec)
				if diff := got - want; diff < -want/50 || diff > want/50 {
					t.Errorf("%d calls a day, stated %d", got, want)
				}
			})
		})
	}
}
