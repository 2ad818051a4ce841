package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"example.com/rpctop/internal/fleet"
)

func TestEveryInputAndEventComesBackAsItWasGiven(t *testing.T) {
	h := openHistory(t, t.TempDir(), Options{})
	var seq, eventSeq uint64
	rapid.Check(t, func(rt *rapid.T) {
		var rows []fleet.Row
		var events []fleet.Event
		first, firstEvent := seq, eventSeq
		for _, in := range rapid.SliceOfN(anyInput(), 1, 20).Draw(rt, "inputs") {
			seq++
			row := fleet.Row{Seq: seq, At: anyMillis().Draw(rt, "at"), Input: in}
			evs := rapid.SliceOfN(anyEvent(), 0, 2).Draw(rt, "events")
			for i := range evs {
				eventSeq++
				evs[i].Seq = eventSeq
			}
			h.Enqueue(row, evs, false)
			rows, events = append(rows, row), append(events, evs...)
		}
		flush(t, h)
		// An empty list and none at all mean the same to the fold.
		if diff := cmp.Diff(rows, readAll(t, h.Reader, first), cmpopts.EquateEmpty()); diff != "" {
			rt.Fatalf("rows changed on the disk (-given +read):\n%s", diff)
		}
		got, err := h.Events(t.Context(), firstEvent, 1000)
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(events, got, cmpopts.EquateEmpty()); diff != "" {
			rt.Fatalf("events changed on the disk (-given +read):\n%s", diff)
		}
		if h.CommittedSeq() != seq || h.CommittedEvent() != eventSeq {
			rt.Fatalf("committed row %d, event %d; enqueued %d, %d", h.CommittedSeq(), h.CommittedEvent(), seq, eventSeq)
		}
	})
	// Another process sees the same, with nothing remembered by the writer.
	want := readAll(t, h.Reader, 0)
	r, err := OpenHistoryReader(h.dir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if diff := cmp.Diff(want, readAll(t, r, 0)); diff != "" {
		t.Fatalf("a second reader sees something else:\n%s", diff)
	}
}

func TestTwoStatementsAboutOneHashBothComeBack(t *testing.T) {
	h := openHistory(t, t.TempDir(), Options{})
	head := fleet.Head{Number: 7, Hash: fleet.Hash{1}, Parent: fleet.Hash{2}, Time: 100}
	forged := head
	forged.Parent, forged.Time = fleet.Hash{}, 101
	for i, hd := range []fleet.Head{head, forged, head} {
		h.Enqueue(fleet.Row{Seq: uint64(i + 1), At: day, Input: fleet.Sample{
			Endpoint: fleet.EndpointID{Chain: "base", Name: "a"}, Outcome: fleet.Outcome{Class: fleet.ClassOK}, Head: &hd,
		}}, nil, false)
	}
	flush(t, h)
	rows := readAll(t, h.Reader, 0)
	for i, want := range []fleet.Head{head, forged, head} {
		if got := *rows[i].Input.(fleet.Sample).Head; got != want {
			t.Errorf("sample %d: head %+v, want %+v", i, got, want)
		}
	}
	var n int
	if err := raw(t, h.Path()).QueryRow("SELECT count(*) FROM blocks").Scan(&n); err != nil || n != 1 {
		t.Errorf("%d blocks stored (%v), want 1", n, err)
	}
}

func FuzzPackedTrafficOfAnyBytesIsReadOrRefused(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{2, 2, 0, 0, 2, 2, 0, 2, 0})
	f.Add([]byte{2, 2, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		m := newMemory()
		for id := range int64(64) { // endpoints 0 to 63 have names; no database is asked
			m.endpoints[id] = fleet.EndpointID{Chain: "c", Name: "e"}
			m.texts[id] = "t"
		}
		r := varints{rest: b}
		if id := r.next(); id < 0 || id > 63 {
			t.Skip("the endpoint would be looked up")
		}
		defer func() {
			if p := recover(); p != nil && !r.bad {
				t.Skip("a text would be looked up")
			}
		}()
		tr, err := m.within(t.Context(), nil).unpackTraffic(b)
		if err == nil && len(tr.Counts)+len(tr.Latency) > len(b) {
			t.Fatalf("%d bytes gave %d counts", len(b), len(tr.Counts)+len(tr.Latency))
		}
	})
}
