package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Options of both files. The zero value is right for a folder of one user.
type Options struct {
	Now      func() time.Time // nil: time.Now
	DirMode  fs.FileMode      // of a folder that is created; 0: 0700
	FileMode fs.FileMode      // of the files; 0: 0600

	// QueueLimit is the number of rows in memory at which rows that cannot be
	// committed are given up as a gap; 0: 200 000. History only.
	QueueLimit int
	// OnGap is told, from the writer's goroutine, that rows from..to are lost.
	// The engine answers with a gap row and a checkpoint. History only.
	OnGap func(from, to uint64, cause string)
	// OnCommit is told, from the writer's goroutine, the last row and the last
	// event on the disk. History only.
	OnCommit func(seq, event uint64)

	maxPages     int                      // tests: the disk is full beyond
	beforeCommit func(*sql.Conn) error    // tests: before each group
	networkFS    func(dir string) string  // tests: instead of asking the system
	dsn          func(path string) string // tests: instead of the writer's own
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.DirMode == 0 {
		o.DirMode = 0o700
	}
	if o.FileMode == 0 {
		o.FileMode = 0o600
	}
	if o.QueueLimit == 0 {
		o.QueueLimit = 200_000
	}
	if o.networkFS == nil {
		o.networkFS = networkFS
	}
	return o
}

// file is what differs between the two files.
type file struct {
	name        string // of the file
	what        string // in messages
	migrations  string // folder of the embedded SQL
	synchronous int    // 1 NORMAL, 2 FULL
	busy        time.Duration
	walLimit    int64                                // bytes to which the write-ahead log is cut back
	replaceable bool                                 // set aside when corrupt
	probe       func(context.Context, *sql.DB) error // after migrating; may be nil
	without     string                               // what it means to be without it
	corrupt     string                               // what it means that it is corrupt
}

func historyFile() file {
	return file{
		name: "history.db", what: "history", migrations: "migrations/history", synchronous: 1,
		busy: 2 * time.Second, walLimit: 16 << 20, replaceable: true, probe: probeHistory,
		without: "until then the history is not recorded; probing and failover go on",
		corrupt: "it is set aside under a new name, and a new one begins, when rpctop leads here next",
	}
}

func journalFile() file {
	return file{
		name: "journal.db", what: "journal", migrations: "migrations/journal", synchronous: 2,
		busy: 5 * time.Second, walLimit: 4 << 20,
		without: "until then overrides are in force but not recorded, and nothing is signed",
		corrupt: "it holds what must not be lost, so it is not replaced unasked; restore a copy, or set it aside by your word; until then overrides are in force but not recorded, and nothing is signed",
	}
}

// openWriter creates or opens the file, verifies its settings and brings its
// schema up to date. The database has one connection. Notices tell of a file
// that was set aside.
func (f file) openWriter(dir string, o Options) (db *sql.DB, path string, notices []string, err error) {
	op := "open " + f.what
	path, err = filepath.Abs(filepath.Join(dir, f.name))
	if err != nil {
		return nil, "", nil, f.failure(op, f.name, err)
	}
	if err := f.prepareFolder(op, filepath.Dir(path), o); err != nil {
		return nil, "", nil, err
	}
	unlock, err := f.lockOpening(op, filepath.Dir(path), o.FileMode)
	if err != nil {
		return nil, "", nil, err
	}
	defer unlock()

	db, err = f.tryOpen(path, o)
	if f.replaceable && kindOf(err) == ErrCorrupt {
		aside, asideErr := setAside(path, o.Now())
		if asideErr != nil {
			return nil, "", nil, f.failure("set aside corrupt "+f.what, path, asideErr)
		}
		notices = append(notices, fmt.Sprintf("the %s was corrupt: set aside as %s, a new one begins", f.what, aside))
		db, err = f.tryOpen(path, o)
	}
	if err != nil {
		return nil, "", nil, f.failure(op, path, err)
	}
	return db, path, notices, nil
}

func (f file) prepareFolder(op, dir string, o Options) error {
	if err := os.MkdirAll(dir, o.DirMode); err != nil {
		return f.failure(op+" in folder", dir, err)
	}
	if name := o.networkFS(dir); name != "" {
		return &Error{Op: op + " in folder", Path: dir, Kind: fmt.Errorf("%w (%s)", ErrNetworkFS, name), Means: f.means(ErrNetworkFS)}
	}
	return nil
}

// lockOpening keeps two processes from creating, migrating or setting aside at
// the same time.
func (f file) lockOpening(op, dir string, mode fs.FileMode) (unlock func(), err error) {
	path := filepath.Join(dir, "open.lock")
	l := flock.New(path, flock.SetPermissions(mode))
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	switch ok, err := l.TryLockContext(ctx, 5*time.Millisecond); {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, f.failure(op, path, ErrLocked)
	case err != nil:
		return nil, f.failure(op, path, err)
	case !ok:
		return nil, f.failure(op, path, ErrLocked)
	}
	return func() { _ = l.Unlock() }, nil
}

func (f file) tryOpen(path string, o Options) (*sql.DB, error) {
	empty, err := createFile(path, o.FileMode)
	if err != nil {
		return nil, err
	}
	dsn := f.writerDSN(path, empty)
	if o.dsn != nil {
		dsn = o.dsn(path)
	}
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err = f.verify(ctx, db); err == nil {
		err = f.migrate(ctx, db)
	}
	if err == nil && f.probe != nil {
		err = f.probe(ctx, db)
	}
	if err == nil && o.maxPages > 0 {
		_, err = db.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count=%d", o.maxPages))
	}
	if err != nil {
		_ = db.Close()
		return nil, unlessDamaged(err)
	}
	return db, nil
}

// unlessDamaged takes for corrupt what SQLite takes for a wrong question: a
// file whose format or schema is not what its version says. A migration that
// fails is a fault of ours and no reason to set anything aside.
func unlessDamaged(err error) error {
	var se *sqlite.Error
	var ours *migrationError
	if errors.As(err, &se) && se.Code() == sqlite3.SQLITE_ERROR && !errors.As(err, &ours) {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}

// createFile makes the file with its mode, for SQLite gives its own the same,
// and narrows the mode of an existing one; it reports whether nothing is in it.
// It never opens an existing file: closing it would drop the locks that SQLite
// holds in this process.
func createFile(path string, mode fs.FileMode) (empty bool, err error) {
	fh, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, mode) //nolint:gosec // the store's own file
	switch {
	case err == nil:
		if err := fh.Close(); err != nil {
			return false, err
		}
		return true, os.Chmod(path, mode) // the umask may have taken from a group's mode
	case !errors.Is(err, fs.ErrExist):
		return false, err
	}
	fi, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	if !fi.Mode().IsRegular() {
		return false, fmt.Errorf("%s is no regular file", path)
	}
	if fi.Mode().Perm() != mode {
		_ = os.Chmod(path, mode) // another user's file keeps its mode
	}
	return fi.Size() == 0, nil
}

func fileURI(path string, params []string) string {
	return "file://" + (&url.URL{Path: path}).EscapedPath() + "?" + strings.Join(params, "&")
}

// writerDSN asks for all settings. The vacuum mode belongs to the file and is
// set once: setting it again would write to a file that may be a newer one.
func (f file) writerDSN(path string, empty bool) string {
	params := []string{
		fmt.Sprintf("_busy_timeout=%d", f.busy.Milliseconds()),
		"_journal_mode=WAL", "_foreign_keys=1", "_txlock=immediate", "_dqs=0", "_error_rc=1",
		fmt.Sprintf("_synchronous=%d", f.synchronous),
		"_pragma=trusted_schema(0)", "_pragma=wal_autocheckpoint(1000)",
		fmt.Sprintf("_pragma=journal_size_limit(%d)", f.walLimit),
	}
	if empty {
		params = append(params, "_auto_vacuum=2")
	}
	return fileURI(path, params)
}

// verify reads back what was asked for: the driver ignores parameters that it
// does not know, and SQLite a journal mode that the file system cannot do.
func (f file) verify(ctx context.Context, db *sql.DB) error {
	for _, want := range []struct{ pragma, value string }{
		{"journal_mode", "wal"},
		{"busy_timeout", fmt.Sprint(f.busy.Milliseconds())},
		{"foreign_keys", "1"},
		{"synchronous", fmt.Sprint(f.synchronous)},
		{"auto_vacuum", "2"},
		{"wal_autocheckpoint", "1000"},
		{"journal_size_limit", fmt.Sprint(f.walLimit)},
	} {
		var got string
		if err := db.QueryRowContext(ctx, "PRAGMA "+want.pragma).Scan(&got); err != nil {
			return err
		}
		if got != want.value {
			return fmt.Errorf("%w: %s is %q, asked for %q", ErrSetting, want.pragma, got, want.value)
		}
	}
	return nil
}

// setAside renames the file and what belongs to it, and gives the new name.
func setAside(path string, now time.Time) (string, error) {
	aside := path + ".corrupt-" + now.UTC().Format("20060102T150405.000Z")
	if err := os.Rename(path, aside); err != nil {
		return "", err
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Rename(path+suffix, aside+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return aside, nil
}
