package store

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"example.com/rpctop/internal/fleet"
)

// child is what a copy of the test binary does; it tells on stdout what was
// acknowledged.
func child(role, dir string) int {
	ctx := context.Background()
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, role+":", err)
		return 1
	}
	switch role {
	case "ingest":
		h, err := OpenHistory(dir, Options{})
		if err != nil {
			return fail(err)
		}
		j, err := OpenJournal(dir, Options{})
		if err != nil {
			return fail(err)
		}
		r := rand.New(rand.NewPCG(1, 2))
		for seq := h.CommittedSeq() + 1; ; seq++ {
			h.Enqueue(sampleOfDay(r, seq), []fleet.Event{{Seq: seq, Row: seq, Kind: fleet.EventGate}}, false)
			if seq%10 != 0 {
				continue
			}
			if err := h.Flush(ctx); err != nil {
				return fail(err)
			}
			cmd := fleet.Command{ID: fmt.Sprint(seq), Action: fleet.ActionPin}
			ov := []fleet.Override{{Action: fleet.ActionPin, Reason: cmd.ID}}
			if err := j.SaveVerdict(ctx, cmd, fleet.Verdict{Accepted: true}, ov); err != nil {
				return fail(err)
			}
			fmt.Println("acknowledged", seq)
		}
	case "usage":
		j, err := OpenJournal(dir, Options{})
		if err != nil {
			return fail(err)
		}
		for range usageRounds {
			if err := j.AddUsage(ctx, oneUse()); err != nil {
				return fail(err)
			}
		}
		if err := j.Close(); err != nil {
			return fail(err)
		}
		return 0
	case "lead":
		_, ok, err := TryLead(dir, fleet.LeaderView{PID: os.Getpid(), Role: "serve", Author: "mara", Version: "v1", Since: 77}, Options{})
		if err != nil || !ok {
			return fail(fmt.Errorf("lead: %v %w", ok, err))
		}
		fmt.Println("leads")
		select {} // until killed
	}
	return fail(fmt.Errorf("unknown role"))
}

func TestAKilledWriterLosesNothingThatWasAcknowledged(t *testing.T) {
	dir := t.TempDir()
	var last uint64
	for round := range 3 {
		cmd := startChild(t, "ingest", dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var acknowledged uint64
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if _, err := fmt.Sscanf(lines.Text(), "acknowledged %d", &acknowledged); err != nil {
				t.Fatalf("the child says %q", lines.Text())
			}
			if acknowledged >= last+200 {
				_ = cmd.Process.Kill() // SIGKILL; what it said before still comes
			}
		}
		_ = cmd.Wait()
		if acknowledged < last+200 {
			t.Fatalf("round %d: the child ended at %d by itself", round, acknowledged)
		}

		h := openHistory(t, dir, Options{})
		j := openJournal(t, dir, Options{})
		if len(h.Notices()) > 0 {
			t.Fatalf("round %d: %v", round, h.Notices())
		}
		if h.CommittedSeq() < acknowledged || h.CommittedEvent() != h.CommittedSeq() {
			t.Fatalf("round %d: acknowledged %d, there are %d rows, %d events", round, acknowledged, h.CommittedSeq(), h.CommittedEvent())
		}
		for i, row := range readAll(t, h.Reader, 0) {
			if row.Seq != uint64(i+1) {
				t.Fatalf("round %d: row %d follows %d", round, row.Seq, i)
			}
		}
		v, err := j.Verdict(t.Context(), fmt.Sprint(acknowledged))
		if err != nil || v == nil || !v.Accepted {
			t.Fatalf("round %d: verdict %v, %v", round, v, err)
		}
		ovs, err := j.Overrides(t.Context())
		if err != nil || len(ovs) != 1 {
			t.Fatalf("round %d: overrides %v, %v", round, ovs, err)
		}
		for _, db := range []string{h.Path(), j.Path()} {
			var verdict string
			if err := raw(t, db).QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
				t.Fatalf("round %d: %s: %s %v", round, db, verdict, err)
			}
		}
		last = h.CommittedSeq()
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

const usageRounds = 100

func oneUse() []Usage {
	return []Usage{
		{Day: "2026-12-01", Units: 3, Calls: 1},
		{Endpoint: fleet.EndpointID{Chain: "base", Name: "a"}, Day: "2026-12-01", Units: 2, Calls: 1},
	}
}

func TestProcessesAddUpTheirUseOfABudget(t *testing.T) {
	dir := t.TempDir()
	var children []interface{ Wait() error }
	for range 3 { // they also race for the creation of the file
		cmd := startChild(t, "usage", dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		children = append(children, cmd)
	}
	for _, c := range children {
		if err := c.Wait(); err != nil {
			t.Errorf("child: %v", err)
		}
	}
	j := openJournal(t, dir, Options{})
	us, err := j.Usages(t.Context(), "2026-12-01")
	if err != nil {
		t.Fatal(err)
	}
	if len(us) != 2 || us[0].Units != 9*usageRounds || us[1].Calls != 3*usageRounds {
		t.Errorf("got %+v", us)
	}
	if later, err := j.Usages(t.Context(), "2026-12-02"); err != nil || len(later) > 0 {
		t.Errorf("the next day: %+v, %v", later, err)
	}
}

func TestAKilledLeaderLeavesTheLeadToAnother(t *testing.T) {
	dir := t.TempDir()
	if who, err := Leader(dir); who != nil || err != nil {
		t.Fatalf("in an empty folder leads %+v, %v", who, err)
	}
	cmd := startChild(t, "lead", dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "leads") {
		t.Fatalf("the child says %q, %v", line, err)
	}
	who, err := Leader(dir)
	want := fleet.LeaderView{PID: cmd.Process.Pid, Role: "serve", Author: "mara", Version: "v1", Since: 77}
	if err != nil || who == nil || *who != want {
		t.Errorf("leads %+v, %v; want %+v", who, err, want)
	}
	if _, ok, err := TryLead(dir, fleet.LeaderView{}, Options{}); ok || err != nil {
		t.Errorf("a second leader: %v, %v", ok, err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if who, err := Leader(dir); who != nil || err != nil {
		t.Errorf("after its death leads %+v, %v", who, err)
	}
	lease, ok, err := TryLead(dir, fleet.LeaderView{Role: "console"}, Options{})
	if !ok || err != nil {
		t.Fatalf("taking the lead: %v, %v", ok, err)
	}
	if who, err := Leader(dir); err != nil || who == nil || who.Role != "console" {
		t.Errorf("leads %+v, %v", who, err)
	}
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
	if who, err := Leader(dir); who != nil || err != nil {
		t.Errorf("after the release leads %+v, %v", who, err)
	}
}
