package main

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"example.com/rpctop/internal/admission"
	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/probe"
	"example.com/rpctop/internal/store"
	"example.com/rpctop/internal/upstream"
)

// usageEvery is how often spent budgets are added to the journal; a crash loses
// at most this much of them.
const usageEvery = time.Second

// probeBook marks the probes' own share in the journal's table of budgets: the
// chain's name with a prefix that no configured name can have. Its units are
// the calls that suspicion spent.
const probeBook = "probe:"

// usage keeps the budgets of the day over restarts.
type usage struct {
	journal *store.Journal
	gates   *admission.Gatekeeper
	log     *slog.Logger
	saved   map[fleet.EndpointID]probe.Usage // what the journal has of the probes
}

// openUsage reads what all processes have spent today and this month.
func openUsage(ctx context.Context, j *store.Journal, door *upstream.Door, log *slog.Logger) (*usage, error) {
	u := &usage{journal: j, gates: door.Gates(), log: log, saved: map[fleet.EndpointID]probe.Usage{}}
	now := time.Now().UTC()
	all, err := j.Usages(ctx, now.Format("2006-01")+"-01")
	if err != nil {
		return nil, err
	}
	var spent []admission.Usage
	for _, s := range all {
		chain, probes := strings.CutPrefix(s.Endpoint.Chain, probeBook)
		switch {
		case !probes:
			spent = append(spent, admission.Usage(s))
		case s.Day == now.Format(time.DateOnly):
			u.saved[fleet.EndpointID{Chain: chain, Name: s.Endpoint.Name}] = probe.Usage{Day: probe.DayOf(now), Calls: s.Calls, Suspicion: s.Units}
		}
	}
	return u, u.gates.SetUsage(spent)
}

// run adds what is spent to the journal until ctx ends, and once more then.
func (u *usage) run(ctx context.Context, p *probe.Prober) {
	t := time.NewTicker(usageEvery)
	defer t.Stop()
	failing := false
	for ended := false; !ended; {
		select {
		case <-ctx.Done():
			ended = true
		case <-t.C:
		}
		err := u.save(context.WithoutCancel(ctx), p)
		if err != nil && !failing {
			u.log.Error("keep the budgets", "err", err)
		}
		failing = err != nil
	}
}

func (u *usage) save(ctx context.Context, p *probe.Prober) error {
	taken := u.gates.TakeUsage()
	add := make([]store.Usage, 0, len(taken))
	for _, t := range taken {
		add = append(add, store.Usage(t))
	}
	used := p.Used()
	for id, now := range used {
		was := u.saved[id]
		if was.Day != now.Day {
			was = probe.Usage{}
		}
		if now.Calls == was.Calls && now.Suspicion == was.Suspicion {
			continue
		}
		add = append(add, store.Usage{Endpoint: fleet.EndpointID{Chain: probeBook + id.Chain, Name: id.Name},
			Day:   time.Unix(now.Day*86_400, 0).UTC().Format(time.DateOnly),
			Calls: now.Calls - was.Calls, Units: now.Suspicion - was.Suspicion})
	}
	if len(add) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := u.journal.AddUsage(ctx, add); err != nil {
		return errors.Join(err, u.gates.ReturnUsage(taken))
	}
	for id, now := range used {
		u.saved[id] = now
	}
	return nil
}
