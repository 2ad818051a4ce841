package upstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"example.com/rpctop/internal/admission"
	"example.com/rpctop/internal/fleet"
)

// DefaultMaxBody is the size, in bytes, up to which an answer is read.
const DefaultMaxBody = 32 << 20

const (
	dialTimeout = 10 * time.Second
	// A connection that a sleep of the machine has killed is found by a ping.
	pingAfter   = 15 * time.Second
	pingTimeout = 5 * time.Second
)

// Options are what a door needs.
type Options struct {
	Targets   []Target
	Global    admission.Limits // over all endpoints
	Recovery  admission.Limits // rate and burst that all recoveries share; zero: the default
	MaxBody   int64            // bytes of an answer, unpacked; 0: DefaultMaxBody
	Now       func() time.Time // stamps attempts, drives budgets; nil: time.Now
	UserAgent string           // "": rpctop
}

// Door is the one way out. It is safe for concurrent use; New makes one, and
// Close ends it.
type Door struct {
	endpoints map[fleet.EndpointID]*endpoint
	gates     *admission.Gatekeeper
	redactor  *redactor
	cache     *cache
	transport *http.Transport
	maxBody   int64
	now       func() time.Time
	userAgent string
	lastID    atomic.Uint64 // of JSON-RPC requests

	life    context.Context // ends with Close
	end     context.CancelFunc
	mu      sync.Mutex // orders the entries of calls before Close's waiting
	closed  bool
	running sync.WaitGroup
}

// New makes a door to the targets. It fails on a URL that cannot be used, and
// on a name that occurs twice, without repeating any secret.
func New(o Options) (*Door, error) {
	d := &Door{
		endpoints: make(map[fleet.EndpointID]*endpoint, len(o.Targets)),
		cache:     newCache(cacheBytes), maxBody: o.MaxBody, now: o.Now, userAgent: o.UserAgent,
	}
	if d.maxBody <= 0 {
		d.maxBody = DefaultMaxBody
	}
	if d.now == nil {
		d.now = time.Now
	}
	if d.userAgent == "" {
		d.userAgent = "rpctop"
	}
	limits := make(map[fleet.EndpointID]admission.Limits, len(o.Targets))
	var secrets []string
	var errs []error
	for _, t := range o.Targets {
		e, s, err := newEndpoint(t)
		switch {
		case err != nil:
			errs = append(errs, err)
			continue
		case d.endpoints[t.ID] != nil:
			errs = append(errs, fmt.Errorf("endpoint %s is configured twice", t.ID))
			continue
		}
		d.endpoints[t.ID], limits[t.ID] = e, t.Limits
		secrets = append(secrets, s...)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	d.redactor = newRedactor(secrets)
	d.gates = admission.New(o.Global, limits)
	if o.Recovery.RPS > 0 {
		d.gates.LimitRecoveries(o.Recovery)
	}
	d.life, d.end = context.WithCancel(context.Background())
	d.transport = newTransport(d.life)
	return d, nil
}

func newTransport(life context.Context) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}
	return &http.Transport{
		// HTTPS_PROXY and its like; loopback addresses are never proxied.
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			// The transport lets a dial outlive its request, but it must not
			// outlive the door.
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(life, cancel)()
			return dialer.DialContext(ctx, network, addr)
		},
		OnProxyConnectResponse: checkProxy,

		ForceAttemptHTTP2:   true,
		HTTP2:               &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
		TLSHandshakeTimeout: dialTimeout,
		MaxIdleConns:        0,   // no limit over all hosts
		MaxIdleConnsPerHost: 256, // a busy client's connections are kept, or each request would dial
		IdleConnTimeout:     90 * time.Second,
	}
}

// Close refuses new calls, aborts those in flight, waits for them and closes
// all connections. A second call does nothing more.
func (d *Door) Close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.gates.Shutdown()
	d.end()
	d.running.Wait()
	d.transport.CloseIdleConnections()
}

// enter counts a call in, unless the door is closed.
func (d *Door) enter() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	d.running.Add(1)
	return true
}

// DropIdle closes the connections that are kept and not in use: after a sleep
// of the machine they are all dead.
func (d *Door) DropIdle() { d.transport.CloseIdleConnections() }

// Purge forgets what an endpoint gave to the immutable cache, as a quarantine
// demands.
func (d *Door) Purge(id fleet.EndpointID) { d.cache.purge(id) }

// Host gives an endpoint's host with its port: all that may be shown of a URL.
// It is "" for an endpoint that the door does not know.
func (d *Door) Host(id fleet.EndpointID) string {
	if e := d.endpoints[id]; e != nil {
		return e.url.Host
	}
	return ""
}

// Redact replaces every secret of every endpoint, in all forms that it may
// have, by •••.
func (d *Door) Redact(s string) string { return d.redactor.replace(s) }

// Status says what the door's limits hold of an endpoint.
func (d *Door) Status(id fleet.EndpointID) admission.EndpointStatus {
	return d.gates.Status(d.now(), id)
}

// Gates gives the limits, for who keeps their usage in the journal.
func (d *Door) Gates() *admission.Gatekeeper { return d.gates }

// Format prints what a door is, and nothing that it knows.
func (d *Door) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "door to %d endpoints", len(d.endpoints))
}
