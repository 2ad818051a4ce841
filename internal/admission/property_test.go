package admission

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"
	"pgregory.net/rapid"

	"example.com/rpctop/internal/fleet"
)

// state prints everything that a decision reads, in order; the denial counters
// are not among it.
func (g *Gatekeeper) state(now time.Time) string {
	var out []string
	one := func(name string, gt *gate) {
		s := fmt.Sprintf("%s slots %+v strikes %d held %v used %v %v", name, gt.slots, gt.strikes, gt.held, gt.used.saved, gt.used.fresh)
		gt.rate.each(fleet.CallerProxy, func(l *rate.Limiter) {
			s += fmt.Sprintf(" %.9f", l.TokensAt(now))
		})
		out = append(out, s)
	}
	one("global", g.global)
	for id, gt := range g.gates {
		one(id.String(), gt)
	}
	for k, e := range g.failures.entries {
		out = append(out, fmt.Sprintf("%v %+v", k, e))
	}
	slices.Sort(out)
	return fmt.Sprint(out, len(g.waiting))
}

// grant is an admitted request, as the model remembers it.
type grant struct {
	at     time.Time
	client bool

	id      fleet.EndpointID
	n       int
	units   int64
	release func()
}

var outcomes = []fleet.Outcome{
	{Class: fleet.ClassOK, Origin: fleet.OriginNode},
	remote(fleet.ClassRemoteDenial, "auth", nil),
	remote(fleet.ClassRateLimited, "", nil),
	remote(fleet.ClassUnsupported, fleet.SubMethod, code(-32601)),
	remote(fleet.ClassTransportFailure, "timeout", nil),
	remote(fleet.ClassServerError, "", nil),
	{Class: fleet.ClassLocalDenial, Origin: fleet.OriginLocal},
	{Class: fleet.ClassLocalFault, Sub: fleet.SubCancelled, Origin: fleet.OriginLocal},
}

// TestAdmissionKeepsItsInvariants plays random histories against the limits
// themselves: I1 and I2 (a denial changes nothing and is cached nowhere), I6 (a
// cancel is no denial), I8 (when the budget has refilled, the first is first
// again), L5 to L9.
func TestAdmissionKeepsItsInvariants(t *testing.T) {
	// A bubble, so that waiting for a slot costs no time.
	synctest.Test(t, func(t *testing.T) {
		// The wrapper hides the deadline, which a bubble may not ask for.
		rapid.Check(struct{ testing.TB }{t}, playHistory)
	})
}

func drawLimits(t *rapid.T, name string) Limits {
	return Limits{
		RPS:      rapid.SampledFrom([]float64{0, 0.5, 3, 10}).Draw(t, name+" rps"),
		Burst:    rapid.IntRange(0, 12).Draw(t, name+" burst"),
		InFlight: rapid.IntRange(0, 5).Draw(t, name+" in flight"),
		PerDay:   rapid.SampledFrom([]int64{0, 0, 20, 60}).Draw(t, name+" a day"),
		Units:    map[string]int64{"dear": 7},
	}
}

func playHistory(t *rapid.T) {
	ids := []fleet.EndpointID{epA, epB}
	global := drawLimits(t, "global")
	limits := map[fleet.EndpointID]Limits{epA: drawLimits(t, "a"), epB: drawLimits(t, "b")}
	g, c := New(global, limits), &clock{t0.Add(11 * time.Hour)}
	var granted []grant
	var open []int // indexes of grants not released

	drawRequest := func() Request {
		r := Request{
			Endpoint: rapid.SampledFrom(ids).Draw(t, "endpoint"),
			Method:   rapid.SampledFrom([]string{"eth_call", "dear"}).Draw(t, "method"),
			Caller:   rapid.SampledFrom([]fleet.Caller{fleet.CallerProbe, fleet.CallerProxy, fleet.CallerInteractive, fleet.CallerExport}).Draw(t, "caller"),
		}
		if rapid.IntRange(0, 4).Draw(t, "batched") == 0 {
			r.Members = slices.Repeat([]string{r.Method}, rapid.IntRange(1, 3).Draw(t, "members"))
		}
		return r
	}
	t.Repeat(map[string]func(*rapid.T){
		"ask": func(t *rapid.T) {
			r := drawRequest()
			before := g.state(c.t)
			release, err := g.Admit(context.Background(), c.now, r)
			if err != nil {
				var d *fleet.Denial
				if !errors.As(err, &d) {
					t.Fatalf("nobody cancelled: %v", err)
				}
				if after := g.state(c.t); after != before {
					t.Fatalf("a denial (%v) changed something:\n%s\n%s", d, before, after)
				}
				if d.Kind == fleet.DenyFailureCache && (d.Recorded == nil || d.Recorded.Origin == fleet.OriginLocal) {
					t.Fatalf("cached from nothing remote: %+v", d)
				}
				if d.RetryAfter <= 0 {
					t.Fatalf("no advice when to retry: %+v", d)
				}
				return
			}
			n := len(r.methods())
			granted = append(granted, grant{
				at: c.t, client: !reserved(r.Caller), id: r.Endpoint, n: n,
				units: int64(n) * limits[r.Endpoint].cost(r.Method), release: release,
			})
			open = append(open, len(granted)-1)
		},
		"ask and cancel": func(t *rapid.T) {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			before := g.state(c.t)
			if _, err := g.Admit(ctx, c.now, drawRequest()); !errors.Is(err, context.Canceled) {
				t.Fatalf("have %v", err)
			}
			if after := g.state(c.t); after != before {
				t.Fatalf("a cancel changed something:\n%s\n%s", before, after)
			}
		},
		"release": func(t *rapid.T) {
			if len(open) == 0 {
				t.Skip("nothing is in flight")
			}
			i := rapid.IntRange(0, len(open)-1).Draw(t, "which")
			granted[open[i]].release()
			granted[open[i]].release()
			open = slices.Delete(open, i, i+1)
		},
		"learn": func(t *rapid.T) {
			before := maps.Clone(g.failures.entries)
			o := rapid.SampledFrom(outcomes).Draw(t, "outcome")
			g.Learn(c.t, Lesson{
				Endpoint: rapid.SampledFrom(ids).Draw(t, "endpoint"), Method: rapid.SampledFrom([]string{"eth_call", "dear"}).Draw(t, "method"),
				Start: c.t, Outcome: o, RetryAfter: time.Duration(rapid.IntRange(0, 20).Draw(t, "retry")) * time.Second,
			})
			if o.Origin == fleet.OriginLocal && !maps.Equal(before, g.failures.entries) {
				t.Fatalf("%v taught the failure cache", o.Class)
			}
		},
		"pass time": func(t *rapid.T) {
			c.advance(time.Duration(rapid.IntRange(1, 3000).Draw(t, "ms")) * time.Millisecond)
		},
		"pass an hour": func(*rapid.T) { c.advance(time.Hour) },
		"": func(t *rapid.T) {
			checkLimits(t, g, c.t, granted, open, global, fleet.EndpointID{})
			for id, l := range limits {
				checkLimits(t, g, c.t, granted, open, l, id)
			}
		},
	})
	for _, i := range open {
		granted[i].release()
	}
	for _, id := range ids {
		c.advance(48 * time.Hour) // everything has refilled, nobody is in flight
		release, err := g.Admit(context.Background(), c.now, ask(id, fleet.CallerProxy))
		if err != nil {
			t.Fatalf("refilled, and still: %v", err)
		}
		release()
	}
}

// checkLimits compares what was admitted with the limits, by naive counting.
// The empty id stands for the global ones.
func checkLimits(t *rapid.T, g *Gatekeeper, now time.Time, granted []grant, open []int, l Limits, id fleet.EndpointID) {
	everywhere := id == fleet.EndpointID{}
	mine := func(x grant) bool { return everywhere || x.id == id }
	all, clients := 0, 0
	for _, i := range open {
		if mine(granted[i]) {
			all++
			if granted[i].client {
				clients++
			}
		}
	}
	if l.InFlight > 0 && (all > l.InFlight || clients > max(1, l.InFlight-keptBack)) {
		t.Fatalf("%v: %d in flight, %d for clients, of %d", id, all, clients, l.InFlight)
	}
	var units int64
	for _, x := range granted {
		if mine(x) && dayOf(x.at) == dayOf(now) {
			units += x.units // both endpoints cost the same
		}
	}
	if l.PerDay > 0 && units > l.PerDay {
		t.Fatalf("%v: %d units of %d a day", id, units, l.PerDay)
	}
	if !everywhere {
		if s := g.Status(now, id); s.Units != units || s.InFlight != all {
			t.Fatalf("%v: status says %d units, %d in flight; counted %d, %d", id, s.Units, s.InFlight, units, all)
		}
	}
	if l.RPS == 0 {
		return
	}
	b := newBucket(l)
	// Any window that ends now: no more than the bucket and its refill, with
	// the debt of one batch.
	sum, clientSum := 0, 0
	for i := len(granted) - 1; i >= 0; i-- {
		x := granted[i]
		if !mine(x) {
			continue
		}
		sum += x.n
		if x.client {
			clientSum += x.n
		}
		dt := now.Sub(x.at).Seconds()
		if float64(sum) > float64(max(b.whole.Burst(), 3))+dt*l.RPS+3+1e-6 {
			t.Fatalf("%v: %d requests in %.3f s, burst %d at %v a second", id, sum, dt, b.whole.Burst(), l.RPS)
		}
		if float64(clientSum) > float64(max(b.open.Burst(), 3))+dt*l.RPS*0.8+3+1e-6 {
			t.Fatalf("%v: %d clients' requests in %.3f s, burst %d", id, clientSum, dt, b.open.Burst())
		}
	}
}
