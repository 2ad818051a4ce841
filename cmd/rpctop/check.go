package main

import (
	"context"
	"crypto/rand"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"example.com/rpctop/internal/config"
	"example.com/rpctop/internal/failover"
	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/probe"
)

func (a *app) checkCommand() *cobra.Command {
	var asJSON, probing bool
	var rounds int
	cmd := &cobra.Command{
		Use:   "check [URL... | -]",
		Short: "Judge every endpoint once, and exit by what was found",
		Long: `check prints the state of every endpoint with its evidence. It takes the live
leader's word if one leads the data folder, else (or with --probe, or with
URLs) it probes by itself, and writes nothing.

Exit codes: 0 all may serve; 3 an endpoint is gated, a chain is stalled, or a
watch is inconsistent; 4 a chain has no eligible endpoint.`,
		Args: a.urlArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if rounds < 1 || rounds > 1000 {
				return exit(exitUsage, "--rounds %d is not between 1 and 1000", rounds)
			}
			ctx := cmd.Context()
			if len(args) == 0 && !probing {
				if v := a.leadersWord(ctx); v != nil {
					return a.printStatus(v, true, asJSON)
				}
			}
			cfg, err := a.configFor(ctx, args)
			if err != nil {
				return err
			}
			v, err := a.checkOnce(ctx, cfg, rounds)
			if err != nil {
				return err
			}
			return a.printStatus(v, true, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&probing, "probe", false, "probe, even if another process leads")
	cmd.Flags().IntVar(&rounds, "rounds", 1, "probe rounds per endpoint")
	return cmd
}

// leadersWord is what the living leader has recorded; nil if there is none, or
// if it does not record.
func (a *app) leadersWord(ctx context.Context) *fleet.Snapshot {
	dir := a.dataDir()
	f, err := a.readState(ctx, dir)
	if err != nil {
		return nil // whatever it is, probing tells more
	}
	if v := f.Snapshot(); len(v.Chains) > 0 && alive(dir, v) {
		return v
	}
	return nil
}

// checkOnce folds rounds of probing in memory and gives the picture.
func (a *app) checkOnce(ctx context.Context, cfg *config.Config, rounds int) (*fleet.Snapshot, error) {
	key := make([]byte, 32)
	rand.Read(key)
	st, err := a.openSite(cfg, key)
	if err != nil {
		return nil, err
	}
	defer st.door.Close()
	f := &checkFold{start: time.Now()}
	f.put(fleet.Lead{Version: version, Role: "check", Wall: fleet.MillisOf(f.start)})
	f.put(fleet.Config{Policy: cfg.Policy, Chains: unpaced(st.specs)})
	var mu sync.Mutex
	denials := map[fleet.EndpointID]int64{}
	c := probe.Check{Asker: st.door, Chains: st.specs, Rounds: 1, Sink: f.put, Hooks: probe.Hooks{
		Denied: func(id fleet.EndpointID, _ *fleet.Denial) {
			mu.Lock()
			defer mu.Unlock()
			denials[id]++
		},
		Fault: func(id fleet.EndpointID, err error) { a.log.Error("probe", "endpoint", id.String(), "err", err) },
	}}
	for n := range rounds {
		begin := time.Now()
		probe.CheckOnce(ctx, c)
		f.confirm(ctx, c)
		f.compare(ctx, c)
		if n+1 < rounds && !pause(ctx, time.Second-time.Since(begin)) {
			break
		}
	}
	for id, n := range denials {
		f.put(fleet.Traffic{Endpoint: id, Denials: n})
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	// A second later, so that failures that waited for a sign of the network are judged.
	f.at(time.Now().Add(time.Second), fleet.Tick{})
	v := failover.View(f.s)
	v.At = fleet.MillisOf(time.Now())
	return v, nil
}

// noPace stands for the pace of endpoints that are asked on an operator's word:
// nothing is due by itself.
const noPace = fleet.Millis(24 * 3_600_000)

// unpaced gives specs by which nothing is asked by the clock.
func unpaced(in []fleet.ChainSpec) []fleet.ChainSpec {
	out := slices.Clone(in)
	for i := range out {
		out[i].Endpoints = slices.Clone(out[i].Endpoints)
		for j := range out[i].Endpoints {
			out[i].Endpoints[j].Every = noPace
		}
	}
	return out
}

func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(max(d, 0))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// checkFold is a fold without a store. Rows may be put from any goroutine.
type checkFold struct {
	mu    sync.Mutex
	s     *failover.State
	start time.Time
	seq   uint64
}

func (f *checkFold) put(in fleet.Input) { f.at(time.Now(), in) }

func (f *checkFold) at(now time.Time, in fleet.Input) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seq++
	f.s, _ = failover.Step(f.s, fleet.Row{Seq: f.seq, At: fleet.MillisOf(now), Input: in})
}

// confirm asks endpoints that are ahead of all others for the block that the
// others have: within one round nobody could vouch for them.
func (f *checkFold) confirm(ctx context.Context, c probe.Check) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	for _, ch := range f.s.Chains {
		for _, e := range ch.Endpoints {
			if e.Confirm == 0 {
				continue
			}
			id := fleet.EndpointID{Chain: ch.Spec.Name, Name: e.Spec.Name}
			wg.Go(func() {
				r, ok := c.Confirm(ctx, id, time.Duration(e.Spec.Timeout)*time.Millisecond, e.Confirm)
				mu.Lock()
				defer mu.Unlock()
				if ok {
					f.put(r)
				}
			})
		}
	}
	wg.Wait()
}

// mostSteps bounds a comparison: a search for the block where chains part
// takes two steps to each doubling of its depth.
const mostSteps = 100

// compare puts the questions by which endpoints are compared, until the fold
// has none left.
func (f *checkFold) compare(ctx context.Context, c probe.Check) {
	put := map[string]uint64{} // by chain, the last wish that was put
	for _, ch := range f.s.Chains {
		put[ch.Spec.Name] = ch.LastWish
	}
	f.s = failover.Due(f.s)
	f.put(fleet.Tick{})
	for range mostSteps {
		var wg sync.WaitGroup
		asked := false
		for _, ch := range f.s.Chains {
			byEndpoint := map[string][]fleet.Wish{} // each endpoint's after each other, as they were wished for
			for _, w := range ch.Wishes {
				if w.ID > put[ch.Spec.Name] {
					byEndpoint[w.Endpoint] = append(byEndpoint[w.Endpoint], w)
				}
			}
			put[ch.Spec.Name] = ch.LastWish
			for name, wishes := range byEndpoint {
				asked = true
				id, timeout := fleet.EndpointID{Chain: ch.Spec.Name, Name: name}, time.Duration(ch.Endpoint(name).Spec.Timeout)*time.Millisecond
				wg.Go(func() {
					for _, w := range wishes {
						c.Ask(ctx, id, timeout, w)
					}
				})
			}
		}
		wg.Wait()
		if !asked || ctx.Err() != nil {
			return
		}
	}
}
