package main

import (
	"context"
	"errors"
	"hash/fnv"
	"maps"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"example.com/rpctop/internal/config"
	"example.com/rpctop/internal/engine"
	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/probe"
	"example.com/rpctop/internal/store"
)

// leading is a process that sequences, probes and records.
type leading struct {
	*engine.Engine
	a       *app
	site    *site
	books   *books
	lease   *store.Lease
	gateway *gateway // nil: programs are not served
	usage   *usage   // nil: there is no journal to keep it in
	prober  atomic.Pointer[probe.Prober]
	seed    uint64
}

// lead takes the lead of the data folder: nil without an error if another
// process has it. A folder that cannot be locked is led all the same, and not
// recorded.
func (a *app) lead(ctx context.Context, cfg *config.Config, dir, role string) (*leading, error) {
	who := fleet.LeaderView{PID: os.Getpid(), Role: role, Author: author(), Version: version, Since: fleet.MillisOf(time.Now())}
	lease, ok, leaseErr := store.TryLead(dir, who, store.Options{})
	if leaseErr == nil && !ok {
		return nil, nil
	}
	l := &leading{a: a, books: &books{}, lease: lease}
	if leaseErr == nil {
		l.books = openBooks(dir, a.log)
	} else {
		l.lease = nil
		l.books.why = fleet.Recording{History: oneLine(leaseErr), Journal: oneLine(leaseErr)}
	}
	if err := l.open(ctx, cfg, role); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

// open restores the state and makes door and engine.
func (l *leading) open(ctx context.Context, cfg *config.Config, role string) (err error) {
	if l.site, err = l.a.openSite(cfg, l.books.key(ctx)); err != nil {
		return err
	}
	print := cfg.Fingerprint()
	l.seed = seedOf(print)
	o := engine.Options{
		Lead:     fleet.Lead{Version: version, Config: print, Author: author(), PID: os.Getpid(), Role: role},
		Config:   fleet.Config{Policy: cfg.Policy, Seed: l.seed, Chains: l.site.specs},
		Log:      l.a.log,
		Prober:   l.currentProber,
		Decorate: l.decorate,
	}
	o.State, o.Events = l.books.restore(ctx, l.a.log)
	o.Config.Overrides = l.books.overrides(ctx, o.State, l.a.log)
	if l.books.history != nil {
		o.History = historyBook{l.books.history}
	}
	if l.books.journal != nil {
		o.Journal = l.books.journal
	}
	o.Unrecorded, o.Notices = l.books.why, l.books.notices
	if j := l.books.journal; j != nil {
		if l.usage, err = openUsage(ctx, j, l.site.door, l.a.log); err != nil {
			return err
		}
	}
	l.Engine = engine.New(o)
	l.books.engine.Store(l.Engine)
	return nil
}

// currentProber gives nil, and no typed nil, until probing has begun.
func (l *leading) currentProber() engine.Prober {
	if p := l.prober.Load(); p != nil {
		return p
	}
	return nil
}

// decorate adds to a picture what the probing knows: the calls that it spends.
func (l *leading) decorate(v *fleet.Snapshot) {
	p := l.prober.Load()
	for i, c := range l.site.specs {
		if i >= len(v.Chains) || v.Chains[i].Name != c.Name {
			continue
		}
		for j, e := range c.Endpoints {
			if j >= len(v.Chains[i].Endpoints) || v.Chains[i].Endpoints[j].Name != e.Name {
				continue
			}
			id, shown := fleet.EndpointID{Chain: c.Name, Name: e.Name}, &v.Chains[i].Endpoints[j]
			shown.PerDay = probe.CallsPerDay(c, e)
			if p != nil {
				shown.UsedToday = p.UsedToday(id).Calls
				shown.Every = fleet.Millis(p.Pace(id).Milliseconds())
			}
		}
	}
}

// run leads and probes until ctx ends, then writes what is queued and lets the
// lead go.
func (l *leading) run(ctx context.Context) error {
	used := map[fleet.EndpointID]probe.Usage{}
	if l.usage != nil {
		used = maps.Clone(l.usage.saved)
	}
	p := probe.Start(ctx, probe.Options{Asker: l.site.door, Chains: l.site.specs, Seed: l.seed, Used: used,
		Sink: func(in fleet.Input) { l.Offer(in) },
		Hooks: probe.Hooks{
			Denied: func(_ fleet.EndpointID, d *fleet.Denial) { l.Meter().Denied(fleet.KindHead, d) },
			Fault:  func(id fleet.EndpointID, err error) { l.a.log.Error("probe", "endpoint", id.String(), "err", err) },
		}})
	l.prober.Store(p)
	ctx, stop := context.WithCancel(ctx)
	var keeping sync.WaitGroup
	if l.usage != nil {
		keeping.Go(func() { l.usage.run(ctx, p) })
	}
	var served error
	var serving sync.WaitGroup
	gatewayCtx, closeGateway := context.WithCancel(ctx)
	if l.gateway != nil {
		serving.Go(func() {
			if served = l.gateway.serve(gatewayCtx); served != nil {
				stop() // a service whose port is dead is no service
			}
		})
	}
	// The engine goes on until the last request is answered.
	engineCtx, stopEngine := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		<-ctx.Done()
		closeGateway()
		serving.Wait()
		stopEngine()
	}()
	err := guard(func() error { return l.Engine.Run(engineCtx) })
	stop()
	closeGateway()
	serving.Wait()
	p.Close()
	keeping.Wait()
	err = errors.Join(err, served)
	return errors.Join(err, l.close())
}

func (l *leading) close() error {
	if l.gateway != nil {
		_ = l.gateway.ln.Close() // closed already if it served
	}
	if l.site != nil {
		l.site.door.Close()
	}
	err := l.books.close()
	if l.lease != nil {
		err = errors.Join(err, l.lease.Release())
	}
	return err
}

// seedOf makes the seed of jitter from a configuration's fingerprint, so that a
// restart keeps it.
func seedOf(fingerprint string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(fingerprint))
	return h.Sum64()
}
