package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"example.com/rpctop/internal/devnet"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"rpctop": main})
}

// patience is how long a script waits for something to become true; it is no
// measure of speed.
const patience = 30 * time.Second

// TestScripts runs every verb as a user would, against real nodes on loopback.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
			return os.MkdirAll(home, 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"devnet":     startDevnet,
			"expand":     expand,
			"eventually": eventually,
			"exits":      exits,
			"freeport":   freePort,
			"post":       post,
		},
	})
}

// startDevnet starts four endpoints (healthy, another chain, one frozen for
// 60 s, one that hangs) and puts their URLs into the environment.
func startDevnet(ts *testscript.TestScript, _ bool, _ []string) {
	net, err := devnet.Start(context.Background(), devnet.Options{HeadTime: time.Now(), History: 80, Fronts: []devnet.FrontSpec{
		{Name: "healthy", Operator: "own"},
		{Name: "elsewhere", Operator: "acme", Elsewhere: true},
		{Name: "frozen", Operator: "globex", Lag: 60},
		{Name: "hanging", Operator: "initech"},
	}})
	ts.Check(err)
	ts.Defer(func() { ts.Check(net.Close()) })
	ts.Check(net.Freeze("frozen", true))
	ts.Check(net.Front("hanging").Set(devnet.Fault{Kind: devnet.Hang}))
	for _, f := range net.Fronts() {
		ts.Setenv(strings.ToUpper(f.Name()), f.URL())
		ts.Setenv(strings.ToUpper(f.Name())+"_KEY", f.Key())
	}
}

// expand FILE replaces $NAME in a file by the environment.
func expand(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		path := ts.MkAbs(name)
		b, err := os.ReadFile(path)
		ts.Check(err)
		ts.Check(os.WriteFile(path, []byte(os.Expand(string(b), ts.Getenv)), 0o600))
	}
}

// eventually PATTERN COMMAND... runs a command until its output matches.
func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: eventually PATTERN COMMAND...")
	}
	re, err := regexp.Compile(args[0])
	ts.Check(err)
	end := time.Now().Add(patience)
	for {
		_ = ts.Exec(args[1], args[2:]...) // its exit code is another script's matter
		if out := ts.ReadFile("stdout"); re.MatchString(out) {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("never matched %q; the last output was\n%s%s", args[0], ts.ReadFile("stdout"), ts.ReadFile("stderr"))
		}
		waitABit()
	}
}

// waitABit keeps a polling loop from spinning.
func waitABit() { <-time.After(100 * time.Millisecond) }

// freePort NAME puts an address of loopback into the environment that nobody
// listens at.
func freePort(ts *testscript.TestScript, _ bool, args []string) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Check(ln.Close())
	ts.Setenv(args[0], ln.Addr().String())
}

// post URL BODY [HEADER...] sends a JSON-RPC request, waiting for the server if
// need be, and prints status, headers and body.
func post(ts *testscript.TestScript, _ bool, args []string) {
	end := time.Now().Add(patience)
	for {
		r, err := http.NewRequest(http.MethodPost, args[0], strings.NewReader(args[1]))
		ts.Check(err)
		r.Header.Set("Content-Type", "application/json")
		for _, h := range args[2:] {
			k, v, _ := strings.Cut(h, ":")
			r.Header.Set(k, strings.TrimSpace(v))
		}
		r.Close = true
		resp, err := http.DefaultClient.Do(r)
		if err == nil {
			b, err := io.ReadAll(resp.Body)
			ts.Check(errors.Join(err, resp.Body.Close()))
			fmt.Fprintf(ts.Stdout(), "HTTP %d\n", resp.StatusCode)
			ts.Check(resp.Header.Write(ts.Stdout()))
			fmt.Fprintf(ts.Stdout(), "\n%s\n", b)
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("post: %v", err)
		}
		waitABit()
	}
}

// exits CODE COMMAND... wants an exit code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := err.(*exec.ExitError)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
