package store

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"example.com/rpctop/internal/fleet"
)

func command(id string) fleet.Command {
	return fleet.Command{ID: id, Author: "mara", Action: fleet.ActionPin, Chain: "base", Endpoint: "own", Reason: "maintenance",
		Expect: &fleet.Expect{Serving: true, State: "ok", Eligible: 3}}
}

func TestOverridesComeBackAsTheyWereSet(t *testing.T) {
	j := openJournal(t, t.TempDir(), Options{})
	rapid.Check(t, func(rt *rapid.T) {
		want := rapid.SliceOfN(anyOverride(), 0, 5).Draw(rt, "overrides")
		if err := j.SetOverrides(t.Context(), want); err != nil {
			rt.Fatal(err)
		}
		got, err := j.Overrides(t.Context())
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			rt.Fatal(diff)
		}
	})
}

func TestACommandIsAskedFoundAnsweredAndTold(t *testing.T) {
	dir := t.TempDir()
	now := func() time.Time { return time.UnixMilli(int64(day)) }
	leader, asker := openJournal(t, dir, Options{Now: now}), openJournal(t, dir, Options{Now: now})
	var version int64
	if _, err := leader.Changed(t.Context(), &version); err != nil {
		t.Fatal(err)
	}
	if err := asker.Ask(t.Context(), command("c1"), day+5000); err != nil {
		t.Fatal(err)
	}
	if err := asker.Ask(t.Context(), command("c1"), day+5000); err == nil {
		t.Error("the same command was asked twice")
	}
	if changed, err := leader.Changed(t.Context(), &version); !changed || err != nil {
		t.Errorf("the leader did not notice: %v", err)
	}
	told := make(chan fleet.Verdict, 1)
	go func() {
		v, err := asker.Await(t.Context(), "c1")
		if err != nil {
			t.Error(err)
		}
		told <- v
	}()
	cmds, err := leader.PendingCommands(t.Context(), day+4999)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]fleet.Command{command("c1")}, cmds); diff != "" {
		t.Fatal(diff)
	}
	v := fleet.Verdict{ID: "c1", Accepted: true, Recorded: true, Message: "own serves base"}
	ovs := []fleet.Override{{Action: fleet.ActionPin, Chain: "base", Endpoint: "own", Author: "mara", Since: day}}
	if err := leader.SaveVerdict(t.Context(), cmds[0], v, ovs); err != nil {
		t.Fatal(err)
	}
	if got := <-told; got != v {
		t.Errorf("told %+v", got)
	}
	if got, err := asker.Overrides(t.Context()); err != nil || len(got) != 1 || got[0] != ovs[0] {
		t.Errorf("overrides %+v, %v", got, err)
	}
	if cmds, err := leader.PendingCommands(t.Context(), day+4999); err != nil || len(cmds) > 0 {
		t.Errorf("still pending: %v, %v", cmds, err)
	}
}

func TestAnExpiredCommandNeverRuns(t *testing.T) {
	j := openJournal(t, t.TempDir(), Options{})
	if err := j.Ask(t.Context(), command("late"), day+5000); err != nil {
		t.Fatal(err)
	}
	if cmds, err := j.PendingCommands(t.Context(), day+5000); err != nil || len(cmds) > 0 {
		t.Fatalf("given out at its expiry: %v, %v", cmds, err)
	}
	v, err := j.Await(t.Context(), "late")
	if err != nil || v.Accepted || v.Code != "expired" {
		t.Errorf("verdict %+v, %v", v, err)
	}
	// A leader that had read it before cannot answer it any more.
	ovs := []fleet.Override{{Action: fleet.ActionPin}}
	if err := j.SaveVerdict(t.Context(), command("late"), fleet.Verdict{Accepted: true}, ovs); !errors.Is(err, ErrAnswered) {
		t.Errorf("answered twice: %v", err)
	}
	if got, err := j.Overrides(t.Context()); err != nil || len(got) > 0 {
		t.Errorf("its override is in force: %v, %v", got, err)
	}
}

func TestARefusedCommandChangesNoOverride(t *testing.T) {
	j := openJournal(t, t.TempDir(), Options{})
	before := []fleet.Override{{Action: fleet.ActionEject, Chain: "base", Endpoint: "b"}}
	if err := j.SetOverrides(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	if err := j.SaveVerdict(t.Context(), command("own"), fleet.Verdict{Code: "unsafe"}, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := j.Overrides(t.Context()); err != nil || !cmp.Equal(got, before) {
		t.Errorf("overrides %v, %v", got, err)
	}
	if v, err := j.Verdict(t.Context(), "own"); err != nil || v.Code != "unsafe" || v.ID != "own" {
		t.Errorf("a command that never was in the inbox: %+v, %v", v, err)
	}
}

func TestAVerdictIsRecordedWholeOrNotAtAll(t *testing.T) {
	j := openJournal(t, t.TempDir(), Options{})
	if err := j.Ask(t.Context(), command("c"), day+5000); err != nil {
		t.Fatal(err)
	}
	exec1(t, raw(t, j.Path()), "CREATE TRIGGER broken BEFORE INSERT ON overrides BEGIN SELECT raise(ABORT, 'broken'); END")
	err := j.SaveVerdict(t.Context(), command("c"), fleet.Verdict{Accepted: true}, []fleet.Override{{Action: fleet.ActionPin}})
	if err == nil {
		t.Fatal("it was saved")
	}
	if v, err := j.Verdict(t.Context(), "c"); v != nil || err != nil {
		t.Errorf("a verdict is there without its override: %+v, %v", v, err)
	}
}

func TestAwaitingEndsWithItsContext(t *testing.T) {
	j := openJournal(t, t.TempDir(), Options{})
	if err := j.Ask(t.Context(), command("c"), day+5000); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Millisecond)
	defer cancel()
	if _, err := j.Await(ctx, "c"); !errors.Is(err, ErrUnanswered) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if _, err := j.Await(t.Context(), "never asked"); !errors.Is(err, ErrMissing) {
		t.Errorf("got %v", err)
	}
}

func TestTheInstallationKeyIsMadeOnce(t *testing.T) {
	dir := t.TempDir()
	a, b := openJournal(t, dir, Options{}), openJournal(t, dir, Options{})
	one, err := a.InstallationKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	two, err := b.InstallationKey(t.Context())
	if err != nil || len(one) != 32 || !bytes.Equal(one, two) || bytes.Equal(one, make([]byte, 32)) {
		t.Errorf("keys %x, %x, %v", one, two, err)
	}
}

func TestUseIsAddedWholeOrNotAtAll(t *testing.T) {
	j := openJournal(t, t.TempDir(), Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := j.AddUsage(ctx, oneUse()); err == nil {
		t.Error("added under a cancelled context")
	}
	exec1(t, raw(t, j.Path()), "CREATE TRIGGER broken BEFORE INSERT ON budgets WHEN new.chain <> '' BEGIN SELECT raise(ABORT, 'broken'); END")
	if err := j.AddUsage(t.Context(), oneUse()); err == nil {
		t.Error("added past an error")
	}
	if us, err := j.Usages(t.Context(), ""); err != nil || len(us) > 0 {
		t.Errorf("a part was added: %+v, %v", us, err)
	}
}

func TestAReaderOfTheJournalCannotWrite(t *testing.T) {
	j := openJournal(t, t.TempDir(), Options{})
	r, err := OpenJournalReader(j.dir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if _, err := r.db.ExecContext(t.Context(), "DELETE FROM overrides"); err == nil {
		t.Error("it can")
	}
	if _, err := OpenJournalReader(t.TempDir()); !errors.Is(err, ErrMissing) {
		t.Errorf("without a journal: %v", err)
	}
}
