package upstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/rpctop/internal/admission"
	"example.com/rpctop/internal/fleet"
)

const short = 30 * time.Millisecond

func TestAnAttemptThatUsesUpItsOwnDeadlineIsCharged(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		answer     func(t *testing.T) func(w http.ResponseWriter, r request)
	}{
		{"no byte", "no answer within 30ms", func(*testing.T) func(http.ResponseWriter, request) { return hang }},
		{"half an answer", "answer not complete within 30ms (10 bytes came)", func(t *testing.T) func(http.ResponseWriter, request) {
			return func(w http.ResponseWriter, r request) {
				fmt.Fprint(w, `{"jsonrpc"`)
				_ = http.NewResponseController(w).Flush()
				hang(w, r)
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := doorTo(t, newNode(t, tc.answer(t)).URL)
			c := call("eth_call")
			c.Timeout = short
			a := do(t, d, c)
			wantOutcome(t, a, fleet.ClassTransportFailure, fleet.SubTimeout, fleet.ChargeFailure)
			if !a.Sent || a.Censored || !strings.Contains(a.Outcome.Message, tc.text) || a.Timing.Total < fleet.MicrosOf(short) {
				t.Errorf("%+v", a)
			}
		})
	}
}

func TestTheEndpointsOwnTimeoutHoldsWhereTheCallHasNone(t *testing.T) {
	d := doorTo(t, newNode(t, hang).URL, func(o *Options) { o.Targets[0].Timeout = short })
	wantOutcome(t, do(t, d, call("eth_call")), fleet.ClassTransportFailure, fleet.SubTimeout, fleet.ChargeFailure)
}

func TestACallThatRunsOutOfTimeEarlierIsCensored(t *testing.T) {
	d := doorTo(t, newNode(t, hang).URL)
	ctx, cancel := context.WithTimeout(t.Context(), short)
	defer cancel()
	a := doCtx(t, ctx, d, call("eth_call"))
	wantOutcome(t, a, fleet.ClassLocalFault, fleet.SubTimeout, fleet.ChargeNothing)
	if !a.Censored || !a.Sent || a.Outcome.Origin != fleet.OriginLocal {
		t.Errorf("%+v", a)
	}
}

func TestACancelIsNobodysFault(t *testing.T) {
	for _, method := range []string{"eth_call", "eth_sendRawTransaction"} {
		n := newNode(t, hang)
		d := doorTo(t, n.URL)
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			<-n.arrivals
			cancel(errors.New("the user went away"))
		}()
		a := doCtx(t, ctx, d, call(method))
		wantOutcome(t, a, fleet.ClassLocalFault, fleet.SubCancelled, fleet.ChargeNothing)
		if !a.Censored || !a.Sent || n.requests() != 1 {
			t.Errorf("%+v", a)
		}
		if s := d.Status(idA); s.InFlight != 0 || len(s.Denials) != 0 {
			t.Errorf("%+v", s)
		}
	}
}

func TestACallerThatGaveUpBeforeSendsNothing(t *testing.T) {
	n := newNode(t, answerHead)
	d := doorTo(t, n.URL, func(o *Options) { o.Targets[0].Limits.PerDay = 1 })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := doCtx(t, ctx, d, call("eth_call"))
	wantOutcome(t, a, fleet.ClassLocalFault, fleet.SubCancelled, fleet.ChargeNothing)
	if a.Sent || !a.Censored {
		t.Errorf("%+v", a)
	}
	do(t, d, call("eth_call")) // no unit was spent on it
	if n.requests() != 1 {
		t.Errorf("%d requests", n.requests())
	}
}

func TestCloseAbortsWhatIsInFlightAndRefusesWhatComes(t *testing.T) {
	n := newNode(t, hang)
	d := doorTo(t, n.URL)
	done := make(chan *fleet.Attempt)
	go func() {
		a, err := d.Do(context.Background(), call("eth_call"))
		if err != nil {
			t.Error(err)
		}
		done <- a
	}()
	<-n.arrivals
	closed := make(chan struct{})
	go func() {
		d.Close()
		close(closed)
	}()
	a := <-done
	<-closed
	wantOutcome(t, a, fleet.ClassLocalFault, "shutdown", fleet.ChargeNothing)
	wantDenial(t, d, call("eth_call"), fleet.DenyShutdown)
	if n.requests() != 1 {
		t.Errorf("%d requests", n.requests())
	}
}

func TestADenialLeavesNoRequest(t *testing.T) {
	for _, tc := range []struct {
		name   string
		limits admission.Limits
		kind   fleet.DenialKind
	}{
		{"rate", admission.Limits{RPS: 0.001, Burst: 1}, fleet.DenyRate},
		{"budget", admission.Limits{PerDay: 1}, fleet.DenyBudget},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n := newNode(t, answerHead)
			d := doorTo(t, n.URL, func(o *Options) { o.Targets[0].Limits = tc.limits })
			do(t, d, call("eth_blockNumber"))
			for range 5 {
				if denial := wantDenial(t, d, call("eth_blockNumber"), tc.kind); !denial.WantOfBudget() {
					t.Errorf("%+v", denial)
				}
				if _, err := d.DoBatch(t.Context(), []Call{call("eth_blockNumber"), call("eth_gasPrice")}); err == nil {
					t.Error("a batch passed")
				}
			}
			if n.requests() != 1 {
				t.Errorf("%d requests reached the endpoint", n.requests())
			}
		})
	}
}

func TestHangingProbesLeaveNoSlot(t *testing.T) { // L5
	n := newNode(t, hang)
	d := doorTo(t, n.URL, func(o *Options) { o.Targets[0].Limits.InFlight = 1 })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c := call("eth_call")
		c.Caller = fleet.CallerProbe
		if _, err := d.Do(ctx, c); err != nil {
			t.Error(err)
		}
	}()
	<-n.arrivals
	wantDenial(t, d, call("eth_call"), fleet.DenyInFlight)
	cancel()
	<-done
	if n.requests() != 1 || d.Status(idA).InFlight != 0 {
		t.Errorf("%d requests, %d in flight", n.requests(), d.Status(idA).InFlight)
	}
}

func TestARemoteThrottleHoldsFurtherCallsAndProbesPass(t *testing.T) { // L7, L9
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	n := newNode(t, func(w http.ResponseWriter, r request) {
		if r.nth > 1 {
			answerHead(w, r)
			return
		}
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32005,"message":"slow down"}}`, r.id)
	})
	d := doorTo(t, n.URL, func(o *Options) { o.Now = func() time.Time { return now } })
	a := do(t, d, call("eth_blockNumber"))
	wantOutcome(t, a, fleet.ClassRateLimited, "", fleet.ChargeThrottle)
	if a.RetryAfter != 7*time.Second || a.Start != fleet.MillisOf(now) {
		t.Fatalf("%+v", a)
	}
	denial := wantDenial(t, d, call("eth_call"), fleet.DenyFailureCache)
	if denial.RetryAfter != 7*time.Second || denial.Recorded == nil || *denial.Recorded.Code != -32005 || !denial.WantOfBudget() {
		t.Errorf("%+v", denial)
	}
	if n.requests() != 1 {
		t.Fatalf("%d requests", n.requests())
	}
	probe := call("eth_blockNumber")
	probe.Caller = fleet.CallerProbe
	wantOutcome(t, do(t, d, probe), fleet.ClassOK, "", fleet.ChargeSuccess)
	do(t, d, call("eth_call")) // the probe's success ended the hold
}

func TestAMissingMethodIsRememberedForItself(t *testing.T) { // L7
	n := newNode(t, func(w http.ResponseWriter, r request) {
		if strings.Contains(r.body, "eth_getProof") {
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"the method eth_getProof does not exist/is not available"}}`, r.id)
			return
		}
		answerHead(w, r)
	})
	d := doorTo(t, n.URL)
	wantOutcome(t, do(t, d, call("eth_getProof")), fleet.ClassUnsupported, fleet.SubMethod, fleet.ChargeNothing)
	if denial := wantDenial(t, d, call("eth_getProof"), fleet.DenyFailureCache); denial.WantOfBudget() || *denial.Recorded.Code != -32601 {
		t.Errorf("%+v", denial)
	}
	do(t, d, call("eth_call"))
	if n.requests() != 2 {
		t.Errorf("%d requests", n.requests())
	}
}

func TestWhatIsNoRequestIsNotSent(t *testing.T) {
	n := newNode(t, answerHead)
	d := doorTo(t, n.URL)
	c := call("eth_call")
	c.Params = []byte(`[1,`)
	wantOutcome(t, do(t, d, c), fleet.ClassBadRequest, "params", fleet.ChargeNothing)
	stranger := call("eth_call")
	stranger.Endpoint.Name = "nobody"
	wantDenial(t, d, stranger, fleet.DenyRule)
	if n.requests() != 0 {
		t.Errorf("%d requests", n.requests())
	}
}
