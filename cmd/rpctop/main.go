// Command rpctop is the console for people who run software against several
// JSON-RPC endpoints, and the service behind it. This package parses the
// command line and wires the parts; every decision is made below it.
package main

import (
	_ "example.com/rpctop/internal/darkbg" // first: see its comment

	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// version is set by the linker.
var version = "dev"

func main() { os.Exit(run()) }

func run() (code int) {
	a := newApp(os.Stdin, os.Stdout, os.Stderr)
	defer func() {
		if v := recover(); v != nil {
			code = a.crashed(newPanic(v))
		}
	}()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return a.exitCode(a.root().ExecuteContext(ctx))
}

// exitCode prints what an error has to say, and gives its exit code.
func (a *app) exitCode(err error) int {
	var exit *exitError
	var p *panicError
	switch {
	case err == nil:
		return exitGood
	case errors.As(err, &p):
		return a.crashed(p)
	case errors.As(err, &exit):
		if exit.err != nil {
			fmt.Fprintln(a.stderr, "rpctop: "+exit.err.Error())
		}
		return exit.code
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	fmt.Fprintln(a.stderr, "rpctop: "+err.Error())
	return exitUsage
}
