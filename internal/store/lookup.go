package store

import (
	"context"
	"database/sql"
	"fmt"
	"sync"

	"example.com/rpctop/internal/fleet"
)

// memory is what readers remember of the small tables. Ids are never used
// twice and their meaning never changes, so nothing in it goes stale.
type memory struct {
	mu        sync.Mutex
	endpoints map[int64]fleet.EndpointID
	texts     map[int64]string
}

// lookup turns stored numbers back into names, within one transaction.
type lookup struct {
	*memory
	ctx context.Context //nolint:containedctx // lives as long as one chunk
	tx  *sql.Tx
}

func newMemory() *memory {
	return &memory{endpoints: map[int64]fleet.EndpointID{}, texts: map[int64]string{}}
}

func (m *memory) within(ctx context.Context, tx *sql.Tx) *lookup {
	return &lookup{memory: m, ctx: ctx, tx: tx}
}

func (l *lookup) endpoint(id int64) (fleet.EndpointID, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.endpoints[id]; ok {
		return e, nil
	}
	var e fleet.EndpointID
	const q = "SELECT c.name, e.name FROM endpoints e JOIN chains c ON c.id = e.chain WHERE e.id = ?"
	if err := l.tx.QueryRowContext(l.ctx, q, id).Scan(&e.Chain, &e.Name); err != nil {
		return e, fmt.Errorf("name of endpoint %d: %w", id, err)
	}
	l.endpoints[id] = e
	return e, nil
}

func (l *lookup) text(id int64) (string, error) {
	if id == 0 {
		return "", nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if s, ok := l.texts[id]; ok {
		return s, nil
	}
	var s string
	if err := l.tx.QueryRowContext(l.ctx, "SELECT text FROM texts WHERE id = ?", id).Scan(&s); err != nil {
		return "", fmt.Errorf("text %d: %w", id, err)
	}
	if len(l.texts) >= maxTexts {
		clear(l.texts)
	}
	l.texts[id] = s
	return s, nil
}
