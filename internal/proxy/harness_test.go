package proxy

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.com/rpctop/internal/admission"
	"example.com/rpctop/internal/engine"
	"example.com/rpctop/internal/failover"
	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/upstream"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// Both belong to go-ethereum, are started once a process, and have no end.
		goleak.IgnoreAnyFunction("github.com/syndtr/goleveldb/leveldb.(*DB).mpoolDrain"),
		goleak.IgnoreAnyFunction("github.com/ethereum/go-ethereum/core.(*txSenderCacher).cache"),
	)
}

// node is an endpoint on loopback that answers as a test says, and logs.
type node struct {
	*httptest.Server
	mu     sync.Mutex
	asked  []asked
	quiet  bool // keeps no log
	answer func(w http.ResponseWriter, r asked)
}

// asked is a request that reached a node.
type asked struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	header http.Header
	ctx    context.Context
}

func newNode(t testing.TB, answer func(w http.ResponseWriter, r asked)) *node {
	t.Helper()
	n := &node{answer: answer}
	n.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := asked{header: r.Header.Clone(), ctx: r.Context()}
		b, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(b, &a) != nil {
			return
		}
		n.mu.Lock()
		if !n.quiet {
			n.asked = append(n.asked, a)
		}
		f := n.answer
		n.mu.Unlock()
		f(w, a)
	}))
	t.Cleanup(n.Close)
	return n
}

func (n *node) set(answer func(w http.ResponseWriter, r asked)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.answer = answer
}

func (n *node) requests() []asked {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]asked(nil), n.asked...)
}

func (n *node) count(method string) (k int) {
	for _, a := range n.requests() {
		if a.Method == method {
			k++
		}
	}
	return k
}

// result answers every question with one result.
func result(raw string) func(http.ResponseWriter, asked) {
	return func(w http.ResponseWriter, r asked) { say(w, r, `"result":`+raw) }
}

func fails(raw string) func(http.ResponseWriter, asked) {
	return func(w http.ResponseWriter, r asked) { say(w, r, `"error":`+raw) }
}

func say(w http.ResponseWriter, r asked, member string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(r.ID)+`,`+member+`}`)
}

func status(code int) func(http.ResponseWriter, asked) {
	return func(w http.ResponseWriter, _ asked) { http.Error(w, http.StatusText(code), code) }
}

// world is a proxy over real calls, a real door and nodes, whose state the test
// folds by hand.
type world struct {
	t      testing.TB
	nodes  map[string]*node
	mu     sync.Mutex // orders the folding
	state  atomic.Pointer[failover.State]
	meter  *engine.Meter
	door   *upstream.Door
	caller *failover.Caller
	server *Server
	url    string
	http   *http.Client
	addr   string
	susp   atomic.Int64 // suspicions
	id     uint64       // of the chain
}

type worldOptions struct {
	names  []string
	limits map[string]admission.Limits
	policy func(*fleet.Policy)
	proxy  func(*Options)
	chain  func(*fleet.ChainSpec)
	id     uint64 // of the chain; 0: testChain
	height uint64 // of all heads at first; 0: 100
}

const testChain = 100

func newWorld(t testing.TB, o worldOptions) *world {
	t.Helper()
	if o.names == nil {
		o.names = []string{"a", "b"}
	}
	w := &world{t: t, nodes: map[string]*node{}, id: testChain}
	if o.id != 0 {
		w.id = o.id
	}
	spec := fleet.ChainSpec{Name: "main", ChainID: w.id, BlockTime: 1_000}
	var targets []upstream.Target
	for i, name := range o.names {
		n := newNode(t, result(`"0x2a"`))
		w.nodes[name] = n
		id := fleet.EndpointID{Chain: "main", Name: name}
		spec.Endpoints = append(spec.Endpoints, fleet.EndpointSpec{Name: name, Operator: "op-" + name, Tier: i, Every: 1_000, Timeout: 4_000})
		targets = append(targets, upstream.Target{ID: id, URL: n.URL + "/secret-" + name, ChainID: w.id, Timeout: 4 * time.Second, Limits: o.limits[name]})
	}
	if o.chain != nil {
		o.chain(&spec)
	}
	p := fleet.DefaultPolicy()
	if o.policy != nil {
		o.policy(&p)
	}
	var err error
	if w.door, err = upstream.New(upstream.Options{Targets: targets}); err != nil {
		t.Fatal(err)
	}
	w.state.Store(&failover.State{})
	w.fold(fleet.Lead{PID: 1, Role: "test", Wall: fleet.MillisOf(time.Now())})
	w.fold(fleet.Config{Policy: p, Seed: 1, Chains: []fleet.ChainSpec{spec}})
	w.meter = engine.NewMeter(func(in fleet.Input) bool { w.fold(in); return true })
	w.caller = &failover.Caller{State: w.state.Load, Asker: asker{w.door}, Now: time.Now, Note: w.meter}
	w.heads(max(o.height, 100))
	po := Options{Chains: []Chain{{"main", w.id}}, Caller: w.caller, State: w.state.Load,
		Snapshot: func() *fleet.Snapshot { return failover.View(w.state.Load()) },
		Listen:   "127.0.0.1:0", Forward: []string{"traceparent", "x-request-id"}, Role: "test", PID: 4711,
		Suspect: func(fleet.EndpointID) { w.susp.Add(1) }}
	if o.proxy != nil {
		o.proxy(&po)
	}
	if w.server, err = New(po); err != nil {
		t.Fatal(err)
	}
	w.addr, w.url = serve(t, w.server)
	tr := &http.Transport{MaxIdleConnsPerHost: 256}
	w.http = &http.Client{Transport: tr, Timeout: 20 * time.Second}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		w.door.Close()
	})
	return w
}

// serve runs a server until the test has ended.
func serve(t testing.TB, s *Server) (addr, url string) {
	t.Helper()
	ln, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return ln.Addr().String(), "http://" + ln.Addr().String()
}

// asker is the adapter that a program makes of the door.
type asker struct{ *upstream.Door }

func (a asker) Ask(ctx context.Context, q failover.AttemptAsk) (*fleet.Attempt, error) {
	return a.Do(ctx, upstream.Call{Endpoint: q.Endpoint, Method: q.Method, Params: q.Params, Header: q.Header, Timeout: q.Timeout, Caller: q.Caller})
}

func (w *world) fold(in fleet.Input) {
	w.mu.Lock()
	defer w.mu.Unlock()
	old := w.state.Load()
	next, _ := failover.Step(old, fleet.Row{Seq: old.Seq + 1, At: max(old.At, fleet.MillisOf(time.Now())), Input: in})
	w.state.Store(next)
}

// heads folds a good sample of every endpoint, at one height.
func (w *world) heads(n uint64) {
	for _, name := range w.names() {
		w.head(name, n)
	}
}

func (w *world) names() (out []string) {
	for _, e := range w.state.Load().Chain("main").Endpoints {
		out = append(out, e.Spec.Name)
	}
	return out
}

func (w *world) head(name string, n uint64) {
	w.fold(fleet.Sample{Endpoint: fleet.EndpointID{Chain: "main", Name: name}, Start: fleet.MillisOf(time.Now()),
		Outcome: fleet.Outcome{Class: fleet.ClassOK}, Timing: fleet.Timing{Total: 1_000}, ChainID: utoa(w.id), ChainIDClass: fleet.ClassOK, Head: headAt(n)})
}

func headAt(n uint64) *fleet.Head {
	h := func(n uint64) (out fleet.Hash) {
		out[0] = 0xb0
		binary.BigEndian.PutUint64(out[24:], n)
		return out
	}
	return &fleet.Head{Number: n, Hash: h(n), Parent: h(n - 1), Time: uint64(time.Now().Unix())}
}

// got is what a client of the proxy saw.
type got struct {
	status int
	header http.Header
	body   string
}

func (w *world) post(body string, header ...string) got {
	w.t.Helper()
	g, err := w.try(context.Background(), body, header...)
	if err != nil {
		w.t.Fatal(err)
	}
	return g
}

func (w *world) try(ctx context.Context, body string, header ...string) (got, error) {
	return post(ctx, w.http, w.url, body, header...)
}

func post(ctx context.Context, c *http.Client, url, body string, header ...string) (got, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return got{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
			continue
		}
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := c.Do(r)
	if err != nil {
		return got{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return got{resp.StatusCode, resp.Header, string(b)}, err
}

// question makes a request body.
func question(method, params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
}

// failure reads the error of an answer.
func (g got) failure(t testing.TB) ownError {
	t.Helper()
	var v struct{ Error ownError }
	if err := json.Unmarshal([]byte(g.body), &v); err != nil {
		t.Fatalf("HTTP %d %q: %v", g.status, g.body, err)
	}
	return v.Error
}

func (g got) result(t testing.TB) string {
	t.Helper()
	var v struct{ Result, Error json.RawMessage }
	if err := json.Unmarshal([]byte(g.body), &v); err != nil || v.Error != nil {
		t.Fatalf("HTTP %d %q: %v", g.status, g.body, err)
	}
	return string(v.Result)
}

// await polls a condition without a fixed sleep.
func await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); <-tick.C {
		if ok() {
			return
		}
	}
	t.Fatal("waited in vain for: " + what)
}

func timedOut(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

type fleetChain = fleet.ChainSpec

// overrideCmd ejects an endpoint, whoever is left.
func overrideCmd(name string) fleet.Command {
	return fleet.Command{ID: name, Author: "t", Action: fleet.ActionEject, Chain: "main", Endpoint: name, Reason: "test", Yes: true}
}

// clearCmd ends all overrides of the chain.
func clearCmd() fleet.Command {
	return fleet.Command{ID: "clear", Author: "t", Action: fleet.ActionClear, Chain: "main", Reason: "test", Yes: true}
}

func mustHash(t testing.TB, s string) fleet.Hash {
	t.Helper()
	h, err := fleet.ParseHash(s)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// newReverse serves a handler until the test has ended.
func newReverse(t testing.TB, h http.Handler) (url string) {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// lines gathers what a server logs.
type lines struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// count gives the number of lines with a text.
func (l *lines) count(text string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.b.String()) {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}
