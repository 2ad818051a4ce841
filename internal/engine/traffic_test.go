package engine

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"example.com/rpctop/internal/fleet"
)

func attempt(name string, class fleet.Class, sub string, total fleet.Micros) *fleet.Attempt {
	return &fleet.Attempt{Endpoint: fleet.EndpointID{Chain: "main", Name: name}, Outcome: fleet.Outcome{Class: class, Sub: sub}, Timing: fleet.Timing{Total: total}}
}

func TestAMeterGivesASecondOfTrafficPerEndpointAndKind(t *testing.T) {
	m := NewMeter(func(fleet.Input) bool { return true })
	for _, us := range []fleet.Micros{30_000, 10_000, 30_000} {
		m.Attempt(fleet.KindState, attempt("b", fleet.ClassOK, "", us))
	}
	m.Attempt(fleet.KindState, attempt("b", fleet.ClassTransportFailure, "timeout", 4_000_000))
	m.Attempt(fleet.KindState, attempt("b", fleet.ClassTransportFailure, "reset", 1_000_000))
	m.Attempt(fleet.KindState, attempt("b", fleet.ClassTransportFailure, "timeout", 4_000_000))
	m.Attempt(fleet.KindState, attempt("b", fleet.ClassUnsupported, "method", 7_000)) // a fact: neither latency nor loss
	m.Attempt(fleet.KindLogs, attempt("b", fleet.ClassDeterministicRevert, "", 20_000))
	m.Denied(fleet.KindState, &fleet.Denial{Endpoint: fleet.EndpointID{Chain: "main", Name: "a"}})
	a := fleet.EndpointID{Chain: "main", Name: "a"}
	for range 2 {
		m.FailedOver(fleet.KindState, a, "b", fleet.Outcome{Class: fleet.ClassServerError, Message: "whatever"})
	}
	m.FailedOver(fleet.KindState, a, "c", fleet.Outcome{Class: fleet.ClassServerError})
	b := fleet.EndpointID{Chain: "main", Name: "b"}
	want := []fleet.Traffic{
		{Endpoint: a, Kind: fleet.KindState, Denials: 1, Failovers: []fleet.FailoverCount{{To: "b", Class: fleet.ClassServerError, N: 2}, {To: "c", Class: fleet.ClassServerError, N: 1}}},
		{Endpoint: b, Kind: fleet.KindState, Lost: 9_000_000,
			Counts: []fleet.ClassCount{{Class: fleet.ClassOK, N: 3}, {Class: fleet.ClassUnsupported, Sub: "method", N: 1},
				{Class: fleet.ClassTransportFailure, Sub: "reset", N: 1}, {Class: fleet.ClassTransportFailure, Sub: "timeout", N: 2}},
			Latency: []fleet.BucketCount{{Bucket: fleet.BucketOf(10_000), N: 1}, {Bucket: fleet.BucketOf(30_000), N: 2}}},
		{Endpoint: b, Kind: fleet.KindLogs, Counts: []fleet.ClassCount{{Class: fleet.ClassDeterministicRevert, N: 1}},
			Latency: []fleet.BucketCount{{Bucket: fleet.BucketOf(20_000), N: 1}}},
	}
	if diff := cmp.Diff(want, m.Drain()); diff != "" {
		t.Errorf("traffic (-want +got):\n%s", diff)
	}
	if rest := m.Drain(); len(rest) != 0 {
		t.Errorf("a quiet second gives %+v", rest)
	}
}

func TestAMeterLeavesOutWhatIsChargedToNobody(t *testing.T) {
	m := NewMeter(nil)
	cancelled, cached := attempt("a", fleet.ClassLocalFault, "cancelled", 1), attempt("a", fleet.ClassOK, "", 1)
	cancelled.Censored, cached.Cached = true, true
	m.Attempt(fleet.KindState, cancelled)
	m.Attempt(fleet.KindState, cached)
	if got := m.Drain(); len(got) != 0 {
		t.Errorf("counted %+v", got)
	}
}

func TestADrainedRowIsNotWrittenAgain(t *testing.T) {
	m := NewMeter(nil)
	m.Attempt(fleet.KindState, attempt("a", fleet.ClassOK, "", 1_000))
	first := m.Drain()
	m.Attempt(fleet.KindState, attempt("a", fleet.ClassOK, "", 1_000))
	if n := first[0].Counts[0].N + first[0].Latency[0].N; n != 2 {
		t.Errorf("the row of a past second changed: %+v", first)
	}
}

func TestAMeterHandsFailuresToTheFoldAndSaysIfItsQueueIsFull(t *testing.T) {
	var got []fleet.Input
	full := false
	m := NewMeter(func(in fleet.Input) bool { got = append(got, in); return !full })
	if !m.Failure(fleet.Failure{Run: 1}) || len(got) != 1 {
		t.Errorf("offered %+v", got)
	}
	full = true
	if m.Failure(fleet.Failure{Run: 2}) {
		t.Error("a failure that the queue refused counts as taken")
	}
}

func TestAMeterLosesNothingUnderManyHands(t *testing.T) {
	const hands, each = 8, 500
	m := NewMeter(func(fleet.Input) bool { return true })
	sum, stop := int64(0), make(chan struct{})
	count := func() {
		for _, r := range m.Drain() {
			for _, b := range r.Latency {
				sum += b.N
			}
		}
	}
	var drainer, all sync.WaitGroup
	drainer.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				count()
			}
		}
	})
	for i := range hands {
		all.Go(func() {
			for j := range each {
				m.Attempt(fleet.Kind(j%fleet.Kinds), attempt(string(rune('a'+i%3)), fleet.ClassOK, "", fleet.Micros(j)))
			}
		})
	}
	all.Wait()
	close(stop)
	drainer.Wait()
	count()
	if sum != hands*each {
		t.Errorf("%d attempts came through, want %d", sum, hands*each)
	}
}

func TestTrafficIsFoldedEachSecondAndWhenTheEngineStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &fakeBook{}
		e := New(Options{History: b, Config: testConfig(), Lead: fleet.Lead{PID: 1, Role: "test"}})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx) }()
		traffic := func() (n int64) {
			for _, r := range b.rows {
				if x, ok := r.Input.(fleet.Traffic); ok {
					n += x.Counts[0].N
				}
			}
			return n
		}
		m := e.Meter()
		m.Attempt(fleet.KindState, attempt("a", fleet.ClassOK, "", 1_000))
		m.FailedOver(fleet.KindState, fleet.EndpointID{Chain: "main", Name: "a"}, "b", fleet.Outcome{Class: fleet.ClassServerError})
		await, stop := context.WithTimeout(ctx, tickEvery+tickEvery/2)
		<-await.Done()
		stop()
		synctest.Wait()
		if n := traffic(); n != 1 {
			t.Errorf("%d attempts folded after a second, want 1", n)
		}
		if last := b.events[len(b.events)-1]; last.Kind != fleet.EventFailover || last.From != "a" || last.To != "b" {
			t.Errorf("the last event is %+v, want the failover", last)
		}
		m.Attempt(fleet.KindState, attempt("a", fleet.ClassOK, "", 1_000))
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if n := traffic(); n != 2 {
			t.Errorf("%d attempts folded after the stop, want 2", n)
		}
	})
}

func BenchmarkMeter(b *testing.B) {
	m := NewMeter(func(fleet.Input) bool { return true })
	a := attempt("a", fleet.ClassOK, "", 20_000)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			m.Attempt(fleet.KindState, a)
		}
	})
}
