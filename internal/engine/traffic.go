package engine

import (
	"cmp"
	"slices"
	"sync"

	"example.com/rpctop/internal/failover"
	"example.com/rpctop/internal/fleet"
)

// Meter gathers what clients' requests ended as, per endpoint and kind of
// method, until the engine takes it once a second as rows of traffic. It
// implements failover.Noter for the way of a request: a call locks one cell for
// some additions, does no I/O and waits for nobody else.
type Meter struct {
	offer func(fleet.Input) bool
	mu    sync.RWMutex
	cells map[meterKey]*cell
}

var _ failover.Noter = (*Meter)(nil)

type meterKey struct {
	endpoint fleet.EndpointID
	kind     fleet.Kind
}

// cell is the second of one endpoint and kind in the making.
type cell struct {
	mu sync.Mutex
	t  fleet.Traffic
}

// NewMeter makes a meter; offer takes failures that go to the fold at once,
// and must not block.
func NewMeter(offer func(fleet.Input) bool) *Meter {
	return &Meter{offer: offer, cells: map[meterKey]*cell{}}
}

// Failure hands a failure to the fold as a row of its own; false if the queue
// is full, and it is to be counted instead.
func (m *Meter) Failure(f fleet.Failure) bool { return m.offer(f) }

// Attempt counts an attempt that is not told as a failure of its own. What is
// charged to nobody (cancelled, answered by the cache) is not counted.
func (m *Meter) Attempt(kind fleet.Kind, a *fleet.Attempt) {
	if a.Censored || a.Cached {
		return
	}
	charge := a.Charge()
	m.with(a.Endpoint, kind, func(t *fleet.Traffic) {
		t.Counts = countClass(t.Counts, a.Outcome)
		switch charge {
		case fleet.ChargeSuccess:
			t.Latency = countBucket(t.Latency, fleet.BucketOf(a.Timing.Total))
		case fleet.ChargeFailure:
			t.Lost += max(a.Timing.Total, 0)
		}
	})
}

// Denied counts a refusal of our own in a column that no decision reads.
func (m *Meter) Denied(kind fleet.Kind, d *fleet.Denial) {
	m.with(d.Endpoint, kind, func(t *fleet.Traffic) { t.Denials++ })
}

// FailedOver counts a call that another endpoint answered.
func (m *Meter) FailedOver(kind fleet.Kind, from fleet.EndpointID, to string, why fleet.Outcome) {
	m.with(from, kind, func(t *fleet.Traffic) {
		same := func(c fleet.FailoverCount) bool { return c.To == to && c.Class == why.Class && c.Sub == why.Sub }
		if i := slices.IndexFunc(t.Failovers, same); i >= 0 {
			t.Failovers[i].N++
			return
		}
		t.Failovers = append(t.Failovers, fleet.FailoverCount{To: to, Class: why.Class, Sub: why.Sub, N: 1})
	})
}

// Drain takes what was gathered since the last time: one row for each endpoint
// and kind that had any traffic, in the order of their names.
func (m *Meter) Drain() []fleet.Traffic {
	m.mu.RLock()
	cells := make([]*cell, 0, len(m.cells))
	for _, c := range m.cells {
		cells = append(cells, c)
	}
	m.mu.RUnlock()
	var out []fleet.Traffic
	for _, c := range cells {
		if t, any := c.take(); any {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b fleet.Traffic) int {
		return cmp.Or(cmp.Compare(a.Endpoint.Chain, b.Endpoint.Chain), cmp.Compare(a.Endpoint.Name, b.Endpoint.Name), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}

// take empties a cell. The row's slices are the fold's and the store's from
// then on, so the cell begins with new ones.
func (c *cell) take() (t fleet.Traffic, any bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t = c.t
	c.t = fleet.Traffic{Endpoint: t.Endpoint, Kind: t.Kind}
	return t, len(t.Counts) > 0 || t.Denials > 0 || len(t.Failovers) > 0
}

func (m *Meter) with(id fleet.EndpointID, kind fleet.Kind, change func(*fleet.Traffic)) {
	c := m.cell(meterKey{id, kind})
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.t)
}

func (m *Meter) cell(k meterKey) *cell {
	m.mu.RLock()
	c := m.cells[k]
	m.mu.RUnlock()
	if c != nil {
		return c
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if c = m.cells[k]; c == nil {
		c = &cell{t: fleet.Traffic{Endpoint: k.endpoint, Kind: k.kind}}
		m.cells[k] = c
	}
	return c
}

// countClass adds one to a class's count, ascending by class and sub.
func countClass(in []fleet.ClassCount, o fleet.Outcome) []fleet.ClassCount {
	i, found := slices.BinarySearchFunc(in, o, func(c fleet.ClassCount, o fleet.Outcome) int {
		return cmp.Or(cmp.Compare(c.Class, o.Class), cmp.Compare(c.Sub, o.Sub))
	})
	if found {
		in[i].N++
		return in
	}
	return slices.Insert(in, i, fleet.ClassCount{Class: o.Class, Sub: o.Sub, N: 1})
}

// countBucket adds one to a bucket of the histogram, ascending.
func countBucket(in []fleet.BucketCount, bucket int) []fleet.BucketCount {
	i, found := slices.BinarySearchFunc(in, bucket, func(c fleet.BucketCount, b int) int { return cmp.Compare(c.Bucket, b) })
	if found {
		in[i].N++
		return in
	}
	return slices.Insert(in, i, fleet.BucketCount{Bucket: bucket, N: 1})
}
