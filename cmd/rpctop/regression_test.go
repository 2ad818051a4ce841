package main

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.com/rpctop/internal/engine"
	"example.com/rpctop/internal/failover"
	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/store"
	_ "modernc.org/sqlite"
)

func appOnFolder(t *testing.T) (*app, string) {
	dir := t.TempDir()
	a := newApp(os.Stdin, quiet(t), quiet(t))
	a.flags.data = filepath.Join(dir, "data")
	a.flags.config = filepath.Join(dir, "c.yaml")
	os.WriteFile(a.flags.config, []byte("chains:\n  main:\n    chain_id: 100\n    block_time: 5s\n    endpoints:\n      - {name: a, url: \"http://127.0.0.1:1\"}\n      - {name: b, url: \"http://127.0.0.1:2\"}\n      - {name: c, url: \"http://127.0.0.1:3\"}\n"), 0o600)
	return a, a.flags.data
}

// quiet is a place for what a test's program prints.
func quiet(t *testing.T) *os.File {
	f, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func overridesIn(t *testing.T, dir string) []fleet.Override {
	j, err := store.OpenJournal(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	o, err := j.Overrides(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func setOverrides(t *testing.T, dir string, o []fleet.Override) {
	j, err := store.OpenJournal(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if err := j.SetOverrides(context.Background(), o); err != nil {
		t.Fatal(err)
	}
}

func TestAVerbWithNobodyLeadingKeepsWhatTheJournalHolds(t *testing.T) {
	a, dir := appOnFolder(t)
	eject := func(n string) fleet.Command {
		return fleet.Command{ID: newID(), Author: "me", Action: fleet.ActionEject, Chain: "main", Endpoint: n, Yes: true}
	}
	if v, err := a.carryOut(context.Background(), eject("a")); err != nil || !v.Accepted {
		t.Fatal(v, err)
	}
	// as after a kill -9 between the journal's commit and the history's: recorded and acknowledged, not in history
	acked := append(overridesIn(t, dir), fleet.Override{Action: fleet.ActionEject, Chain: "main", Endpoint: "b", Author: "me", Since: 1})
	setOverrides(t, dir, acked)
	if v, err := a.carryOut(context.Background(), eject("c")); err != nil || !v.Accepted {
		t.Fatal(v, err)
	}
	if o := overridesIn(t, dir); len(o) != 3 {
		t.Errorf("overrides now %+v: the acknowledged ejection of b is lost", o)
	}
}

func TestAVerbKeepsTheJournalWhenTheHistoryIsNew(t *testing.T) {
	a, dir := appOnFolder(t)
	setOverrides(t, dir, []fleet.Override{{Action: fleet.ActionEject, Chain: "main", Endpoint: "b", Author: "me", Since: 1}})
	v, err := a.carryOut(context.Background(), fleet.Command{ID: newID(), Author: "me", Action: fleet.ActionEject, Chain: "main", Endpoint: "a", Yes: true})
	if err != nil || !v.Accepted {
		t.Fatal(v, err)
	}
	if o := overridesIn(t, dir); len(o) != 2 {
		t.Errorf("overrides now %+v", o)
	}
}

func TestADamagedCheckpointStopsNobody(t *testing.T) {
	a, dir := appOnFolder(t)
	if _, err := a.carryOut(context.Background(), fleet.Command{ID: newID(), Author: "me", Action: fleet.ActionEject, Chain: "main", Endpoint: "a", Yes: true}); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "history.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("INSERT INTO checkpoints (seq, at, fold, state) VALUES (1, 1, 1, x'00')"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	cfg, err := a.loadConfig()
	if err != nil {
		t.Fatal(err)
	}
	l, err := a.lead(context.Background(), cfg, dir, "serve")
	if err != nil {
		t.Errorf("lead fails: %v", err)
		return
	}
	l.close()
}

func TestAnUnreadableRowStopsNobody(t *testing.T) {
	a, dir := appOnFolder(t)
	if _, err := a.carryOut(context.Background(), fleet.Command{ID: newID(), Author: "me", Action: fleet.ActionEject, Chain: "main", Endpoint: "a", Yes: true}); err != nil {
		t.Fatal(err)
	}
	db, _ := sql.Open("sqlite", filepath.Join(dir, "history.db"))
	if _, err := db.Exec("INSERT INTO rows (seq, at, kind, body) VALUES (1000, 1, 200, x'00')"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	cfg, _ := a.loadConfig()
	l, err := a.lead(context.Background(), cfg, dir, "serve")
	if err != nil {
		t.Errorf("lead fails: %v", err)
		return
	}
	l.close()
}

func TestAnEjectionHoldsBesideACorruptJournal(t *testing.T) {
	a, dir := appOnFolder(t)
	if _, err := a.carryOut(context.Background(), fleet.Command{ID: newID(), Author: "me", Action: fleet.ActionEject, Chain: "main", Endpoint: "a", Yes: true}); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"-wal", "-shm"} {
		os.Remove(filepath.Join(dir, "journal.db"+s))
	}
	os.WriteFile(filepath.Join(dir, "journal.db"), []byte("this is no database at all, and it is long enough to be read as a header of SQLite ............................................."), 0o600)
	cfg, _ := a.loadConfig()
	l, err := a.lead(context.Background(), cfg, dir, "serve")
	if err != nil {
		t.Fatalf("lead fails: %v", err)
	}
	defer l.close()
	if n := len(l.State().Overrides); n != 1 {
		t.Errorf("%d overrides in force, want the ejection of a", n)
	}
}

// a hole in the rows, then a restart: event numbers collide
func TestARestartAcrossAHoleRecordsOn(t *testing.T) {
	dir := t.TempDir()
	h, err := store.OpenHistory(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	spec := []fleet.ChainSpec{{Name: "main", ChainID: 100, BlockTime: 1000, Endpoints: []fleet.EndpointSpec{{Name: "a", Operator: "a"}, {Name: "b", Operator: "b"}}}}
	var s *failover.State
	at := fleet.MillisOf(time.Now())
	put := func(in fleet.Input, keep bool) {
		row := fleet.Row{Seq: 1, At: at, Input: in}
		if s != nil {
			row.Seq = s.Seq + 1
		}
		next, evs := failover.Step(s, row)
		s = next
		if keep {
			h.Enqueue(row, evs, true)
		}
	}
	put(fleet.Lead{PID: 1, Wall: at, Role: "test"}, true)
	put(fleet.Config{Policy: fleet.DefaultPolicy(), Chains: spec}, true)
	for range 5 {
		put(fleet.Clock{Jump: 5000}, false)
	} // five rows with events, lost
	put(fleet.Clock{Jump: 1}, true)
	put(fleet.Gap{From: 3, To: 7, Cause: "test"}, true)
	// killed here: the checkpoint that follows a gap is not on the disk
	if err := h.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	h.Close()
	gaps := 0
	h, err = store.OpenHistory(dir, store.Options{OnGap: func(f, to uint64, c string) { gaps++ }})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	s, err = engine.Restore(context.Background(), historyReader{h.Reader})
	if err != nil {
		t.Fatal(err)
	}
	for range 8 {
		put(fleet.Lead{PID: 2, Wall: at, Role: "test"}, true)
		h.Flush(context.Background())
	}
	if gaps > 0 {
		t.Errorf("%d groups were given up after the restart", gaps)
	}
}
