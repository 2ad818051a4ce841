package main

import (
	"context"
	"testing"
	"time"

	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/store"
)

func TestCheckProbesWhenTheLeaderHasRecordedNothing(t *testing.T) {
	a, dir := appOnFolder(t)
	h, err := store.OpenHistory(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	lease, ok, err := store.TryLead(dir, fleet.LeaderView{PID: 1, Role: "serve"}, store.Options{})
	if err != nil || !ok {
		t.Fatal(err)
	}
	defer lease.Release()
	root := a.root()
	root.SetArgs([]string{"--data", dir, "--config", a.flags.config, "check", "--json"})
	if code := a.exitCode(root.ExecuteContext(context.Background())); code == 0 {
		t.Errorf("exit %d with no chain judged", code)
	}
}

func TestTwoVerbsAtOnceAreBothCarriedOut(t *testing.T) {
	a, dir := appOnFolder(t)
	lease, ok, err := store.TryLead(dir, fleet.LeaderView{PID: 1, Role: "pin"}, store.Options{})
	if err != nil || !ok {
		t.Fatal(err)
	}
	go func() {
		<-time.After(200 * time.Millisecond)
		_ = lease.Release() // what it says does not matter here
	}()
	v, err := a.carryOut(context.Background(), fleet.Command{ID: newID(), Author: "me", Action: fleet.ActionEject, Chain: "main", Endpoint: "a", Yes: true})
	if err != nil {
		t.Errorf("%v %v", v, err)
	}
}

func TestCheckProbesWhenTheLeaderDoesNotRecord(t *testing.T) {
	a, dir := appOnFolder(t)
	lease, ok, err := store.TryLead(dir, fleet.LeaderView{PID: 1, Role: "serve"}, store.Options{})
	if err != nil || !ok {
		t.Fatal(err)
	}
	defer lease.Release()
	root := a.root()
	root.SetArgs([]string{"--data", dir, "--config", a.flags.config, "check", "--json"})
	if code := a.exitCode(root.ExecuteContext(context.Background())); code == 1 {
		t.Errorf("exit %d", code)
	}
}

func TestAConsoleThatFailsEarlyLetsTheLeadGo(t *testing.T) {
	a, dir := appOnFolder(t)
	cfg, err := a.loadConfig()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	src := &source{}
	r := consoleRun{cfg: cfg, dir: dir, role: "console"}
	if err := a.attach(ctx, r, src); err != nil {
		t.Fatal(err)
	}
	cancel() // ui.Run ended before captain was scheduled
	if err := a.captain(ctx, r, src); err != nil {
		t.Fatal(err)
	}
	if who, _ := store.Leader(dir); who != nil {
		t.Errorf("the lease is still held by %+v", who)
	}
}
