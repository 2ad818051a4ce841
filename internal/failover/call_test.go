package failover

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/rpctop/internal/fleet"
)

func TestTheReferenceCase(t *testing.T) {
	w := honestPair(t)
	w.attempts(2)
	d := newDesk(w, map[string]answerer{"A": unavailable(), "B": gives("42")})
	header := map[string]string{"Traceparent": "00-x"}
	r := d.call(CallRequest{Params: []byte(`[1]`), Header: header})
	d.wantHanded("A", "B")
	if !r.Answered || string(r.Attempt.Result) != "42" || r.Attempt.Endpoint.Name != "B" || r.End.Class != fleet.ClassOK {
		t.Errorf("ended as %+v with %+v, want B's 42", r.End, r.Attempt)
	}
	for _, a := range d.asks {
		if !maps.Equal(a.Header, header) || string(a.Params) != "[1]" || a.Method != "eth_call" {
			t.Errorf("%s was asked %s %s with header %v", a.Endpoint.Name, a.Method, a.Params, a.Header)
		}
	}
	if len(d.rows) != 1 || d.rows[0].Endpoint != id("A") || d.rows[0].Run != 1 {
		t.Errorf("failures %+v, want one of A", d.rows)
	}
	if len(d.counted) != 1 || d.counted[0].Endpoint != id("B") || d.counted[0].Charge() != fleet.ChargeSuccess {
		t.Errorf("counted %+v, want one success of B", d.counted)
	}
	if len(d.pauses) != 0 {
		t.Errorf("paused %v before another endpoint", d.pauses)
	}
	if why := r.Trace[1].Why; !strings.Contains(why, "A ended as server-error") {
		t.Errorf("the second hop does not say why: %q", why)
	}
	if want := []string{"A->B server-error"}; !slices.Equal(d.over, want) {
		t.Errorf("failovers %v, want %v", d.over, want)
	}
}

func TestWithOneAttemptTheErrorNamesItsEndpointAndNobodyElseIsAsked(t *testing.T) {
	w := honestPair(t)
	w.attempts(1)
	d := newDesk(w, map[string]answerer{"A": unavailable(), "B": gives("42")})
	r := d.call(CallRequest{})
	d.wantHanded("A")
	if r.Answered || r.End.Class != fleet.ClassServerError || !strings.Contains(r.Reason(), "A: server-error HTTP 503") {
		t.Errorf("ended as %+v, reason %q", r.End, r.Reason())
	}
	if d.c.hotOf(id("B")).run.Load() != 0 || len(d.over) != 0 {
		t.Error("B was touched")
	}
}

func TestACancelBetweenTheAttemptsStopsTheCall(t *testing.T) {
	d := newDesk(honestPair(t), map[string]answerer{"B": gives("42")})
	ctx, cancel := context.WithCancel(context.Background())
	d.script["A"] = func(ctx context.Context, a AttemptAsk) (*fleet.Attempt, error) {
		cancel()
		return unavailable()(ctx, a)
	}
	r := d.callIn(ctx, CallRequest{})
	d.wantHanded("A")
	if r.End.Class != fleet.ClassLocalFault || r.End.Sub != fleet.SubCancelled || r.Answered {
		t.Errorf("ended as %+v, want cancelled", r.End)
	}
}

func TestACancelInFlightIsNotRetriedAndChargedToNobody(t *testing.T) {
	d := newDesk(honestPair(t), map[string]answerer{"B": gives("42")})
	d.script["A"] = func(context.Context, AttemptAsk) (*fleet.Attempt, error) {
		return &fleet.Attempt{Sent: true, Censored: true, Outcome: localEnd(fleet.SubCancelled, "")}, nil
	}
	for range 5 {
		if r := d.call(CallRequest{}); r.End.Sub != fleet.SubCancelled {
			t.Errorf("ended as %+v", r.End)
		}
	}
	d.wantHanded("A", "A", "A", "A", "A")
	if len(d.rows) != 0 {
		t.Errorf("a cancel was told as failures: %+v", d.rows)
	}
}

// Some client libraries choose by a list that failures do not change, and ask
// the dead primary again while a healthy endpoint waits.
func TestADeadPrimaryIsNotAskedAgainWhileAnotherIsUntried(t *testing.T) {
	d := newDesk(honestPair(t, "C"), map[string]answerer{"A": unavailable(), "B": notSent("refused"), "C": gives("42")})
	if r := d.call(CallRequest{}); !r.Answered {
		t.Errorf("ended as %+v", r.End)
	}
	d.wantHanded("A", "B", "C")
	if len(d.pauses) != 0 {
		t.Errorf("paused %v", d.pauses)
	}
}

func TestEachAttemptSelectsFromTheStateOfItsMoment(t *testing.T) {
	w := honestPair(t, "C")
	d := newDesk(w, map[string]answerer{"B": gives("b"), "C": gives("c")})
	d.script["A"] = func(ctx context.Context, a AttemptAsk) (*fleet.Attempt, error) {
		w.do(fleet.Command{Action: fleet.ActionEject, Endpoint: "B"})
		return unavailable()(ctx, a)
	}
	d.call(CallRequest{})
	d.wantHanded("A", "C")
}

func TestARepeatPausesAndComesOutOfTheRetryBudget(t *testing.T) {
	w := newWorld(t, spec(1_000, "A:"))
	w.run(5, w.allHonest())
	w.attempts(4)
	s := *w.s
	s.Policy.BreakerRun = 1_000_000
	w.s = &s
	w.attempts(4)
	d := newDesk(w, map[string]answerer{"A": unavailable()})
	d.call(CallRequest{})
	d.wantHanded("A", "A", "A", "A")
	for i, want := range []time.Duration{100, 200, 400} {
		want *= time.Millisecond
		if i >= len(d.pauses) || d.pauses[i] < want*8/10 || d.pauses[i] > want*12/10 {
			t.Errorf("pauses %v, want 100, 200, 400 ms give or take a fifth", d.pauses)
			break
		}
	}
	// The stock, and one repeat for each five calls.
	const calls = 200
	for range calls - 1 {
		d.call(CallRequest{})
	}
	repeats := len(d.handed) - calls
	if most := repeatStock/repeatCost + calls/5; repeats > most || repeats < most-3 {
		t.Errorf("%d repeats in %d calls, want about %d", repeats, calls, most)
	}
}

func TestARetryBudgetIsBounded(t *testing.T) {
	var b retryBudget
	for range 10_000 {
		b.earn()
	}
	n := 0
	for b.spend() {
		n++
	}
	if n != repeatMost/repeatCost {
		t.Errorf("%d repeats saved up, want %d", n, repeatMost/repeatCost)
	}
}

func TestAttemptDeadlines(t *testing.T) {
	w := honestPair(t)
	served := func(us int, n int64) {
		w.put(fleet.Traffic{Endpoint: id("A"), Kind: fleet.KindState, Counts: []fleet.ClassCount{{Class: fleet.ClassOK, N: n}},
			Latency: []fleet.BucketCount{{Bucket: fleet.BucketOf(fleet.Micros(us)), N: n}}})
	}
	first := func(t *testing.T) time.Duration {
		d := newDesk(w, map[string]answerer{"A": gives("1"), "B": gives("1")})
		d.call(CallRequest{})
		return d.asks[0].Timeout
	}
	if got := first(t); got != 4*time.Second {
		t.Errorf("without enough successes %v, want the endpoint's own 4 s", got)
	}
	served(20_000, 100)
	if got := first(t); got != time.Second {
		t.Errorf("of a fast endpoint %v, want 1 s", got)
	}
	served(800_000, 100)
	if got := first(t); got < 2300*time.Millisecond || got > 2500*time.Millisecond {
		t.Errorf("of an endpoint with a p99 of 800 ms %v, want 2.4 s", got)
	}
	served(3_000_000, 100)
	if got := first(t); got != 4*time.Second {
		t.Errorf("of a slow endpoint %v, want at most its own 4 s", got)
	}
}

func TestTheLastAttemptGetsWhatRemains(t *testing.T) {
	w := honestPair(t)
	w.attempts(2)
	d := newDesk(w, map[string]answerer{"A": unavailable(), "B": gives("1")})
	d.call(CallRequest{Deadline: 20 * time.Second})
	if got := []time.Duration{d.asks[0].Timeout, d.asks[1].Timeout}; got[0] != 4*time.Second || got[1] != 20*time.Second {
		t.Errorf("deadlines %v, want 4 s and the remaining 20 s", got)
	}
}

func TestACallWithLittleTimeLeftTellsTheDoorSo(t *testing.T) {
	// The context ends first, so that the door censors the attempt.
	d := newDesk(honestPair(t), map[string]answerer{"B": gives("1")})
	d.script["A"] = func(ctx context.Context, a AttemptAsk) (*fleet.Attempt, error) {
		if _, ok := ctx.Deadline(); !ok || a.Timeout != 4*time.Second {
			t.Errorf("asked with a deadline in the context %v and a time-out of %v", ok, a.Timeout)
		}
		return &fleet.Attempt{Sent: true, Censored: true, Outcome: localEnd(fleet.SubTimeout, "")}, nil
	}
	r := d.call(CallRequest{Deadline: 100 * time.Millisecond})
	d.wantHanded("A")
	if r.End.Class != fleet.ClassLocalFault || r.End.Sub != fleet.SubTimeout || len(d.rows) != 0 {
		t.Errorf("ended as %+v, failures %+v", r.End, d.rows)
	}
}

func TestTheCallsDeadlineEndsIt(t *testing.T) {
	d := newDesk(honestPair(t), map[string]answerer{"B": gives("1")})
	d.script["A"] = func(ctx context.Context, a AttemptAsk) (*fleet.Attempt, error) {
		d.now = d.now.Add(DefaultCallDeadline)
		return unavailable()(ctx, a)
	}
	r := d.call(CallRequest{})
	d.wantHanded("A")
	if r.End.Sub != fleet.SubTimeout || r.Attempt == nil || r.Attempt.Endpoint.Name != "A" {
		t.Errorf("ended as %+v with %+v", r.End, r.Attempt)
	}
}

func TestAnAskerThatFailsWithoutADenialIsOurOwnFault(t *testing.T) {
	d := newDesk(honestPair(t), map[string]answerer{"A": func(context.Context, AttemptAsk) (*fleet.Attempt, error) { return nil, nil }})
	r := d.call(CallRequest{})
	if r.End.Class != fleet.ClassLocalFault || len(d.rows)+len(d.counted) != 0 {
		t.Errorf("ended as %+v, told %v %v", r.End, d.rows, d.counted)
	}
}

func TestTheTimerWaitsAndEndsWithItsContext(t *testing.T) {
	if err := pauseFor(context.Background(), time.Millisecond); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := pauseFor(ctx, time.Hour); err == nil {
		t.Error("no error from a cancelled pause")
	}
}
