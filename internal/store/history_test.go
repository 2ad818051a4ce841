package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/rpctop/internal/fleet"
)

func (r *readDB) dir() string { return filepath.Dir(r.path) }

func TestARowIsCommittedWithoutBeingFlushed(t *testing.T) {
	commits := make(chan [2]uint64, 10)
	h := openHistory(t, t.TempDir(), Options{OnCommit: func(seq, event uint64) { commits <- [2]uint64{seq, event} }})
	h.Enqueue(tick(1), nil, false)
	h.Enqueue(tick(2), []fleet.Event{{Seq: 5, Row: 2, Kind: fleet.EventGate, Reason: "r"}}, false)
	if got := <-commits; got != [2]uint64{2, 5} {
		t.Fatalf("committed up to row and event %v, want [2 5] in one group", got)
	}
	if h.Pending() != 0 || h.CommittedSeq() != 2 || h.CommittedEvent() != 5 || h.Status() != "" {
		t.Errorf("pending %d, seq %d, event %d, status %q", h.Pending(), h.CommittedSeq(), h.CommittedEvent(), h.Status())
	}
}

func TestADecisionIsCommittedAtOnceWithAllBeforeIt(t *testing.T) {
	commits := make(chan uint64, 10)
	h := openHistory(t, t.TempDir(), Options{OnCommit: func(seq, _ uint64) { commits <- seq }})
	for seq := uint64(1); seq <= 5; seq++ {
		h.Enqueue(tick(seq), nil, seq == 5)
	}
	for seq := range commits {
		if seq == 5 {
			break
		}
	}
}

func TestFilesAndFolderAreTheOwnersAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "rpctop")
	h := openHistory(t, dir, Options{})
	j := openJournal(t, dir, Options{})
	h.Enqueue(tick(1), nil, true)
	flush(t, h)
	if _, err := j.InstallationKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := TryLead(dir, fleet.LeaderView{}, Options{}); err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(dir)
	if err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("folder has mode %v (%v)", fi.Mode(), err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if fi, err := e.Info(); err == nil && fi.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", e.Name(), fi.Mode())
		}
	}
}

func TestAnOpenFileIsMadeTheOwnersAgain(t *testing.T) {
	dir := t.TempDir()
	if err := openHistory(t, dir, Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "history.db")
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	openHistory(t, dir, Options{})
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %v (%v)", fi.Mode(), err)
	}
}

func TestAWarmStartFindsTheCheckpointAndTheRowsAfterIt(t *testing.T) {
	dir := t.TempDir()
	h := openHistory(t, dir, Options{})
	for seq := uint64(1); seq <= 10; seq++ {
		h.Enqueue(tick(seq), nil, false)
		if seq%4 == 0 {
			h.Checkpoint(Checkpoint{Seq: seq, At: tick(seq).At, Fold: 3, State: []byte{byte(seq)}})
		}
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	h = openHistory(t, dir, Options{})
	if h.CommittedSeq() != 10 {
		t.Errorf("last row %d", h.CommittedSeq())
	}
	for _, c := range []struct {
		notAfter, want uint64
	}{{3, 0}, {4, 4}, {7, 4}, {10, 8}, {1 << 63, 8}} {
		cp, err := h.LatestCheckpoint(t.Context(), c.notAfter)
		if err != nil {
			t.Fatal(err)
		}
		var want *Checkpoint
		if c.want != 0 {
			want = &Checkpoint{Seq: c.want, At: tick(c.want).At, Fold: 3, State: []byte{byte(c.want)}}
		}
		if diff := cmp.Diff(want, cp); diff != "" {
			t.Errorf("not after %d:\n%s", c.notAfter, diff)
		}
	}
	if rows := readAll(t, h.Reader, 8); len(rows) != 2 || rows[0].Seq != 9 {
		t.Errorf("rows after the checkpoint: %v", rows)
	}
}

func TestReadingEndsWhereItWasWhenItBegan(t *testing.T) {
	h := openHistory(t, t.TempDir(), Options{})
	const n = 3 * rowsChunk
	for seq := uint64(1); seq <= n; seq++ {
		h.Enqueue(tick(seq), nil, false)
	}
	flush(t, h)
	var read uint64
	for row, err := range h.Rows(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if read++; row.Seq != read {
			t.Fatalf("row %d after %d", row.Seq, read-1)
		}
		if row.Seq == 10 {
			h.Enqueue(tick(n+1), nil, true)
			flush(t, h)
		}
	}
	if read != n {
		t.Errorf("read up to %d, began when the last was %d", read, n)
	}
	for row := range h.RowsUntil(t.Context(), 5, 7) {
		read = row.Seq
	}
	if read != 7 {
		t.Errorf("the last row until 7 is %d", read)
	}
}

func TestAHoleInTheLogIsSkipped(t *testing.T) {
	h := openHistory(t, t.TempDir(), Options{})
	for _, seq := range []uint64{1, 2, 900_000, 900_001} {
		h.Enqueue(tick(seq), nil, false)
	}
	flush(t, h)
	var got []uint64
	for _, row := range readAll(t, h.Reader, 0) {
		got = append(got, row.Seq)
	}
	if diff := cmp.Diff([]uint64{1, 2, 900_000, 900_001}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAMomentIsFoundInTheLog(t *testing.T) {
	h := openHistory(t, t.TempDir(), Options{})
	if seq, err := h.SeqAt(t.Context(), day); seq != 0 || err != nil {
		t.Errorf("in an empty log: %d, %v", seq, err)
	}
	at := func(seq uint64, at fleet.Millis) {
		var in fleet.Input = fleet.Tick{}
		if seq%2 == 0 {
			in = fleet.Sample{Endpoint: fleet.EndpointID{Chain: "c", Name: "e"}}
		}
		h.Enqueue(fleet.Row{Seq: seq, At: at, Input: in}, nil, false)
	}
	for seq := uint64(3); seq <= 40; seq++ {
		at(seq, day+fleet.Millis(seq/3)*1000) // three rows to each second, from second 1
	}
	at(5000, day+20_000)
	flush(t, h)
	for _, c := range []struct {
		after fleet.Millis
		want  uint64
	}{{0, 0}, {999, 0}, {1000, 5}, {1999, 5}, {2000, 8}, {13_000, 40}, {19_999, 40}, {20_000, 5000}, {99_000, 5000}} {
		if got, err := h.SeqAt(t.Context(), day+c.after); err != nil || got != c.want {
			t.Errorf("%d ms: row %d (%v), want %d", c.after, got, err, c.want)
		}
	}
}

func TestEventsAreReadInPortions(t *testing.T) {
	h := openHistory(t, t.TempDir(), Options{})
	for seq := uint64(1); seq <= 9; seq++ {
		h.Enqueue(tick(seq), []fleet.Event{{Seq: seq, Row: seq, Kind: fleet.EventAlarm, Reason: "r"}}, false)
	}
	flush(t, h)
	seqs := func(evs []fleet.Event, err error) (out []uint64) {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range evs {
			out = append(out, e.Seq)
		}
		return out
	}
	if diff := cmp.Diff([]uint64{4, 5}, seqs(h.Events(t.Context(), 3, 2))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]uint64{7, 8, 9}, seqs(h.LastEvents(t.Context(), 3))); diff != "" {
		t.Error(diff)
	}
}

func TestAFollowerNoticesACommit(t *testing.T) {
	h := openHistory(t, t.TempDir(), Options{})
	r, err := OpenHistoryReader(h.dir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	var version int64
	changed := func() bool {
		c, err := r.Changed(t.Context(), &version)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if !changed() || changed() {
		t.Fatal("want: changed at the first look, then not")
	}
	h.Enqueue(tick(1), nil, true)
	flush(t, h)
	if !changed() || changed() {
		t.Fatal("want: changed once after a commit")
	}
}

func TestAFollowerNoticesThatTheFileWasReplaced(t *testing.T) {
	h := openHistory(t, t.TempDir(), Options{})
	r, err := OpenHistoryReader(h.dir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if err := os.Rename(h.Path(), h.Path()+".old"); err != nil {
		t.Fatal(err)
	}
	var version int64
	if _, err := r.Changed(t.Context(), &version); !errors.Is(err, ErrReplaced) {
		t.Errorf("got %v", err)
	}
	h.Enqueue(tick(1), nil, true)
	await(t, "the writer says so", func() bool { return h.Status() != "" })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.Flush(ctx); !errors.Is(err, ErrReplaced) {
		t.Errorf("flush: %v", err)
	}
}

func TestNoReaderWithoutAHistory(t *testing.T) {
	if _, err := OpenHistoryReader(t.TempDir()); !errors.Is(err, ErrMissing) {
		t.Errorf("got %v", err)
	}
}
