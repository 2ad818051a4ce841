package admission

import (
	"fmt"
	"testing"
	"time"

	"example.com/rpctop/internal/fleet"
)

func code(n int64) *int64 { return &n }

func remote(class fleet.Class, sub string, c *int64) fleet.Outcome {
	return fleet.Outcome{Class: class, Sub: sub, Origin: fleet.OriginGateway, Code: c}
}

func learn(g *Gatekeeper, c *clock, method string, o fleet.Outcome, retry time.Duration) {
	g.Learn(c.t, Lesson{Endpoint: epA, Method: method, Start: c.t, Outcome: o, RetryAfter: retry})
}

func TestRemoteRefusalsAreRememberedAsWhatTheyWere(t *testing.T) {
	for _, tc := range []struct {
		name     string
		outcome  fleet.Outcome
		retry    time.Duration
		rest     time.Duration // 0: not remembered
		method   bool          // of the one method only
		overload bool          // answered as want of budget
	}{
		{name: "credentials", outcome: remote(fleet.ClassRemoteDenial, "auth", nil), rest: 10 * time.Minute},
		{name: "host", outcome: remote(fleet.ClassRemoteDenial, "host", nil), rest: 10 * time.Minute},
		{name: "a missing method", outcome: remote(fleet.ClassUnsupported, fleet.SubMethod, code(-32601)), rest: 10 * time.Minute, method: true},
		{name: "a throttle with a hint", outcome: remote(fleet.ClassRateLimited, "", nil), retry: 7 * time.Second, rest: 7 * time.Second, overload: true},
		{name: "a throttle without one", outcome: remote(fleet.ClassRateLimited, "", nil), rest: time.Second, overload: true},
		{name: "a throttle of a day", outcome: remote(fleet.ClassRateLimited, "", nil), retry: 24 * time.Hour, rest: 5 * time.Minute, overload: true},
		{name: "a quota", outcome: remote(fleet.ClassRateLimited, fleet.SubQuota, nil), retry: time.Hour, rest: time.Hour, overload: true},
		{name: "a day's quota", outcome: remote(fleet.ClassRateLimited, fleet.SubQuota, nil), retry: 12 * time.Hour, rest: 12 * time.Hour, overload: true},
		{name: "a quota without a hint", outcome: remote(fleet.ClassRateLimited, fleet.SubQuota, nil), rest: time.Hour, overload: true},
		{name: "a throttle of the sending account", outcome: remote(fleet.ClassRateLimited, fleet.SubSender, nil), retry: time.Minute},
		{name: "a tag that is not understood", outcome: remote(fleet.ClassUnsupported, "tag", code(-32601))},
		{name: "a time-out", outcome: remote(fleet.ClassTransportFailure, "timeout", nil)},
		{name: "a 5xx", outcome: remote(fleet.ClassServerError, "", nil)},
		{name: "pruned state", outcome: remote(fleet.ClassStateUnavailable, "", code(-32000))},
		{name: "a local denial", outcome: fleet.Outcome{Class: fleet.ClassLocalDenial, Origin: fleet.OriginLocal}},
		{name: "a refusal that is ours", outcome: fleet.Outcome{Class: fleet.ClassRemoteDenial, Origin: fleet.OriginLocal}},
		{name: "a throttle that is ours", outcome: fleet.Outcome{Class: fleet.ClassRateLimited, Origin: fleet.OriginLocal}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g, c := New(Limits{}, nil), &clock{t0}
			learn(g, c, "eth_call", tc.outcome, tc.retry)
			if tc.rest == 0 {
				admit(t, g, c, ask(epA, fleet.CallerProxy))
				return
			}
			scope := "endpoint"
			other := Request{Endpoint: epA, Method: "eth_getLogs", Caller: fleet.CallerProxy}
			if tc.method {
				scope = "request"
				admit(t, g, c, other)
			} else {
				denied(t, g, c, other, fleet.DenyFailureCache, scope)
			}
			d := denied(t, g, c, ask(epA, fleet.CallerInteractive), fleet.DenyFailureCache, scope)
			if d.Recorded == nil || *d.Recorded != tc.outcome || d.RetryAfter != tc.rest || d.WantOfBudget() != tc.overload {
				t.Errorf("%+v", d)
			}
			admit(t, g, c, ask(epB, fleet.CallerProxy))
			admit(t, g, c, ask(epA, fleet.CallerProbe)) // probes find out whether it has ended
			c.advance(tc.rest)
			admit(t, g, c, ask(epA, fleet.CallerProxy))
		})
	}
}

func TestASuccessDeletesTheEntry(t *testing.T) {
	ok := fleet.Outcome{Class: fleet.ClassOK, Origin: fleet.OriginNode}
	g, c := New(Limits{}, nil), &clock{t0}
	asked := c.t
	c.advance(time.Second)
	learn(g, c, "eth_call", remote(fleet.ClassRemoteDenial, "plan", nil), 0)
	learn(g, c, "eth_call", remote(fleet.ClassRateLimited, "", nil), time.Minute)
	g.Learn(c.t, Lesson{Endpoint: epA, Method: "eth_call", Start: asked, Outcome: ok})
	denied(t, g, c, ask(epA, fleet.CallerProxy), fleet.DenyFailureCache, "endpoint") // asked before it was refused
	c.advance(time.Second)
	learn(g, c, "eth_blockNumber", ok, 0)
	admit(t, g, c, ask(epA, fleet.CallerProxy))

	learn(g, c, "eth_call", remote(fleet.ClassUnsupported, fleet.SubMethod, code(-32601)), 0)
	learn(g, c, "eth_blockNumber", ok, 0) // says nothing about eth_call
	denied(t, g, c, ask(epA, fleet.CallerProxy), fleet.DenyFailureCache, "request")
	learn(g, c, "eth_call", fleet.Outcome{Class: fleet.ClassDeterministicRevert, Origin: fleet.OriginChain}, 0)
	admit(t, g, c, ask(epA, fleet.CallerProxy))
}

func TestAThrottleWithoutAHintRestsTwiceAsLongEachTime(t *testing.T) {
	g, c := New(Limits{}, nil), &clock{t0}
	slow := remote(fleet.ClassRateLimited, "", nil)
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300} {
		for range 20 { // in flight together: one throttle
			learn(g, c, "eth_call", slow, 0)
		}
		d := denied(t, g, c, ask(epA, fleet.CallerProxy), fleet.DenyFailureCache, "endpoint")
		if d.RetryAfter != want*time.Second {
			t.Fatalf("throttle %d rests %v, want %d s", i+1, d.RetryAfter, want)
		}
		c.advance(d.RetryAfter)
	}
	learn(g, c, "eth_call", fleet.Outcome{Class: fleet.ClassOK}, 0)
	learn(g, c, "eth_call", slow, 0)
	if d := denied(t, g, c, ask(epA, fleet.CallerProxy), fleet.DenyFailureCache, "endpoint"); d.RetryAfter != time.Second {
		t.Errorf("after a success it rests %v", d.RetryAfter)
	}
}

func TestALaterThrottleNeverShortensARest(t *testing.T) {
	g, c := New(Limits{}, nil), &clock{t0}
	learn(g, c, "eth_call", remote(fleet.ClassRateLimited, "", nil), time.Minute)
	learn(g, c, "eth_call", remote(fleet.ClassRateLimited, "", nil), 5*time.Second)
	if d := denied(t, g, c, ask(epA, fleet.CallerProxy), fleet.DenyFailureCache, "endpoint"); d.RetryAfter != time.Minute {
		t.Errorf("rests %v", d.RetryAfter)
	}
}

func TestAThousandPairsLeaveTheNewest256(t *testing.T) { // L8
	g, c := New(Limits{}, nil), &clock{t0}
	for i := range 1000 {
		c.advance(time.Millisecond)
		learn(g, c, fmt.Sprintf("m%d", i), remote(fleet.ClassUnsupported, fleet.SubMethod, code(-32601)), 0)
	}
	if n := len(g.failures.entries); n != maxEntries {
		t.Fatalf("%d entries", n)
	}
	admit(t, g, c, Request{Endpoint: epA, Method: "m743", Caller: fleet.CallerProxy})
	denied(t, g, c, Request{Endpoint: epA, Method: "m744", Caller: fleet.CallerProxy}, fleet.DenyFailureCache, "request")
	if s := g.Status(c.t, epA); len(s.Unsupported) != maxEntries {
		t.Errorf("status shows %d", len(s.Unsupported))
	}
}

func TestWhatHasEndedMakesRoomFirst(t *testing.T) {
	g, c := New(Limits{}, nil), &clock{t0}
	learn(g, c, "old", remote(fleet.ClassUnsupported, fleet.SubMethod, code(-32601)), 0)
	learn(g, c, "eth_call", remote(fleet.ClassRateLimited, "", nil), time.Second)
	c.advance(time.Second)
	for i := range maxEntries - 1 {
		learn(g, c, fmt.Sprintf("m%d", i), remote(fleet.ClassUnsupported, fleet.SubMethod, code(-32601)), 0)
	}
	denied(t, g, c, Request{Endpoint: epA, Method: "old", Caller: fleet.CallerProxy}, fleet.DenyFailureCache, "request")
}

func TestStatusShowsTheTableAtTheDoor(t *testing.T) {
	g, c := New(Limits{}, nil), &clock{t0}
	refused, slow := remote(fleet.ClassRemoteDenial, "auth", nil), remote(fleet.ClassRateLimited, "", nil)
	learn(g, c, "eth_call", refused, 0)
	learn(g, c, "eth_call", slow, time.Minute)
	s := g.Status(c.t, epA)
	if s.Refused == nil || s.Refused.Outcome != refused || !s.Refused.Until.Equal(t0.Add(10*time.Minute)) ||
		s.Hold == nil || s.Hold.Outcome != slow || !s.Hold.Until.Equal(t0.Add(time.Minute)) {
		t.Fatalf("%+v", s)
	}
	if d := denied(t, g, c, ask(epA, fleet.CallerProxy), fleet.DenyFailureCache, "endpoint"); d.Recorded.Class != fleet.ClassRemoteDenial {
		t.Errorf("the refusal outranks the hold, have %+v", d)
	}
	if s := g.Status(c.t.Add(time.Hour), epA); s.Refused != nil || s.Hold != nil || s.Denials[fleet.DenyFailureCache] != 1 {
		t.Errorf("an hour later: %+v", s)
	}
	if s := g.Status(c.t, epB); s.Refused != nil || s.Units != 0 {
		t.Errorf("of another endpoint: %+v", s)
	}
}
