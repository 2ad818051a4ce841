// Package probe decides when an endpoint is asked and what: it keeps one clock
// an endpoint, puts the questions of a round through the one door, and turns
// the answers into samples and readings. It keeps its own traffic within a
// budget of calls a day.
//
// It decides nothing about health: what an answer means for an endpoint is the
// fold's affair, and how often a broken endpoint is asked is told from outside
// (SetBackoff). It knows no URL and opens no connection. What our own rules
// refused in a round yields no sample and no reading; it is counted as a denial,
// and that is all. A question that the fold asked (Ask) is answered in any case:
// a denial then stands as a reading of the class local-denial.
package probe

import (
	"context"
	"time"

	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/upstream"
)

// Asker hands one request over to an endpoint. The error is a *fleet.Denial if
// nothing was handed over. *upstream.Door is one.
type Asker interface {
	Do(ctx context.Context, c upstream.Call) (*fleet.Attempt, error)
}

// Hooks tell what a round may not put into the history. Each may be nil; they
// are called from the probing goroutines, and must not block.
type Hooks struct {
	// Denied is called for each question that a rule of ours refused: the
	// door's, or the probe's own budget of the day.
	Denied func(fleet.EndpointID, *fleet.Denial)
	// Fault is called for a bug on our side: a panic that was recovered (the
	// text has the stack), or a door that gave neither attempt nor denial.
	Fault func(fleet.EndpointID, error)
}

func (h Hooks) denied(id fleet.EndpointID, d *fleet.Denial) {
	if h.Denied != nil {
		h.Denied(id, d)
	}
}

func (h Hooks) fault(id fleet.EndpointID, err error) {
	if h.Fault != nil {
		h.Fault(id, err)
	}
}

// defaultTimeout stands in where an endpoint's spec has none.
const defaultTimeout = 10 * time.Second

func timeoutOf(s fleet.EndpointSpec) time.Duration {
	if s.Timeout > 0 {
		return time.Duration(s.Timeout) * time.Millisecond
	}
	return defaultTimeout
}
