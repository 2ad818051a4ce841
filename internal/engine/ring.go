package engine

import (
	"sync"

	"example.com/rpctop/internal/failover"
	"example.com/rpctop/internal/fleet"
)

// ring keeps the last events. The zero value is empty.
type ring struct {
	mu  sync.Mutex
	evs []fleet.Event // ascending by Seq
}

func (r *ring) add(ev fleet.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.evs) >= 2*keptEvents {
		r.evs = append(r.evs[:0:0], r.evs[len(r.evs)-keptEvents:]...)
	}
	r.evs = append(r.evs, ev)
}

// since gives the events with since < Seq <= upTo, and how many of them are
// gone.
func (r *ring) since(since, upTo uint64, limit int) (evs []fleet.Event, missed uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.evs) == 0 {
		return nil, 0
	}
	if first := r.evs[0].Seq; first > since+1 {
		missed = first - since - 1
	}
	for _, ev := range r.evs {
		if ev.Seq <= since || ev.Seq > upTo {
			continue
		}
		if limit > 0 && len(evs) == limit {
			break
		}
		evs = append(evs, ev)
	}
	return evs, missed
}

// viewCache computes the picture of a state once, however many look. A picture
// that was given out never changes.
type viewCache struct {
	mu    sync.Mutex
	state *failover.State
	view  *fleet.Snapshot
}

func (v *viewCache) of(s *failover.State, decorate func(*fleet.Snapshot)) *fleet.Snapshot {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.state != s {
		view := failover.View(s)
		view.Version = s.Seq
		decorate(view)
		v.state, v.view = s, view
	}
	return v.view
}
