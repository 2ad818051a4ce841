package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/rpctop/internal/engine"
	"example.com/rpctop/internal/failover"
	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/store"
)

// answerWithin is how long a verb waits for the leader's verdict.
const answerWithin = 2 * time.Second

// lookAgain is how often a waiting verb looks whether the lead has become free.
const lookAgain = 100 * time.Millisecond

// defaultPin is how long a pin or an ejection holds if nothing is said.
const defaultPin = "8h"

type verbFlags struct {
	reason, span string
	strict, yes  bool
	json         bool
}

func (a *app) pinCommand() *cobra.Command {
	return a.verb(fleet.ActionPin, "pin CHAIN ENDPOINT", "Send a chain's requests to one endpoint", cobra.ExactArgs(2))
}

func (a *app) ejectCommand() *cobra.Command {
	return a.verb(fleet.ActionEject, "eject CHAIN ENDPOINT", "Never use an endpoint", cobra.ExactArgs(2))
}

func (a *app) clearCommand() *cobra.Command {
	return a.verb(fleet.ActionClear, "clear CHAIN [ENDPOINT]", "End pins, ejections, and gates that end by hand", cobra.RangeArgs(1, 2))
}

func (a *app) verb(action fleet.Action, use, short string, args cobra.PositionalArgs) *cobra.Command {
	var f verbFlags
	cmd := &cobra.Command{Use: use, Short: short, Args: args, RunE: func(cmd *cobra.Command, args []string) error {
		return a.operate(cmd.Context(), action, args, f)
	}}
	cmd.Flags().StringVar(&f.reason, "reason", "", "why, for those who read the history")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the verdict as JSON")
	if action != fleet.ActionClear {
		cmd.Flags().StringVar(&f.span, "for", defaultPin, "how long: a duration, or forever")
		cmd.Flags().BoolVar(&f.yes, "yes", false, "eject even the last eligible endpoint")
	}
	if action == fleet.ActionPin {
		cmd.Flags().BoolVar(&f.strict, "strict", false, "nobody else serves, even if the endpoint cannot")
	}
	return cmd
}

// operate puts an operator's verb to the leader, or carries it out itself if
// nobody leads.
func (a *app) operate(ctx context.Context, action fleet.Action, args []string, f verbFlags) error {
	if a.flags.readOnly {
		return exit(exitUsage, "%s is taken away by --read-only", action)
	}
	cmd := fleet.Command{ID: newID(), Author: author(), Action: action, Chain: args[0],
		Reason: fleet.SanitizeMax(f.reason, failover.MaxReason), Strict: f.strict, Yes: f.yes}
	if len(args) > 1 {
		cmd.Endpoint = args[1]
	}
	if action != fleet.ActionClear && f.span != "forever" {
		d, err := time.ParseDuration(f.span)
		if err != nil || d <= 0 {
			return exit(exitUsage, "--for %q is no duration like 2h or 30m, and not forever", f.span)
		}
		cmd.Until = fleet.MillisOf(time.Now().Add(d))
	}
	v, err := a.carryOut(ctx, cmd)
	if errors.Is(err, engine.ErrNobodyAnswered) {
		return exit(exitLater, "%w: %s", err, a.ledBy(a.dataDir()))
	}
	if err != nil {
		return err
	}
	return a.printVerdict(v, f.json)
}

func (a *app) printVerdict(v fleet.Verdict, asJSON bool) error {
	if asJSON {
		if err := printJSON(a.stdout, struct {
			Version int `json:"version"`
			fleet.Verdict
		}{1, v}); err != nil {
			return err
		}
	}
	switch {
	case v.Accepted:
		if !asJSON {
			fmt.Fprintln(a.stdout, v.Message)
		}
		return nil
	case v.Code == "unsafe" || v.Code == "changed":
		return exit(exitRefused, "refused: %s", v.Message)
	case v.Code == "last-eligible":
		return exit(exitRefused, "refused: %s (--yes does it all the same)", v.Message)
	case v.Code == "expired":
		return exit(exitLater, "%s", v.Message)
	}
	return exit(exitUsage, "%s", v.Message)
}

// carryOut asks the leader; when nobody leads, before or after the question, it
// takes the lead for as long as the command needs.
func (a *app) carryOut(ctx context.Context, cmd fleet.Command) (v fleet.Verdict, err error) {
	dir := a.dataDir()
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	var j *store.Journal
	defer func() {
		if j != nil {
			err = errors.Join(err, j.Close())
		}
	}()
	for {
		lease, ok, err := store.TryLead(dir, fleet.LeaderView{PID: os.Getpid(), Role: string(cmd.Action), Author: cmd.Author,
			Version: version, Since: fleet.MillisOf(time.Now())}, store.Options{})
		if err != nil {
			return v, err
		}
		if ok {
			v, err = a.carryOutAlone(context.WithoutCancel(ctx), dir, cmd)
			return v, errors.Join(err, lease.Release())
		}
		if j == nil {
			if j, err = store.OpenJournal(dir, store.Options{}); err != nil {
				return v, err
			}
			if err := engine.PutToLeader(ctx, j, cmd, time.Now()); err != nil {
				return v, err
			}
		}
		look, stop := context.WithTimeout(ctx, lookAgain)
		v, err = j.Await(look, cmd.ID)
		stop()
		switch {
		case err == nil:
			return v, nil
		case ctx.Err() != nil:
			return v, engine.ErrNobodyAnswered
		case !errors.Is(err, context.DeadlineExceeded):
			return v, err
		}
	}
}

// carryOutAlone judges a command on the last state, records it and folds it.
// The journal says what is in force. Without a history the names come from the
// configuration.
func (a *app) carryOutAlone(ctx context.Context, dir string, cmd fleet.Command) (v fleet.Verdict, err error) {
	b := openBooks(dir, a.log)
	defer func() { err = errors.Join(err, b.close()) }()
	s, _ := b.restore(ctx, a.log)
	over := b.overrides(ctx, s, a.log)
	if b.journal == nil {
		return v, fmt.Errorf("nobody leads, and the command cannot be recorded: %s", b.why.Journal)
	}
	f := alone{s: s, history: b.history}
	c := fleet.Config{Policy: fleet.DefaultPolicy(), Overrides: over}
	if s != nil && len(s.Chains) > 0 {
		c.Policy, c.Seed, c.Chains = s.Policy, s.Seed, s.Specs()
	} else {
		cfg, err := a.loadConfig()
		if err != nil {
			return v, err
		}
		key, err := b.journal.InstallationKey(ctx)
		if err != nil {
			return v, err
		}
		st, err := a.openSite(cfg, key)
		if err != nil {
			return v, err
		}
		st.door.Close()
		c.Policy, c.Seed, c.Chains = cfg.Policy, seedOf(cfg.Fingerprint()), st.specs
	}
	f.put(c)
	v = failover.Judge(f.s, cmd)
	v.Recorded = true
	if err := b.journal.SaveVerdict(ctx, cmd, v, failover.Apply(f.s.Overrides, cmd, f.s.Wall())); err != nil {
		return fleet.Verdict{}, fmt.Errorf("record the command: %w", err)
	}
	if v.Accepted {
		f.put(cmd)
		if b.history != nil {
			if err := b.history.Flush(ctx); err != nil {
				fmt.Fprintln(a.stderr, "rpctop: in force, but not in the history: "+oneLine(err))
			}
		}
	}
	return v, nil
}

// alone folds rows outside an engine: for a command with nobody leading.
type alone struct {
	s       *failover.State
	history *store.History // nil: not recorded
}

func (f *alone) put(in fleet.Input) {
	row := fleet.Row{Seq: 1, At: fleet.MillisOf(time.Now()), Input: in}
	if f.s != nil {
		row.Seq, row.At = f.s.Seq+1, max(f.s.At, row.At-f.s.Jump)
	}
	next, events := failover.Step(f.s, row)
	if f.history != nil {
		f.history.Enqueue(row, events, true)
	}
	f.s = next
}

func newID() string {
	b := make([]byte, 8)
	rand.Read(b)
	return strings.ToLower(hex.EncodeToString(b))
}
