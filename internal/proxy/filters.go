package proxy

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"example.com/rpctop/internal/failover"
	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/jsonrpc"
)

// Bounds of the filters.
const (
	maxFilters = 10_000
	filterTTL  = 5 * time.Minute // without a use; nodes keep them as long
)

// filters remembers which endpoint made a filter: no other knows it.
type filters struct {
	mu sync.Mutex
	at map[filterKey]*filter
}

type filterKey struct {
	ch *chain
	id string // as JSON
}

type filter struct {
	endpoint string
	used     time.Time
}

func newFilters() *filters { return &filters{at: map[filterKey]*filter{}} }

// put enters a filter; false if another endpoint's filter has that id, or there
// are too many.
func (f *filters) put(k filterKey, endpoint string, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if old := f.at[k]; old != nil && old.endpoint != endpoint && now.Sub(old.used) < filterTTL || old == nil && len(f.at) >= maxFilters {
		return false
	}
	f.at[k] = &filter{endpoint, now}
	return true
}

func (f *filters) find(k filterKey, now time.Time) (endpoint string, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	x := f.at[k]
	if x == nil || now.Sub(x.used) >= filterTTL {
		return "", false
	}
	x.used = now
	return x.endpoint, true
}

func (f *filters) forget(k filterKey) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.at, k)
}

// expire drops what was not used for long.
func (f *filters) expire(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for k, x := range f.at {
		if now.Sub(x.used) >= filterTTL {
			delete(f.at, k)
		}
	}
}

// newFilter makes a filter at one endpoint. Where nodes number their filters,
// two of them may give the same id; the later one is not used then.
func (s *Server) newFilter(ctx context.Context, ch *chain, m method, in jsonrpc.Incoming, who client) reply {
	v := s.book.view(ch, who.session, in.Params, s.o.Now(), s.refOf(ch))
	res := s.ask(ctx, ch, failover.CallRequest{
		Chain: ch.Name, Method: in.Method, Params: in.Params, Header: who.header, Caller: fleet.CallerProxy, Deadline: s.o.Limits.Call,
		Tip: true, Floor: v.floor, Only: v.only, Explicit: who.session != "",
		Accept: func(at *fleet.Attempt) *failover.Rejection {
			if s.filters.put(filterKey{ch, string(at.Result)}, at.Endpoint.Name, s.o.Now()) {
				return nil
			}
			return reject(fleet.ClassNodeLimit, "filter", "its filter's id is taken by another endpoint's, or there are too many filters")
		},
	})
	return s.pass(ch, res)
}

// useFilter asks the endpoint that made a filter, and nobody else. A filter
// whose endpoint may not serve is lost: the client makes a new one, as it does
// when a node has forgotten it.
func (s *Server) useFilter(ctx context.Context, ch *chain, in jsonrpc.Incoming, who client) reply {
	var id json.RawMessage
	if list := jsonrpc.Elements(in.Params, 1); len(list) == 1 {
		id = list[0]
	}
	k := filterKey{ch, string(id)}
	endpoint, ok := s.filters.find(k, s.o.Now())
	if !ok {
		return filterNotFound("no such filter was made here, or it was not used for 5 minutes")
	}
	// Once only: what an endpoint has told, it does not tell again.
	res := s.o.Caller.Call(ctx, failover.CallRequest{Chain: ch.Name, Method: in.Method, Params: in.Params, Header: who.header,
		Caller: fleet.CallerProxy, Deadline: s.o.Limits.Call, Only: endpoint, Bound: true, Attempts: 1, Explicit: true})
	switch {
	case res.End.Class == fleet.ClassNoEndpoint:
		s.filters.forget(k)
		return filterNotFound("the endpoint that made it, " + endpoint + ", serves no more")
	case res.Answered && in.Method == "eth_uninstallFilter":
		s.filters.forget(k)
	}
	return s.pass(ch, res)
}
