package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"example.com/rpctop/internal/config"
	"example.com/rpctop/internal/devnet"
)

// anyPort lets the system choose a free port.
const anyPort = "127.0.0.1:0"

// demoChain is the name of the embedded chain.
const demoChain = "demo"

type demoFlags struct {
	headless, ndjson bool
	span             time.Duration
	seed             int64
	listen           string
}

func (a *app) demoCommand() *cobra.Command {
	var f demoFlags
	cmd := &cobra.Command{
		Use:   "demo [SCENARIO]",
		Short: "The console on an embedded chain whose endpoints fail by a script",
		Long: `demo starts real nodes of one chain in this process, puts endpoints before
them that fail by a script, and opens the console on them. Its data is kept in
a temporary folder unless --data is given. ` + "`rpctop demo list`" + ` names the scenarios.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := devnet.Scenarios()[0].Name
			if len(args) == 1 {
				name = args[0]
			}
			if name == "list" {
				return a.listScenarios()
			}
			s, ok := devnet.FindScenario(name)
			if !ok {
				return exit(exitUsage, "there is no scenario %q; `rpctop demo list` names them", name)
			}
			return a.demo(cmd.Context(), s, f)
		},
	}
	cmd.Flags().BoolVar(&f.headless, "headless", false, "no screen: print the events")
	cmd.Flags().BoolVar(&f.ndjson, "ndjson", false, "with --headless: a JSON object a line")
	cmd.Flags().DurationVar(&f.span, "for", 0, "end after this time; 0: when told to")
	cmd.Flags().StringVar(&f.listen, "listen", config.DefaultListen, "address of the proxy; a free port if it is in use")
	cmd.Flags().Int64Var(&f.seed, "seed", 1, "makes blocks, hashes and jitter repeatable")
	return cmd
}

func (a *app) listScenarios() error {
	for _, s := range devnet.Scenarios() {
		if _, err := fmt.Fprintf(a.stdout, "%-14s  %s\n", s.Name, s.Summary); err != nil {
			return err
		}
	}
	return nil
}

// demo plays a scenario until ctx or its time ends.
func (a *app) demo(ctx context.Context, s devnet.Scenario, f demoFlags) (err error) {
	if f.ndjson && !f.headless {
		return exit(exitUsage, "--ndjson goes with --headless")
	}
	dir := a.flags.data
	if dir == "" {
		if dir, err = os.MkdirTemp("", "rpctop-demo-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	if f.span > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.span)
		defer cancel()
	}
	o := s.Options(f.seed)
	o.HeadTime = time.Now()
	net, err := devnet.Start(ctx, o)
	if err != nil {
		return fmt.Errorf("start the embedded chain: %w", err)
	}
	defer func() { err = errors.Join(err, net.Close()) }()
	cfg, err := demoConfig(net, s)
	if err != nil {
		return err
	}
	cfg.Proxy.Listen = f.listen
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	played := make(chan error, 1)
	go func() {
		played <- guard(func() error { return net.Play(ctx, s, func(note string) { a.log.Info("scenario", "note", note) }) })
	}()
	defer func() {
		cancel()
		err = errors.Join(err, <-played)
	}()
	if f.headless {
		return a.demoHeadless(ctx, cfg, dir, f)
	}
	return a.console(ctx, consoleRun{cfg: cfg, dir: dir, role: "demo", title: "demo " + s.Name})
}

// demoHeadless prints the events.
func (a *app) demoHeadless(ctx context.Context, cfg *config.Config, dir string, f demoFlags) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l, err := a.lead(ctx, cfg, dir, "demo")
	if err != nil {
		return err
	}
	if l == nil {
		return exit(exitLater, "%s", a.ledBy(dir))
	}
	if err := l.openGateway(ctx, cfg, "demo"); err != nil {
		cfg.Proxy.Listen = anyPort
		if err := l.openGateway(ctx, cfg, "demo"); err != nil {
			return errors.Join(err, l.close())
		}
	}
	var calling sync.WaitGroup
	calling.Go(func() { devnet.KeepCalling(ctx, l.url()) })
	defer calling.Wait()
	done := make(chan error, 1)
	go func() { done <- l.run(ctx) }()
	err = printEvents(ctx, a.stdout, l, 0, f.ndjson, done)
	cancel()
	return errors.Join(err, <-done)
}

// demoConfig is a configuration of the embedded chain's endpoints.
func demoConfig(net *devnet.Net, s devnet.Scenario) (*config.Config, error) {
	urls := make([]string, 0, len(net.Fronts()))
	for _, f := range net.Fronts() {
		urls = append(urls, f.URL())
	}
	ends, _, err := config.FromURLs(urls)
	if err != nil {
		return nil, err
	}
	for i, f := range net.Fronts() {
		ends[i].Name, ends[i].Operator, ends[i].Tier, ends[i].Timeout = f.Name(), f.Operator(), f.Tier(), 2*time.Second
	}
	cfg := config.Default()
	cfg.Chains = []config.Chain{{Name: demoChain, ChainID: net.ChainID(), BlockTime: net.BlockTime(), Genesis: net.Genesis(),
		Lag: config.Lag{Soft: s.LagSoft, Hard: s.LagHard}, Endpoints: ends}}
	return cfg, nil
}
