package failover

import (
	"context"
	"fmt"
	"testing"
	"time"

	"example.com/rpctop/internal/fleet"
)

// crowd is a chain of n endpoints that have served for a minute, the later
// ones slower.
func crowd(t reporter, n int) *world {
	names := make([]string, n)
	all := behaviours{}
	w := &world{}
	for i := range n {
		name := fmt.Sprintf("e%02d", i)
		names[i] = name + ":"
		all[name] = func() *fleet.Sample {
			s := w.good(name, blockAt(w.tipOf(1_000), 1_000))
			s.Timing.Total = fleet.Micros(20_000 + 1_000*i)
			return &s
		}
	}
	*w = *newWorld(t, spec(1_000, names...))
	w.run(60, all)
	return w
}

type instant struct{ answer fleet.Attempt }

func (a *instant) Ask(context.Context, AttemptAsk) (*fleet.Attempt, error) { return &a.answer, nil }

func BenchmarkOrder(b *testing.B) {
	for _, n := range []int{5, 50} {
		w := crowd(b, n)
		b.Run(fmt.Sprintf("%d endpoints", n), func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				Order(w.s, w.chain(), Ask{Kind: fleet.KindState, Tip: true})
			}
		})
	}
}

// BenchmarkCall is what a request costs besides the network, while the state
// stays.
func BenchmarkCall(b *testing.B) {
	for _, n := range []int{5, 50} {
		w := crowd(b, n)
		b.Run(fmt.Sprintf("%d endpoints", n), func(b *testing.B) {
			c := &Caller{State: func() *State { return w.s }, Now: time.Now,
				Asker: &instant{fleet.Attempt{Endpoint: id("e00"), Outcome: fleet.Outcome{Class: fleet.ClassOK}}}}
			b.ReportAllocs()
			for range b.N {
				c.Call(b.Context(), CallRequest{Chain: "main", Method: "eth_call", Tip: true, Caller: fleet.CallerProxy})
			}
		})
	}
}
