package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"example.com/rpctop/internal/fleet"
)

// types sends a text, letter by letter.
func (d *driver) types(text string) {
	for _, r := range text {
		d.keys(string(r))
	}
}

func gnosis(name string) fleet.EndpointID { return fleet.EndpointID{Chain: "gnosis", Name: name} }

func TestAFilterWorksAsItIsTypedAndEscShowsAll(t *testing.T) {
	d := drive(t, newFake(), 120, 36, nil)
	d.keys("/")
	d.types("state:do")
	d.wantText("/state:do", "filter state:do: 1 of 12", "1 of 12 endpoints", "own-node")
	if strings.Contains(d.text(), "coinbase     ⊙") {
		t.Error("a chain without a match is shown")
	}
	d.types("x>")
	d.wantText("0 of 12")
	d.keys("esc")
	d.wantText("coinbase", "flashbots")
	if d.c.picked.filter.text != "" || d.c.prompt != nil {
		t.Error("esc does not show all")
	}
	d.keys("/")
	d.types("lag>x")
	d.wantText("lag>x: x is no number")
	d.keys("backspace")
	d.types("2")
	d.keys("enter")
	d.wantText("filter lag>2: 2 of 12", "ankr", "publicnode")
	d.keys("esc")
	if d.c.picked.filter.text != "" {
		t.Error("esc on the overview does not show all")
	}
}

func TestAFilterGivesTheSelectionBack(t *testing.T) {
	d := drive(t, newFake(), 120, 36, nil)
	d.keys("j", "j")
	if d.c.sel != gnosis("drpc") {
		t.Fatal(d.c.sel)
	}
	d.keys("/")
	d.types("state:down")
	if d.c.sel != gnosis("own-node") {
		t.Fatalf("%v is selected and not shown", d.c.sel)
	}
	d.keys("esc")
	if d.c.sel != gnosis("drpc") {
		t.Errorf("selected is %v", d.c.sel)
	}
}

func TestAnEndpointThatChangesDoesNotVanishUnderTheHand(t *testing.T) {
	d := drive(t, newFake(), 120, 36, nil)
	d.keys("1", "/")
	d.types("state:ok")
	d.keys("enter")
	s := fixtureSnapshot()
	s.Chains[0].Endpoints[1].State = "stale"
	d.src.show(s)
	d.wait(tickFocused)
	if d.c.sel != gnosis("official") {
		t.Fatalf("selected is %v", d.c.sel)
	}
	d.wantText("▸ ◆ stale       official")
	d.keys("j")
	if strings.Contains(d.text(), "◆ stale") {
		t.Error("it stays after the operator has moved on")
	}
}

func TestSortingKeepsTheSelectionAndIsShown(t *testing.T) {
	d := drive(t, newFake(), 200, 50, nil)
	d.keys("1")
	d.keys("s")
	d.wantText("sort by n name")
	d.keys("c")
	d.wantText("sort cost ↑")
	if d.c.sel != gnosis("official") {
		t.Errorf("selected is %v", d.c.sel)
	}
	if got := d.c.ids()[:4]; !slices.Equal(got, []fleet.EndpointID{gnosis("own-node"), gnosis("official"), gnosis("drpc"), gnosis("ankr")}) {
		t.Errorf("order %v", got)
	}
	d.keys("s", "c")
	d.wantText("sort cost ↓")
	if got := d.c.ids()[0]; got != gnosis("ankr") {
		t.Errorf("first is %v", got)
	}
	d.keys("s", "Z")
	d.wantText("Z is nothing to sort by")
	d.keys("s", "o")
	if d.c.picked.sort != (ordering{}) {
		t.Error("s o does not bring the config's order back")
	}
	d.keys("s", "esc")
	if d.c.sorting {
		t.Error("esc does not leave")
	}
}

func TestKeysTypedFastAreNotLost(t *testing.T) {
	d := drive(t, newFake(), 120, 36, nil)
	d.keys("sc")
	d.wantText("sort cost ↑")
	d.keys("ee")
	if d.c.dialog == nil {
		t.Fatal("no dialog")
	}
	d.wantAsked(0)
}

// command types a command and enter.
func (d *driver) command(line string) {
	d.t.Helper()
	d.keys(":")
	d.types(line)
	if cmd := d.keys("enter"); cmd != nil {
		d.send(cmd())
	}
}

func TestACommandOpensTheSameDialog(t *testing.T) {
	d := drive(t, newFake(), 120, 36, nil)
	d.command(`eject gnosis official --reason "odd replies" --for 2h`)
	d.wantAsked(0)
	d.wantText("Eject official on gnosis", "odd replies", "● 2h00m", "[ Cancel ]")
	d.keys("enter", "right", "enter")
	d.wantAsked(0) // keys within the guard are dropped
	d.wait(time.Second)
	d.answer(d.keys("right", "enter"))
	got := d.src.commands()[0]
	if got.Action != fleet.ActionEject || got.Endpoint != "official" || got.Reason != "odd replies" || got.Expect == nil ||
		got.Until != fleet.MillisOf(d.at.Add(2*time.Hour)) {
		t.Errorf("command %+v", got)
	}
	d.command("pin gnosis drpc --for forever --strict")
	d.wait(time.Second)
	d.answer(d.keys("right", "enter"))
	if got := d.src.commands()[1]; got.Action != fleet.ActionPin || got.Until != 0 || !got.Strict {
		t.Errorf("command %+v", got)
	}
	d.command("clear base")
	d.wait(time.Second)
	d.answer(d.keys("right", "enter"))
	if got := d.src.commands()[2]; got.Action != fleet.ActionClear || got.Chain != "base" || got.Endpoint != "" {
		t.Errorf("command %+v", got)
	}
}

func TestABadCommandStaysInTheLineAndSaysWhy(t *testing.T) {
	for line, want := range map[string]string{
		"frobnicate":                     "there is no command frobnicate",
		"pin gnosis":                     "pin: it wants a chain and an endpoint",
		"pin gnosis nobody":              "pin: there is no endpoint nobody on gnosis",
		"pin mars official":              "pin: there is no chain mars",
		"pin gnosis official --for soon": "pin: --for soon is no duration",
		"pin gnosis official --for -2h":  "is no duration",
		"pin gnosis official --why x":    "pin: --why is not known here",
		"pin gnosis official --reason":   "pin: --reason wants a value",
		"pin gnosis official --yes":      "the dialog asks",
		"pin a b c":                      "c is one word too many",
		"pin base cheap-rpc":             "such an endpoint is never served from",
		"eject gnosis official --strict": "eject: --strict is not known here",
		"clear gnosis":                   "clear: no override",
		`chain "x`:                       "is not closed",
		"theme pink":                     "theme: it is dark, light or mono",
		"sort weight":                    "sort: there is no key weight",
		"filter lag>x":                   "filter: lag>x: x is no number",
		"quit now":                       "quit: it takes no arguments",
	} {
		d := drive(t, newFake(), 160, 36, nil)
		d.command(line)
		d.wantText(want, ":"+line)
		d.wantAsked(0)
		if d.c.dialog != nil || d.c.prompt == nil {
			t.Errorf("%q was carried out", line)
		}
		d.keys("esc")
		if d.c.prompt != nil {
			t.Error("esc does not leave the line")
		}
	}
	d := drive(t, newFake(), 120, 36, func(o *Options) { o.ReadOnly = true })
	d.command("pin gnosis official")
	d.wantText("pin is off: this console was started with --read-only")
}

func TestCommandsThatLook(t *testing.T) {
	d := drive(t, newFake(), 120, 36, nil)
	d.command("chain base")
	if d.c.sel.Name != "coinbase" {
		t.Errorf("selected is %v", d.c.sel)
	}
	d.command("filter state:down lag>2 !chain:base")
	d.command("sort lag reverse")
	if d.c.picked.filter.text != "state:down lag>2 !chain:base" || d.c.picked.sort != (ordering{"lag", true}) {
		t.Errorf("picked %+v", d.c.picked)
	}
	d.command("filter")
	d.command("sort")
	if d.c.picked.filter.text != "" || d.c.picked.sort != (ordering{}) {
		t.Errorf("picked %+v", d.c.picked)
	}
	d.command("endpoint gnosis ankr")
	if d.c.screen() != screenEndpoint || d.c.sel != gnosis("ankr") {
		t.Errorf("screen %d, %v", d.c.screen(), d.c.sel)
	}
	d.command("why base")
	if d.c.screen() != screenWhy || d.c.sel.Chain != "base" {
		t.Errorf("screen %d, %v", d.c.screen(), d.c.sel)
	}
	d.command("help")
	if d.c.screen() != screenHelp {
		t.Errorf("screen %d", d.c.screen())
	}
	d.keys(":")
	d.types("q")
	if !quits(d.keys("enter")) {
		t.Error(":q does not quit")
	}
}

func TestTabCompletes(t *testing.T) {
	d := drive(t, newFake(), 120, 36, nil)
	d.keys(":")
	d.types("pi")
	d.keys("tab")
	d.types("gn")
	d.keys("tab")
	d.types("off")
	d.keys("tab")
	if got := d.c.prompt.in.Value(); got != "pin gnosis official " {
		t.Fatalf("line %q", got)
	}
	d.types("--f")
	d.keys("tab", "tab")
	if got := d.c.prompt.in.Value(); got != "pin gnosis official --for 1h " {
		t.Fatalf("line %q", got)
	}
	d.keys("tab", "shift+tab")
	d.keys("esc", ":")
	d.types("e")
	d.keys("tab")
	d.wantText("eject   endpoint")
	d.keys("tab")
	if got := d.c.prompt.in.Value(); got != "endpoint " {
		t.Errorf("line %q", got)
	}
	d.keys("esc", ":")
	d.types("xyz")
	d.keys("tab")
	d.wantText("nothing completes this")
	d.keys("esc", "/")
	d.types("chain:g")
	d.keys("tab")
	if got := d.c.prompt.in.Value(); got != "chain:gnosis " {
		t.Errorf("filter %q", got)
	}
	d.wantText("filter chain:gnosis: 4 of 12")
}

func TestTheHistoryComesBack(t *testing.T) {
	d := drive(t, newFake(), 120, 36, nil)
	d.command("sort lag")
	d.command("sort cost")
	d.keys(":")
	d.types("hal")
	d.keys("up")
	if got := d.c.prompt.in.Value(); got != "sort cost" {
		t.Errorf("line %q", got)
	}
	d.keys("up", "up", "up")
	if got := d.c.prompt.in.Value(); got != "sort lag" {
		t.Errorf("line %q", got)
	}
	d.keys("down", "down")
	if got := d.c.prompt.in.Value(); got != "hal" {
		t.Errorf("line %q", got)
	}
}

func TestQuotedWordsAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringOfN(rapid.SampledFrom([]rune{'a', 'é', ' ', '"', '\'', '-', '東'}), 0, 6, -1), 1, 4).Draw(t, "words")
		line := ""
		for _, w := range words {
			line += quoteWord(w) + " "
		}
		got, err := splitWords(line)
		if err != nil || !slices.Equal(got, words) {
			t.Fatalf("%q is read from %s as %q: %v", words, line, got, err)
		}
	})
}

func TestEveryCompletionIsACommandInTheEnd(t *testing.T) {
	s := fixtureSnapshot()
	for _, line := range []string{"", "pin ", "pin base ", "eject base coinbase ", "clear ", "chain ", "sort ", "theme ", "filter ", "why "} {
		stem, offers := completions(s, line)
		if stem != line || len(offers) == 0 {
			t.Errorf("%q: stem %q, offers %q", line, stem, offers)
		}
		for _, o := range offers {
			if words, err := splitWords(stem + o); err != nil || len(words) != len(strings.Fields(line))+1 {
				t.Errorf("%q completes to %q: %v", line, words, err)
			}
		}
	}
}
