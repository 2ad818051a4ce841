package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/report"
	"example.com/rpctop/internal/store"
)

// printEvery is how often watch looks for new events in memory.
const printEvery = 50 * time.Millisecond

// eventSource is whoever has the events: an engine that leads, or a follower.
type eventSource interface {
	Events(since uint64, limit int) (evs []fleet.Event, missed uint64)
	Snapshot() *fleet.Snapshot
}

func (a *app) watchCommand() *cobra.Command {
	var ndjson bool
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Print what changes, from the running service or from itself",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.watch(cmd.Context(), ndjson)
		},
	}
	cmd.Flags().BoolVar(&ndjson, "ndjson", false, "print a JSON object a line")
	return cmd
}

// watch attaches to the process that leads; if nobody does, it leads itself.
func (a *app) watch(ctx context.Context, ndjson bool) error {
	dir, outer := a.dataDir(), ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f, err := a.followLeader(dir)
	if err != nil {
		return err
	}
	var src eventSource
	done := make(chan error, 1)
	if f != nil {
		defer func() { _ = f.close() }() // it was only read
		if err := f.Catch(ctx); err != nil {
			return err
		}
		src = f
		go func() { done <- f.Run(ctx) }()
	} else {
		cfg, err := a.loadConfig()
		if err != nil {
			return err
		}
		l, err := a.lead(ctx, cfg, dir, "watch")
		if err != nil {
			return err
		}
		if l == nil {
			return exit(exitLater, "%s", a.ledBy(dir))
		}
		src = l
		go func() { done <- l.run(ctx) }()
	}
	err = printEvents(ctx, a.stdout, src, src.Snapshot().EventSeq, ndjson, done)
	cancel()
	return errors.Join(err, <-done, interrupted(outer))
}

// interrupted: a watch ends by a signal only, and says so by its exit code.
func interrupted(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return &exitError{code: exitInterrupted}
}

// followLeader attaches to the leader of a folder; nil if nobody leads.
func (a *app) followLeader(dir string) (*following, error) {
	who, err := store.Leader(dir)
	if err != nil || who == nil {
		return nil, err
	}
	return a.follow(dir, nil)
}

// printEvents prints events after since until ctx ends or the source does,
// which it tells by done; done keeps what it told.
func printEvents(ctx context.Context, w io.Writer, src eventSource, since uint64, ndjson bool, done chan error) error {
	look := time.NewTicker(printEvery)
	defer look.Stop()
	for ended := false; ; {
		evs, missed := src.Events(since, 0)
		if missed > 0 && since > 0 {
			gap := fleet.Event{Seq: since + missed, At: fleet.MillisOf(time.Now()), Kind: fleet.EventGap,
				Reason: fmt.Sprintf("%d events are no longer in memory", missed)}
			if err := printEvent(w, gap, ndjson); err != nil {
				return err
			}
		}
		for _, ev := range evs {
			if err := printEvent(w, ev, ndjson); err != nil {
				return err
			}
			since = ev.Seq
		}
		if ended {
			return nil
		}
		select {
		case <-ctx.Done():
			ended = true // what is there by now is still printed
		case err := <-done:
			done <- err
			ended = true
		case <-look.C:
		}
	}
}

func printEvent(w io.Writer, ev fleet.Event, ndjson bool) error {
	if ndjson {
		return json.NewEncoder(w).Encode(ev)
	}
	who := ev.Endpoint
	if ev.Kind == fleet.EventSwitch || ev.Kind == fleet.EventFailover {
		who = orDash(ev.From) + " -> " + orDash(ev.To)
	}
	_, err := fmt.Fprintf(w, "%s  %-8s  %s  %s  %s\n", ev.At.Time().Format(report.Time), ev.Kind, orDash(ev.Chain), orDash(who), ev.Reason)
	return err
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
