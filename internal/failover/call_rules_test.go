package failover

import (
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/rpctop/internal/fleet"
)

func TestWhatFollowsFromEachClass(t *testing.T) {
	const (
		read     = "eth_call"
		raw      = "eth_sendRawTransaction"
		mutation = "personal_unlockAccount"
	)
	for _, tc := range []struct {
		name    string
		method  string
		first   answerer
		asked   string // A or AB
		unknown bool
	}{
		{"a revert is the answer", read, says(fleet.ClassDeterministicRevert, ""), "A", false},
		{"a bad request is wrong everywhere", read, says(fleet.ClassBadRequest, ""), "A", false},
		{"a method that is missing is tried elsewhere", read, says(fleet.ClassUnsupported, "method"), "AB", false},
		{"state that is missing is tried elsewhere", read, says(fleet.ClassStateUnavailable, ""), "AB", false},
		{"a node's own limit is tried elsewhere", read, says(fleet.ClassNodeLimit, "range"), "AB", false},
		{"a batch that is too large is not", read, says(fleet.ClassNodeLimit, "batch"), "A", false},
		{"what is not visible yet is tried elsewhere", read, says(fleet.ClassNotYetVisible, ""), "AB", false},
		{"a throttle is tried elsewhere", read, says(fleet.ClassRateLimited, ""), "AB", false},
		{"a throttle of the sender is the same everywhere", raw, says(fleet.ClassRateLimited, "sender"), "A", false},
		{"a refusal of our credentials is tried elsewhere", read, says(fleet.ClassRemoteDenial, "auth"), "AB", false},
		{"a transport failure of a read is tried elsewhere", read, says(fleet.ClassTransportFailure, "reset"), "AB", false},
		{"an answer that is none is tried elsewhere", read, says(fleet.ClassMalformed, "html"), "AB", false},
		{"a server's error is tried elsewhere", read, says(fleet.ClassServerError, ""), "AB", false},
		{"another chain's answer is tried elsewhere", read, says(fleet.ClassWrongChain, ""), "AB", false},
		{"an answer over our own cap is not", read, says(fleet.ClassLocalDenial, "response-cap"), "A", false},
		{"a transaction that is known is sent", raw, says(fleet.ClassTxKnown, ""), "A", false},
		{"a nonce is looked up first", raw, says(fleet.ClassTxRejected, "nonce"), "A", false},
		{"a lack of funds is the same everywhere", raw, says(fleet.ClassTxRejected, "funds"), "A", false},
		{"a pool's own policy is tried elsewhere", raw, says(fleet.ClassTxRejected, "policy"), "AB", false},
		{"a transaction that was not sent goes elsewhere", raw, notSent("refused"), "AB", false},
		{"a transaction that may have been sent has an unknown fate", raw, says(fleet.ClassTransportFailure, "timeout"), "A", true},
		{"so has one that a gateway lost", raw, says(fleet.ClassServerError, ""), "A", true},
		{"and one whose answer is none", raw, says(fleet.ClassMalformed, "empty"), "A", true},
		{"and one whose answer is too long", raw, says(fleet.ClassLocalDenial, "response-cap"), "A", true},
		{"a mutation that failed is never repeated", mutation, says(fleet.ClassServerError, ""), "A", true},
		{"a mutation that was not carried out may be refused elsewhere", mutation, says(fleet.ClassUnsupported, "method"), "AB", false},
		{"an unlisted reader counts as a reader", "trace_block", says(fleet.ClassServerError, ""), "AB", false},
		{"a method that nobody knows may change something", "acme_doIt", says(fleet.ClassTransportFailure, "eof"), "A", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newDesk(honestPair(t), map[string]answerer{"A": tc.first, "B": gives(`"0x1"`)})
			r := d.call(CallRequest{Method: tc.method})
			if got := strings.Join(d.handed, ""); got != tc.asked {
				t.Errorf("asked %s, want %s", got, tc.asked)
			}
			if r.Unknown != tc.unknown {
				t.Errorf("unknown %v, want %v", r.Unknown, tc.unknown)
			}
			if len(tc.asked) == 2 && (!r.Answered || r.Attempt.Endpoint.Name != "B") {
				t.Errorf("ended as %+v", r.End)
			}
			if len(d.pauses) > 0 {
				t.Errorf("paused %v", d.pauses)
			}
		})
	}
}

func TestAWriteOfUnknownFateIsNotRepeatedEvenByItsOwnEndpoint(t *testing.T) {
	w := newWorld(t, spec(1_000, "A:"))
	w.run(5, w.allHonest())
	d := newDesk(w, map[string]answerer{"A": says(fleet.ClassTransportFailure, "timeout")})
	r := d.call(CallRequest{Method: "eth_sendRawTransaction"})
	d.wantHanded("A")
	if !r.Unknown || r.End.Class != fleet.ClassTransportFailure {
		t.Errorf("ended as %+v", r)
	}
}

func TestWhatIsNotVisibleYetIsAskedOfThoseThatAreFarEnough(t *testing.T) {
	w := newWorld(t, spec(1_000, "A:", "B:", "C:"))
	all := w.allHonest()
	all["B"] = w.behind("B", 1_000, 1)
	w.run(5, all)
	d := newDesk(w, map[string]answerer{"A": says(fleet.ClassNotYetVisible, ""), "B": gives("b"), "C": gives("c")})
	tip := w.chain().Endpoint("C").Head.Number
	r := d.call(CallRequest{Method: "eth_getBlockReceipts", Height: tip})
	d.wantHanded("A", "C")
	if !r.Answered {
		t.Errorf("ended as %+v", r.End)
	}
}

func TestTheMostTellingClassEndsACall(t *testing.T) {
	for _, tc := range []struct {
		name    string
		a, b    answerer
		end     fleet.Class
		of      string // the attempt that represents it; "": none
		covered bool
	}{
		{"both say that the method is missing", says(fleet.ClassUnsupported, "method"), says(fleet.ClassUnsupported, "method"), fleet.ClassUnsupported, "B", true},
		{"who does not offer the method cannot know better", says(fleet.ClassUnsupported, "method"), says(fleet.ClassNotYetVisible, ""), fleet.ClassNotYetVisible, "B", true},
		{"one is throttled, so missing is not the last word", says(fleet.ClassUnsupported, ""), says(fleet.ClassRateLimited, ""), fleet.ClassRateLimited, "B", false},
		{"a throttled pool is overloaded", says(fleet.ClassRateLimited, ""), says(fleet.ClassRateLimited, ""), fleet.ClassRateLimited, "B", true},
		{"a failure may hide the state that the other lacks", notSent("refused"), says(fleet.ClassStateUnavailable, ""), fleet.ClassTransportFailure, "A", false},
		{"an error in words says more than a broken connection", says(fleet.ClassServerError, ""), notSent("refused"), fleet.ClassServerError, "A", false},
		{"a denial of ours beats unsupported", noBudget(time.Second), says(fleet.ClassUnsupported, ""), fleet.ClassLocalDenial, "B", false},
		{"a denial of ours beats missing", says(fleet.ClassNotYetVisible, ""), noBudget(time.Second), fleet.ClassLocalDenial, "A", false},
		{"a denial of ours beats a remote failure", unavailable(), noBudget(time.Second), fleet.ClassLocalDenial, "A", false},
		{"denials alone are overloaded", noBudget(time.Second), noBudget(time.Second), fleet.ClassLocalDenial, "", false},
		{"a rule of ours beats nothing", denies(fleet.Denial{Kind: fleet.DenyRule, Scope: "request"}), unavailable(), fleet.ClassServerError, "B", false},
		{"a recorded refusal counts as the endpoint's word", denies(fleet.Denial{Kind: fleet.DenyFailureCache, Scope: "endpoint", Recorded: &fleet.Outcome{Class: fleet.ClassUnsupported}}),
			says(fleet.ClassUnsupported, ""), fleet.ClassUnsupported, "B", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := honestPair(t)
			w.attempts(2)
			d := newDesk(w, map[string]answerer{"A": tc.a, "B": tc.b})
			r := d.call(CallRequest{})
			of := ""
			if r.Attempt != nil {
				of = r.Attempt.Endpoint.Name
			}
			if r.Answered || r.End.Class != tc.end || of != tc.of || r.Covered != tc.covered {
				t.Errorf("ended as %s by %q, covered %v; want %s by %q, %v", r.End.Class, of, r.Covered, tc.end, tc.of, tc.covered)
			}
			if len(r.Trace) < 2 || len(r.Reasons) != 2 {
				t.Errorf("%d hops, %d reasons", len(r.Trace), len(r.Reasons))
			}
		})
	}
}

func TestUnsupportedIsNotFinalWhileADownEndpointMayHaveTheMethod(t *testing.T) {
	w := honestPair(t)
	for range 4 {
		w.put(w.bad("B", fleet.ClassTransportFailure, "reset"))
	}
	w.wantState("B", GateDown)
	d := newDesk(w, map[string]answerer{"A": says(fleet.ClassUnsupported, "method")})
	if r := d.call(CallRequest{}); r.End.Class != fleet.ClassUnsupported || r.Covered {
		t.Errorf("ended as %+v, covered %v", r.End, r.Covered)
	}
}

func TestADenialTriesAnotherEndpointAndNeverTheSameAgain(t *testing.T) {
	w := honestPair(t, "C")
	w.attempts(1)
	d := newDesk(w, map[string]answerer{"A": noBudget(3 * time.Second), "B": noBudget(2 * time.Second), "C": gives("c")})
	r := d.call(CallRequest{})
	d.wantHanded("C")
	if !r.Answered || len(r.Denials) != 2 || r.Attempts() != 1 {
		t.Errorf("ended as %+v after %d denials", r.End, len(r.Denials))
	}
	d.script["C"] = noBudget(time.Second)
	r = d.call(CallRequest{})
	if r.End.Class != fleet.ClassLocalDenial || r.RetryAfter != time.Second || r.Attempt != nil || len(r.Trace) != 3 || len(d.pauses) != 0 {
		t.Errorf("ended as %+v after %v, %d hops, pauses %v", r.End, r.RetryAfter, len(r.Trace), d.pauses)
	}
	if len(d.rows) != 0 || len(d.counted) != 1 || len(d.denials) != 5 {
		t.Errorf("told %d failures, %d attempts, %d denials", len(d.rows), len(d.counted), len(d.denials))
	}
}

func TestADenialOfTheWholeProcessEndsTheCall(t *testing.T) {
	d := newDesk(honestPair(t), map[string]answerer{"A": denies(fleet.Denial{Kind: fleet.DenyRate, Scope: "global", RetryAfter: time.Second}), "B": gives("b")})
	r := d.call(CallRequest{})
	d.wantHanded()
	if r.End.Class != fleet.ClassLocalDenial || len(r.Denials) != 1 {
		t.Errorf("ended as %+v", r.End)
	}
}

func TestARejectedAnswerIsNotPassedOn(t *testing.T) {
	d := newDesk(honestPair(t), map[string]answerer{"A": gives("old"), "B": gives("new")})
	accept := func(a *fleet.Attempt) *Rejection {
		if string(a.Result) == "new" {
			return nil
		}
		return &Rejection{fleet.Outcome{Class: fleet.ClassStale, Sub: SubBehindFloor}}
	}
	r := d.call(CallRequest{Accept: accept})
	if !r.Answered || string(r.Attempt.Result) != "new" {
		t.Errorf("ended as %+v", r.End)
	}
	if len(d.rows) != 0 || len(d.counted) != 2 {
		t.Errorf("an answer that is only old was charged: %+v", d.rows)
	}
	if want := []string{"A->B stale(behind-floor)"}; !slices.Equal(d.over, want) {
		t.Errorf("failovers %v", d.over)
	}
	d.script["B"] = gives("old")
	if r = d.call(CallRequest{Accept: accept}); r.Answered || r.End.Class != fleet.ClassStale || r.Attempt.Outcome.OK() {
		t.Errorf("a rejected answer came through: %+v", r)
	}
}

func TestAnAnswerOfAnotherChainTakesItsEndpointOutAtOnce(t *testing.T) {
	w := honestPair(t)
	d := newDesk(w, map[string]answerer{"A": gives("1"), "B": gives("100")})
	d.call(CallRequest{Method: "eth_chainId", Accept: func(a *fleet.Attempt) *Rejection {
		if string(a.Result) == "100" {
			return nil
		}
		return &Rejection{fleet.Outcome{Class: fleet.ClassWrongChain, Message: "chain id 1"}}
	}})
	d.now = d.now.Add(5 * time.Second) // and stays out, whatever becomes of the row
	d.call(CallRequest{})
	d.wantHanded("A", "B", "B")
	if len(d.rows) != 1 || d.rows[0].Outcome.Class != fleet.ClassWrongChain {
		t.Fatalf("told %+v", d.rows)
	}
	w.put(d.rows[0])
	w.wantState("A", GateWrongChain)
	d.call(CallRequest{})
	// From here on it is the fold's, and an operator's clear ends it.
	w.do(fleet.Command{Action: fleet.ActionClear, Endpoint: "A"})
	w.run(2, w.allHonest())
	d.script["A"] = gives("1")
	d.call(CallRequest{Only: "A"})
	d.wantHanded("A", "B", "B", "B", "A")
}
