package failover

import (
	"context"
	"slices"
	"sync"
	"time"

	"example.com/rpctop/internal/fleet"
)

// desk is an Asker that answers by script, and writes down what it was asked
// and what its Caller told.
type desk struct {
	w      *world
	c      *Caller
	now    time.Time
	script map[string]func(ctx context.Context, a AttemptAsk) (*fleet.Attempt, error)

	mu      sync.Mutex
	asks    []AttemptAsk
	handed  []string // endpoints that got the request
	pauses  []time.Duration
	rows    []fleet.Failure
	counted []fleet.Attempt
	denials []*fleet.Denial
	over    []string // from->to class/sub
	deaf    bool     // no failure row is taken
	// sameAfter is the health that the last answer must leave; nil: any.
	sameAfter []any
}

// newDesk makes a Caller over a world that folds nothing by itself: what the
// next attempt avoids, it avoids by the Caller's own knowledge.
func newDesk(w *world, answers map[string]func(context.Context, AttemptAsk) (*fleet.Attempt, error)) *desk {
	d := &desk{w: w, now: w.at.Time(), script: answers}
	d.c = &Caller{State: func() *State { return d.w.s }, Asker: d, Now: func() time.Time { return d.now }, Note: d,
		Sleep: func(ctx context.Context, t time.Duration) error {
			d.pauses = append(d.pauses, t)
			d.now = d.now.Add(t)
			return ctx.Err()
		}}
	return d
}

func (d *desk) Ask(ctx context.Context, a AttemptAsk) (*fleet.Attempt, error) {
	d.mu.Lock()
	d.asks = append(d.asks, a)
	f := d.script[a.Endpoint.Name]
	d.mu.Unlock()
	at, err := f(ctx, a)
	if at != nil {
		at.Endpoint, at.Method = a.Endpoint, a.Method
		d.mu.Lock()
		d.handed = append(d.handed, a.Endpoint.Name)
		d.mu.Unlock()
	}
	return at, err
}

func (d *desk) Failure(f fleet.Failure) bool {
	if d.deaf {
		return false
	}
	d.rows = append(d.rows, f)
	return true
}
func (d *desk) Attempt(_ fleet.Kind, a *fleet.Attempt) { d.counted = append(d.counted, *a) }
func (d *desk) Denied(_ fleet.Kind, x *fleet.Denial)   { d.denials = append(d.denials, x) }
func (d *desk) FailedOver(_ fleet.Kind, from fleet.EndpointID, to string, why fleet.Outcome) {
	d.over = append(d.over, from.Name+"->"+to+" "+short(why))
}

func (d *desk) call(r CallRequest) CallResult { return d.callIn(context.Background(), r) }

func (d *desk) callIn(ctx context.Context, r CallRequest) CallResult {
	r.Chain = "main"
	if r.Method == "" {
		r.Method = "eth_call"
	}
	return d.c.Call(ctx, r)
}

func (d *desk) wantHanded(want ...string) {
	d.w.t.Helper()
	if !slices.Equal(d.handed, want) {
		d.w.t.Errorf("requests went to %v, want %v", d.handed, want)
	}
}

type answerer = func(context.Context, AttemptAsk) (*fleet.Attempt, error)

// says answers with a class; what is no answer of the transport was sent.
func says(class fleet.Class, sub string) answerer {
	return func(context.Context, AttemptAsk) (*fleet.Attempt, error) {
		return &fleet.Attempt{Sent: true, Timing: fleet.Timing{Total: 10_000}, Outcome: fleet.Outcome{Class: class, Sub: sub, Origin: fleet.OriginNode}}, nil
	}
}

func gives(result string) answerer {
	return func(context.Context, AttemptAsk) (*fleet.Attempt, error) {
		return &fleet.Attempt{Sent: true, Result: []byte(result), Timing: fleet.Timing{Total: 10_000}, Outcome: fleet.Outcome{Class: fleet.ClassOK, Origin: fleet.OriginNode, Status: 200}}, nil
	}
}

func unavailable() answerer {
	return func(context.Context, AttemptAsk) (*fleet.Attempt, error) {
		return &fleet.Attempt{Sent: true, Timing: fleet.Timing{Total: 10_000}, Outcome: fleet.Outcome{Class: fleet.ClassServerError, Origin: fleet.OriginGateway, Status: 503}}, nil
	}
}

func notSent(sub string) answerer {
	return func(context.Context, AttemptAsk) (*fleet.Attempt, error) {
		return &fleet.Attempt{Timing: fleet.Timing{Total: 10_000}, Outcome: fleet.Outcome{Class: fleet.ClassTransportFailure, Sub: sub, Origin: fleet.OriginTransport}}, nil
	}
}

func denies(d fleet.Denial) answerer {
	return func(_ context.Context, a AttemptAsk) (*fleet.Attempt, error) {
		own := d
		own.Endpoint = a.Endpoint
		return nil, &own
	}
}

func noBudget(after time.Duration) answerer {
	return denies(fleet.Denial{Kind: fleet.DenyRate, Scope: "endpoint", RetryAfter: after})
}

// honestPair is a chain of A and B (and more), all well, A serving.
func honestPair(t reporter, names ...string) *world {
	specs := []string{"A:", "B:"}
	for _, n := range names {
		specs = append(specs, n+":")
	}
	w := newWorld(t, spec(1_000, specs...))
	w.run(5, w.allHonest())
	w.wantServes("A")
	return w
}

func (w *world) allHonest() behaviours {
	all := behaviours{}
	for _, e := range w.chain().Endpoints {
		all[e.Spec.Name] = w.honest(e.Spec.Name, 1_000)
	}
	return all
}

// attempts changes the policy in force.
func (w *world) attempts(n int) {
	s := *w.s
	s.Policy.Attempts = n
	s.Chains = slices.Clone(s.Chains)
	for i, c := range s.Chains {
		own := *c
		s.Chains[i] = &own
	}
	w.s = &s
}

func throttled(after time.Duration) answerer {
	return func(context.Context, AttemptAsk) (*fleet.Attempt, error) {
		return &fleet.Attempt{Sent: true, RetryAfter: after, Outcome: fleet.Outcome{Class: fleet.ClassRateLimited, Origin: fleet.OriginGateway, Status: 429}}, nil
	}
}

func cached() answerer {
	return func(context.Context, AttemptAsk) (*fleet.Attempt, error) {
		return &fleet.Attempt{Cached: true, Outcome: fleet.Outcome{Class: fleet.ClassOK}}, nil
	}
}

func cutShort(class fleet.Class) answerer {
	return func(context.Context, AttemptAsk) (*fleet.Attempt, error) {
		return &fleet.Attempt{Sent: true, Censored: true, Outcome: fleet.Outcome{Class: class}}, nil
	}
}
