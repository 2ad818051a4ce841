package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) serveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Probe, decide and record, without a screen",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.loadConfig()
			if err != nil {
				return err
			}
			l, err := a.lead(cmd.Context(), cfg, a.dataDir(), "serve")
			if err != nil {
				return err
			}
			if l == nil {
				return exit(exitLater, "%s", a.ledBy(a.dataDir()))
			}
			if err := l.openGateway(cmd.Context(), cfg, "serve"); err != nil {
				return errors.Join(err, l.close())
			}
			fmt.Fprintf(a.stderr, "rpctop: programs are served at %s\n", l.url())
			fmt.Fprintf(a.stderr, "rpctop: probing %s, recording to %s\n", counted(cfg), a.dataDir())
			for _, n := range l.books.notices {
				fmt.Fprintln(a.stderr, "rpctop: "+n)
			}
			for what, why := range map[string]string{"history": l.books.why.History, "journal": l.books.why.Journal} {
				if why != "" {
					fmt.Fprintf(a.stderr, "rpctop: NOT RECORDING the %s: %s\n", what, why)
				}
			}
			return stopped(cmd.Context(), l.run(cmd.Context()))
		},
	}
}

// stopped: an end that a signal asked for is a good one.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}
