package admission

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"example.com/rpctop/internal/fleet"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	epA = fleet.EndpointID{Chain: "gnosis", Name: "a"}
	epB = fleet.EndpointID{Chain: "gnosis", Name: "b"}
	t0  = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
)

// clock is a time that only the test moves.
type clock struct{ t time.Time }

func (c *clock) now() time.Time          { return c.t }
func (c *clock) advance(d time.Duration) { c.t = c.t.Add(d) }

func ask(id fleet.EndpointID, c fleet.Caller) Request {
	return Request{Endpoint: id, Method: "eth_call", Caller: c}
}

func admit(t *testing.T, g *Gatekeeper, c *clock, r Request) func() {
	t.Helper()
	release, err := g.Admit(t.Context(), c.now, r)
	if err != nil {
		t.Fatalf("%v %v: %v", r.Caller, r.Method, err)
	}
	return release
}

func denied(t *testing.T, g *Gatekeeper, c *clock, r Request, kind fleet.DenialKind, scope string) *fleet.Denial {
	t.Helper()
	_, err := g.Admit(t.Context(), c.now, r)
	var d *fleet.Denial
	if !errors.As(err, &d) {
		t.Fatalf("%v %v: want a denial, have %v", r.Caller, r.Method, err)
	}
	if d.Kind != kind || d.Scope != scope || d.Endpoint != r.Endpoint || d.Caller != r.Caller {
		t.Fatalf("want %s/%s, have %+v", kind, scope, d)
	}
	return d
}

func TestWithoutLimitsNothingIsDenied(t *testing.T) {
	g, c := New(Limits{}, nil), &clock{t0}
	for range 10_000 {
		admit(t, g, c, ask(epA, fleet.CallerProxy))
	}
}

func TestAFifthOfTheRateIsOutOfClientsReach(t *testing.T) {
	for _, tc := range []struct {
		limits       Limits
		clients, all int
	}{
		{Limits{RPS: 10}, 8, 10},
		{Limits{RPS: 10, Burst: 5}, 4, 5},
		{Limits{RPS: 1, Burst: 2}, 1, 2},
		{Limits{RPS: 1}, 1, 1},
		{Limits{RPS: 0.5}, 1, 1},
		{Limits{RPS: 2.5}, 2, 3},
	} {
		t.Run(fmt.Sprintf("%v a second, burst %d", tc.limits.RPS, tc.limits.Burst), func(t *testing.T) {
			g, c := New(Limits{}, map[fleet.EndpointID]Limits{epA: tc.limits}), &clock{t0}
			for range tc.clients {
				admit(t, g, c, ask(epA, fleet.CallerProxy))
			}
			denied(t, g, c, ask(epA, fleet.CallerExport), fleet.DenyRate, "endpoint")
			for range tc.all - tc.clients {
				admit(t, g, c, ask(epA, fleet.CallerProbe))
			}
			d := denied(t, g, c, ask(epA, fleet.CallerInteractive), fleet.DenyRate, "endpoint")
			if !d.WantOfBudget() || d.RetryAfter <= 0 {
				t.Fatalf("a rate denial is retryable: %+v", d)
			}
			c.advance(d.RetryAfter)
			admit(t, g, c, ask(epA, fleet.CallerInteractive))
		})
	}
}

func TestAGlobalRefusalTakesNothingFromTheEndpoint(t *testing.T) {
	g, c := New(Limits{RPS: 1, Burst: 1}, map[fleet.EndpointID]Limits{epA: {RPS: 0.001, Burst: 2, PerDay: 5}}), &clock{t0}
	admit(t, g, c, ask(epA, fleet.CallerProbe))
	for range 100 {
		denied(t, g, c, ask(epA, fleet.CallerProbe), fleet.DenyRate, "global")
	}
	c.advance(time.Second)
	admit(t, g, c, ask(epA, fleet.CallerProbe)) // the endpoint's second token is still there
	if s := g.Status(c.t, epA); s.Units != 2 || s.Denials[fleet.DenyRate] != 100 {
		t.Fatalf("%+v", s)
	}
}

func TestBudgetsAreInTheProvidersUnitsAndEndAtMidnightUTC(t *testing.T) {
	lim := Limits{PerDay: 100, Units: map[string]int64{"eth_call": 26, "eth_chainId": 0, "*": 10}}
	g, c := New(Limits{}, map[fleet.EndpointID]Limits{epA: lim}), &clock{t0}
	for range 3 {
		admit(t, g, c, ask(epA, fleet.CallerProxy))
	}
	d := denied(t, g, c, ask(epA, fleet.CallerProxy), fleet.DenyBudget, "endpoint")
	if d.RetryAfter != 12*time.Hour {
		t.Errorf("retry after %v, want the 12 h until 00:00 UTC", d.RetryAfter)
	}
	admit(t, g, c, Request{Endpoint: epA, Method: "eth_gasPrice"})
	admit(t, g, c, Request{Endpoint: epA, Method: "eth_gasPrice"})
	admit(t, g, c, Request{Endpoint: epA, Method: "eth_chainId"})
	s := g.Status(c.t, epA)
	if s.Units != 98 || s.Calls != 6 || s.PerDay != 100 || !s.BudgetUntil.IsZero() {
		t.Errorf("%+v", s)
	}
	c.advance(12 * time.Hour)
	admit(t, g, c, ask(epA, fleet.CallerProxy))
	if s := g.Status(c.t, epA); s.Units != 26 {
		t.Errorf("the new day begins with %d units", s.Units-26)
	}
}

func TestAMonthsBudgetOutlastsItsDays(t *testing.T) {
	g, c := New(Limits{}, map[fleet.EndpointID]Limits{epA: {PerMonth: 3}}), &clock{t0.AddDate(0, 0, -2)}
	for range 3 {
		admit(t, g, c, ask(epA, fleet.CallerProxy))
		c.advance(24 * time.Hour)
	}
	c.t = t0.Add(11 * time.Hour)
	if d := denied(t, g, c, ask(epA, fleet.CallerProxy), fleet.DenyBudget, "endpoint"); d.RetryAfter != time.Hour {
		t.Errorf("retry after %v, want the hour until December", d.RetryAfter)
	}
	if s := g.Status(c.t, epA); !s.BudgetUntil.Equal(t0.Add(12 * time.Hour)) {
		t.Errorf("status says until %v", s.BudgetUntil)
	}
	c.advance(time.Hour)
	admit(t, g, c, ask(epA, fleet.CallerProxy))
}

func TestABatchPaysForEachMember(t *testing.T) {
	g, c := New(Limits{}, map[fleet.EndpointID]Limits{epA: {RPS: 10, InFlight: 1, PerDay: 100}}), &clock{t0}
	batch := Request{Endpoint: epA, Method: "batch", Members: make([]string, 7)}
	admit(t, g, c, batch)()
	denied(t, g, c, batch, fleet.DenyRate, "endpoint")
	if s := g.Status(c.t, epA); s.Units != 7 || s.Calls != 7 {
		t.Errorf("%+v", s)
	}
	c.advance(time.Second)
	batch.Members = make([]string, 25) // larger than the bucket: a full one lets it pass, and it is paid back
	admit(t, g, c, batch)()
	d := denied(t, g, c, ask(epA, fleet.CallerProbe), fleet.DenyRate, "endpoint")
	if d.RetryAfter != 1600*time.Millisecond {
		t.Errorf("retry after %v, want the debt of 15 and one token at 10 a second", d.RetryAfter)
	}
}

func TestRecoveriesShareOneBucket(t *testing.T) { // L10
	g, c := New(Limits{}, nil), &clock{t0}
	g.LimitRecoveries(Limits{RPS: 1, Burst: 1})
	admit(t, g, c, ask(epA, fleet.CallerRecovery))
	denied(t, g, c, ask(epB, fleet.CallerRecovery), fleet.DenyRate, "kind")
	admit(t, g, c, ask(epB, fleet.CallerInteractive))
	c.advance(time.Second)
	admit(t, g, c, ask(epB, fleet.CallerRecovery))
}

func TestASlotIsWaitedForATenthOfASecond(t *testing.T) { // L5
	synctest.Test(t, func(t *testing.T) {
		g := New(Limits{}, map[fleet.EndpointID]Limits{epA: {InFlight: 3, PerDay: 100}})
		c := &clock{t0}
		var hung []func()
		for range 3 {
			hung = append(hung, admit(t, g, c, ask(epA, fleet.CallerProbe)))
		}
		start := time.Now()
		d := denied(t, g, c, ask(epA, fleet.CallerInteractive), fleet.DenyInFlight, "endpoint")
		if waited := time.Since(start); waited != SlotWait || !d.WantOfBudget() {
			t.Fatalf("waited %v: %+v", waited, d)
		}
		admit(t, g, c, ask(epB, fleet.CallerProxy)) // the other endpoint is not concerned
		time.AfterFunc(SlotWait/2, hung[0])
		admit(t, g, c, ask(epA, fleet.CallerInteractive))
		if s := g.Status(c.t, epA); s.InFlight != 3 || s.Units != 4 {
			t.Fatalf("the denied one left something: %+v", s)
		}
	})
}

func TestTwoSlotsAreOutOfClientsReach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := New(Limits{InFlight: 5}, nil), &clock{t0}
		for range 3 {
			admit(t, g, c, ask(epA, fleet.CallerProxy))
		}
		denied(t, g, c, ask(epB, fleet.CallerExport), fleet.DenyInFlight, "global")
		admit(t, g, c, ask(epA, fleet.CallerRecovery))
		admit(t, g, c, ask(epB, fleet.CallerProbe))
		denied(t, g, c, ask(epB, fleet.CallerProbe), fleet.DenyInFlight, "global")
	})
}

func TestAReleaseIsCountedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := New(Limits{}, map[fleet.EndpointID]Limits{epA: {InFlight: 2}}), &clock{t0}
		first := admit(t, g, c, ask(epA, fleet.CallerProbe))
		admit(t, g, c, ask(epA, fleet.CallerProbe))
		first()
		first()
		admit(t, g, c, ask(epA, fleet.CallerProbe))
		denied(t, g, c, ask(epA, fleet.CallerProbe), fleet.DenyInFlight, "endpoint")
	})
}

func TestACancelWhileWaitingIsNoDenial(t *testing.T) { // L11, I6
	synctest.Test(t, func(t *testing.T) {
		g, c := New(Limits{}, map[fleet.EndpointID]Limits{epA: {InFlight: 1}}), &clock{t0}
		release := admit(t, g, c, ask(epA, fleet.CallerProbe))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(SlotWait/2, cancel)
		_, err := g.Admit(ctx, c.now, ask(epA, fleet.CallerProbe))
		var d *fleet.Denial
		if !errors.Is(err, context.Canceled) || errors.As(err, &d) {
			t.Fatalf("have %v", err)
		}
		if _, err = g.Admit(ctx, c.now, ask(epB, fleet.CallerProbe)); !errors.Is(err, context.Canceled) {
			t.Fatalf("have %v", err)
		}
		release()
		admit(t, g, c, ask(epA, fleet.CallerProbe)) // no slot is lost
		if s := g.Status(c.t, epA); len(s.Denials) != 0 {
			t.Fatalf("a cancel was counted as a denial: %v", s.Denials)
		}
	})
}

func TestACallThatRunsOutOfTimeForWantOfASlotIsADenial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := New(Limits{}, map[fleet.EndpointID]Limits{epA: {InFlight: 1}}), &clock{t0}
		admit(t, g, c, ask(epA, fleet.CallerProbe))
		ctx, cancel := context.WithTimeout(t.Context(), SlotWait/2)
		defer cancel()
		_, err := g.Admit(ctx, c.now, ask(epA, fleet.CallerProbe))
		var d *fleet.Denial
		if !errors.As(err, &d) || d.Kind != fleet.DenyInFlight {
			t.Fatalf("have %v", err)
		}
	})
}

func TestWaitersAreServedInOrderAndKeepTheLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := New(Limits{}, map[fleet.EndpointID]Limits{epA: {InFlight: 1}}), &clock{t0}
		release := admit(t, g, c, ask(epA, fleet.CallerProbe))
		var mu sync.Mutex
		var order []int
		inside := 0
		for i := range 5 {
			go func() {
				release, err := g.Admit(t.Context(), c.now, ask(epA, fleet.CallerProbe))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				order = append(order, i)
				if inside++; inside > 1 {
					t.Error("two in one slot")
				}
				mu.Unlock()
				time.AfterFunc(time.Millisecond, func() {
					mu.Lock()
					inside--
					mu.Unlock()
					release()
				})
			}()
			synctest.Wait()
		}
		release()
		time.Sleep(SlotWait / 2) // of the bubble's time
		synctest.Wait()
		if fmt.Sprint(order) != "[0 1 2 3 4]" {
			t.Errorf("order %v", order)
		}
	})
}

func TestAfterShutdownEverythingIsDenied(t *testing.T) {
	g, c := New(Limits{}, nil), &clock{t0}
	g.Shutdown()
	denied(t, g, c, ask(epA, fleet.CallerInteractive), fleet.DenyShutdown, "global")
}

func TestUsageIsHandedOutOnceAndComesBack(t *testing.T) {
	lim := Limits{PerDay: 10, Units: map[string]int64{"*": 2}}
	g, c := New(Limits{}, map[fleet.EndpointID]Limits{epA: lim}), &clock{t0}
	admit(t, g, c, ask(epA, fleet.CallerProxy))
	c.advance(24 * time.Hour)
	admit(t, g, c, ask(epA, fleet.CallerProxy))
	us := g.TakeUsage()
	if fmt.Sprint(us) != "[{gnosis/a 2026-11-30 2 1} {gnosis/a 2026-12-01 2 1}]" {
		t.Fatalf("have %v", us)
	}
	if us := g.TakeUsage(); len(us) != 0 {
		t.Fatalf("handed out twice: %v", us)
	}
	if err := g.ReturnUsage(us[:1]); err != nil {
		t.Fatal(err)
	}
	if again := g.TakeUsage(); fmt.Sprint(again) != fmt.Sprint(us[:1]) {
		t.Fatalf("what was returned is %v", again)
	}
	if s := g.Status(c.t, epA); s.Units != 2 {
		t.Fatalf("bookkeeping changed the use: %d", s.Units)
	}
	// Another process has used 6 of today's 10.
	admit(t, g, c, ask(epA, fleet.CallerProxy)) // 2 that the journal does not know
	if err := g.SetUsage([]Usage{{Endpoint: epA, Day: "2026-12-01", Units: 8, Calls: 4}}); err != nil {
		t.Fatal(err)
	}
	denied(t, g, c, ask(epA, fleet.CallerProxy), fleet.DenyBudget, "endpoint")
	if err := g.SetUsage([]Usage{{Endpoint: epA, Day: "yesterday"}}); err == nil {
		t.Error("a day that is none was taken")
	}
}

func TestAGlobalBudgetIsHandedOutUnderTheEmptyName(t *testing.T) {
	g, c := New(Limits{PerDay: 2}, nil), &clock{t0}
	admit(t, g, c, ask(epA, fleet.CallerProxy))
	admit(t, g, c, ask(epB, fleet.CallerProxy))
	denied(t, g, c, ask(epB, fleet.CallerProxy), fleet.DenyBudget, "global")
	if us := g.TakeUsage(); us[0] != (Usage{Day: "2026-11-30", Units: 2, Calls: 2}) || len(us) != 3 {
		t.Errorf("have %v", us)
	}
}
