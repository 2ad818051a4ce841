package main

import (
	"context"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"

	"example.com/rpctop/internal/config"
	"example.com/rpctop/internal/failover"
	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/proxy"
	"example.com/rpctop/internal/upstream"
)

// drainFor is how long requests under way are waited for at the end.
const drainFor = 5 * time.Second

// asker fits the door to what a call asks.
type asker struct{ door *upstream.Door }

// Ask implements failover.Asker.
func (a asker) Ask(ctx context.Context, q failover.AttemptAsk) (*fleet.Attempt, error) {
	return a.door.Do(ctx, upstream.Call{Endpoint: q.Endpoint, Method: q.Method, Params: q.Params, Caller: q.Caller,
		Timeout: q.Timeout, Header: q.Header})
}

// caller carries calls out and remembers when the last one came.
type caller struct {
	*failover.Caller
	last atomic.Int64 // Unix ms
}

// Call implements proxy.Caller.
func (c *caller) Call(ctx context.Context, r failover.CallRequest) failover.CallResult {
	c.last.Store(time.Now().UnixMilli())
	return c.Caller.Call(ctx, r)
}

// servedWithin reports whether a program was served a moment ago.
func (c *caller) servedWithin(d time.Duration) bool {
	return time.Since(time.UnixMilli(c.last.Load())) < d
}

// gateway is the programs' face of a process that leads.
type gateway struct {
	server *proxy.Server
	ln     net.Listener
	caller *caller
}

// openGateway opens the port and makes the server; nothing is served yet.
func (l *leading) openGateway(ctx context.Context, cfg *config.Config, role string) error {
	ln, err := proxy.Listen(ctx, cfg.Proxy.Listen)
	if err != nil {
		return err
	}
	c := &caller{Caller: &failover.Caller{State: l.State, Asker: asker{l.site.door}, Now: time.Now, Note: l.Meter()}}
	chains := make([]proxy.Chain, 0, len(cfg.Chains))
	for _, ch := range cfg.Chains {
		chains = append(chains, proxy.Chain{Name: ch.Name, ID: ch.ChainID})
	}
	s, err := proxy.New(proxy.Options{
		Chains: chains, Caller: c, State: l.State, Snapshot: l.Snapshot, Listen: cfg.Proxy.Listen, Allow: cfg.Proxy.Allow,
		Origins: cfg.Proxy.Origins, Token: cfg.Proxy.Token.Reveal(), Forward: cfg.Proxy.ForwardHeaders, Role: role, PID: os.Getpid(),
		Saw: c.Saw, Suspect: l.suspect, Log: l.a.log,
	})
	if err != nil {
		return errors.Join(&exitError{exitConfig, err}, ln.Close())
	}
	l.gateway = &gateway{server: s, ln: ln, caller: c}
	return nil
}

// offGateway goes on without the configured port: the demo takes a free one, a
// console shows why programs are not served.
func (l *leading) offGateway(ctx context.Context, r consoleRun, why error) {
	if r.role == "demo" {
		cfg := *r.cfg
		cfg.Proxy.Listen = anyPort
		if err := l.openGateway(ctx, &cfg, r.role); err == nil {
			return
		}
	}
	l.Notice("programs are not served: " + oneLine(why))
}

// suspect asks for a probe at once, while there is a prober.
func (l *leading) suspect(id fleet.EndpointID) {
	if p := l.prober.Load(); p != nil {
		p.Suspect(id)
	}
}

// url is where programs find the proxy; "" if it is off.
func (l *leading) url() string {
	if l.gateway == nil {
		return ""
	}
	return "http://" + l.gateway.ln.Addr().String()
}

// serve answers programs until ctx ends, then waits for what is under way.
func (g *gateway) serve(ctx context.Context) error {
	served := make(chan error, 1)
	go func() { served <- guard(func() error { return g.server.Serve(g.ln) }) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainFor)
	defer cancel()
	return errors.Join(g.server.Shutdown(end), <-served)
}
