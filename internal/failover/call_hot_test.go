package failover

import (
	"testing"
	"time"

	"example.com/rpctop/internal/fleet"
)

// The desk's world folds nothing, so that these tests show what a Caller does
// before the engine has folded a row.

func TestThreeFailuresInARowTakeAnEndpointOutBeforeTheFoldDoes(t *testing.T) {
	d := newDesk(honestPair(t), map[string]answerer{"A": unavailable(), "B": gives("b")})
	for range 5 {
		d.call(CallRequest{})
	}
	d.wantHanded("A", "B", "A", "B", "A", "B", "B", "B")
	if n := len(d.rows); n != 3 || d.rows[2].Run != 3 {
		t.Fatalf("told %+v, want three failures, the last with a run of 3", d.rows)
	}
	for _, f := range d.rows {
		d.w.put(f)
	}
	d.w.wantState("A", GateDown)
}

func TestTheOverlayLeavesTheLastWordToTheFold(t *testing.T) {
	d := newDesk(honestPair(t), map[string]answerer{"A": unavailable(), "B": gives("b")})
	for range 3 {
		d.call(CallRequest{})
	}
	d.now = d.now.Add(hotSpan)
	d.script["A"] = gives("a")
	if r := d.call(CallRequest{}); r.Attempt.Endpoint.Name != "A" {
		t.Errorf("%s answered: an endpoint that the fold never took out is still out", r.Attempt.Endpoint.Name)
	}
}

func TestASuccessEndsARunOfFailures(t *testing.T) {
	d := newDesk(honestPair(t), map[string]answerer{"B": gives("b")})
	for range 4 {
		d.script["A"] = unavailable()
		d.call(CallRequest{})
		d.call(CallRequest{})
		d.script["A"] = says(fleet.ClassDeterministicRevert, "") // a verdict of the chain is a success
		d.call(CallRequest{})
		d.now = d.now.Add(time.Second)
	}
	for _, f := range d.rows {
		if f.Run > 2 {
			t.Errorf("a run of %d", f.Run)
		}
	}
	own := *d.w.s
	own.Policy.BreakerOf = 1_000 // without the traffic rows every attempt failed
	d.w.s = &own
	for _, f := range d.rows {
		d.w.put(f)
	}
	d.w.wantState("A", StateOK) // the fold goes by the hot path's own count
}

func TestABreakerThatHasClosedBeginsANewRun(t *testing.T) {
	w := honestPair(t)
	d := newDesk(w, map[string]answerer{"A": unavailable(), "B": gives("b")})
	for range 3 {
		d.call(CallRequest{})
	}
	for _, f := range d.rows {
		w.put(f)
	}
	w.wantState("A", GateDown)
	for range 60 {
		w.run(1, w.allHonest())
		w.put(fleet.Reading{Endpoint: id("A"), What: fleet.ReadCallAt, Outcome: fleet.Outcome{Class: fleet.ClassOK}})
	}
	w.wantState("A", StateOK)
	d.now = w.at.Time()
	d.call(CallRequest{Only: "A"})
	if f := d.rows[len(d.rows)-1]; f.Endpoint != id("A") || f.Run != 1 {
		t.Errorf("told %+v, want a run of 1", f)
	}
}

func TestAThrottleRestsItsEndpointAtOnce(t *testing.T) {
	d := newDesk(honestPair(t), map[string]answerer{"B": gives("b")})
	d.script["A"] = throttled(30 * time.Second)
	d.call(CallRequest{})
	d.call(CallRequest{})
	d.wantHanded("A", "B", "B")
	if len(d.rows) != 1 || d.rows[0].Hold != 30_000 || d.rows[0].Run != 0 {
		t.Fatalf("told %+v, want a hold of 30 s", d.rows)
	}
	d.w.put(d.rows[0])
	d.w.wantState("A", GateThrottled)
	d.now = d.now.Add(10 * time.Second)
	d.call(CallRequest{})
	d.wantHanded("A", "B", "B", "B")
}

func TestARefusalOfCredentialsTakesAnEndpointOut(t *testing.T) {
	d := newDesk(honestPair(t), map[string]answerer{"A": says(fleet.ClassRemoteDenial, "auth"), "B": gives("b")})
	d.call(CallRequest{})
	d.call(CallRequest{})
	d.wantHanded("A", "B", "B")
	d.w.put(d.rows[0])
	d.w.wantState("A", GateRefused)
}

func TestWhatIsChargedToNobodyTakesNobodyOut(t *testing.T) {
	for name, tc := range map[string]answerer{
		"denials":                    noBudget(time.Minute),
		"an error of unknown origin": says(fleet.ClassServerError, fleet.SubUnrecognised),
		"throttles of a sender":      says(fleet.ClassRateLimited, fleet.SubSender),
		"facts about a method":       says(fleet.ClassUnsupported, "method"),
		"what the caller cut short":  cutShort(fleet.ClassRemoteDenial),
		"reverts":                    says(fleet.ClassDeterministicRevert, ""),
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(honestPair(t), map[string]answerer{"A": tc, "B": gives("b")})
			for range 10 {
				d.call(CallRequest{})
			}
			n := 0
			for _, a := range d.asks {
				if a.Endpoint.Name == "A" {
					n++
				}
			}
			if h := d.c.hotOf(id("A")); n != 10 || h.run.Load() != 0 || h.until.Load() != 0 || len(d.rows) != 0 {
				t.Errorf("A was asked %d of 10 times, run %d, told %+v", n, h.run.Load(), d.rows)
			}
		})
	}
}

func TestAtMostThreeSingleRowsASecond(t *testing.T) {
	w := honestPair(t)
	s := *w.s
	s.Policy.BreakerRun = 100
	w.s = &s
	w.attempts(1)
	d := newDesk(w, map[string]answerer{"A": unavailable(), "B": gives("b")})
	for range 10 {
		d.call(CallRequest{})
	}
	d.call(CallRequest{Method: "eth_getLogs"}) // another kind has rows of its own
	if len(d.rows) != rowsASecond+1 || len(d.counted) != 7 {
		t.Errorf("%d rows and %d in traffic, want %d and 7", len(d.rows), len(d.counted), rowsASecond+1)
	}
	d.now = d.now.Add(time.Second)
	d.call(CallRequest{})
	if len(d.rows) != rowsASecond+2 || d.rows[len(d.rows)-1].Run != 12 {
		t.Errorf("a second later %d rows, the last %+v", len(d.rows), d.rows[len(d.rows)-1])
	}
}

func TestAFailureThatTheQueueDoesNotTakeIsCounted(t *testing.T) {
	d := newDesk(honestPair(t), map[string]answerer{"A": unavailable(), "B": gives("b")})
	d.deaf = true
	d.call(CallRequest{})
	if len(d.counted) != 2 || d.counted[0].Endpoint != id("A") {
		t.Errorf("counted %+v", d.counted)
	}
}

func TestAnAnswerOfTheCacheIsNobodysHealth(t *testing.T) {
	d := newDesk(honestPair(t), map[string]answerer{"B": gives("b")})
	d.script["A"] = unavailable()
	d.call(CallRequest{})
	d.script["A"] = cached()
	d.call(CallRequest{})
	if h := d.c.hotOf(id("A")); h.run.Load() != 1 || len(d.counted) != 1 {
		t.Errorf("run %d, counted %+v", h.run.Load(), d.counted)
	}
}
