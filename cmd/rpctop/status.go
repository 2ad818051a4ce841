package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/report"
)

func (a *app) statusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Print what the store says now",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir := a.dataDir()
			f, err := a.readState(cmd.Context(), dir)
			if err != nil {
				return err
			}
			v := f.Snapshot()
			if len(v.Chains) == 0 {
				return exit(exitUsage, "the history in %s holds no configuration yet", dir)
			}
			return a.printStatus(v, alive(dir, v), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// printStatus prints a snapshot and gives its exit code.
func (a *app) printStatus(v *fleet.Snapshot, leaderAlive, asJSON bool) error {
	s := report.StatusOf(v)
	if s.Leader != nil {
		s.Leader.Alive = leaderAlive
	}
	var err error
	if asJSON {
		err = printJSON(a.stdout, s)
	} else {
		err = printTable(a.stdout, v, leaderAlive)
	}
	if err != nil {
		return fmt.Errorf("print the status: %w", err)
	}
	if s.Exit != exitGood {
		return &exitError{code: s.Exit}
	}
	return nil
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func printTable(out io.Writer, v *fleet.Snapshot, leaderAlive bool) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for i, c := range v.Chains {
		if i > 0 {
			fmt.Fprintln(w)
		}
		head := "no reference head"
		if r := c.Reference; r != nil {
			head = fmt.Sprintf("head %d", r.Number)
			if !r.Corroborated {
				head += " (uncorroborated)"
			}
		}
		serves := "nobody serves"
		if c.Incumbent != "" {
			serves = c.Incumbent + " serves"
		}
		fmt.Fprintf(w, "%s (chain %d): %s, %s, %s\n", c.Name, c.ChainID, c.State, head, serves)
		fmt.Fprintln(w, "  ENDPOINT\tSTATE\tROLE\tHEAD\tLAG\tP50\tCOST\tWHY")
		for _, e := range c.Endpoints {
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", e.Name, e.State, e.Role, headText(e), lagText(e), latencyText(e), costText(e), e.Evidence)
		}
		for _, x := range c.Watches {
			verdict := x.Verdict
			if verdict == "" {
				verdict = "not compared yet"
			}
			fmt.Fprintln(w, strings.TrimSuffix(fmt.Sprintf("  watch %s is %s: %s", x.Name, verdict, x.Text), ": "))
		}
		for _, o := range c.Overrides {
			until := "for ever"
			if o.Until != 0 {
				until = "until " + o.Until.Time().Format(report.Time) + " UTC"
			}
			fmt.Fprintf(w, "  %s %s by %s %s: %s\n", o.Action, o.Endpoint, o.Author, until, o.Reason)
		}
		for _, alarm := range c.Alarms {
			fmt.Fprintf(w, "  alarm: %s\n", alarm)
		}
	}
	if l := v.Leader; l != nil && !leaderAlive {
		fmt.Fprintf(w, "\nNobody leads now; as of %s UTC.\n", v.At.Time().Format(report.Time))
	}
	return w.Flush()
}

// What was not read is a dash, never a number.
func headText(e fleet.EndpointView) string {
	if e.Head == nil {
		return "-"
	}
	return fmt.Sprint(e.Head.Number)
}

func lagText(e fleet.EndpointView) string {
	if e.LagMS == nil || e.LagBlocks == nil {
		return "-"
	}
	return fmt.Sprintf("%d blocks, %.1f s", *e.LagBlocks, float64(*e.LagMS)/1000)
}

func latencyText(e fleet.EndpointView) string {
	if e.Successes == 0 {
		return "-"
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(e.P50)/1000), ".0") + " ms"
}

func costText(e fleet.EndpointView) string {
	if !e.Cost.Known {
		return "-"
	}
	return fmt.Sprintf("%.0f ms", e.Cost.Total)
}
