package ui

import (
	"context"

	"example.com/rpctop/internal/fleet"
)

// Source is what the console shows and whom it asks. An engine that leads, one
// that follows another process and a recording each implement it.
type Source interface {
	// Snapshot gives the current picture; nil if there is none yet. It is
	// read from memory at each tick and must not wait for I/O. The snapshot
	// is immutable.
	Snapshot() *fleet.Snapshot
	// Events gives the oldest events after the event number since, ascending
	// and at most max of them, and how many events between since and the
	// first one given are not kept any more. It must not wait for I/O.
	Events(since uint64, max int) (evs []fleet.Event, missed uint64)
	// Do carries the operator's word out and waits for the verdict, as long
	// as ctx lasts. A refusal is a verdict; an error means that nobody
	// answered, and that it is not known whether the command took effect.
	Do(ctx context.Context, c fleet.Command) (fleet.Verdict, error)
}
