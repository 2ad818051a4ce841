package main

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"

	"example.com/rpctop/internal/config"
	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/probe"
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
	a.door.Store(door)
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
	a.door.Store(door)
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

// parseChainID reads a chain id as an endpoint told it; 0 says nothing.
func parseChainID(s string) (uint64, bool) {
	id, err := strconv.ParseUint(s, 10, 64)
	return id, err == nil && id != 0
}
