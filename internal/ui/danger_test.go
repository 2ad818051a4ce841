package ui

import (
	"context"
	"errors"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/rpctop/internal/fleet"
)

// armed opens the eject dialog on gnosis/official and waits until it takes keys.
func armed(t *testing.T, set func(*Options)) *driver {
	d := drive(t, newFake(), 120, 36, set)
	d.keys("1", "e")
	d.wait(guard + 2*tickFocused)
	return d
}

func (d *driver) wantAsked(n int) {
	d.t.Helper()
	if got := len(d.src.commands()); got != n {
		d.t.Fatalf("the engine was asked %d times, want %d: %+v", got, n, d.src.commands())
	}
}

func TestEjectThenEnterAtOnceEjectsNobody(t *testing.T) {
	d := drive(t, newFake(), 120, 36, nil)
	for _, k := range []string{"e", "enter", "right", "enter", "tab", "enter"} {
		if cmd := d.keys(k); cmd != nil {
			d.send(cmd())
		}
	}
	d.wantAsked(0)
	if d.c.dialog == nil {
		t.Fatal("the dialog was left by keys that should be dropped")
	}
}

func TestKeysAreDroppedForTheWholeGuard(t *testing.T) {
	d := drive(t, newFake(), 120, 36, nil)
	d.keys("e")
	// The first tick after the opening may come at once: until then nothing
	// says how old the dialog is.
	for waited := time.Duration(0); waited < guard; waited += tickFocused {
		d.keys("right", "enter", "esc")
		if d.c.dialog == nil || d.c.dialog.focus != fieldCancel {
			t.Fatalf("a key got through after %v", waited)
		}
		d.wait(tickFocused)
	}
	d.wait(tickFocused)
	d.keys("esc")
	if d.c.dialog != nil {
		t.Fatal("esc does not close the dialog after the guard")
	}
}

func TestCancelHasTheFocus(t *testing.T) {
	d := armed(t, nil)
	d.wantText("[ Cancel ]")
	if cmd := d.keys("enter"); cmd != nil {
		d.send(cmd())
	}
	if d.c.dialog != nil {
		t.Fatal("enter on Cancel does not close")
	}
	d.wantAsked(0)
}

func TestEjectAsksForWhatTheDialogShowed(t *testing.T) {
	d := armed(t, nil)
	d.keys("shift+tab", "shift+tab")
	for _, r := range "odd replies" {
		d.keys(string(r))
	}
	d.keys("tab", "right", "shift+tab", "shift+tab") // for ever, then the act
	if d.c.dialog.focus != fieldAct {
		t.Fatalf("focus is %d", d.c.dialog.focus)
	}
	d.answer(d.keys("enter"))
	d.wantAsked(1)
	got := d.src.commands()[0]
	if got.ID == "" || got.Author != "maria" {
		t.Errorf("command has no id or author: %+v", got)
	}
	want := fleet.Command{ID: got.ID, Author: "maria", Action: fleet.ActionEject, Chain: "gnosis", Endpoint: "official", Reason: "odd replies"}
	expect := fleet.Expect{Serving: true, State: "ok", Overrides: 0, Eligible: 2}
	if got.Expect == nil || *got.Expect != expect {
		t.Errorf("expect %+v, want %+v", got.Expect, expect)
	}
	got.Expect = nil
	if got != want {
		t.Errorf("command %+v, want %+v", got, want)
	}
	if d.c.dialog != nil {
		t.Error("the dialog stays open after it was accepted")
	}
	d.wantText("eject official: in force and recorded")
}

func TestEightHoursAreTheDefault(t *testing.T) {
	d := armed(t, nil)
	d.answer(d.keys("right", "enter"))
	if got, want := d.src.commands()[0].Until, fleet.MillisOf(d.at.Add(8*time.Hour)); got != want {
		t.Errorf("until %v, want %v", got.Time(), want.Time())
	}
}

func TestPinCanBeStrict(t *testing.T) {
	d := drive(t, newFake(), 120, 36, nil)
	d.keys("1", "p")
	d.wait(time.Second)
	d.keys("shift+tab", "right", "tab", "tab")
	d.answer(d.keys("enter"))
	if got := d.src.commands()[0]; got.Action != fleet.ActionPin || !got.Strict || got.Yes {
		t.Errorf("command %+v", got)
	}
}

func TestTheDialogIsBoundToWhatItShowedWhenItOpened(t *testing.T) {
	d := armed(t, nil)
	next := fixtureSnapshot()
	next.Chains[0].Endpoints[1].State = "lagging"
	next.Chains[0].Incumbent = "drpc"
	d.src.show(next)
	d.src.verdict = func(c fleet.Command) (fleet.Verdict, error) {
		if c.Expect.State != "ok" || !c.Expect.Serving {
			t.Errorf("the command expects %+v", c.Expect)
		}
		return fleet.Verdict{Code: "changed", Message: "it is lagging now"}, nil
	}
	d.wait(tickFocused)
	d.wantText("changed since this opened: it is lagging now")
	d.answer(d.keys("right", "enter"))
	d.wantText("changed: it is lagging now. Nothing was done")
	if cmd := d.keys("right", "enter"); cmd != nil {
		t.Error("a refused dialog can be pressed again")
	}
	d.wantAsked(1)
}

func TestTheLastEligibleIsEjectedOnlyByName(t *testing.T) {
	src := newFake()
	src.snap.Chains[2].Endpoints = src.snap.Chains[2].Endpoints[:2] // flashbots, and infura that is ejected
	src.snap.Chains[2].Ranking = []fleet.Candidate{{Endpoint: "flashbots", Eligible: true, Rank: 1}}
	d := drive(t, src, 120, 36, nil)
	d.keys("3", "e")
	d.wait(time.Second)
	d.wantText("NOBODY may serve ethereum then", "type flashbots")
	if cmd := d.keys("right", "enter"); cmd != nil {
		t.Fatal("it asks the engine without the name")
	}
	if d.c.dialog.focus != fieldName {
		t.Fatalf("focus is %d, not on the name", d.c.dialog.focus)
	}
	for _, r := range "flashbot" {
		d.keys(string(r))
	}
	if cmd := d.keys("tab", "tab", "enter"); cmd != nil {
		t.Fatal("half a name is enough")
	}
	d.keys("s")
	d.answer(d.keys("tab", "tab", "enter"))
	d.wantAsked(1)
	if c := src.commands()[0]; !c.Yes || c.Endpoint != "flashbots" {
		t.Errorf("command %+v", c)
	}
}

func TestTheEngineMayAskForTheNameToo(t *testing.T) {
	d := armed(t, nil)
	d.src.verdict = func(c fleet.Command) (fleet.Verdict, error) {
		if !c.Yes {
			return fleet.Verdict{Code: "last-eligible", Message: "nobody else may serve gnosis"}, nil
		}
		return fleet.Verdict{Accepted: true, Recorded: true}, nil
	}
	d.answer(d.keys("right", "enter"))
	d.wantText("nobody else may serve gnosis", "type official")
	d.keys("shift+tab")
	for _, r := range "official" {
		d.keys(string(r))
	}
	d.answer(d.keys("tab", "tab", "enter"))
	d.wantAsked(2)
	if d.c.dialog != nil {
		t.Error("the dialog stays open")
	}
}

func TestAnswersThatCameTooLateAreDropped(t *testing.T) {
	d := armed(t, nil)
	late := d.keys("right", "enter")
	d.keys("esc")
	d.keys("e")
	d.wait(time.Second)
	d.answer(late)
	if d.c.dialog == nil || d.c.dialog.message != "" {
		t.Error("the answer to a closed dialog moved the one that is open")
	}
}

func TestAnOverrideThatIsNotRecordedSaysSo(t *testing.T) {
	d := armed(t, nil)
	d.src.verdict = func(fleet.Command) (fleet.Verdict, error) { return fleet.Verdict{Accepted: true}, nil }
	d.answer(d.keys("right", "enter"))
	d.wantText("in force, NOT RECORDED")
}

func TestSilenceOfTheEngineIsNotTakenForARefusal(t *testing.T) {
	d := armed(t, nil)
	d.src.verdict = func(fleet.Command) (fleet.Verdict, error) { return fleet.Verdict{}, context.DeadlineExceeded }
	d.answer(d.keys("right", "enter"))
	d.wantText("nobody answered", "It may take effect yet")
}

func TestAPanicOfACommandEndsTheConsole(t *testing.T) {
	d := armed(t, nil)
	d.src.verdict = func(fleet.Command) (fleet.Verdict, error) { panic("boom") }
	msg := d.keys("right", "enter")()
	_, cmd := d.c.Update(msg)
	if cmd == nil || d.c.crash == nil || !errors.As(error(d.c.crash), new(*PanicError)) {
		t.Fatal("the console goes on")
	}
}

func TestVerbsAreOffInReadOnlyAndSayWhy(t *testing.T) {
	for _, k := range []string{"p", "e", "c"} {
		d := drive(t, newFake(), 120, 36, func(o *Options) { o.ReadOnly = true })
		d.keys(k)
		if d.c.dialog != nil {
			t.Errorf("%s opens a dialog", k)
		}
		d.wantText("is off: this console was started with --read-only")
	}
}

func TestNothingThatIsQuarantinedCanBePinned(t *testing.T) {
	d := drive(t, newFake(), 120, 36, nil)
	d.keys("2", "j", "j", "j", "p")
	if d.c.dialog != nil {
		t.Fatal("a dialog opens")
	}
	d.wantText("pin is off: cheap-rpc is wrong-chain")
}

func TestClearOffersTheWholeChain(t *testing.T) {
	d := drive(t, newFake(), 120, 36, nil)
	d.keys("2", "j", "c") // publicnode itself has nothing to clear
	d.wait(time.Second)
	d.wantText("all of base", "maria")
	d.answer(d.keys("right", "enter"))
	if got := d.src.commands()[0]; got.Action != fleet.ActionClear || got.Chain != "base" || got.Endpoint != "" {
		t.Errorf("command %+v", got)
	}
}

func TestEscNeverQuitsAndQAsksOnlyIfTold(t *testing.T) {
	d := drive(t, newFake(), 120, 36, nil)
	d.keys("w", "enter", "?")
	for range 6 {
		if cmd := d.keys("esc"); cmd != nil {
			t.Fatal("esc gave a command")
		}
	}
	if d.c.screen() != screenOverview {
		t.Error("esc does not lead to the overview")
	}
	if !quits(d.keys("q")) {
		t.Error("q does not quit")
	}
	d = drive(t, newFake(), 120, 36, func(o *Options) { o.ConfirmQuit = func() string { return "the proxy served 9 s ago" } })
	if d.keys("q") != nil {
		t.Fatal("q quits without the question")
	}
	d.wait(time.Second)
	d.wantText("the proxy served 9 s ago")
	if !quits(d.keys("right", "enter")) {
		t.Error("the question cannot be answered")
	}
	if !quits(d.keys("ctrl+c")) {
		t.Error("ctrl-c does not quit")
	}
}

func TestQQuitsAtEverySize(t *testing.T) {
	for _, size := range [][2]int{{200, 50}, {80, 24}, {40, 10}, {39, 9}, {20, 5}, {3, 1}, {1, 1}, {0, 0}} {
		d := drive(t, newFake(), size[0], size[1], nil)
		if !quits(d.keys("q")) {
			t.Errorf("not at %v", size)
		}
		d = drive(t, newFake(), 120, 36, nil)
		d.keys("e")
		d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		d.wait(time.Second)
		if !quits(d.keys("q")) {
			t.Errorf("not with a dialog at %v", size)
		}
	}
}

func quits(cmd tea.Cmd) bool {
	if cmd == nil {
		return false
	}
	_, ok := cmd().(tea.QuitMsg)
	return ok
}
