package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/pressly/goose/v3"

	"example.com/rpctop/internal/fleet"
)

//go:embed migrations
var migrations embed.FS

// migrate brings the schema up to date; a newer one is left untouched.
func (f file) migrate(ctx context.Context, db *sql.DB) error {
	sub, err := fs.Sub(migrations, f.migrations)
	if err != nil {
		return err
	}
	has, err := schemaVersion(ctx, db)
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, sub, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	sources := p.ListSources()
	want := sources[len(sources)-1].Version
	if has > want {
		return fmt.Errorf("%w: its schema is %d, this program knows %d", ErrNewer, has, want)
	}
	if has == want {
		return nil
	}
	if _, err := p.Up(ctx); err != nil {
		return &migrationError{has, want, err}
	}
	return nil
}

// migrationError says that the schema could not be brought up to date.
type migrationError struct {
	from, to int64
	err      error
}

func (e *migrationError) Error() string {
	return fmt.Sprintf("migrate from schema %d to %d: %v", e.from, e.to, e.err)
}

func (e *migrationError) Unwrap() error { return e.err }

// checkSchema is for readers, who cannot migrate.
func (f file) checkSchema(ctx context.Context, db *sql.DB) error {
	has, err := schemaVersion(ctx, db)
	if err != nil {
		return err
	}
	names, err := fs.Glob(migrations, f.migrations+"/*.sql")
	if err != nil {
		return err
	}
	want := int64(len(names)) // migrations are numbered from 1 without holes
	switch {
	case has > want:
		return fmt.Errorf("%w: its schema is %d, this program knows %d", ErrNewer, has, want)
	case has < want:
		return fmt.Errorf("%w: its schema is %d, this program needs %d", ErrOlder, has, want)
	}
	return nil
}

// schemaVersion gives 0 for a database without a schema.
func schemaVersion(ctx context.Context, db *sql.DB) (int64, error) {
	var n int
	const there = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'goose_db_version'"
	if err := db.QueryRowContext(ctx, there).Scan(&n); err != nil {
		return 0, err
	}
	if n == 0 {
		return 0, nil
	}
	var v sql.NullInt64
	err := db.QueryRowContext(ctx, "SELECT max(version_id) FROM goose_db_version WHERE is_applied").Scan(&v)
	return v.Int64, err
}

// probeHistory writes what every opening writes, and prepares what the writer
// prepares: a damaged schema shows here, while the file can be set aside.
func probeHistory(ctx context.Context, db *sql.DB) error {
	if err := writeWords(ctx, db); err != nil {
		return err
	}
	r, err := newRecorder(ctx, db)
	if err != nil {
		return err
	}
	return r.close()
}

// writeWords stores the names behind the numbers, for the views. The
// vocabulary is only ever appended to.
func writeWords(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	for list, word := range map[string]func(uint8) string{
		"class":  func(i uint8) string { return fleet.Class(i).String() },
		"origin": func(i uint8) string { return fleet.Origin(i).String() },
		"kind":   func(i uint8) string { return fleet.Kind(i).String() },
		"row":    func(i uint8) string { return fleet.RowKind(i).String() },
	} {
		for i := uint8(0); i < 255 && !strings.HasSuffix(word(i), ")"); i++ {
			const q = "INSERT INTO words (list, id, word) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET word = excluded.word WHERE word <> excluded.word"
			if _, err := tx.ExecContext(ctx, q, list, i, word(i)); err != nil {
				return err
			}
		}
	}
	return tx.Commit()
}
