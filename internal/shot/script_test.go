package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAScriptIsReadLineByLine(t *testing.T) {
	got, err := parse("a.script", `
# the overview
size 120x36
env RPCTOP_X=1
run bin/rpctop demo tour --seed 1   # started
wait 30s "is serving"
pause 1.5s
key w esc ctrl-c
type "a \"b\""
shot out/x.svg "A title"
exit 5s
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []step{
		{where: "a.script:3", verb: "size", words: []string{"120x36"}, cols: 120, rows: 36},
		{where: "a.script:4", verb: "env", words: []string{"RPCTOP_X=1"}},
		{where: "a.script:5", verb: "run", words: []string{"bin/rpctop", "demo", "tour", "--seed", "1"}},
		{where: "a.script:6", verb: "wait", words: []string{"is serving"}, time: 30 * time.Second},
		{where: "a.script:7", verb: "pause", words: []string{}, time: 1500 * time.Millisecond},
		{where: "a.script:8", verb: "key", words: []string{"w", "esc", "ctrl-c"}},
		{where: "a.script:9", verb: "type", words: []string{`a "b"`}},
		{where: "a.script:10", verb: "shot", words: []string{"out/x.svg", "A title"}},
		{where: "a.script:11", verb: "exit", words: []string{}, time: 5 * time.Second},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(step{})); diff != "" {
		t.Error(diff)
	}
}

func TestEachErrorOfAScriptIsToldWithItsLine(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"a verb that does not exist", "jump 5", "x:1: no such step: jump"},
		{"a step before any program", "wait 5s a", "x:1: wait: no program is running"},
		{"a step after the program's end", "run a\nexit 1s\nkey w", "x:3: key: no program is running"},
		{"a time that is none", "run a\nwait soon a", `x:2: wait: "soon" is no time`},
		{"a missing time", "run a\npause", "x:2: pause: want a time"},
		{"a missing word", "run a\nwait 5s", "x:2: wait: wrong number of words: 0"},
		{"too many words", "run a\nwait 5s two words", "x:2: wait: wrong number of words: 2"},
		{"a size that is none", "size 120", `x:1: size: "120" is no size`},
		{"a key that does not exist", "run a\nkey hyper", `x:2: key: no key has the name "hyper"`},
		{"an open quote", `run "a`, "x:1: a quote is not closed"},
		{"a variable without a value", "env A", "x:1: env: want NAME=VALUE"},
		{"two errors at once", "jump\nhop", "x:2: no such step: hop"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse("x", c.src)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestKeysAreWhatATerminalSends(t *testing.T) {
	for name, want := range map[string]string{
		"w": "w", "?": "?", "é": "é", "enter": "\r", "esc": "\x1b", "ctrl-c": "\x03", "up": "\x1b[A",
	} {
		if got, err := keyBytes(name); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
}
