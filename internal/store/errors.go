package store

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// What can be wrong with a store; errors of this package match one of them by
// errors.Is. ErrUnanswered and ErrAnswered are about commands.
var (
	ErrNetworkFS  = errors.New("on a network file system")
	ErrReadOnly   = errors.New("read-only")
	ErrFull       = errors.New("disk full")
	ErrCorrupt    = errors.New("corrupt")
	ErrNewer      = errors.New("written by a newer version")
	ErrOlder      = errors.New("written by an older version")
	ErrLocked     = errors.New("locked by another process")
	ErrMissing    = errors.New("not there")
	ErrNotFolder  = errors.New("not a folder")
	ErrSetting    = errors.New("a setting did not take")
	ErrReplaced   = errors.New("removed or replaced while open")
	ErrLost       = errors.New("rows were lost")
	ErrUnanswered = errors.New("no verdict yet")
	ErrAnswered   = errors.New("already answered")
)

// Error says what was done to which file, what is wrong, and what that means.
// It matches its Kind and its Err.
type Error struct {
	Op    string // what was being done
	Path  string
	Kind  error  // one of the kinds above; nil: none of them
	Means string // what it means and what to do; "" if that is plain
	Err   error  // the cause; may be nil
}

// Error gives all of it in one line.
func (e *Error) Error() string {
	s := e.Op + " " + e.Path
	if e.Kind != nil {
		s += ": " + e.Kind.Error()
	}
	if e.Means != "" {
		s += ": " + e.Means
	}
	if e.Err != nil {
		s += fmt.Sprintf(" (%v)", e.Err)
	}
	return s
}

// Unwrap gives the kind and the cause.
func (e *Error) Unwrap() []error {
	var out []error
	for _, err := range []error{e.Kind, e.Err} {
		if err != nil {
			out = append(out, err)
		}
	}
	return out
}

// failure makes an Error of a cause, with what its kind means for that file.
// An *Error stays as it is.
func (f file) failure(op, path string, err error) error {
	var known *Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	kind := kindOf(err)
	return &Error{Op: op, Path: path, Kind: kind, Means: f.means(kind), Err: err}
}

// means says, in words for the operator, what a kind of failure means.
func (f file) means(kind error) string {
	switch kind {
	case ErrNetworkFS:
		return "SQLite's write-ahead log needs memory shared between processes, which network file systems do not give; choose a local folder"
	case ErrReadOnly:
		return "the folder and the file must be writable for this user: " + f.without
	case ErrFull:
		return "free some space: " + f.without
	case ErrLocked:
		return "another process holds it for longer than rpctop waits: " + f.without
	case ErrCorrupt:
		return f.corrupt
	case ErrNewer:
		return "use that version of rpctop, or another folder; it was left untouched"
	case ErrOlder:
		return "start rpctop once with the right to write here, so that it brings the file up to date"
	case ErrReplaced:
		return "what is written to the old one is lost to others; restart rpctop to begin a new one"
	case ErrMissing:
		return "nothing was recorded in this folder yet"
	}
	return ""
}

// kindOf sorts an error of SQLite or of the operating system; nil: none of the
// kinds.
func kindOf(err error) error {
	for _, kind := range []error{ErrNetworkFS, ErrReadOnly, ErrFull, ErrCorrupt, ErrNewer, ErrOlder,
		ErrLocked, ErrMissing, ErrNotFolder, ErrSetting, ErrReplaced} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	var se *sqlite.Error
	if errors.As(err, &se) {
		switch se.Code() & 0xff {
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
			return ErrLocked
		case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
			return ErrReadOnly
		case sqlite3.SQLITE_FULL:
			return ErrFull
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
			return ErrCorrupt
		}
		if se.Code() == sqlite3.SQLITE_IOERR_SHMSIZE {
			return ErrFull // the index of the write-ahead log could not grow
		}
		return nil
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return ErrFull
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return ErrReadOnly
	case errors.Is(err, syscall.ENOTDIR):
		return ErrNotFolder
	case errors.Is(err, fs.ErrNotExist):
		return ErrMissing
	}
	return nil
}

// hopeless reports an error that no repetition can heal: the rows themselves
// are refused.
func hopeless(err error) bool {
	var bad *encodeError
	if errors.As(err, &bad) {
		return true
	}
	var se *sqlite.Error
	if !errors.As(err, &se) {
		return false
	}
	switch se.Code() & 0xff {
	case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG:
		return true
	}
	return false
}

// reasonOf says in a few clear words why nothing is recorded.
func reasonOf(err error) string {
	switch kindOf(err) {
	case ErrFull:
		return "disk full"
	case ErrReadOnly:
		return "the file or its folder is read-only"
	case ErrLocked:
		return "locked by another process"
	case ErrCorrupt:
		return "the file is corrupt; it is set aside at the next start"
	case ErrReplaced:
		return "the file was removed or replaced; a restart begins a new one"
	}
	return "cannot be written: " + err.Error()
}
