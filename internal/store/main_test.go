package store

import (
	"context"
	"database/sql"
	"os"
	"os/exec"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.com/rpctop/internal/fleet"
)

// childRole names, in the environment, what a copy of the test binary does
// instead of testing.
const childRole = "RPCTOP_STORE_TEST_CHILD"

func TestMain(m *testing.M) {
	if role := os.Getenv(childRole); role != "" {
		os.Exit(child(role, os.Args[1]))
	}
	goleak.VerifyTestMain(m)
}

// startChild runs a copy of this binary in a role, on a folder.
func startChild(t *testing.T, role, dir string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, dir)
	cmd.Env = append(os.Environ(), childRole+"="+role)
	cmd.Stderr = os.Stderr
	return cmd
}

func openHistory(t testing.TB, dir string, o Options) *History {
	t.Helper()
	h, err := OpenHistory(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func openJournal(t testing.TB, dir string, o Options) *Journal {
	t.Helper()
	j, err := OpenJournal(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func flush(t testing.TB, h *History) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := h.Flush(ctx); err != nil {
		t.Fatal(err)
	}
}

// await fails the test unless the condition comes true within a minute.
func await(t testing.TB, what string, cond func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("waited in vain: ", what)
		}
	}
}

func readAll(t testing.TB, r *Reader, after uint64) []fleet.Row {
	t.Helper()
	var out []fleet.Row
	for row, err := range r.Rows(t.Context(), after) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, row)
	}
	return out
}

// raw opens the file as any other program would.
func raw(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", fileURI(path, []string{"_busy_timeout=5000"}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func exec1(t testing.TB, db *sql.DB, q string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), q, args...); err != nil {
		t.Fatal(err)
	}
}

const day = fleet.Millis(1_764_547_200_000) // 2025-12-01T00:00:00Z

func tick(seq uint64) fleet.Row {
	return fleet.Row{Seq: seq, At: day + fleet.Millis(seq)*1000, Input: fleet.Tick{}}
}

func ptr[T any](v T) *T { return &v }
