package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain lets the test binary stand in for the program that is shown.
func TestMain(m *testing.M) {
	switch os.Getenv("SHOT_PROGRAM") {
	case "echo":
		echo()
	case "deaf":
		fmt.Print("deaf\r\n")
		select {}
	default:
		goleak.VerifyTestMain(m)
	}
}

// echo asks the terminal where the cursor is, tells what it was answered, then
// every key, until x.
func echo() {
	fmt.Print("\x1b[6nready\r\n")
	buf := make([]byte, 64)
	for {
		n, err := os.Stdin.Read(buf)
		if err != nil {
			return
		}
		fmt.Printf("got %q\r\n", buf[:n])
		if strings.Contains(string(buf[:n]), "x") {
			return
		}
	}
}

func playScript(t *testing.T, script string) error {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	steps, err := parse("test", strings.ReplaceAll(script, "SELF", fmt.Sprintf("%q", self)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	p := player{log: log.New(io.Discard, "", 0)}
	return p.play(ctx, steps)
}

func TestAScriptIsPlayedToAProgram(t *testing.T) {
	out := filepath.Join(t.TempDir(), "new", "x.svg")
	err := playScript(t, `
size 40x10
env SHOT_PROGRAM=echo
run SELF
wait 20s ready
type "a\n"
wait 20s "a\\n\""
shot `+fmt.Sprintf("%q", out)+` "Keys"
type "x\n"
exit 20s
`)
	if err != nil {
		t.Fatal(err)
	}
	svg, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<title>Keys</title>", "ready", `a\n&#34;`} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("no %q in\n%s", want, svg)
		}
	}
}

func TestTheTerminalAnswersQuestions(t *testing.T) {
	if err := playScript(t, "env SHOT_PROGRAM=echo\nrun SELF\nwait 20s ready\nkey enter\nwait 20s \"[1;1R\"\n"); err != nil {
		t.Fatal(err)
	}
}

func TestATextThatNeverComesIsAnErrorWithTheScreen(t *testing.T) {
	err := playScript(t, "env SHOT_PROGRAM=echo\nrun SELF\nwait 20s ready\nwait 50ms never\n")
	if err == nil || !strings.Contains(err.Error(), "test:4: wait") || !strings.Contains(err.Error(), "ready") {
		t.Fatalf("got %v, want an error with line and screen", err)
	}
}

func TestAProgramThatEndsEarlyIsAnError(t *testing.T) {
	err := playScript(t, "env SHOT_PROGRAM=echo\nrun SELF\nwait 20s ready\ntype \"x\\n\"\nwait 20s never\n")
	if err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Fatalf("got %v, want an error that says so", err)
	}
}

func TestAProgramThatGoesOnIsEnded(t *testing.T) {
	if err := playScript(t, "env SHOT_PROGRAM=deaf\nrun SELF\nwait 20s deaf\n"); err != nil {
		t.Fatal(err)
	}
}

func TestAProgramThatDoesNotExistIsAnError(t *testing.T) {
	if err := playScript(t, "run ./no/such/program\n"); err == nil {
		t.Fatal("no error")
	}
}
