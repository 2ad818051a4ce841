package failover

import (
	"testing"

	"example.com/rpctop/internal/fleet"
)

const sec = fleet.Millis(1000)

func TestATimestampThatWrapsMakesNobodyElseStale(t *testing.T) {
	w := newWorld(t, spec(12*sec, "a", "b", "liar"))
	n := w.tipOf(12 * sec)
	h := blockAt(n+1, 12*sec)
	h.Time = 1<<63 + 1<<62
	w.at += 10
	w.put(w.good("liar", h))
	w.at += 10
	w.put(w.good("a", blockAt(n, 12*sec)))
	w.at += 10
	w.put(w.good("b", blockAt(n, 12*sec)))
	w.at += 3000
	w.put(fleet.Tick{})
	w.wantState("a", "ok")
	w.wantState("b", "ok")
}

func TestABlockOfTheFarFutureNeverCounts(t *testing.T) {
	bt := 12 * sec
	w := newWorld(t, spec(bt, "a", "b", "liar"))
	how := map[string]func() *fleet.Sample{"a": w.honest("a", bt), "b": w.honest("b", bt), "liar": func() *fleet.Sample {
		h := blockAt(w.tipOf(bt)+1, bt)
		h.Time = 1 << 63
		s := w.good("liar", h)
		return &s
	}}
	w.run(120, how)
	if w.state("liar") == "ok" {
		t.Errorf("liar in the far future counts")
	}
}

func TestARestartDoesNotMakeAWrongGenesisAFlap(t *testing.T) {
	c := spec(12*sec, "a", "b")
	c.Genesis = hashOf(0, 0)
	w := newWorld(t, c)
	gen := func(n string, f byte) fleet.Reading {
		return fleet.Reading{Endpoint: id(n), What: fleet.ReadGenesis, Outcome: fleet.Outcome{Class: fleet.ClassOK}, Hash: hashOf(0, f)}
	}
	w.put(w.good("b", blockAt(80, 12*sec)))
	w.put(gen("b", 9))
	w.wantState("b", "wrong-chain")
	w.at += 60 * sec
	w.put(fleet.Lead{Version: "test", PID: 2, Role: "test", Wall: w.at})
	w.put(fleet.Config{Policy: fleet.DefaultPolicy(), Seed: 7, Chains: []fleet.ChainSpec{c}})
	w.put(w.good("b", blockAt(80, 12*sec)))
	w.put(gen("b", 9))
	w.wantState("b", "wrong-chain")
}

func TestRightAnswersAreCountedAnewAfterARestart(t *testing.T) {
	c := spec(12*sec, "a", "b")
	w := newWorld(t, c)
	s := w.good("b", blockAt(80, 12*sec))
	s.ChainID, s.ChainIDClass = "5", fleet.ClassWrongChain
	w.put(s)
	w.at += sec
	w.put(w.good("b", blockAt(80, 12*sec)))
	w.wantState("b", "wrong-chain")
	w.at += 3600 * sec
	w.put(fleet.Lead{Version: "test", PID: 2, Role: "test", Wall: w.at})
	w.put(fleet.Config{Policy: fleet.DefaultPolicy(), Seed: 7, Chains: []fleet.ChainSpec{c}})
	w.at += sec
	w.put(w.good("b", blockAt(80, 12*sec)))
	w.wantState("b", "wrong-chain")
}

func TestAClearedGenesisIsReadAnewBeforeItServes(t *testing.T) {
	c := spec(12*sec, "b")
	c.Genesis = hashOf(0, 0)
	w := newWorld(t, c)
	w.put(w.good("b", blockAt(80, 12*sec)))
	w.put(fleet.Reading{Endpoint: id("b"), What: fleet.ReadGenesis, Outcome: fleet.Outcome{Class: fleet.ClassOK}, Hash: hashOf(0, 9)})
	w.wantState("b", "wrong-chain")
	w.put(fleet.Command{Author: "me", Action: fleet.ActionClear, Chain: "main", Endpoint: "b"})
	for range 60 {
		w.at += sec
		w.put(w.good("b", blockAt(80, 12*sec)))
	}
	if w.chain().Incumbent == "b" {
		t.Errorf("b serves with no genesis read since: %s", w.history())
	}
}

func TestALaterThrottleDoesNotShortenAHold(t *testing.T) {
	w := newWorld(t, spec(12*sec, "a", "b"))
	f := fleet.Failure{Endpoint: id("a"), Outcome: fleet.Outcome{Class: fleet.ClassRateLimited}, Hold: 60_000}
	w.put(f)
	u := w.chain().Endpoint("a").HoldUntil
	w.at += 100
	f.Hold = 0
	w.put(f)
	if v := w.chain().Endpoint("a").HoldUntil; v < u {
		t.Errorf("hold shrank from %d to %d ms from now", u-w.at, v-w.at)
	}
}

func TestForkedEndsWhenNobodyIsLeftToContradict(t *testing.T) {
	bt := 12 * sec
	w := newWorld(t, spec(bt, "a", "b"))
	n := w.tipOf(bt)
	h := blockAt(n, bt)
	h.Hash = hashOf(n, 7)
	w.put(w.good("b", h)) // other block, soon to be known as another chain
	w.put(w.good("a", blockAt(n+5, bt)))
	e := w.chain().Endpoint("a")
	w.at += sec
	w.put(fleet.Reading{Endpoint: id("a"), What: fleet.ReadConfirm, Number: e.Confirm, Hash: hashOf(e.Confirm, 0), Outcome: fleet.Outcome{Class: fleet.ClassOK}})
	// b turns out to be on another chain
	s := w.good("b", h)
	s.ChainID, s.ChainIDClass = "5", fleet.ClassWrongChain
	w.at += sec
	w.put(s)
	w.run(300, map[string]func() *fleet.Sample{"a": w.honest("a", bt)})
	w.wantState("a", "ok")
	w.wantServes("a")
}

func TestAConfirmationIsNoSampleForLeavingStale(t *testing.T) {
	bt := 12 * sec
	w := newWorld(t, spec(bt, "a", "b", "c"))
	old := blockAt(w.tipOf(bt), bt)
	w.run(100, map[string]func() *fleet.Sample{"a": w.honest("a", bt), "b": w.honest("b", bt), "c": w.frozenAt("c", old)})
	w.wantState("c", "stale")
	w.at += 2 * bt
	w.put(w.good("c", blockAt(w.tipOf(bt), bt)))
	e := w.chain().Endpoint("c")
	if e.Confirm == 0 {
		t.Skip("no confirm")
	}
	w.put(fleet.Reading{Endpoint: id("c"), What: fleet.ReadConfirm, Number: e.Confirm, Hash: hashOf(e.Confirm, 0), Outcome: fleet.Outcome{Class: fleet.ClassOK}})
	w.wantState("c", "stale")
}

func TestEveryGateThatWasToldIsTakenBack(t *testing.T) {
	bt := 12 * sec
	w := newWorld(t, spec(bt, "a", "b"))
	w.run(5, map[string]func() *fleet.Sample{"a": w.honest("a", bt), "b": w.honest("b", bt)})
	s := w.good("a", blockAt(w.tipOf(bt), bt))
	s.ChainID, s.ChainIDClass = "0", fleet.ClassOK
	w.put(s)
	g := w.count(fleet.EventGate)
	w.at += sec
	w.put(w.good("a", blockAt(w.tipOf(bt), bt)))
	if w.count(fleet.EventUngate) != g {
		t.Errorf("a gate event without an ungate event\n%s", w.history())
	}
}

func TestAClosedBreakerBeginsANewWindow(t *testing.T) {
	bt := 12 * sec
	w := newWorld(t, spec(bt, "a", "b"))
	w.run(5, map[string]func() *fleet.Sample{"a": w.honest("a", bt), "b": w.honest("b", bt)})
	for i := range 12 {
		w.at += 10
		w.put(fleet.Failure{Endpoint: id("a"), Outcome: fleet.Outcome{Class: fleet.ClassTransportFailure, Sub: "refused"}, Run: i + 1})
	}
	for range 3 {
		w.at += 2 * sec
		w.put(w.good("a", blockAt(w.tipOf(bt), bt)))
		w.put(fleet.Reading{Endpoint: id("a"), What: fleet.ReadCallAt, Outcome: fleet.Outcome{Class: fleet.ClassOK}})
	}
	w.at += sec
	w.put(fleet.Failure{Endpoint: id("a"), Outcome: fleet.Outcome{Class: fleet.ClassTransportFailure, Sub: "refused"}, Run: 1})
	if w.chain().Endpoint("a").Breaker.Open {
		t.Errorf("one failure after closing opens it: %s", w.chain().Endpoint("a").Breaker.Why)
	}
}

func TestEndpointsThatHangWhileOthersAnswerAreNotExcused(t *testing.T) {
	bt := fleet.Millis(12_000)
	w := newWorld(t, spec(bt, "a", "b", "h1", "h2"))
	start := w.at
	hang := func(n string) fleet.Sample {
		return fleet.Sample{Endpoint: id(n), Start: start, Outcome: fleet.Outcome{Class: fleet.ClassTransportFailure, Sub: fleet.SubTimeout}, Timing: fleet.Timing{Total: 4_000_000}}
	}
	w.at += 20
	w.put(w.good("a", blockAt(w.tipOf(bt), bt)))
	w.put(w.good("b", blockAt(w.tipOf(bt), bt)))
	w.at = start + 4000
	w.put(hang("h1"))
	w.put(hang("h2"))
	w.at += 1000
	w.put(fleet.Tick{})
	w.wantState("h1", "down")
	w.wantState("h2", "down")
}

func TestADoubtDoesNotOutliveItsRun(t *testing.T) {
	bt := fleet.Millis(12_000)
	w := newWorld(t, spec(bt, "a", "h1"))
	w.at += 5000
	w.put(w.bad("h1", fleet.ClassTransportFailure, fleet.SubTimeout))
	w.at += 3_600_000
	w.put(fleet.Lead{Version: "test", PID: 2, Role: "test", Wall: w.at})
	w.put(fleet.Config{Policy: fleet.DefaultPolicy(), Seed: 7, Chains: []fleet.ChainSpec{spec(bt, "a", "h1")}})
	w.put(fleet.Tick{})
	if n := w.chain().Endpoint("h1").Samples; n != 0 {
		t.Errorf("%d samples in a run in which nothing was asked; %s", n, w.state("h1"))
	}
}
