package ui

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/rpctop/internal/fleet"
)

func TestTheSelectionStaysOnItsEndpointWhileRowsMove(t *testing.T) {
	d := drive(t, newFake(), 80, 24, nil)
	d.keys("j", "j")
	want := d.c.sel
	for i := range 20 {
		s := fixtureSnapshot()
		es := s.Chains[0].Endpoints
		for range i % 4 {
			es = append(es[1:len(es):len(es)], es[0])
		}
		s.Chains[0].Endpoints = es
		s.Version = uint64(i + 2)
		d.src.show(s)
		d.wait(tickFocused)
		if d.c.sel != want {
			t.Fatalf("selection is %v, was %v", d.c.sel, want)
		}
		for _, l := range d.screen() {
			if strings.HasPrefix(l, "▸ ") && !strings.Contains(l, want.Name) {
				t.Fatalf("the marked row is another one: %q", l)
			}
		}
	}
}

func TestTheOrderIsFrozenWhileADialogIsOpen(t *testing.T) {
	d := drive(t, newFake(), 120, 50, nil)
	before := slices.Clone(d.c.ids())
	d.keys("e")
	s := fixtureSnapshot()
	slices.Reverse(s.Chains[0].Endpoints)
	d.src.show(s)
	d.wait(time.Second)
	if got := d.c.ids(); !slices.Equal(got, before) {
		t.Errorf("order %v, was %v", got, before)
	}
	d.keys("esc")
	if got := d.c.ids(); slices.Equal(got, before) {
		t.Error("the order stays frozen after the dialog")
	}
}

func TestSpaceFreezesTheDisplayOnly(t *testing.T) {
	d := drive(t, newFake(), 120, 36, nil)
	d.keys(" ")
	s := fixtureSnapshot()
	s.Chains[0].Endpoints[1].State, s.EventSeq = "stale", 413
	d.src.show(s)
	d.src.events = append(d.src.events, fleet.Event{Seq: 413, At: fixtureAt, Kind: fleet.EventAlarm, Reason: "something new"})
	d.wait(time.Second)
	d.wantText("FROZEN at 23:00:00")
	if strings.Contains(d.text(), "something new") {
		t.Error("an event came through")
	}
	d.keys(" ")
	d.wantText("something new", "◆ stale       official")
}

func TestMissedEventsAreShownAsAGap(t *testing.T) {
	d := drive(t, newFake(), 120, 36, nil)
	d.src.mu.Lock()
	d.src.kept = 3
	for i := range 40 {
		d.src.events = append(d.src.events, fleet.Event{Seq: 413 + uint64(i), At: fixtureAt, Kind: fleet.EventFailover, Reason: "busy"})
	}
	d.src.mu.Unlock()
	d.wait(tickFocused)
	d.wantText("37 events came faster than could be shown")
}

func TestAgesGoOnWhenTheEngineDoesNot(t *testing.T) {
	d := drive(t, newFake(), 200, 50, nil)
	d.wait(10 * time.Minute)
	d.wantText("10m ago")
}

func TestTheTickSlowsDownWithoutFocus(t *testing.T) {
	d := drive(t, newFake(), 80, 24, nil)
	gen := d.c.tickGen
	if d.send(tea.BlurMsg{}) == nil || d.c.tickGen == gen {
		t.Fatal("losing the focus does not change the pace")
	}
	if d.send(tickMsg{gen, d.at}) != nil {
		t.Error("a tick of the old pace goes on: there would be two")
	}
	if d.send(tea.FocusMsg{}) == nil {
		t.Error("no tick after the focus came back")
	}
}

func TestAnEventLeadsToItsEndpoint(t *testing.T) {
	d := drive(t, newFake(), 120, 36, nil)
	d.keys("tab", "j", "j", "j", "enter")
	if d.c.screen() != screenEndpoint || d.c.sel != (fleet.EndpointID{Chain: "gnosis", Name: "ankr"}) {
		t.Errorf("screen %d, selection %v", d.c.screen(), d.c.sel)
	}
	d.keys("esc", "tab", "tab", "j", "j", "w")
	if d.c.screen() != screenWhy || d.c.sel.Chain != "base" {
		t.Errorf("screen %d, selection %v", d.c.screen(), d.c.sel)
	}
}

func TestNumbersLeadToChains(t *testing.T) {
	d := drive(t, newFake(), 80, 24, nil)
	for k, want := range map[string]string{"1": "official", "2": "coinbase", "3": "flashbots"} {
		if d.keys(k); d.c.sel.Name != want {
			t.Errorf("%s selects %v, want %s", k, d.c.sel, want)
		}
	}
	d.keys("9")
	d.wantText("there is no chain 9")
}

func TestEveryEndpointCanBeReachedAndIsVisible(t *testing.T) {
	for _, size := range sizes {
		src := &fakeSource{snap: manyChains(20, 300)}
		d := drive(t, src, size[0], size[1], nil)
		d.keys("g")
		for range 300 {
			if marked(d) != 1 {
				t.Fatalf("%v: %v is not visible exactly once:\n%s", size, d.c.sel, d.text())
			}
			d.keys("j")
		}
		for _, k := range []string{"g", "G", "ctrl+u", "pgup", "pgdown", "ctrl+d", "k"} {
			if d.keys(k); marked(d) != 1 {
				t.Fatalf("%v: after %s %v is not visible", size, k, d.c.sel)
			}
		}
	}
}

func marked(d *driver) (n int) {
	for _, l := range strings.Split(d.c.View(), "\n") {
		if strings.HasPrefix(l, "▸ ") && strings.Contains(l, strings.TrimPrefix(d.c.sel.Name, "endpoint")) {
			n++
		}
	}
	return n
}

func TestTheClipboardGetsOneLineWithoutLineBreaks(t *testing.T) {
	src := newFake()
	src.snap.Chains[0].Endpoints[3].Gate.Evidence = "bad\nrm -rf\r\u2028x"
	d := drive(t, src, 120, 36, func(o *Options) {
		o.Getenv = func(k string) string { return map[string]string{"TMUX": "/tmp/tmux-1/default,1,0"}[k] }
	})
	var out strings.Builder
	d.c.out = &out
	d.keys("j", "j", "j")
	d.answer(d.keys("y"))
	seq := out.String()
	plainSeq, through, ok := strings.Cut(seq, "\x1bPtmux;")
	if !ok || !strings.HasPrefix(plainSeq, "\x1b]52;c;") || !strings.HasPrefix(through, "\x1b\x1b]52;c;") || !strings.HasSuffix(through, "\x1b\\") {
		t.Fatalf("sequence %q", seq)
	}
	body := strings.TrimRight(strings.TrimPrefix(plainSeq, "\x1b]52;c;"), "\x07\x1b\\")
	text, err := base64.StdEncoding.DecodeString(body)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(string(text), "\n\r\u2028") || !strings.Contains(string(text), "gnosis/ankr stale") {
		t.Errorf("copied %q", text)
	}
	if strings.ContainsAny(clipboard("a\nb", false), "\n") {
		t.Error("a line break is copied")
	}
}

func TestAllEndpointsDownShowsLastValuesWithTheirAge(t *testing.T) {
	src := newFake()
	ch := &src.snap.Chains[0]
	ch.State, ch.Incumbent, ch.Reference.Since = "none", "", fixtureAt-720_000
	for i := range ch.Endpoints {
		e := &ch.Endpoints[i]
		*e = gated(*e, "down", "connection refused", "3 good probe rounds in a row", fixtureAt-700_000, 0)
		e.HeadAt = fixtureAt - 720_000
	}
	d := drive(t, src, 200, 50, nil)
	d.wantText("✕ nobody serves", "12m ago", "38,211,904")
}

func TestTheDocumentsHaveEveryKey(t *testing.T) {
	md, text := KeysMarkdown(), KeysText()
	seen := map[string]string{}
	for _, b := range keymap() {
		for _, k := range b.keys {
			if seen[k] != "" {
				t.Errorf("%q is bound to %q and %q", k, seen[k], b.help)
			}
			seen[k] = b.help
		}
		if !strings.Contains(md, b.help) || !strings.Contains(text, b.help) {
			t.Errorf("%q is in no document", b.help)
		}
	}
	d := drive(t, newFake(), 200, 50, nil)
	d.keys("?")
	for _, b := range append(keymap(), dialogKeys()...) {
		d.wantText(b.help)
	}
}

func TestAKeyThatDoesNothingSaysSo(t *testing.T) {
	d := drive(t, newFake(), 80, 24, nil)
	d.keys("Z")
	d.wantText("Z does nothing here")
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("eeq"), Paste: true})
	if d.c.dialog != nil {
		t.Error("a pasted text opened a dialog")
	}
}

func TestAPanicInAFrameEndsTheConsole(t *testing.T) {
	d := drive(t, newFake(), 80, 24, nil)
	d.c.snap.Chains[0].Endpoints[0].LagBlocks = nil
	d.c.stack = nil // broken on purpose
	if d.c.View() != "" || d.c.crash == nil {
		t.Fatal("the frame was drawn")
	}
	if _, cmd := d.c.Update(tickMsg{d.c.tickGen, d.at}); !quits(cmd) {
		t.Error("the console goes on")
	}
}
