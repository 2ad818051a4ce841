package main

import (
	"context"
	"iter"

	"example.com/rpctop/internal/engine"
	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/store"
)

// historyBook fits the store's history to what the engine writes.
type historyBook struct{ *store.History }

// Checkpoint implements engine.History.
func (h historyBook) Checkpoint(c engine.Checkpoint) {
	h.History.Checkpoint(store.Checkpoint(c))
}

// historyReader fits the store's reader to what the engine reads.
type historyReader struct{ r *store.Reader }

// LatestCheckpoint implements engine.Reader.
func (h historyReader) LatestCheckpoint(ctx context.Context) (engine.Checkpoint, bool, error) {
	c, err := h.r.LatestCheckpoint(ctx, ^uint64(0))
	if err != nil || c == nil {
		return engine.Checkpoint{}, false, err
	}
	return engine.Checkpoint(*c), true, nil
}

// Rows implements engine.Reader.
func (h historyReader) Rows(ctx context.Context, after uint64) iter.Seq2[fleet.Row, error] {
	return h.r.Rows(ctx, after)
}

// Events implements engine.Reader.
func (h historyReader) Events(ctx context.Context, since uint64, limit int) ([]fleet.Event, error) {
	return h.r.Events(ctx, since, limit)
}

// LastEvents implements engine.Reader.
func (h historyReader) LastEvents(ctx context.Context, n int) ([]fleet.Event, error) {
	return h.r.LastEvents(ctx, n)
}
