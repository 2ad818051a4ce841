package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/rpctop/internal/fleet"
)

// later is a clock that the test moves.
type later struct{ ms atomic.Int64 }

func (l *later) now() time.Time { return time.UnixMilli(int64(day) + l.ms.Load()) }

func TestAFullDiskStopsRecordingAndNothingElse(t *testing.T) {
	var room atomic.Bool
	h := openHistory(t, t.TempDir(), Options{
		maxPages: 60,
		Now:      func() time.Time { return time.UnixMilli(int64(day)) },
		beforeCommit: func(c *sql.Conn) error {
			if !room.Load() {
				return nil
			}
			_, err := c.ExecContext(context.Background(), "PRAGMA max_page_count=100000")
			return err
		},
	})
	r := rand.New(rand.NewPCG(1, 2))
	const n = 20_000
	var given []fleet.Row
	for seq := uint64(1); seq <= n; seq++ {
		given = append(given, sampleOfDay(r, seq))
		h.Enqueue(given[seq-1], nil, false)
		if seq == 1 {
			flush(t, h)
		}
	}
	await(t, "the status says so", func() bool { return h.Status() != "" })
	if got := h.Status(); got != "not recorded since 00:00:00 UTC (disk full)" {
		t.Errorf("status %q", got)
	}
	if got := h.CommittedSeq(); got >= n {
		t.Errorf("claims that row %d was stored", got)
	}
	if rows := readAll(t, h.Reader, 0); uint64(len(rows)) != h.CommittedSeq() {
		t.Errorf("%d rows can be read, %d were committed", len(rows), h.CommittedSeq())
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.Flush(ended); !errors.Is(err, ErrFull) {
		t.Errorf("flush: %v", err)
	}

	room.Store(true)
	flush(t, h)
	if h.Status() != "" || h.Pending() != 0 {
		t.Errorf("with space again: status %q, %d pending", h.Status(), h.Pending())
	}
	// What was rolled back took its names and blocks with it.
	if rows := readAll(t, h.Reader, 0); !cmp.Equal(given, rows) {
		t.Errorf("%d rows are there, not the %d that were given", len(rows), n)
	}
}

// TestAReallyFullDisk wants a folder of its own on a file system of a few
// megabytes, such as `mount -t tmpfs -o size=4m tmpfs DIR`.
func TestAReallyFullDisk(t *testing.T) {
	dir := os.Getenv("RPCTOP_SMALL_DISK")
	if dir == "" {
		t.Skip("RPCTOP_SMALL_DISK names no folder on a small file system")
	}
	h := openHistory(t, filepath.Join(dir, "full"), Options{})
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	seq := uint64(0)
	await(t, "the disk is full", func() bool {
		for range 200 {
			seq++
			h.Enqueue(sampleOfDay(r, seq), nil, false)
		}
		return h.Status() != ""
	})
	if !strings.Contains(h.Status(), "disk full") {
		t.Errorf("status %q", h.Status())
	}
	if rows := readAll(t, h.Reader, 0); uint64(len(rows)) != h.CommittedSeq() {
		t.Errorf("%d rows can be read, %d were committed", len(rows), h.CommittedSeq())
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	await(t, "it records again", func() bool { return h.CommittedSeq() > 0 && h.Status() == "" })
}

func TestRowsThatCannotBeKeptBecomeAKnownGap(t *testing.T) {
	var full atomic.Bool
	gaps := make(chan fleet.Gap, 10)
	h := openHistory(t, t.TempDir(), Options{
		QueueLimit: 100,
		OnGap:      func(from, to uint64, cause string) { gaps <- fleet.Gap{From: from, To: to, Cause: cause} },
		beforeCommit: func(*sql.Conn) error {
			if full.Load() {
				return fmt.Errorf("write: %w", syscall.ENOSPC)
			}
			return nil
		},
	})
	h.Enqueue(tick(1), nil, false)
	flush(t, h)
	full.Store(true)
	for seq := uint64(2); seq <= 102; seq++ {
		h.Enqueue(tick(seq), nil, false)
	}
	gap := <-gaps
	if gap != (fleet.Gap{From: 2, To: 102, Cause: "disk full"}) {
		t.Errorf("gap %+v", gap)
	}
	if h.Status() == "" {
		t.Error("rows were lost, and the status is well")
	}
	full.Store(false)
	h.Enqueue(fleet.Row{Seq: 103, At: tick(103).At, Input: gap}, nil, true)
	h.Checkpoint(Checkpoint{Seq: 103, At: tick(103).At, State: []byte("state")})
	h.Enqueue(tick(104), nil, false)
	flush(t, h)
	if h.Status() != "" {
		t.Errorf("status %q", h.Status())
	}
	rows := readAll(t, h.Reader, 1)
	if len(rows) != 2 || rows[0].Seq != 103 || rows[0].Input != fleet.Input(gap) {
		t.Errorf("rows after the gap: %+v", rows)
	}
	if cp, err := h.NextCheckpoint(t.Context(), 2); err != nil || cp == nil || cp.Seq != 103 {
		t.Errorf("to resume at: %+v, %v", cp, err)
	}
}

func TestRowsThatTheDatabaseRefusesDoNotHoldUpOthers(t *testing.T) {
	gaps := make(chan fleet.Gap, 10)
	h := openHistory(t, t.TempDir(), Options{OnGap: func(from, to uint64, cause string) { gaps <- fleet.Gap{From: from, To: to, Cause: cause} }})
	h.Enqueue(tick(1), nil, false)
	flush(t, h)
	h.Enqueue(tick(1), nil, true) // another leader wrote it
	if gap := <-gaps; gap.From != 1 || gap.To != 1 || !strings.Contains(gap.Cause, "constraint") {
		t.Errorf("gap %+v", gap)
	}
	h.Enqueue(tick(2), nil, false)
	flush(t, h)
	if rows := readAll(t, h.Reader, 0); len(rows) != 2 {
		t.Errorf("rows %v", rows)
	}
}

func TestALockedFileIsWaitedFor(t *testing.T) {
	var clock later
	dir := t.TempDir()
	h := openHistory(t, dir, Options{Now: clock.now, beforeCommit: func(c *sql.Conn) error {
		_, err := c.ExecContext(context.Background(), "PRAGMA busy_timeout=1")
		return err
	}})
	other, err := raw(t, h.Path()).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	if _, err := other.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	h.Enqueue(tick(1), nil, true)
	await(t, "a commit fails", func() bool { h.mu.Lock(); defer h.mu.Unlock(); return h.failure != nil })
	if h.Status() != "" {
		t.Errorf("at once says %q", h.Status())
	}
	clock.ms.Add(10_000)
	if !strings.Contains(h.Status(), "locked by another process") {
		t.Errorf("after 10 s says %q", h.Status())
	}
	if _, err := other.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	flush(t, h)
	if h.Status() != "" || h.CommittedSeq() != 1 {
		t.Errorf("status %q, committed %d", h.Status(), h.CommittedSeq())
	}
}

func TestClosingSaysWhatIsLost(t *testing.T) {
	h, err := OpenHistory(t.TempDir(), Options{beforeCommit: func(*sql.Conn) error { return syscall.ENOSPC }})
	if err != nil {
		t.Fatal(err)
	}
	h.Enqueue(tick(1), nil, false)
	if err := h.Close(); !errors.Is(err, ErrLost) || !errors.Is(err, ErrFull) {
		t.Errorf("got %v", err)
	}
	if err := h.Close(); err != nil {
		t.Errorf("the second time: %v", err)
	}
}

func TestEachFailureOfTheSystemHasItsOwnKindAndWords(t *testing.T) {
	for _, c := range []struct {
		err  error
		kind error
		says string
	}{
		{syscall.ENOSPC, ErrFull, "disk full"},
		{syscall.EDQUOT, ErrFull, "disk full"},
		{syscall.EROFS, ErrReadOnly, "read-only"},
		{syscall.EACCES, ErrReadOnly, "read-only"},
		{syscall.ENOTDIR, ErrNotFolder, "not a folder"},
	} {
		err := historyFile().failure("open history", "/x/history.db", fmt.Errorf("open: %w", c.err))
		if !errors.Is(err, c.kind) || !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v becomes %v", c.err, err)
		}
	}
}
