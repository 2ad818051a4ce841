package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"

	"example.com/rpctop/internal/config"
	"example.com/rpctop/internal/engine"
	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/probe"
	"example.com/rpctop/internal/store"
	"example.com/rpctop/internal/upstream"
)

// site is a configuration that is being probed from: the door to its endpoints
// and what decisions need to know of them.
type site struct {
	cfg   *config.Config
	door  *upstream.Door
	specs []fleet.ChainSpec
}

// openSite makes the door. key makes the endpoints' fingerprints.
func (a *app) openSite(cfg *config.Config, key []byte) (*site, error) {
	if len(cfg.Chains) == 0 {
		return nil, &exitError{exitConfig, errNoChains}
	}
	var targets []upstream.Target
	for _, c := range cfg.Chains {
		for _, e := range c.Endpoints {
			targets = append(targets, target(c.Name, c.ChainID, e))
		}
	}
	door, err := upstream.New(upstream.Options{Targets: targets, Global: cfg.Limits, UserAgent: "rpctop/" + version})
	if err != nil {
		return nil, &exitError{exitConfig, err}
	}
	a.redact = door.Redact
	fingerprint := func(url string, header map[string]string) string { return upstream.Fingerprint(key, url, header) }
	return &site{cfg: cfg, door: door, specs: cfg.Specs(fingerprint)}, nil
}

func target(chain string, id uint64, e config.Endpoint) upstream.Target {
	secrets := make([]string, 0, len(e.Expanded))
	for _, s := range e.Expanded {
		secrets = append(secrets, s.Reveal())
	}
	return upstream.Target{Secrets: secrets, ID: fleet.EndpointID{Chain: chain, Name: e.Name}, URL: e.URL.Reveal(), Header: e.RevealHeaders(),
		Timeout: e.Timeout, ChainID: id, Limits: e.Limits}
}

// configFor gives the configuration of a verb that takes URLs: the file's, or
// one that groups the URLs by the chain id that they report.
func (a *app) configFor(ctx context.Context, args []string) (*config.Config, error) {
	if len(args) == 0 {
		return a.loadConfig()
	}
	urls, err := a.readURLs(args)
	if err != nil {
		return nil, err
	}
	ends, warnings, err := config.FromURLs(urls)
	if err != nil {
		return nil, &exitError{exitConfig, err}
	}
	for _, w := range warnings {
		fmt.Fprintln(a.stderr, "rpctop: "+w.String())
	}
	return a.group(ctx, ends)
}

// readURLs replaces - by the URLs on standard input, one a line.
func (a *app) readURLs(args []string) ([]string, error) {
	var urls []string
	for _, arg := range args {
		if arg != "-" {
			urls = append(urls, arg)
			continue
		}
		in := bufio.NewScanner(a.stdin)
		for in.Scan() {
			if line := strings.TrimSpace(in.Text()); line != "" && !strings.HasPrefix(line, "#") {
				urls = append(urls, line)
			}
		}
		if err := in.Err(); err != nil {
			return nil, fmt.Errorf("read URLs from standard input: %w", err)
		}
	}
	if len(urls) == 0 {
		return nil, exit(exitUsage, "no URL on standard input")
	}
	return urls, nil
}

// group asks each endpoint for its chain id, half of its time-out long, and
// makes a chain of those that agree. One that did not answer joins the largest
// chain, where its gate says so.
func (a *app) group(ctx context.Context, ends []config.Endpoint) (*config.Config, error) {
	const chain = "urls"
	targets := make([]upstream.Target, len(ends))
	ids := make([]fleet.EndpointID, len(ends))
	for i, e := range ends {
		targets[i] = target(chain, 0, e)
		ids[i] = targets[i].ID
	}
	door, err := upstream.New(upstream.Options{Targets: targets, UserAgent: "rpctop/" + version})
	if err != nil {
		return nil, &exitError{exitConfig, err}
	}
	defer door.Close()
	a.redact = door.Redact
	answers := probe.Identify(ctx, door, ids, config.DefaultTimeout/2, probe.Hooks{})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	cfg := config.Default()
	var unread []config.Endpoint
	var reasons []string
	for i, ans := range answers {
		id, ok := parseChainID(ans.ChainID)
		if !ok {
			unread = append(unread, ends[i])
			reasons = append(reasons, ends[i].Name+": "+ans.Outcome.Evidence())
			continue
		}
		addTo(cfg, id, ends[i])
	}
	if len(cfg.Chains) == 0 {
		return nil, exit(exitNone, "none of the URLs told its chain id:\n  %s", strings.Join(reasons, "\n  "))
	}
	largest := 0
	for i, c := range cfg.Chains {
		if len(c.Endpoints) > len(cfg.Chains[largest].Endpoints) {
			largest = i
		}
	}
	cfg.Chains[largest].Endpoints = append(cfg.Chains[largest].Endpoints, unread...)
	for _, r := range reasons {
		fmt.Fprintf(a.stderr, "rpctop: %s; taken for one of %s\n", r, cfg.Chains[largest].Name)
	}
	return cfg, nil
}

func addTo(cfg *config.Config, id uint64, e config.Endpoint) {
	for i := range cfg.Chains {
		if cfg.Chains[i].ChainID == id {
			cfg.Chains[i].Endpoints = append(cfg.Chains[i].Endpoints, e)
			return
		}
	}
	name, blockTime, ok := config.KnownChain(id)
	if !ok {
		name, blockTime = fmt.Sprintf("chain-%d", id), config.DefaultBlockTime
	}
	cfg.Chains = append(cfg.Chains, config.Chain{Name: name, ChainID: id, BlockTime: blockTime, Endpoints: []config.Endpoint{e}})
}

// books are the two databases of the data folder, as far as they could be
// opened.
type books struct {
	dir     string
	history *store.History
	journal *store.Journal
	why     fleet.Recording // why one is nil
	notices []string
	engine  atomic.Pointer[engine.Engine]
}

// openBooks opens what can be opened: the console works without, and says NOT
// RECORDING.
func openBooks(dir string, log *slog.Logger) *books {
	b := &books{dir: dir}
	var err error
	o := store.Options{OnGap: func(from, to uint64, cause string) {
		if e := b.engine.Load(); e != nil {
			e.Gap(from, to, cause)
		}
	}}
	if b.history, err = store.OpenHistory(dir, o); err != nil {
		b.history, b.why.History = nil, oneLine(err)
		log.Error("open the history", "err", err)
	} else {
		b.notices = append(b.notices, b.history.Notices()...)
	}
	if b.journal, err = store.OpenJournal(dir, o); err != nil {
		b.journal, b.why.Journal = nil, oneLine(err)
		log.Error("open the journal", "err", err)
	}
	return b
}

// close writes what is queued.
func (b *books) close() error {
	var errs []error
	if b.history != nil {
		errs = append(errs, b.history.Close())
	}
	if b.journal != nil {
		errs = append(errs, b.journal.Close())
	}
	return errors.Join(errs...)
}

// key is the installation's key for fingerprints; one of this run alone if the
// journal cannot keep it.
func (b *books) key(ctx context.Context) []byte {
	if b.journal != nil {
		if key, err := b.journal.InstallationKey(ctx); err == nil {
			return key
		}
	}
	key := make([]byte, 32)
	rand.Read(key)
	return key
}

// parseChainID reads a chain id as an endpoint told it; 0 says nothing.
func parseChainID(s string) (uint64, bool) {
	id, err := strconv.ParseUint(s, 10, 64)
	return id, err == nil && id != 0
}
