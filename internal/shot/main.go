// Command shot takes the screenshots of the documentation: it runs a program
// under a pseudo terminal, plays a script of keys to it, and writes what a
// terminal would show as SVG. Texts stay texts in it, and no browser is needed.
//
//	go run ./internal/shot screenshots/tour.script
//
// A script has one step a line; words with blanks stand in quotes, # begins a
// comment:
//
//	size 120x36                     columns and rows of the programs that follow
//	env NAME=VALUE                  one more variable for them
//	run bin/rpctop demo --seed 1    start a program; the one before is ended
//	wait 30s "text"                 until the screen shows a text
//	pause 5s                        let it go on
//	key w                           press keys: letters, enter, esc, up, ctrl-c, …
//	type "some text"                type it
//	shot screenshots/x.svg "title"  write the screen
//	exit 5s                         until the program has ended
//
// It is a tool for developers, knows nothing of rpctop, and no package of the
// product imports it.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: shot SCRIPT")
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := runScript(ctx, os.Args[1])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "shot:", err)
		os.Exit(1)
	}
}

func runScript(ctx context.Context, name string) error {
	src, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	steps, err := parse(name, string(src))
	if err != nil {
		return err
	}
	p := player{log: log.New(os.Stderr, "", 0)}
	return p.play(ctx, steps)
}
