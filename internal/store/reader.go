package store

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"example.com/rpctop/internal/fleet"
)

// readDB is a pool of read-only connections to one file, with one more that
// watches for commits of others.
type readDB struct {
	file file
	path string
	info fs.FileInfo // of the file when it was opened
	db   *sql.DB

	mu    sync.Mutex
	watch *sql.Conn // nil until somebody asks
}

const readConns = 4

func (f file) openReader(ctx context.Context, path string) (*readDB, error) {
	op := "read " + f.what
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, f.failure(op, path, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, f.failure(op, path, err)
	}
	db, err := sql.Open("sqlite", fileURI(path, []string{
		"mode=ro", fmt.Sprintf("_busy_timeout=%d", (2 * time.Second).Milliseconds()),
		"_query_only=1", "_dqs=0", "_error_rc=1", "_pragma=trusted_schema(0)",
	}))
	if err != nil {
		return nil, f.failure(op, path, err)
	}
	db.SetMaxOpenConns(readConns + 1)
	db.SetMaxIdleConns(readConns)
	if err := f.checkSchema(ctx, db); err != nil {
		_ = db.Close()
		if cannotMakeIndex(err, path) {
			return nil, &Error{Op: op, Path: path, Kind: ErrReadOnly, Err: err, Means: "nobody writes to it at the moment, and to read it " +
				"then SQLite has to make the files -wal and -shm beside it, which this user may not; let rpctop run as a user who may write there"}
		}
		return nil, f.failure(op, path, err)
	}
	return &readDB{file: f, path: path, info: info, db: db}, nil
}

// cannotMakeIndex reports that a read-only connection failed for want of the
// write-ahead log's index, which a writer would have made.
func cannotMakeIndex(err error, path string) bool {
	var se *sqlite.Error
	if !errors.As(err, &se) {
		return false
	}
	switch se.Code() & 0xff {
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
		_, err := os.Stat(path + "-shm")
		return errors.Is(err, fs.ErrNotExist)
	}
	return false
}

// Path is the file's absolute path.
func (r *readDB) Path() string { return r.path }

// Close ends the reader.
func (r *readDB) Close() error {
	r.mu.Lock()
	if r.watch != nil {
		_ = r.watch.Close()
		r.watch = nil
	}
	r.mu.Unlock()
	return r.db.Close()
}

// Changed reports whether another connection has committed since *version was
// set, and sets it; the first call, with 0, reports true. It is cheap enough
// for every 25 ms. It fails with ErrReplaced when the file at its path is
// another one by now.
func (r *readDB) Changed(ctx context.Context, version *int64) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.sameFile(); err != nil {
		return false, err
	}
	if r.watch == nil {
		conn, err := r.db.Conn(ctx)
		if err != nil {
			return false, r.failed(err)
		}
		r.watch = conn
	}
	var now int64
	if err := r.watch.QueryRowContext(ctx, "PRAGMA data_version").Scan(&now); err != nil {
		return false, r.failed(err)
	}
	changed := now != *version
	*version = now
	return changed, nil
}

func (r *readDB) sameFile() error {
	info, err := os.Stat(r.path)
	if err == nil && os.SameFile(info, r.info) {
		return nil
	}
	return r.failed(ErrReplaced)
}

// WALSize is the size of the write-ahead log in bytes. It is cut back at every
// checkpoint, unless a reader keeps a transaction open.
func (r *readDB) WALSize() int64 {
	info, err := os.Stat(r.path + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}

func (r *readDB) failed(err error) error {
	return r.file.failure("read "+r.file.what, r.path, err)
}

// Reader reads a history. Every method is a short transaction of its own; it
// is safe for concurrent use, beside the writer and in other processes.
type Reader struct {
	*readDB
	names *memory
}

// OpenHistoryReader opens the history of dir read-only, for processes that
// follow. It fails with ErrMissing when there is none yet.
func OpenHistoryReader(dir string) (*Reader, error) {
	return openReader(context.Background(), filepath.Join(dir, historyFile().name))
}

func openReader(ctx context.Context, path string) (*Reader, error) {
	r, err := historyFile().openReader(ctx, path)
	if err != nil {
		return nil, err
	}
	return &Reader{readDB: r, names: newMemory()}, nil
}

// Checkpoint is the state of the fold after row Seq.
type Checkpoint struct {
	Seq   uint64
	At    fleet.Millis
	Fold  int // version of the fold that wrote it
	State []byte
}

func pack(state []byte) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(state); err != nil {
		return nil, err
	}
	err := w.Close()
	return b.Bytes(), err
}

func unpack(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// LatestCheckpoint gives the last checkpoint whose Seq is at most notAfter;
// nil: there is none.
func (r *Reader) LatestCheckpoint(ctx context.Context, notAfter uint64) (*Checkpoint, error) {
	const q = "SELECT seq, at, fold, state FROM checkpoints WHERE seq <= ? ORDER BY seq DESC LIMIT 1"
	return r.checkpoint(ctx, q, notAfter)
}

// NextCheckpoint gives the first checkpoint whose Seq is at least from: where
// to resume after a gap. nil: there is none yet.
func (r *Reader) NextCheckpoint(ctx context.Context, from uint64) (*Checkpoint, error) {
	const q = "SELECT seq, at, fold, state FROM checkpoints WHERE seq >= ? ORDER BY seq LIMIT 1"
	return r.checkpoint(ctx, q, from)
}

func (r *Reader) checkpoint(ctx context.Context, query string, seq uint64) (*Checkpoint, error) {
	var cp Checkpoint
	var packed []byte
	err := r.db.QueryRowContext(ctx, query, bound(seq)).Scan(&cp.Seq, &cp.At, &cp.Fold, &packed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err == nil {
		cp.State, err = unpack(packed)
	}
	if err != nil {
		return nil, r.failed(err)
	}
	return &cp, nil
}

// bound keeps "no bound" within what SQLite compares.
func bound(seq uint64) int64 { return int64(min(seq, math.MaxInt64)) } //nolint:gosec // bounded

// LastSeq is the last row on the disk; 0: none.
func (r *Reader) LastSeq(ctx context.Context) (uint64, error) {
	return r.one(ctx, "SELECT max((SELECT coalesce(max(seq), 0) FROM rows), (SELECT coalesce(max(seq), 0) FROM samples))")
}

// LastEventSeq is the last event on the disk; 0: none.
func (r *Reader) LastEventSeq(ctx context.Context) (uint64, error) {
	return r.one(ctx, "SELECT coalesce(max(seq), 0) FROM events")
}

func (r *Reader) one(ctx context.Context, query string, args ...any) (uint64, error) {
	var v int64
	if err := r.db.QueryRowContext(ctx, query, args...).Scan(&v); err != nil {
		return 0, r.failed(err)
	}
	return uint64(v), nil
}

// Events gives up to limit events after since, oldest first.
func (r *Reader) Events(ctx context.Context, since uint64, limit int) ([]fleet.Event, error) {
	return r.events(ctx, "WHERE seq > ? ORDER BY seq LIMIT ?", bound(since), limit)
}

// LastEvents gives the last n events, oldest first.
func (r *Reader) LastEvents(ctx context.Context, n int) ([]fleet.Event, error) {
	evs, err := r.events(ctx, "ORDER BY seq DESC LIMIT ?", n)
	slices.Reverse(evs)
	return evs, err
}

func (r *Reader) events(ctx context.Context, where string, args ...any) (evs []fleet.Event, err error) {
	const q = "SELECT seq, row, at, kind, chain, endpoint, from_name, to_name, class, sub, reason, data FROM events "
	rows, err := r.db.QueryContext(ctx, q+where, args...)
	if err != nil {
		return nil, r.failed(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var e fleet.Event
		var row int64
		var data sql.NullString
		if err := rows.Scan(&e.Seq, &row, &e.At, &e.Kind, &e.Chain, &e.Endpoint, &e.From, &e.To,
			&e.Class, &e.Sub, &e.Reason, &data); err != nil {
			return nil, r.failed(err)
		}
		e.Row = uint64(row)
		if data.Valid {
			e.Data = json.RawMessage(data.String)
		}
		evs = append(evs, e)
	}
	if err := rows.Err(); err != nil {
		return nil, r.failed(err)
	}
	return evs, nil
}
