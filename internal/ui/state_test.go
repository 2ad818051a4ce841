package ui

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"example.com/rpctop/internal/fleet"
)

func TestAConsoleOpensAsItWasLeft(t *testing.T) {
	d := drive(t, newFake(), 120, 36, nil)
	d.command("filter lag>2")
	d.command("sort cost reverse")
	d.command("theme light")
	d.command("why base")
	kept, err := ParseState(d.c.state().JSON())
	if err != nil {
		t.Fatal(err)
	}
	again := drive(t, newFake(), 120, 36, func(o *Options) { o.State = kept })
	if again.c.state() != d.c.state() {
		t.Errorf("opened as %+v, left as %+v", again.c.state(), d.c.state())
	}
	other := drive(t, newFake(), 120, 36, func(o *Options) { o.State, o.Theme = kept, "mono" })
	if other.c.o.Theme != "mono" {
		t.Error("the flag does not win over what was kept")
	}
}

func TestABrokenStateIsAnError(t *testing.T) {
	for _, text := range []string{"", "{", "[]", "{}", `{"version":2}`, `{"version":1,"sort":"weight"}`, `{"version":1,"theme":"pink"}`,
		`{"version":1,"pane":"secret"}`, `{"version":1,"filter":"` + strings.Repeat("x", 5000) + `"}`} {
		if s, err := ParseState([]byte(text)); err == nil || s != (State{}) {
			t.Errorf("%.40q is read as %+v", text, s)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := State{Version: 1, Sort: rapid.SampledFrom(append(sortKeys(), sortKey{})).Draw(t, "sort").name, Reverse: rapid.Bool().Draw(t, "back"),
			Filter: rapid.StringN(0, 40, -1).Draw(t, "filter"), Theme: rapid.SampledFrom(themeNames()).Draw(t, "theme")}
		if got, err := ParseState(s.JSON()); err != nil || got != s {
			t.Fatalf("%+v is read back as %+v: %v", s, got, err)
		}
	})
}

func TestAStateOfAnotherFleetIsHarmless(t *testing.T) {
	d := drive(t, newFake(), 120, 36, func(o *Options) {
		o.State = State{Version: 1, Chain: "mars", Name: "rover", Filter: "\x1b[2Jlag>", Sort: "lag", Pane: "endpoint"}
	})
	d.wantWhole()
	d.keys("esc")
	d.wantWhole()
}

func TestTheLogShowsTheLastNotes(t *testing.T) {
	ring := NewLogRing(3, slog.LevelInfo)
	log := slog.New(ring).With("part", "probe").WithGroup("g").With("k", 1)
	d := drive(t, newFake(), 120, 36, func(o *Options) { o.Log = ring.Lines })
	d.command("log")
	d.wantText("nothing has been noted yet")
	log.Debug("too low")
	for _, s := range []string{"one", "two", "three", "fo\x1b[2Jur"} {
		log.Warn(s, "n", 7, slog.Group("h", "x", "y"))
	}
	d.wantText("warn   fo[2Jur part=probe g.k=1 g.n=7 g.h.x=y", "two")
	if s := d.text(); strings.Contains(s, " one ") || strings.Contains(s, "too low") {
		t.Error("more is kept than should be")
	}
	d.wantWhole()
	d.keys("e")
	if d.c.dialog != nil {
		t.Error("a verb works where no endpoint is shown")
	}
	d.keys("esc", "o")
	if d.c.screen() != screenLog {
		t.Error("o does not show the log")
	}
	if ring.Enabled(context.Background(), slog.LevelDebug) {
		t.Error("debug is kept")
	}
}

func TestTheBellRingsForNewAlarmsAndNotTooOften(t *testing.T) {
	src := newFake()
	src.events[0].Kind = fleet.EventAlarm // an old one
	d := drive(t, src, 120, 36, func(o *Options) { o.Bell = true })
	seq := uint64(412)
	rings := func(alarm bool) bool {
		seq++
		kind := fleet.EventGate
		if alarm {
			kind = fleet.EventAlarm
		}
		d.src.mu.Lock()
		d.src.events = append(d.src.events, fleet.Event{Seq: seq, At: fixtureAt, Kind: kind})
		d.src.mu.Unlock()
		d.c.pull()
		return d.c.ring() != nil
	}
	if d.c.ring() != nil {
		t.Error("it rings for what was there before")
	}
	if rings(false) {
		t.Error("it rings for what is no alarm")
	}
	var out strings.Builder
	d.c.out = &out
	d.src.events = append(d.src.events, fleet.Event{Seq: 414, At: fixtureAt, Kind: fleet.EventAlarm})
	seq = 414
	d.c.pull()
	d.answer(d.c.ring())
	if out.String() != "\a" {
		t.Errorf("sent %q", out.String())
	}
	if rings(true) {
		t.Error("it rings twice within the pause")
	}
	d.c.time = d.c.time.Add(bellPause + time.Second)
	if rings(false) {
		t.Error("it rings later for an alarm of the pause")
	}
	if !rings(true) {
		t.Error("it does not ring after the pause")
	}
}
