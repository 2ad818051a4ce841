package ui

import (
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden screens anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("screen %s (-want +got):\n%s", name, diff)
	}
}

var sizes = [...][2]int{{200, 50}, {120, 36}, {80, 24}, {40, 10}}

func TestScreensLookAsTheyDid(t *testing.T) {
	screens := []struct {
		name string
		set  func(*Options)
		keys []string
	}{
		{"overview", nil, nil},
		{"why", nil, []string{"2", "w"}},
		{"endpoint", nil, []string{"enter"}},
		{"help", nil, []string{"?"}},
		{"eject", nil, []string{"2", "e"}},
		{"filter", nil, []string{"/", "l", "a", "g", ">", "2", " ", "!", "s", "t", "a", "t", "e", ":", "d", "o", "w", "n"}},
		{"sort", nil, []string{"s", "l", "s"}},
		{"command", nil, []string{":", "e", "j", "tab", "b", "tab", "c", "tab"}},
		{"log", func(o *Options) { o.Log = fixtureLog }, []string{"o"}},
		{"events", nil, []string{"tab", "j", "j", "j"}},
		{"overview-dark", func(o *Options) { o.Colour = ColourAlways }, nil},
		{"overview-light", func(o *Options) { o.Colour, o.Theme = ColourAlways, "light" }, nil},
		{"overview-mono", func(o *Options) { o.Colour, o.Theme = ColourAlways, "mono" }, nil},
		{"overview-ascii", func(o *Options) { o.ASCII = true }, nil},
	}
	for _, s := range screens {
		for _, size := range sizes {
			name := fmt.Sprintf("%s-%dx%d", s.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				d := drive(t, newFake(), size[0], size[1], s.set)
				d.keys(s.keys...)
				d.wait(200 * time.Millisecond)
				d.wantWhole()
				golden(t, name, d.text())
				if strings.HasPrefix(name, "overview-dark-120") || strings.HasPrefix(name, "overview-light-120") || strings.HasPrefix(name, "overview-mono-120") {
					golden(t, name+"-sequences", strings.ReplaceAll(d.c.View(), "\x1b", "^[")+"\n")
				}
			})
		}
	}
}

func fixtureLog() []LogLine {
	at := fixtureAt.Time()
	return []LogLine{
		{at.Add(-time.Minute), slog.LevelInfo, "take the lead data=/var/lib/rpctop pid=4242"},
		{at.Add(-time.Second), slog.LevelWarn, "the store is behind: 1,204 rows wait, the oldest for 3.2 s; nothing is lost as long as this process lives"},
		{at, slog.LevelError, "write the history: disk full"},
	}
}

func TestASCIIScreensHoldNothingElse(t *testing.T) {
	for _, keys := range [][]string{nil, {"w"}, {"enter"}, {"?"}, {"o"}, {"s"}, {"/", "x", ">"}, {":", "e", "tab"}, {"2", "e"}} {
		d := drive(t, newFake(), 120, 50, func(o *Options) { o.ASCII = true })
		d.keys(keys...)
		d.wait(time.Second)
		if view := d.c.View(); !isPlain(strings.ReplaceAll(view, "\n", "")) {
			t.Errorf("after %q the frame holds glyphs beyond ASCII:\n%s", keys, view)
		}
	}
}

func TestStateIsToldWithoutColourToo(t *testing.T) {
	for state := range map[string]bool{"ok": true, "lagging": true, "stale": true, "down": true, "throttled": true, "refused": true,
		"wrong-chain": true, "forked": true, "identity-flap": true, "identity-unknown": true, "ejected": true, "unknown": true} {
		glyph, _ := stateLook(state)
		if cells(glyph) != 1 {
			t.Errorf("the glyph of %s takes %d cells", state, cells(glyph))
		}
		src := newFake()
		e := &src.snap.Chains[0].Endpoints[1]
		e.State = state
		d := drive(t, src, 80, 24, nil)
		d.wantText(glyph + " " + head(state, 10))
	}
}

func TestASteppedBackScreenStillShowsWhoLeadsAndWhatIsNotRecorded(t *testing.T) {
	src := newFake()
	src.snap.Following = true
	src.snap.Leader.Role = "serve"
	src.snap.Recording.History = "disk full"
	d := drive(t, src, 120, 36, nil)
	d.wantText("NOT RECORDING: disk full", "following pid 4242 (serve)")
	none := *src.snap
	none.Leader = nil
	src.show(&none)
	d.wait(100 * time.Millisecond)
	d.wantText("nobody leads")
}
