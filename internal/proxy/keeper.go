package proxy

import (
	"context"
	"slices"
	"sync"
	"time"

	"example.com/rpctop/internal/failover"
	"example.com/rpctop/internal/fleet"
)

// keeper is the one goroutine of a server: it looks after what was relayed.
// The zero value has not been started.
type keeper struct {
	mu     sync.Mutex
	cancel context.CancelFunc
	ended  bool // a server that was shut down before it served starts nothing
	wg     sync.WaitGroup
}

func (k *keeper) start(run func(context.Context)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cancel != nil || k.ended {
		return
	}
	var ctx context.Context
	ctx, k.cancel = context.WithCancel(context.Background())
	k.wg.Go(func() { run(ctx) })
}

func (k *keeper) stop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ended = true
	if k.cancel != nil {
		k.cancel()
		k.wg.Wait()
	}
}

const (
	keepEvery = 500 * time.Millisecond
	// What nobody shows for so long, or for so many blocks if that is longer,
	// is sent once more.
	missingFor    = time.Minute
	missingBlocks = 3
)

// keep looks after relayed transactions until ctx ends.
func (s *Server) keep(ctx context.Context) {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := s.o.Now()
		s.filters.expire(now)
		for _, c := range s.book.due(now, s.refOf) {
			if ctx.Err() != nil {
				return
			}
			s.lookAfter(ctx, c)
		}
	}
}

// due lists the relays in no block whose chain has moved since we last looked,
// oldest first, as copies.
func (b *book) due(now time.Time, refOf func(*chain) ref) []relay {
	if b.relaying.Load() == 0 {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forget(now)
	refs := map[*chain]ref{}
	var out []relay
	for k, r := range b.relays {
		ref, ok := refs[k.ch]
		if !ok {
			ref = refOf(k.ch)
			refs[k.ch] = ref
		}
		if r.block == 0 && !r.lost && ref.known && ref.number > r.looked {
			r.looked = ref.number
			out = append(out, *r)
		}
	}
	slices.SortFunc(out, func(a, b relay) int { return a.at.Compare(b.at) })
	return out
}

// change changes a relay that is still there.
func (b *book) change(k relayKey, f func(*relay)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := b.relays[k]; r != nil {
		f(r)
	}
}

// lookAfter asks where a relayed transaction is, once a block, and sends what
// nobody shows once more.
func (s *Server) lookAfter(ctx context.Context, r relay) {
	ask := failover.CallRequest{Chain: r.ch.Name, Method: "eth_getTransactionReceipt", Params: hashParams(r.hash), Caller: fleet.CallerProxy,
		Only: r.endpoint, Attempts: 1, Deadline: lookTime, Explicit: true}
	res := s.o.Caller.Call(ctx, ask)
	s.metrics.call(r.ch, res)
	if n, ok := heightOf(ask.Method, res); ok {
		s.book.seen(r.ch, r.hash, n)
		s.o.Saw(res.Attempt.Endpoint, n)
		return
	}
	endpoints, blockTime, _ := s.facts(r.ch)
	now := s.o.Now()
	if now.Sub(r.shown) < max(missingFor, missingBlocks*blockTime) {
		return
	}
	ask.Method, ask.Only, ask.Attempts = "eth_getTransactionByHash", "", endpoints
	res = s.o.Caller.Call(ctx, ask)
	s.metrics.call(r.ch, res)
	switch {
	case res.Answered && res.End.OK():
		n, mined := heightOf(ask.Method, res)
		s.book.change(r.relayKey, func(r *relay) {
			r.shown = now
			if r.endpoint == "" {
				r.endpoint = res.Attempt.Endpoint.Name
			}
			if mined {
				r.block = n
			}
		})
	case !res.Covered: // somebody who may have it was not asked
	case r.resent:
		s.book.change(r.relayKey, func(r *relay) { r.lost = true })
		s.o.Log.Warn("a relayed transaction is shown by nobody, though it was sent again", "chain", r.ch.Name, "hash", r.hash.String())
	default:
		s.resend(ctx, r)
		s.book.change(r.relayKey, func(r *relay) { r.resent, r.shown = true, now })
	}
}

func heightOf(method string, res failover.CallResult) (uint64, bool) {
	if !res.Answered || !res.End.OK() {
		return 0, false
	}
	return height(method, res.Attempt.Result)
}

// resend sends the identical bytes to every endpoint that may serve.
func (s *Server) resend(ctx context.Context, r relay) {
	st := s.o.State()
	if st == nil || st.Chain(r.ch.Name) == nil {
		return
	}
	s.o.Log.Info("a relayed transaction is shown by nobody and is sent again", "chain", r.ch.Name, "hash", r.hash.String())
	for _, e := range st.Chain(r.ch.Name).Endpoints {
		res := s.o.Caller.Call(ctx, failover.CallRequest{Chain: r.ch.Name, Method: sendMethod, Params: r.raw, Caller: fleet.CallerProxy,
			Only: e.Spec.Name, Bound: true, Attempts: 1, Deadline: lookTime})
		s.metrics.call(r.ch, res)
	}
}
