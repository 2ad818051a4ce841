package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"example.com/rpctop/internal/failover"
	"example.com/rpctop/internal/fleet"
)

// Caller carries a call out; *failover.Caller does.
type Caller interface {
	Call(ctx context.Context, r failover.CallRequest) failover.CallResult
}

// Chain is a chain that the proxy serves at /<Name>.
type Chain struct {
	Name string
	ID   uint64 // of eth_chainId; 0: answers are not checked here
}

// Limits bound what a client may ask of this process. A zero field stands for
// the default.
type Limits struct {
	MaxBody    int64         // bytes of a request's body; 5 MiB, as in geth
	MaxBatch   int           // members of a batch; 1,000
	MaxDepth   int           // nesting of a body; 64
	MaxAnswers int64         // bytes of all answers of one batch; 128 MiB
	Abreast    int           // members of one batch that are asked at a time; 16
	MaxHeader  int           // bytes of a request's header; 64 KiB
	ReadHeader time.Duration // for a request's header; 5 s
	ReadBody   time.Duration // for a request's body; 30 s
	Write      time.Duration // for the writing of an answer; 60 s
	Idle       time.Duration // of a kept connection; 60 s
	Call       time.Duration // from a read request to its answer; 30 s
}

func (l Limits) withDefaults() Limits {
	def := Limits{5 << 20, 1_000, 64, 128 << 20, 16, 64 << 10, 5 * time.Second, 30 * time.Second, time.Minute, time.Minute, 30 * time.Second}
	or(&l.MaxBody, def.MaxBody)
	or(&l.MaxBatch, def.MaxBatch)
	or(&l.MaxDepth, def.MaxDepth)
	or(&l.MaxAnswers, def.MaxAnswers)
	or(&l.Abreast, def.Abreast)
	or(&l.MaxHeader, def.MaxHeader)
	or(&l.ReadHeader, def.ReadHeader)
	or(&l.ReadBody, def.ReadBody)
	or(&l.Write, def.Write)
	or(&l.Idle, def.Idle)
	or(&l.Call, def.Call)
	return l
}

func or[T int | int64 | time.Duration](v *T, def T) {
	if *v <= 0 {
		*v = def
	}
}

// Options are what a Server needs. Chains, Caller, State and Snapshot must be
// given.
type Options struct {
	Chains   []Chain
	Default  string // the chain of `POST /`; "": the only one, if there is one only
	Caller   Caller
	State    func() *failover.State // of now; nil: nothing is known yet
	Snapshot func() *fleet.Snapshot // for /healthz and /metrics
	Listen   string                 // host:port as configured; requests may name its host
	Allow    []string               // further methods
	Origins  []string               // of browsers' pages, scheme://host[:port]
	Token    string                 // "": none is asked for
	Forward  []string               // headers that reach the endpoints
	Limits   Limits
	Role     string // of this process, for /healthz
	PID      int    // likewise
	// Saw is told the height of each block that an endpoint shows in an
	// answer; nil: nobody is told.
	Saw func(fleet.EndpointID, uint64)
	// Suspect asks for a probe of an endpoint at once; nil: nobody is told.
	Suspect func(fleet.EndpointID)
	Now     func() time.Time // nil: time.Now
	Log     *slog.Logger     // nil: nothing is logged
}

// Server answers programs. Make one with New, let it serve with Serve, and end
// it with Shutdown.
type Server struct {
	o       Options
	chains  map[string]*chain
	def     *chain // nil: there are several
	methods map[string]method
	hosts   []string // beside loopback's, lower case
	forward []string // canonical
	http    *http.Server
	metrics *metrics
	book    *book
	filters *filters
	nulls   nulls
	told    atomic.Int64 // the second of the last refusal that was logged
	keeper  keeper
}

// chain is a served chain.
type chain struct {
	Chain
}

func (c *chain) endpoint(name string) fleet.EndpointID {
	return fleet.EndpointID{Chain: c.Name, Name: name}
}

// New makes a server. It fails on options that cannot be served: no chain, two
// of one name, a method that is never passed on.
func New(o Options) (*Server, error) {
	if o.Caller == nil || o.State == nil || o.Snapshot == nil {
		return nil, errors.New("proxy: Caller, State and Snapshot are needed")
	}
	o.Limits = o.Limits.withDefaults()
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Saw == nil {
		o.Saw = func(fleet.EndpointID, uint64) {}
	}
	if o.Suspect == nil {
		o.Suspect = func(fleet.EndpointID) {}
	}
	s := &Server{o: o, chains: map[string]*chain{}, methods: maps.Clone(known), metrics: newMetrics(o.Snapshot)}
	s.book, s.filters = newBook(), newFilters()
	for _, c := range o.Chains {
		if c.Name == "" || s.chains[c.Name] != nil {
			return nil, fmt.Errorf("proxy: chain %q is unnamed or named twice", c.Name)
		}
		s.chains[c.Name] = &chain{c}
	}
	if len(o.Chains) == 1 && o.Default == "" {
		o.Default = o.Chains[0].Name
	}
	if s.def = s.chains[o.Default]; len(s.chains) == 0 || s.def == nil && o.Default != "" {
		return nil, fmt.Errorf("proxy: there is no chain %q to serve", o.Default)
	}
	for _, m := range o.Allow {
		if why := neverPassed(m); why != "" {
			return nil, fmt.Errorf("proxy: allow %s: %s", m, why)
		}
		if _, ok := s.methods[m]; !ok {
			s.methods[m] = method{tag: tagOf(m)}
		}
	}
	if host, _, err := net.SplitHostPort(o.Listen); err == nil && host != "" {
		s.hosts = append(s.hosts, strings.ToLower(host))
	}
	for _, h := range o.Forward {
		s.forward = append(s.forward, http.CanonicalHeaderKey(h))
	}
	slices.Sort(s.forward)
	s.http = &http.Server{
		Handler:           s,
		ReadHeaderTimeout: o.Limits.ReadHeader,
		IdleTimeout:       o.Limits.Idle,
		MaxHeaderBytes:    o.Limits.MaxHeader,
		ErrorLog:          slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	return s, nil
}

// ref is what the fold knows of a chain's newest block.
type ref struct {
	number uint64 // of the reference head
	known  bool
	most   uint64 // a higher answer of the tip is not believed
}

// beyond is how far above the reference head an answer of the tip may be.
const beyond = 3

// refOf gives the reference head. The reference is as old as the last probe, so
// the bound for answers grows by what the chain may have made since, twice over.
func (s *Server) refOf(c *chain) ref {
	st := s.o.State()
	if st == nil {
		return ref{}
	}
	fc := st.Chain(c.Name)
	if fc == nil || fc.Ref == nil {
		return ref{}
	}
	made := uint64(2 * max(st.At-fc.Ref.Since, 0) / max(fc.Spec.BlockTime, 1))
	return ref{number: fc.Ref.Number, known: true, most: fc.Ref.Number + beyond + made}
}

// facts are what a call needs to know of its chain beforehand.
func (s *Server) facts(c *chain) (endpoints int, blockTime time.Duration, stalled bool) {
	if st := s.o.State(); st != nil {
		if fc := st.Chain(c.Name); fc != nil {
			return len(fc.Endpoints), time.Duration(fc.Spec.BlockTime) * time.Millisecond, fc.Stalled
		}
	}
	return 1, time.Second, false
}
