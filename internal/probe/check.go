package probe

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"example.com/rpctop/internal/fleet"
)

// Check describes rounds that an operator asked for, outside any clock and any
// budget of the day.
type Check struct {
	Asker  Asker
	Chains []fleet.ChainSpec
	Rounds int               // per endpoint; less than 1 counts as 1
	Sink   func(fleet.Input) // never called by two at once
	Hooks  Hooks
}

// CheckOnce puts all questions of a round to all endpoints at once, Rounds
// times, the starts of two rounds of an endpoint at least a second apart. It
// ends within Rounds times twice the longest time-out, and for an endpoint
// that answers nothing within Rounds times its time-out.
func CheckOnce(ctx context.Context, c Check) {
	var mu sync.Mutex
	sink := func(in fleet.Input) {
		mu.Lock()
		defer mu.Unlock()
		c.Sink(in)
	}
	var wg sync.WaitGroup
	for _, ch := range c.Chains {
		for _, e := range ch.Endpoints {
			id := fleet.EndpointID{Chain: ch.Name, Name: e.Name}
			wg.Go(func() {
				for n := range max(c.Rounds, 1) {
					start := time.Now()
					checkRound(ctx, c, id, e, sink)
					if n+1 < c.Rounds && !sleep(ctx, minEvery-time.Since(start)) {
						return
					}
				}
			})
		}
	}
	wg.Wait()
}

func checkRound(ctx context.Context, c Check, id fleet.EndpointID, e fleet.EndpointSpec, sink func(fleet.Input)) {
	defer func() {
		if v := recover(); v != nil {
			c.Hooks.fault(id, fmt.Errorf("check round: panic: %v\n%s", v, debug.Stack()))
		}
	}()
	r := round{
		line: &line{asker: c.Asker, id: id, timeout: timeoutOf(e), hooks: c.Hooks, purse: free{}},
		want: wantAll, together: true, sink: sink,
	}
	r.run(ctx)
}

func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// Confirm asks one endpoint for its block at a height, outside any budget of
// the day. ok is false if nothing may be concluded: a denial of ours, a
// cancel.
func (c Check) Confirm(ctx context.Context, id fleet.EndpointID, timeout time.Duration, number uint64) (v fleet.Reading, ok bool) {
	return confirm(ctx, &line{asker: c.Asker, id: id, timeout: timeout, hooks: c.Hooks, purse: free{}}, number)
}

func confirm(ctx context.Context, l *line, number uint64) (fleet.Reading, bool) {
	a, _ := l.ask(ctx, askBlock(number))
	if a == nil {
		return fleet.Reading{}, false
	}
	v := blockReading(fleet.ReadConfirm, a, &number, fleet.ClassNotYetVisible)
	v.Number = number // what was asked, so that a non-answer says about what
	return v, true
}

// Identity is the chain that an endpoint says it serves, or why that could not
// be read.
type Identity struct {
	Endpoint fleet.EndpointID
	ChainID  string        // decimal; "" if it was not read
	Outcome  fleet.Outcome // ClassNone if nothing was handed over
	Denial   *fleet.Denial // nil unless a rule of ours refused
}

// Identify asks each endpoint for its chain id, all at once, and gives the
// answers in the order of the endpoints. It ends within the time-out. A chain
// id of 0 means that the endpoint does not know yet.
func Identify(ctx context.Context, asker Asker, endpoints []fleet.EndpointID, timeout time.Duration, hooks Hooks) []Identity {
	ids := make([]Identity, len(endpoints))
	var wg sync.WaitGroup
	for i, id := range endpoints {
		wg.Go(func() {
			l := &line{asker: asker, id: id, timeout: timeout, hooks: hooks, purse: free{}}
			ids[i] = Identity{Endpoint: id}
			a, denial := l.ask(ctx, askChainID)
			ids[i].Denial = denial
			if a == nil {
				return
			}
			ids[i].Outcome = a.Outcome
			var class fleet.Class
			if ids[i].ChainID, class = chainIDOf(a); class != a.Outcome.Class {
				ids[i].Outcome = misread(a.Outcome, fmt.Errorf("chain id is no quantity"))
			}
		})
	}
	wg.Wait()
	return ids
}
