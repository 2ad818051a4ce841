package darkbg

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// Without the package `rpctop version` takes 5.05 s on a terminal that never
// answers, with it some 0.02 s. Anything between tells the two apart; three
// seconds leave room for a loaded machine of two cores.
const silentLimit = 3 * time.Second

func TestVersionDoesNotWaitForATerminalThatNeverAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the whole program")
	}
	bin := program(t)

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, "version")
	// An environment of our own: with CI set, termenv asks nothing, and this
	// test would pass whatever the program does.
	cmd.Env = []string{"TERM=xterm-256color", "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}

	start := time.Now()
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatalf("start under a pty: %v", err)
	}
	defer terminal.Close()
	output := make(chan []byte, 1)
	go func() { output <- readAll(terminal) }()
	if err := cmd.Wait(); err != nil {
		t.Errorf("rpctop version: %v", err)
	}
	took := time.Since(start)

	out := <-output
	for _, query := range []string{"\x1b]10;?", "\x1b]11;?", "\x1b[6n"} {
		if bytes.Contains(out, []byte(query)) {
			t.Errorf("the terminal was asked (%q) before main ran", query)
		}
	}
	if len(bytes.TrimSpace(out)) == 0 {
		t.Error("no version was printed")
	}
	if took > silentLimit {
		t.Errorf("took %v, want at most %v", took, silentLimit)
	}
}

// program gives the real binary: RPCTOP_BIN if it is set, else one that is
// built with the race detector if this test is, since the build cache then has
// nearly all of it.
func program(t *testing.T) string {
	t.Helper()
	if bin := os.Getenv("RPCTOP_BIN"); bin != "" {
		return bin
	}
	args := []string{"build", "-o", filepath.Join(t.TempDir(), "rpctop")}
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		args = append(args, "-race")
	}
	args = append(args, "example.com/rpctop/cmd/rpctop")
	if out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
		t.Fatalf("go %v: %v\n%s", args, err, out)
	}
	return args[2]
}

// readAll reads until the last process has left the terminal, which Linux
// tells as EIO.
func readAll(terminal *os.File) []byte {
	var all bytes.Buffer
	_, err := io.Copy(&all, terminal)
	if err != nil && !errors.Is(err, syscall.EIO) && !errors.Is(err, os.ErrClosed) {
		all.WriteString(err.Error())
	}
	return all.Bytes()
}
