package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"os"
	"path/filepath"

	"example.com/rpctop/internal/fleet"
)

// Journal is journal.db: overrides in force, commands with their verdicts, the
// use of day budgets. Each method that writes returns after its transaction is
// on the disk. Several processes may write. It is safe for concurrent use.
type Journal struct {
	*JournalReader
	o  Options
	db *sql.DB
}

// JournalReader reads the journal.
type JournalReader struct{ *readDB }

// OpenJournal opens or creates journal.db in dir. The errors are *Error; a
// corrupt journal is left where it is (see SetAsideJournal).
func OpenJournal(dir string, o Options) (*Journal, error) {
	f := journalFile()
	o = o.withDefaults()
	db, path, _, err := f.openWriter(dir, o)
	if err != nil {
		return nil, err
	}
	r, err := f.openReader(context.Background(), path)
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return &Journal{JournalReader: &JournalReader{r}, o: o, db: db}, nil
}

// OpenJournalReader opens the journal of dir read-only. It fails with
// ErrMissing when there is none.
func OpenJournalReader(dir string) (*JournalReader, error) {
	f := journalFile()
	r, err := f.openReader(context.Background(), filepath.Join(dir, f.name))
	if err != nil {
		return nil, err
	}
	return &JournalReader{r}, nil
}

// SetAsideJournal renames a corrupt journal, so that the next OpenJournal
// begins a new one, and gives the new name. It is for the operator's word
// alone: what the old one held is not in force any more. No process may have
// the journal open.
func SetAsideJournal(dir string, o Options) (aside string, err error) {
	return journalFile().setAside("set aside journal", dir, o)
}

// SetAsideHistory renames a history that opens and yet cannot be used, so that
// the next OpenHistory begins a new one. No process may have it open.
func SetAsideHistory(dir string, o Options) (aside string, err error) {
	return historyFile().setAside("set aside history", dir, o)
}

func (f file) setAside(op, dir string, o Options) (aside string, err error) {
	o = o.withDefaults()
	path := filepath.Join(dir, f.name)
	if _, err := os.Stat(path); err != nil {
		return "", f.failure(op, path, err)
	}
	unlock, err := f.lockOpening(op, dir, o.FileMode)
	if err != nil {
		return "", err
	}
	defer unlock()
	aside, err = setAside(path, o.Now())
	return aside, f.failure(op, path, err)
}

// Close ends the journal.
func (j *Journal) Close() error {
	err := j.JournalReader.Close()
	if dbErr := j.db.Close(); err == nil && dbErr != nil {
		err = j.wrote(dbErr)
	}
	return err
}

func (j *Journal) wrote(err error) error {
	return j.file.failure("write journal", j.path, err)
}

// update runs f in one transaction, which is on the disk when update returns
// nil.
func (j *Journal) update(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := j.db.BeginTx(ctx, nil)
	if err != nil {
		return j.wrote(err)
	}
	defer func() { _ = tx.Rollback() }()
	if err := f(tx); err != nil {
		return j.wrote(err)
	}
	return j.wrote(tx.Commit())
}

// InstallationKey gives 32 random bytes that were made once for this journal:
// the key of endpoints' fingerprints.
func (j *Journal) InstallationKey(ctx context.Context) ([]byte, error) {
	const get = "SELECT value FROM meta WHERE name = 'installation_key'"
	var key []byte
	err := j.JournalReader.db.QueryRowContext(ctx, get).Scan(&key)
	if !errors.Is(err, sql.ErrNoRows) {
		return key, j.failed(err)
	}
	fresh := make([]byte, 32)
	_, _ = rand.Read(fresh) // it never fails
	err = j.update(ctx, func(tx *sql.Tx) error {
		const add = "INSERT INTO meta (name, value) VALUES ('installation_key', ?) ON CONFLICT DO NOTHING"
		if _, err := tx.ExecContext(ctx, add, fresh); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, get).Scan(&key)
	})
	return key, err
}

// SetOverrides replaces the overrides in force, for those that expired.
func (j *Journal) SetOverrides(ctx context.Context, overrides []fleet.Override) error {
	return j.update(ctx, func(tx *sql.Tx) error { return putOverrides(ctx, tx, overrides) })
}

func putOverrides(ctx context.Context, tx *sql.Tx, overrides []fleet.Override) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM overrides"); err != nil {
		return err
	}
	for i, o := range overrides {
		const q = "INSERT INTO overrides (id, action, chain, endpoint, author, reason, since, until, strict)" +
			" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
		if _, err := tx.ExecContext(ctx, q, i+1, string(o.Action), o.Chain, o.Endpoint, o.Author, o.Reason,
			int64(o.Since), int64(o.Until), o.Strict); err != nil {
			return err
		}
	}
	return nil
}

// Overrides gives the overrides as they were last set, in their order. Those
// that expired since are among them: expiry is the fold's business.
func (r *JournalReader) Overrides(ctx context.Context) (out []fleet.Override, err error) {
	defer func() { err = r.failed(err) }()
	const q = "SELECT action, chain, endpoint, author, reason, since, until, strict FROM overrides ORDER BY id"
	rows, err := r.db.QueryContext(ctx, q)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var o fleet.Override
		if err := rows.Scan(&o.Action, &o.Chain, &o.Endpoint, &o.Author, &o.Reason, &o.Since, &o.Until, &o.Strict); err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, rows.Err()
}

// Usage is what was used of one endpoint's budget on one UTC day. The zero
// Endpoint stands for the global budget.
type Usage struct {
	Endpoint fleet.EndpointID
	Day      string // 2006-01-02
	Units    int64
	Calls    int64
}

// AddUsage adds to what all processes used; all of it or, on an error, nothing.
func (j *Journal) AddUsage(ctx context.Context, us []Usage) error {
	if len(us) == 0 {
		return nil
	}
	return j.update(ctx, func(tx *sql.Tx) error {
		for _, u := range us {
			const q = "INSERT INTO budgets (chain, endpoint, day, units, calls) VALUES (?, ?, ?, ?, ?)" +
				" ON CONFLICT DO UPDATE SET units = units + excluded.units, calls = calls + excluded.calls"
			if _, err := tx.ExecContext(ctx, q, u.Endpoint.Chain, u.Endpoint.Name, u.Day, u.Units, u.Calls); err != nil {
				return err
			}
		}
		return nil
	})
}

// Usages gives what was used on the day `since` (2006-01-02) and later, all
// processes together, by endpoint and day.
func (r *JournalReader) Usages(ctx context.Context, since string) (out []Usage, err error) {
	defer func() { err = r.failed(err) }()
	const q = "SELECT chain, endpoint, day, units, calls FROM budgets WHERE day >= ? ORDER BY chain, endpoint, day"
	rows, err := r.db.QueryContext(ctx, q, since)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var u Usage
		if err := rows.Scan(&u.Endpoint.Chain, &u.Endpoint.Name, &u.Day, &u.Units, &u.Calls); err != nil {
			return nil, err
		}
		out = append(out, u)
	}
	return out, rows.Err()
}
