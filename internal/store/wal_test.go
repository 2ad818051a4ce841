package store

import (
	"database/sql"
	"math/rand/v2"
	"strings"
	"testing"

	"example.com/rpctop/internal/fleet"
)

// ballast grows the write-ahead log by about a megabyte.
func ballast(t *testing.T, h *History, seq uint64) {
	t.Helper()
	h.Enqueue(fleet.Row{Seq: seq, At: day, Input: fleet.Recovery{Reason: strings.Repeat("x", 1<<20)}}, nil, false)
	flush(t, h)
}

func TestTheLogShrinksAgainAfterALongReader(t *testing.T) {
	h := openHistory(t, t.TempDir(), Options{})
	ballast(t, h, 1)
	tx, err := raw(t, h.Path()).BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRow("SELECT count(*) FROM rows").Scan(&n); err != nil {
		t.Fatal(err)
	}
	limit := historyFile().walLimit
	seq := uint64(2)
	for ; h.WALSize() <= limit+8<<20; seq++ {
		ballast(t, h, seq)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	for end := seq + 10; seq < end; seq++ {
		ballast(t, h, seq)
	}
	if got := h.WALSize(); got > limit {
		t.Errorf("the log has %d bytes after the reader ended, want at most %d", got, limit)
	}
}

func TestAPausedReaderOfRowsDoesNotHoldTheLog(t *testing.T) {
	h := openHistory(t, t.TempDir(), Options{})
	for seq := uint64(1); seq <= 2*rowsChunk; seq++ {
		h.Enqueue(tick(seq), nil, false)
	}
	flush(t, h)
	limit := historyFile().walLimit
	seq := uint64(2*rowsChunk + 1)
	for row, err := range h.Rows(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if row.Seq != 10 {
			continue
		}
		for range 40 { // while the caller thinks, more than the limit is written
			ballast(t, h, seq)
			seq++
		}
		if got := h.WALSize(); got > limit {
			t.Errorf("the log has %d bytes, want at most %d", got, limit)
		}
	}
}

func TestWritingGoesOnWhileAnExportReads(t *testing.T) {
	h := openHistory(t, t.TempDir(), Options{})
	r := rand.New(rand.NewPCG(1, 2))
	const n = 10_000
	seq := uint64(1)
	for ; seq <= n; seq++ {
		h.Enqueue(sampleOfDay(r, seq), nil, false)
	}
	flush(t, h)
	var read, last uint64
	for row, err := range h.Rows(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		read++
		last = row.Seq
		if read%1000 == 0 {
			h.Enqueue(sampleOfDay(r, seq), []fleet.Event{{Seq: seq, Row: seq}}, true)
			seq++
			flush(t, h)
		}
	}
	if read != n || last != n {
		t.Errorf("read %d rows up to %d, as of %d", read, last, n)
	}
	if h.CommittedSeq() != n+10 {
		t.Errorf("committed %d meanwhile", h.CommittedSeq()-n)
	}
}
