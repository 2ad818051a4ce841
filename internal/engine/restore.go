package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"example.com/rpctop/internal/failover"
	"example.com/rpctop/internal/fleet"
)

// Checkpoint is a state as the history holds it.
type Checkpoint struct {
	Seq   uint64
	At    fleet.Millis
	Fold  int
	State []byte
}

// Reader reads what has been committed to the history.
type Reader interface {
	// LatestCheckpoint gives the newest; ok is false if there is none.
	LatestCheckpoint(ctx context.Context) (c Checkpoint, ok bool, err error)
	// Rows gives the committed rows after a sequence number, ascending.
	Rows(ctx context.Context, after uint64) iter.Seq2[fleet.Row, error]
	// Events gives committed events after a sequence number, ascending.
	Events(ctx context.Context, since uint64, limit int) ([]fleet.Event, error)
	// LastEvents gives the newest n events, ascending.
	LastEvents(ctx context.Context, n int) ([]fleet.Event, error)
}

// ErrFold means that the history was written by other rules than ours, so that
// its checkpoints do not mean what we would take them for.
var ErrFold = errors.New("the history was folded by another version of the rules")

// Restore gives the state after the last committed row: the newest checkpoint
// and the rows after it. A history without rows gives nil.
func Restore(ctx context.Context, r Reader) (*failover.State, error) {
	cp, ok, err := r.LatestCheckpoint(ctx)
	if err != nil {
		return nil, fmt.Errorf("restore the state: %w", err)
	}
	var s *failover.State
	after := uint64(0)
	if ok && cp.Fold == failover.FoldVersion {
		s = &failover.State{}
		if err := json.Unmarshal(cp.State, s); err != nil {
			return nil, fmt.Errorf("restore the state: checkpoint at row %d: %w", cp.Seq, err)
		}
		after = cp.Seq
	}
	if ok && cp.Fold > failover.FoldVersion {
		return nil, fmt.Errorf("restore the state: %w: its rules are version %d, ours %d", ErrFold, cp.Fold, failover.FoldVersion)
	}
	if s, err = Fold(ctx, r, s, after); err != nil || s == nil {
		return s, err
	}
	return s, afterHoles(ctx, r, s)
}

// afterHoles keeps the numbers of events rising where rows, and so the events
// that they caused, were lost.
func afterHoles(ctx context.Context, r Reader, s *failover.State) error {
	evs, err := r.LastEvents(ctx, 1)
	if err != nil {
		return fmt.Errorf("restore the state: %w", err)
	}
	for _, ev := range evs {
		s.Events = max(s.Events, ev.Seq) // ours alone: it was just read
	}
	return nil
}

// Fold folds the committed rows after a sequence number onto a state.
func Fold(ctx context.Context, r Reader, s *failover.State, after uint64) (*failover.State, error) {
	for row, err := range r.Rows(ctx, after) {
		if err != nil {
			return nil, fmt.Errorf("fold the history after row %d: %w", after, err)
		}
		s, _ = failover.Step(s, row)
		after = row.Seq
	}
	return s, nil
}
