package probe

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"example.com/rpctop/internal/fleet"
)

func TestSuspicionProbesAtOnceCoalescedAndAtMostOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door, tp := &fakeDoor{}, &tape{}
		p := Start(t.Context(), Options{Asker: door, Chains: chainOf(remote("a", 3_600_000, 0)), Sink: tp.sink})
		defer p.Close()
		pass(10 * time.Second)
		before := door.count("a", "latest")
		begin := time.Now()
		for range 100 {
			p.Suspect(idOf("a"))
		}
		pass(900 * time.Millisecond)
		calls := door.seen("a", "latest")[before:]
		if len(calls) != 1 || !calls[0].at.Equal(begin) {
			t.Fatalf("100 suspicions in one moment gave %d rounds", len(calls))
		}
		if n := door.count("a", "call-by-hash"); n != 1 {
			t.Errorf("the suspicion probe put %d calls at the head's hash, want 1", n)
		}
		s := tp.samples("a")[before]
		if !s.Suspicion || s.ChainID != "100" || s.ChainIDClass != fleet.ClassOK {
			t.Errorf("sample of a suspicion: %+v", s)
		}
		for range 100 { // every 100 ms for 10 s
			p.Suspect(idOf("a"))
			pass(100 * time.Millisecond)
		}
		pass(2 * time.Second)
		if n := door.count("a", "latest") - before - 1; n < 10 || n > 11 {
			t.Errorf("10 s of suspicion gave %d rounds, want one a second", n)
		}
	})
}

func TestASuspicionLeavesWhatIsNotUrgentToTheNextTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door := &fakeDoor{}
		p := Start(t.Context(), Options{Asker: door, Chains: chainOf(remote("a", 60_000, 0)), Sink: func(fleet.Input) {}})
		defer p.Close()
		p.Suspect(idOf("a"))
		pass(5 * time.Second)
		latest, finalized := door.seen("a", "latest"), door.seen("a", "finalized")
		if len(latest) != 2 || len(finalized) != 1 || finalized[0].at.Before(latest[1].at) {
			t.Errorf("heads asked %v, finality asked %v", latest, finalized)
		}
	})
}

func TestASuspicionDuringARoundIsHeldAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door := &fakeDoor{answer: func(ctx context.Context, c call) (*fleet.Attempt, error) {
			return hang(ctx, c, 4*time.Second)
		}}
		p := Start(t.Context(), Options{Asker: door, Chains: chainOf(remote("a", 3_600_000, 0)), Sink: func(fleet.Input) {}})
		defer p.Close()
		pass(2 * time.Second) // the first round is in flight
		p.Suspect(idOf("a"))
		pass(20 * time.Second)
		if n := door.count("a", "latest"); n != 2 || door.atOnce("a", "latest") != 1 {
			t.Errorf("%d rounds, %d at once; want the suspicion after the round", n, door.atOnce("a", "latest"))
		}
	})
}
