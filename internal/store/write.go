package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"

	"example.com/rpctop/internal/fleet"
)

// item is one thing in the queue: a row with the events that it caused, or a
// checkpoint.
type item struct {
	row        fleet.Row
	events     []fleet.Event
	checkpoint *Checkpoint // not nil: row and events are empty
}

// recorder writes groups of items on the one writing connection. It belongs to
// the writer's goroutine.
type recorder struct {
	conn  *sql.Conn
	names *names
	stmts []*sql.Stmt // all of them, to be closed

	addRow, addSample, addEvent, addCheckpoint *sql.Stmt
}

func newRecorder(ctx context.Context, db *sql.DB) (*recorder, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	r := &recorder{conn: conn}
	var failed error
	prepare := func(q string) *sql.Stmt {
		st, err := conn.PrepareContext(ctx, q)
		if err != nil {
			failed = cmp.Or(failed, err)
			return nil
		}
		r.stmts = append(r.stmts, st)
		return st
	}
	r.names = newNames(prepare)
	r.addRow = prepare("INSERT INTO rows (seq, at, kind, body) VALUES (?, ?, ?, ?)")
	r.addSample = prepare("INSERT INTO samples (seq, at, endpoint, ago, class, sub, origin, status, code, message," +
		" connect, tls, first_byte, total, block, chain_id, chain_id_class, hold, flags, odd)" +
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
	r.addEvent = prepare("INSERT INTO events (seq, row, at, kind, chain, endpoint, from_name, to_name, class, sub, reason, data)" +
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
	r.addCheckpoint = prepare("INSERT OR REPLACE INTO checkpoints (seq, at, fold, state) VALUES (?, ?, ?, ?)")
	if failed != nil {
		_ = r.close()
		return nil, failed
	}
	return r, nil
}

// close also closes the statements: SQLite keeps a connection open, and the
// write-ahead log on the disk, while one is left.
func (r *recorder) close() error {
	for _, st := range r.stmts {
		_ = st.Close()
	}
	return r.conn.Close()
}

// write puts all items on the disk in one transaction, or none of them.
func (r *recorder) write(items []item) (err error) {
	ctx := context.Background()
	if _, err := r.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, _ = r.conn.ExecContext(ctx, "ROLLBACK") // SQLite may have rolled back already
			r.names.forget()
		}
	}()
	for _, it := range items {
		if err := r.item(ctx, it); err != nil {
			return err
		}
	}
	_, err = r.conn.ExecContext(ctx, "COMMIT")
	return err
}

func (r *recorder) item(ctx context.Context, it item) error {
	if cp := it.checkpoint; cp != nil {
		state, err := pack(cp.State)
		if err != nil {
			return err
		}
		_, err = r.addCheckpoint.ExecContext(ctx, int64(cp.Seq), int64(cp.At), cp.Fold, state)
		return err
	}
	if s, ok := it.row.Input.(fleet.Sample); ok {
		if err := r.sample(ctx, it.row, s); err != nil {
			return err
		}
	} else {
		body, err := r.names.body(it.row.Input)
		if err != nil {
			return err
		}
		if _, err := r.addRow.ExecContext(ctx, int64(it.row.Seq), int64(it.row.At), int64(it.row.Input.RowKind()), body); err != nil {
			return err
		}
	}
	for _, e := range it.events {
		if err := r.event(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

func (r *recorder) sample(ctx context.Context, row fleet.Row, s fleet.Sample) error {
	endpoint, err := r.names.endpoint(s.Endpoint)
	if err != nil {
		return err
	}
	var texts [3]int64
	for i, t := range [...]string{s.Outcome.Sub, s.Outcome.Message, s.ChainID} {
		if texts[i], err = r.names.text(t); err != nil {
			return err
		}
	}
	var code, blockID, odd any
	if s.Outcome.Code != nil {
		code = *s.Outcome.Code
	}
	if s.Head != nil {
		chain, err := r.names.chain(s.Endpoint.Chain)
		if err != nil {
			return err
		}
		b, err := r.names.block(chain, *s.Head, row.At, endpoint)
		if err != nil {
			return err
		}
		blockID = b.id
		if b.parent != s.Head.Parent || b.time != s.Head.Time {
			text, err := json.Marshal(s.Head)
			if err != nil {
				return &encodeError{err}
			}
			odd = string(text)
		}
	}
	_, err = r.addSample.ExecContext(ctx, int64(row.Seq), int64(row.At), endpoint, int64(row.At-s.Start),
		int64(s.Outcome.Class), texts[0], int64(s.Outcome.Origin), int64(s.Outcome.Status), code, texts[1],
		int64(s.Timing.Connect), int64(s.Timing.TLS), int64(s.Timing.FirstByte), int64(s.Timing.Total),
		blockID, texts[2], int64(s.ChainIDClass), int64(s.Hold), flagsOf(s), odd)
	return err
}

func (r *recorder) event(ctx context.Context, e fleet.Event) error {
	var data any
	if len(e.Data) > 0 {
		data = string(e.Data)
	}
	_, err := r.addEvent.ExecContext(ctx, int64(e.Seq), int64(e.Row), int64(e.At), string(e.Kind),
		e.Chain, e.Endpoint, e.From, e.To, int64(e.Class), e.Sub, e.Reason, data)
	return err
}
