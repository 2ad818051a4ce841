package ui

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/rpctop/internal/fleet"
)

// failureCase is the part of a failure case (see testdata/cases) that is about
// the screen.
type failureCase struct {
	Title    string `json:"title"`
	Terminal struct {
		Cols, Rows, Endpoints int
		Names                 []string
		Sizes                 [][2]int
		Env                   map[string]string
	} `json:"terminal"`
	Responses []struct {
		Body string `json:"body"`
	} `json:"responses"`
	Expect struct {
		ForbiddenSubstrings []string `json:"forbidden_substrings"`
		ForbiddenRunes      []string `json:"forbidden_runes"`
	} `json:"expect"`
}

func loadCase(t *testing.T, id string) failureCase {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "cases", id+"-*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("case %s: %v %v", id, files, err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var c failureCase
	if err := json.Unmarshal(b, &c); err != nil {
		t.Fatalf("%s: %v", files[0], err)
	}
	return c
}

// named is the fixture with other names for the endpoints of its first chain.
func named(names []string) *fakeSource {
	src := newFake()
	var es []fleet.EndpointView
	for _, n := range names {
		es = append(es, healthy(n, "op", 1, 38_211_904, 40))
	}
	src.snap.Chains = []fleet.ChainView{chainOf("gnosis", 100, 38_211_904, names[0], es...)}
	return src
}

func TestCase152NoSecretOnAnyScreen(t *testing.T) {
	c := loadCase(t, "152")
	d := drive(t, newFake(), c.Terminal.Cols, c.Terminal.Rows, nil)
	var seen strings.Builder
	d.c.out = &seen
	d.keys("enter")
	seen.WriteString(d.text())
	d.keys("esc", "e")
	d.wait(time.Second)
	seen.WriteString(d.text())
	d.keys("esc")
	d.answer(d.keys("y"))
	for _, s := range append(c.Expect.ForbiddenSubstrings, "://a.example") {
		if strings.Contains(seen.String(), s) {
			t.Errorf("%q is shown", s)
		}
	}
}

func TestCase153EscapesInAnErrorAreNotPassedOn(t *testing.T) {
	c := loadCase(t, "153")
	var body struct {
		Error struct{ Message string } `json:"error"`
	}
	if err := json.Unmarshal([]byte(c.Responses[0].Body), &body); err != nil {
		t.Fatal(err)
	}
	src := newFake()
	hostile(src.snap, body.Error.Message)
	for _, keys := range [][]string{nil, {"enter"}, {"w"}, {"e"}} {
		d := drive(t, src, 120, 40, nil)
		d.keys("3")
		d.keys(keys...)
		d.wait(time.Second)
		view := d.c.View()
		for _, r := range c.Expect.ForbiddenRunes {
			n, err := strconv.ParseInt(strings.TrimPrefix(r, "U+"), 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			if strings.ContainsRune(view, rune(n)) {
				t.Errorf("after %q the frame holds %s", keys, r)
			}
		}
		if !strings.Contains(view, "bad") {
			t.Errorf("after %q the text itself is gone", keys)
		}
	}
}

func TestCase154TheWindowShrinksToNothingAndComesBack(t *testing.T) {
	c := loadCase(t, "154")
	d := drive(t, newFake(), 80, 24, nil)
	d.keys("j", "j")
	want := d.c.sel
	for _, s := range c.Terminal.Sizes {
		d.send(tea.WindowSizeMsg{Width: s[0], Height: s[1]})
		d.wait(tickFocused)
		d.wantWhole()
		if s[0] > 0 && s[0] < 8 && !strings.HasPrefix("too small", strings.TrimSpace(d.c.View())) {
			t.Errorf("%v shows %q", s, d.c.View())
		}
	}
	d.send(tea.WindowSizeMsg{Width: -3, Height: -1})
	d.wantWhole()
	d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	d.wantText("▸ ● ok          drpc", "events, newest first")
	if d.c.sel != want {
		t.Errorf("selection %v, was %v", d.c.sel, want)
	}
}

func TestCase155ColumnsStayAlignedForEveryScript(t *testing.T) {
	c := loadCase(t, "155")
	d := drive(t, named(c.Terminal.Names), c.Terminal.Cols, c.Terminal.Rows, nil)
	d.wantWhole()
	lag := -1
	for _, l := range strings.Split(d.c.View(), "\n") {
		at := strings.LastIndex(l, " 0s")
		if !strings.Contains(l, "● ok") || at < 0 || strings.Contains(l, "serves") {
			continue
		}
		if n := cells(l[:at]); lag >= 0 && n != lag {
			t.Errorf("the lag stands at cell %d, elsewhere at %d: %q", n, lag, l)
		} else {
			lag = n
		}
	}
	if lag < 0 {
		t.Error("no row was found")
	}
	d.wantText("東京-主", "node", "شبكة", "ab")
}

func TestCase156LongNamesStayDistinct(t *testing.T) {
	c := loadCase(t, "156")
	d := drive(t, named(c.Terminal.Names), c.Terminal.Cols, c.Terminal.Rows, nil)
	d.wantWhole()
	d.wantText("0001", "0002", "n…n")
}

func TestCase157ThreeHundredEndpointsAreDrawnOnlyWhereVisible(t *testing.T) {
	c := loadCase(t, "157")
	src := &fakeSource{snap: manyChains(20, c.Terminal.Endpoints)}
	d := drive(t, src, c.Terminal.Cols, c.Terminal.Rows, nil)
	d.keys("G")
	want := d.c.sel
	for i := range 20 {
		s := manyChains(20, c.Terminal.Endpoints)
		s.Version = uint64(i + 2)
		src.show(s)
		d.wait(tickFocused)
	}
	d.wantWhole()
	if d.c.sel != want {
		t.Errorf("selection %v, was %v", d.c.sel, want)
	}
	drawn := 0
	for _, l := range d.screen() {
		if strings.Contains(l, "endpoint-") {
			drawn++
		}
	}
	if drawn == 0 || drawn > c.Terminal.Rows {
		t.Errorf("%d rows are drawn", drawn)
	}
}

func TestCase158ALightTerminalIsNeitherAskedNorPainted(t *testing.T) {
	c := loadCase(t, "158")
	d := drive(t, newFake(), c.Terminal.Cols, c.Terminal.Rows, func(o *Options) { o.Colour, o.Theme = ColourAlways, "light" })
	view := d.c.View()
	if strings.Contains(view, "\x1b]") {
		t.Error("the frame asks the terminal something")
	}
	for _, s := range []string{"\x1b[4", "\x1b[10", ";4", ";10"} {
		for n := '0'; n <= '7'; n++ {
			if strings.Contains(view, s+string(n)+"m") {
				t.Errorf("a background is painted: %q", s+string(n)+"m")
			}
		}
	}
	d.wantText("● ok", "✕ down", "▲ lagging")
}

func TestCase159NoColourMeansNoSequence(t *testing.T) {
	c := loadCase(t, "159")
	for name, set := range map[string]func(*Options){
		"NO_COLOR": func(o *Options) {
			o.Getenv = func(k string) string { return map[string]string{"NO_COLOR": c.Terminal.Env["NO_COLOR"]}[k] }
		},
		"dumb": func(o *Options) {
			o.Getenv = func(k string) string { return map[string]string{"TERM": c.Terminal.Env["TERM"]}[k] }
		},
		"never": func(o *Options) { o.Colour = ColourNever },
	} {
		for _, keys := range [][]string{nil, {"w"}, {"enter"}, {"?"}, {"1", "e"}} {
			d := drive(t, newFake(), c.Terminal.Cols, c.Terminal.Rows, func(o *Options) { o.Colour = ColourAuto; set(o) })
			d.keys(keys...)
			d.wait(time.Second)
			d.keys("shift+tab", "shift+tab", "x")
			if strings.Contains(d.c.View(), "\x1b") {
				t.Errorf("%s: a sequence after %q", name, keys)
			}
		}
	}
}

func TestCase160WithoutATerminalItNamesTheVerbs(t *testing.T) {
	loadCase(t, "160")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	o := fixtureOptions(newFake())
	o.In, o.Out = r, w
	err = Run(context.Background(), o)
	w.Close()
	if !errors.Is(err, ErrNoTerminal) || !strings.Contains(err.Error(), "rpctop status") {
		t.Errorf("error %v", err)
	}
	b := make([]byte, 1)
	if n, _ := r.Read(b); n != 0 {
		t.Error("something was written into the pipe")
	}
}
