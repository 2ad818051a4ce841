package store

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/rpctop/internal/fleet"
)

// oldHistory makes a closed history of some size and gives its path.
func oldHistory(t *testing.T, dir string) string {
	t.Helper()
	h := openHistory(t, dir, Options{})
	r := rand.New(rand.NewPCG(1, 2))
	for seq := uint64(1); seq <= 2000; seq++ {
		h.Enqueue(sampleOfDay(r, seq), nil, false)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	return h.Path()
}

func TestACorruptHistoryIsSetAsideAndANewOneBegins(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"garbage in the header": func(b []byte) []byte { return append(bytes.Repeat([]byte{'x'}, 100), b[100:]...) },
		"cut off":               func(b []byte) []byte { return b[:3*4096] },
		"another file":          func([]byte) []byte { return []byte(strings.Repeat("this is a shopping list\n", 500)) },
		"a column of another name": func(b []byte) []byte {
			return bytes.ReplaceAll(b, []byte("first_byte     INTEGER"), []byte("first_bite     INTEGER"))
		},
		"a format to come": func(b []byte) []byte { return append(append(b[:44:44], 9, 9, 9, 9), b[48:]...) },
		"a damaged schema": func(b []byte) []byte {
			return append(append(b[:100:100], bytes.Repeat([]byte{0xee}, 3996)...), b[4096:]...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := oldHistory(t, dir)
			old, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			bad := damage(old)
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			h := openHistory(t, dir, Options{Now: func() time.Time { return time.UnixMilli(int64(day)) }})
			aside := path + ".corrupt-20251201T000000.000Z"
			if n := h.Notices(); len(n) != 1 || !strings.Contains(n[0], aside) {
				t.Errorf("notices %q", n)
			}
			if kept, err := os.ReadFile(aside); err != nil || !bytes.Equal(kept, bad) {
				t.Errorf("the old bytes were not kept: %v", err)
			}
			h.Enqueue(tick(1), nil, true)
			flush(t, h)
		})
	}
}

func TestDamageInsideIsAnErrorOfReadingAndNeverARow(t *testing.T) {
	dir := t.TempDir()
	path := oldHistory(t, dir)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 30 * 4096; i < 34*4096; i++ {
		b[i] = 0xee
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := OpenHistoryReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	var last error
	for _, err := range r.Rows(t.Context(), 0) {
		last = err
	}
	if !errors.Is(last, ErrCorrupt) {
		t.Errorf("got %v", last)
	}
}

func TestACorruptJournalStaysUntilTheOperatorSpeaks(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "journal.db")
	bad := []byte(strings.Repeat("nothing of the sort\n", 500))
	if err := os.WriteFile(path, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := OpenJournal(dir, Options{})
	if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "set it aside by your word") {
		t.Errorf("got %v", err)
	}
	if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, bad) {
		t.Errorf("it was touched: %v", err)
	}
	aside, err := SetAsideJournal(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(aside); err != nil || !bytes.Equal(b, bad) {
		t.Errorf("it was not kept: %v", err)
	}
	openJournal(t, dir, Options{})
}

func TestANewerSchemaIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	path := oldHistory(t, dir)
	db := raw(t, path)
	exec1(t, db, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)")
	_ = db.Close()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenHistory(dir, Options{}); !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "999") {
		t.Errorf("writer: %v", err)
	}
	if _, err := OpenHistoryReader(dir); !errors.Is(err, ErrNewer) {
		t.Errorf("reader: %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("it was changed: %v", err)
	}
}

func TestAReaderCannotBringASchemaUpToDate(t *testing.T) {
	dir := t.TempDir()
	db := raw(t, filepath.Join(dir, "history.db"))
	exec1(t, db, "CREATE TABLE something (x)")
	if _, err := OpenHistoryReader(dir); !errors.Is(err, ErrOlder) {
		t.Errorf("got %v", err)
	}
}

func TestSettingsThatTheDriverIgnoresAreNoticed(t *testing.T) {
	_, err := OpenHistory(t.TempDir(), Options{dsn: func(path string) string {
		return fileURI(path, []string{"_journalmode=WAL", "busytimeout=2000", "_fkeys=1"})
	}})
	if !errors.Is(err, ErrSetting) || !strings.Contains(err.Error(), "journal_mode") {
		t.Errorf("got %v", err)
	}
}

func TestEverySettingIsVerified(t *testing.T) {
	f := historyFile()
	full := strings.SplitN(f.writerDSN("/x", true), "?", 2)[1]
	for param, pragma := range map[string]string{
		"_busy_timeout=2000": "busy_timeout", "_foreign_keys=1": "foreign_keys", "_synchronous=1": "synchronous",
		"_auto_vacuum=2": "auto_vacuum", "_pragma=journal_size_limit(16777216)": "journal_size_limit",
	} {
		_, err := OpenHistory(t.TempDir(), Options{dsn: func(path string) string {
			without := strings.Replace(full, param, "ignored=1", 1)
			if without == full {
				t.Fatalf("%s is not asked for", param)
			}
			return fileURI(path, []string{without})
		}})
		if !errors.Is(err, ErrSetting) || !strings.Contains(err.Error(), pragma) {
			t.Errorf("without %s: %v", param, err)
		}
	}
}

func TestANetworkFileSystemIsRefusedInClearWords(t *testing.T) {
	o := Options{networkFS: func(string) string { return "NFS" }}
	_, err := OpenJournal(t.TempDir(), o)
	if !errors.Is(err, ErrNetworkFS) || !strings.Contains(err.Error(), "NFS") || !strings.Contains(err.Error(), "choose a local folder") {
		t.Errorf("got %v", err)
	}
	if _, _, err := TryLead(t.TempDir(), fleet.LeaderView{}, o); !errors.Is(err, ErrNetworkFS) {
		t.Errorf("lead: %v", err)
	}
}

func TestAFileInPlaceOfTheFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{path, filepath.Join(path, "rpctop")} {
		if _, err := OpenHistory(dir, Options{}); !errors.Is(err, ErrNotFolder) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

func TestAFolderInPlaceOfTheFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "history.db"), 0o700); err != nil {
		t.Fatal(err)
	}
	if h, err := OpenHistory(dir, Options{}); err == nil {
		_ = h.Close()
		t.Error("opened")
	}
}

func TestAPathWithAwkwardCharacters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b?c#d%20é")
	h := openHistory(t, dir, Options{})
	h.Enqueue(tick(1), nil, true)
	flush(t, h)
	if _, err := os.Stat(filepath.Join(dir, "history.db-wal")); err != nil {
		t.Error(err)
	}
}

// FuzzOpeningAnyFile: whatever lies there, opening it never panics, and either
// works or says what is wrong.
func FuzzOpeningAnyFile(f *testing.F) {
	f.Add([]byte(nil), 0)
	f.Add([]byte("SQLite format 3\x00"), 0)
	f.Add([]byte{0xff, 0xff}, 28)
	f.Add(bytes.Repeat([]byte{7}, 200), 100)
	f.Fuzz(func(t *testing.T, patch []byte, offset int) {
		dir := t.TempDir()
		h := openHistory(t, dir, Options{})
		h.Enqueue(tick(1), nil, false)
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(h.Path())
		if err != nil {
			t.Fatal(err)
		}
		if offset < 0 || offset > len(b) {
			t.Skip("beyond the file")
		}
		copy(b[offset:], patch)
		if err := os.WriteFile(h.Path(), b, 0o600); err != nil {
			t.Fatal(err)
		}
		h, err = OpenHistory(dir, Options{})
		if err != nil {
			var typed *Error
			if !errors.As(err, &typed) {
				t.Fatalf("untyped: %v", err)
			}
			return
		}
		for _, err := range h.Rows(t.Context(), 0) {
			_ = err // damage inside may show here
		}
		_ = h.Close()
	})
}
