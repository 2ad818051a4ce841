package upstream

import (
	"context"
	"crypto/tls"
	"net/http/httptrace"
	"sync"
	"time"

	"example.com/rpctop/internal/fleet"
)

// trace measures the phases of one exchange. The transport dials on a goroutine
// of its own, which may outlive the exchange: hence the lock.
type trace struct {
	mu        sync.Mutex
	start     time.Time
	dialling  time.Time // first connect began
	dialled   time.Time // a connect succeeded
	shaking   time.Time
	shaken    time.Time
	firstByte time.Time
	got       bool // a connection was handed to the request: bytes may leave
	reused    bool // and it was a kept one
}

func newTrace() *trace { return &trace{start: time.Now()} }

// mark sets a moment once.
func (t *trace) mark(at *time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at.IsZero() {
		*at = time.Now()
	}
}

func (t *trace) attach(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		ConnectStart: func(string, string) { t.mark(&t.dialling) },
		ConnectDone: func(_, _ string, err error) {
			if err == nil {
				t.mark(&t.dialled)
			}
		},
		TLSHandshakeStart: func() { t.mark(&t.shaking) },
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			if err == nil {
				t.mark(&t.shaken)
			}
		},
		GotConn: func(i httptrace.GotConnInfo) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.got, t.reused = true, i.Reused
		},
		GotFirstResponseByte: func() { t.mark(&t.firstByte) },
	})
}

// finish gives the phases, and whether bytes of the request may have left: from
// the moment that it has a connection on, nobody can tell.
func (t *trace) finish() (fleet.Timing, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := fleet.Timing{Total: fleet.MicrosOf(time.Since(t.start)), Cold: t.got && !t.reused}
	if !t.firstByte.IsZero() {
		m.FirstByte = fleet.MicrosOf(t.firstByte.Sub(t.start))
	}
	if t.reused { // what was dialled meanwhile serves somebody else
		return m, t.got
	}
	if !t.dialled.IsZero() {
		m.Connect = fleet.MicrosOf(t.dialled.Sub(t.dialling))
	}
	if !t.shaken.IsZero() {
		m.TLS = fleet.MicrosOf(t.shaken.Sub(t.shaking))
	}
	return m, t.got
}

func (t *trace) wasReused() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reused
}

func (t *trace) connected() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.got
}
