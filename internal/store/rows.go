package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"

	"example.com/rpctop/internal/fleet"
)

// rowsChunk is how many numbers of the log one query covers.
const rowsChunk = 2048

// Rows gives the rows after seq `after`, up to the last one that is on the
// disk when it begins. Each chunk is a short transaction of its own: the caller
// may take its time. A hole in Seq means that rows were lost or pruned; a
// reader resumes at NextCheckpoint.
func (r *Reader) Rows(ctx context.Context, after uint64) iter.Seq2[fleet.Row, error] {
	return func(yield func(fleet.Row, error) bool) {
		last, err := r.LastSeq(ctx)
		if err != nil {
			yield(fleet.Row{}, err)
			return
		}
		r.RowsUntil(ctx, after, last)(yield)
	}
}

// RowsUntil gives the rows after seq `after` up to and including until.
func (r *Reader) RowsUntil(ctx context.Context, after, until uint64) iter.Seq2[fleet.Row, error] {
	return func(yield func(fleet.Row, error) bool) {
		for after < until {
			chunk, err := r.chunk(ctx, after, until)
			if err != nil {
				yield(fleet.Row{}, err)
				return
			}
			for _, row := range chunk {
				if !yield(row, nil) {
					return
				}
			}
			if len(chunk) == 0 {
				return
			}
			after = chunk[len(chunk)-1].Seq
		}
	}
}

// SeqAt gives the last row whose time is not after at; 0: there is none.
// Times never decrease along the log, so it is found by halving.
func (r *Reader) SeqAt(ctx context.Context, at fleet.Millis) (uint64, error) {
	last, err := r.LastSeq(ctx)
	if err != nil {
		return 0, err
	}
	tx, err := r.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return 0, r.failed(err)
	}
	defer func() { _ = tx.Rollback() }()
	// The first row at or after seq, by its number and time.
	next := func(seq int64) (int64, fleet.Millis, error) {
		const q = `SELECT seq, at FROM (
			SELECT * FROM (SELECT seq, at FROM rows WHERE seq >= ?1 ORDER BY seq LIMIT 1)
			UNION ALL
			SELECT * FROM (SELECT seq, at FROM samples WHERE seq >= ?1 ORDER BY seq LIMIT 1)
			UNION ALL SELECT ?2, 0) ORDER BY seq LIMIT 1`
		var found int64
		var t fleet.Millis
		err := tx.QueryRowContext(ctx, q, seq, int64(math.MaxInt64)).Scan(&found, &t)
		return found, t, err
	}
	var found int64
	for low, high := int64(0), bound(last); low <= high; {
		mid := low + (high-low)/2
		seq, t, err := next(mid)
		if err != nil {
			return 0, r.failed(err)
		}
		if seq <= high && t <= at {
			found, low = seq, seq+1
		} else {
			high = mid - 1
		}
	}
	return uint64(found), nil
}

// chunk reads the next rows of both tables as they stand in one transaction.
func (r *Reader) chunk(ctx context.Context, after, until uint64) (out []fleet.Row, err error) {
	defer func() { err = r.failed(err) }()
	tx, err := r.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()

	// Holes are skipped: the window begins at the first row there is.
	const first = `SELECT min(coalesce((SELECT min(seq) FROM rows WHERE seq > ?1), ?2),
		coalesce((SELECT min(seq) FROM samples WHERE seq > ?1), ?2))`
	var from int64
	if err := tx.QueryRowContext(ctx, first, bound(after), int64(math.MaxInt64)).Scan(&from); err != nil {
		return nil, err
	}
	to := bound(until)
	if from > to {
		return nil, nil
	}
	if to-from >= rowsChunk {
		to = from + rowsChunk - 1
	}
	samples, err := readSamples(ctx, tx, from, to)
	if err != nil {
		return nil, err
	}
	others, err := readOthers(ctx, tx, from, to)
	if err != nil {
		return nil, err
	}
	l := r.names.within(ctx, tx)
	out = make([]fleet.Row, 0, len(samples)+len(others))
	for i := range samples {
		row, err := samples[i].row(l)
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", samples[i].seq, err)
		}
		out = append(out, row)
	}
	for _, o := range others {
		in, err := l.input(o.kind, o.body)
		if err != nil {
			return nil, fmt.Errorf("row %d, a %s: %w", o.seq, o.kind, err)
		}
		out = append(out, fleet.Row{Seq: o.seq, At: o.at, Input: in})
	}
	slices.SortFunc(out, func(a, b fleet.Row) int { return cmp.Compare(a.Seq, b.Seq) })
	return out, nil
}

type storedRow struct {
	seq  uint64
	at   fleet.Millis
	kind fleet.RowKind
	body []byte
}

func readOthers(ctx context.Context, tx *sql.Tx, from, to int64) ([]storedRow, error) {
	rows, err := tx.QueryContext(ctx, "SELECT seq, at, kind, body FROM rows WHERE seq BETWEEN ? AND ? ORDER BY seq", from, to)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var out []storedRow
	for rows.Next() {
		var o storedRow
		if err := rows.Scan(&o.seq, &o.at, &o.kind, &o.body); err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, rows.Err()
}

// storedSample is a row of samples with its block, names still numbers.
type storedSample struct {
	seq                             uint64
	at, ago                         fleet.Millis
	endpoint, sub, message, chainID int64
	s                               fleet.Sample // the rest
	code, number, seconds           sql.NullInt64
	hash, parent                    []byte
	flags                           int64
	odd                             sql.NullString
}

func readSamples(ctx context.Context, tx *sql.Tx, from, to int64) ([]storedSample, error) {
	const q = `SELECT s.seq, s.at, s.endpoint, s.ago, s.class, s.sub, s.origin, s.status, s.code, s.message,
			s.connect, s.tls, s.first_byte, s.total, s.chain_id, s.chain_id_class, s.hold, s.flags, s.odd,
			b.number, b.hash, b.parent, b.time
		FROM samples s LEFT JOIN blocks b ON b.id = s.block WHERE s.seq BETWEEN ? AND ? ORDER BY s.seq`
	rows, err := tx.QueryContext(ctx, q, from, to)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var out []storedSample
	for rows.Next() {
		out = append(out, storedSample{})
		v := &out[len(out)-1]
		o, t := &v.s.Outcome, &v.s.Timing
		if err := rows.Scan(&v.seq, &v.at, &v.endpoint, &v.ago, &o.Class, &v.sub, &o.Origin, &o.Status, &v.code, &v.message,
			&t.Connect, &t.TLS, &t.FirstByte, &t.Total, &v.chainID, &v.s.ChainIDClass, &v.s.Hold, &v.flags, &v.odd,
			&v.number, &v.hash, &v.parent, &v.seconds); err != nil {
			return nil, err
		}
	}
	return out, rows.Err()
}

func (v *storedSample) row(l *lookup) (row fleet.Row, err error) {
	s := v.s
	if s.Endpoint, err = l.endpoint(v.endpoint); err != nil {
		return row, err
	}
	for id, text := range map[*string]int64{&s.Outcome.Sub: v.sub, &s.Outcome.Message: v.message, &s.ChainID: v.chainID} {
		if *id, err = l.text(text); err != nil {
			return row, err
		}
	}
	s.Start = v.at - v.ago
	if v.code.Valid {
		s.Outcome.Code = &v.code.Int64
	}
	s.Timing.Cold = v.flags&flagCold != 0
	s.Suspicion = v.flags&flagSuspicion != 0
	s.Traffic = v.flags&flagTraffic != 0
	switch {
	case v.odd.Valid:
		err = json.Unmarshal([]byte(v.odd.String), &s.Head)
	case v.number.Valid:
		s.Head = &fleet.Head{Number: uint64(v.number.Int64), Time: uint64(v.seconds.Int64)}
		if s.Head.Hash, err = hashFrom(v.hash); err == nil {
			s.Head.Parent, err = hashFrom(v.parent)
		}
	}
	return fleet.Row{Seq: v.seq, At: v.at, Input: s}, err
}
