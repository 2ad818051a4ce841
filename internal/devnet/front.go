package devnet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"
)

// Front is a reverse proxy before one node that does wrong on demand. Its
// methods are safe for concurrent use.
type Front struct {
	spec FrontSpec
	net  *Net
	node *node
	addr string // host:port, kept over refusals; "" before the first listen
	key  string // the canary: the secret part of the URL
	log  requestLog

	// setting lets one Set at a time switch phases and the listener.
	setting sync.Mutex
	stop    context.CancelFunc // ends the running phases; nil: none run
	phased  chan struct{}      // closed when they have ended

	mu       sync.Mutex
	fault    Fault         // as set
	active   Fault         // in this phase
	pinned   uint64        // height at which Frozen holds the chain
	matches  int           // requests that the active fault concerned
	changed  chan struct{} // closed when the active fault ends
	rng      *rand.Rand    // jitter
	server   *http.Server  // nil: refusing
	inflight int
	idle     *sync.Cond // inflight went down
	closed   bool
	lost     error // the port could not be had again
}

func newFront(n *Net, nd *node, spec FrontSpec) (*Front, error) {
	s1, s2 := seeded(n.opts.Seed, "jitter "+spec.Name), seeded(n.opts.Seed, "key "+spec.Name)
	f := &Front{
		spec: spec, net: n, node: nd,
		key:     fmt.Sprintf("canary-%x", s2[:12]),
		changed: make(chan struct{}),
		rng:     rand.New(rand.NewPCG(uint64(n.opts.Seed), s1.Big().Uint64())), // no secret: jitter has to repeat
	}
	f.idle = sync.NewCond(&f.mu)
	if err := f.listen(); err != nil {
		return nil, err
	}
	return f, nil
}

// Name is the front's name, and its node's.
func (f *Front) Name() string { return f.spec.Name }

// Operator is who is said to run the endpoint.
func (f *Front) Operator() string { return f.spec.Operator }

// Tier is the tier that the endpoint has in a configuration of the demo.
func (f *Front) Tier() int { return f.spec.Tier }

// URL is where the front listens. Its path is a key, as with paid providers,
// and a canary: found anywhere but in a configuration, it has leaked.
func (f *Front) URL() string { return "http://" + f.addr + "/" + f.key }

// Key is the canary in the URL.
func (f *Front) Key() string { return f.key }

// Fault is the fault as it was set; the phase of a flap does not show here.
func (f *Front) Fault() Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fault
}

// Set switches the front. Requests that hang are dropped; others that are under
// way end as they began. An error means that the fault is not well-formed, that
// the net is closed, or that the port was lost while the front refused.
func (f *Front) Set(fault Fault) error {
	if err := fault.Check(); err != nil {
		return fmt.Errorf("set %s: %w", f.spec.Name, err)
	}
	f.setting.Lock()
	defer f.setting.Unlock()
	f.endPhases()
	f.mu.Lock()
	closed := f.closed
	f.fault = fault
	f.mu.Unlock()
	if closed {
		return fmt.Errorf("set %s: %w", f.spec.Name, net.ErrClosed)
	}
	ps, loop := fault.phases()
	if err := f.apply(ps[0].fault); err != nil {
		return err
	}
	if len(ps) == 1 {
		return nil
	}
	ctx, cancel := context.WithCancel(f.net.ctx)
	f.stop, f.phased = cancel, make(chan struct{})
	go f.play(ctx, ps, loop, f.phased)
	return nil
}

// play goes through the phases; the first is in force already.
func (f *Front) play(ctx context.Context, ps []phase, loop int, done chan<- struct{}) {
	defer close(done)
	for i := 0; ps[i].hold > 0; {
		if !pause(ctx, ps[i].hold) {
			return
		}
		if i++; i == len(ps) {
			if loop < 0 {
				return
			}
			i = loop
		}
		if err := f.apply(ps[i].fault); err != nil {
			f.mu.Lock()
			f.lost = err
			f.mu.Unlock()
			return
		}
	}
}

func (f *Front) endPhases() {
	if f.stop != nil {
		f.stop()
		<-f.phased
		f.stop = nil
	}
}

// apply puts a fault in force, and the listener in the state that it needs.
func (f *Front) apply(fault Fault) error {
	height := f.node.head()
	f.mu.Lock()
	f.active, f.pinned, f.matches = fault, height, 0
	close(f.changed)
	f.changed = make(chan struct{})
	server := f.server
	if fault.Kind == Refuse {
		f.server = nil
	}
	f.mu.Unlock()
	if fault.Kind == Refuse {
		return stopServer(server)
	}
	if server == nil {
		return f.listen()
	}
	return nil
}

// listen opens the front's port. After a refusal it has to be the same one, and
// somebody else may hold it for a moment.
func (f *Front) listen() error {
	var (
		lc  net.ListenConfig
		ln  net.Listener
		err error
	)
	addr := f.addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	for range 50 {
		if ln, err = lc.Listen(f.net.ctx, "tcp", addr); err == nil || !pause(f.net.ctx, 20*time.Millisecond) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("front %s: listen: %w", f.spec.Name, err)
	}
	if f.addr == "" { // written once, before anybody knows the front
		f.addr = ln.Addr().String()
	}
	server := &http.Server{
		Handler:           http.HandlerFunc(f.serve),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(io.Discard, "", 0), // cut connections are what a front is for
	}
	f.mu.Lock()
	f.server = server
	f.mu.Unlock()
	f.net.wg.Add(1)
	go func() {
		defer f.net.wg.Done()
		_ = server.Serve(ln) // ends with ErrServerClosed
	}()
	return nil
}

// stopServer closes the listener and cuts every connection.
func stopServer(server *http.Server) error {
	if server == nil {
		return nil
	}
	if err := server.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("close front: %w", err)
	}
	return nil
}

// close ends the front and waits for requests under way. The net's context has
// ended before.
func (f *Front) close() error {
	f.setting.Lock()
	defer f.setting.Unlock()
	f.endPhases()
	f.mu.Lock()
	server, lost := f.server, f.lost
	f.server, f.closed = nil, true
	f.mu.Unlock()
	err := stopServer(server)
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.inflight > 0 {
		f.idle.Wait()
	}
	return errors.Join(err, lost)
}

// enter counts a request in; false: the front is closing.
func (f *Front) enter() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	f.inflight++
	return true
}

func (f *Front) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inflight--
	f.idle.Broadcast()
}

// Requests gives the last requests that reached the front, oldest first, at
// most 4096.
func (f *Front) Requests() []Request { return f.log.last() }

// Count says how often a method has reached the front since it started, alone
// or in a batch; "batch" counts the batches, "" the HTTP requests.
func (f *Front) Count(method string) int { return f.log.count(method) }

// pause waits, and reports false if ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
