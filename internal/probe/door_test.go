package probe

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/rpctop/internal/admission"
	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/upstream"
)

// node is a JSON-RPC server on loopback that answers from a table.
type node struct {
	*httptest.Server
	mu    sync.Mutex
	asked map[string]int
	// odd answers a question in another way; nil or false: as a healthy node.
	odd func(w http.ResponseWriter, r *http.Request, what string, id json.RawMessage) bool
}

func newNode(t *testing.T, odd func(http.ResponseWriter, *http.Request, string, json.RawMessage) bool) *node {
	n := &node{asked: map[string]int{}, odd: odd}
	n.Server = httptest.NewServer(http.HandlerFunc(n.serve))
	t.Cleanup(n.Close)
	return n
}

func (n *node) serve(w http.ResponseWriter, r *http.Request) {
	var q struct {
		ID     json.RawMessage
		Method string
		Params json.RawMessage
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &q) != nil {
		http.Error(w, "no request", http.StatusBadRequest)
		return
	}
	what := whatOf(q.Method, string(q.Params))
	n.mu.Lock()
	n.asked[what]++
	n.mu.Unlock()
	if n.odd != nil && n.odd(w, r, what, q.ID) {
		return
	}
	reply(w, q.ID, results[what])
}

func (n *node) count(what string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked[what]
}

func reply(w http.ResponseWriter, id json.RawMessage, value string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, value)
}

// open makes a door to the nodes a, b, … of chain 100.
func open(t *testing.T, timeout time.Duration, limits admission.Limits, urls ...string) (*upstream.Door, []fleet.ChainSpec) {
	t.Helper()
	var targets []upstream.Target
	var specs []fleet.EndpointSpec
	for i, u := range urls {
		name := string(rune('a' + i))
		targets = append(targets, upstream.Target{ID: idOf(name), URL: u, Timeout: timeout, ChainID: 100, Limits: limits})
		specs = append(specs, fleet.EndpointSpec{Name: name, Every: 1000, Local: true, Timeout: fleet.MillisOf(time.Unix(0, 0).Add(timeout))})
	}
	door, err := upstream.New(upstream.Options{Targets: targets})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(door.Close)
	return door, chainOf(specs...)
}

func TestThroughTheDoorACheckReadsEverything(t *testing.T) {
	n := newNode(t, nil)
	door, chains := open(t, 5*time.Second, admission.Limits{}, n.URL)
	var tp tape
	var told tally
	CheckOnce(t.Context(), Check{Asker: door, Chains: chains, Sink: tp.sink, Hooks: told.hooks()})
	s := tp.samples("a")
	if len(s) != 1 || !s[0].Outcome.OK() || s[0].Head == nil || s[0].Head.Number != 1000 || s[0].ChainID != "100" || s[0].ChainIDClass != fleet.ClassOK {
		t.Fatalf("samples %+v", s)
	}
	if s[0].Timing.Total <= 0 || s[0].Start <= 0 {
		t.Errorf("timing %+v, start %d", s[0].Timing, s[0].Start)
	}
	rs := tp.readings("")
	if len(rs) != 5 {
		t.Fatalf("%d readings", len(rs))
	}
	for _, r := range rs {
		if !r.Outcome.OK() || r.Value == "" || r.Endpoint != idOf("a") {
			t.Errorf("reading %+v", r)
		}
	}
	if denials, faults := told.told(); len(denials)+len(faults) != 0 {
		t.Errorf("denials %v, faults %v", denials, faults)
	}
}

func TestThroughTheDoorAHangingEndpointCostsOneTimeoutAndDelaysNoOther(t *testing.T) {
	over := make(chan struct{})
	hung := newNode(t, func(_ http.ResponseWriter, r *http.Request, _ string, _ json.RawMessage) bool {
		select {
		case <-r.Context().Done():
		case <-over:
		}
		return true
	})
	t.Cleanup(func() { close(over) }) // before the server is closed, which waits for it
	well := newNode(t, nil)
	const timeout = 500 * time.Millisecond
	door, chains := open(t, timeout, admission.Limits{}, hung.URL, well.URL)
	var tp tape
	begin := time.Now()
	var wellAt time.Duration
	CheckOnce(t.Context(), Check{Asker: door, Chains: chains, Sink: func(in fleet.Input) {
		if s, ok := in.(fleet.Sample); ok && s.Endpoint.Name == "b" {
			wellAt = time.Since(begin)
		}
		tp.sink(in)
	}})
	if took := time.Since(begin); took > 2*timeout {
		t.Errorf("took %s with a time-out of %s", took, timeout)
	}
	if wellAt == 0 || wellAt >= timeout {
		t.Errorf("the other endpoint was sampled after %s", wellAt)
	}
	s := tp.samples("a")
	if len(s) != 1 || s[0].Outcome.Class != fleet.ClassTransportFailure || s[0].Outcome.Sub != fleet.SubTimeout || s[0].Head != nil || s[0].ChainID != "" {
		t.Errorf("samples %+v", s)
	}
}

func TestThroughTheDoorAnotherChainsIDIsReadAndNamed(t *testing.T) {
	for answer, want := range map[string]string{`"0x1"`: "1", `"0x0"`: "0", `"0x64"`: "100", `"0x064"`: "100"} {
		n := newNode(t, func(w http.ResponseWriter, _ *http.Request, what string, id json.RawMessage) bool {
			if what == "eth_chainId" {
				reply(w, id, answer)
			}
			return what == "eth_chainId"
		})
		door, chains := open(t, 5*time.Second, admission.Limits{}, n.URL)
		var tp tape
		CheckOnce(t.Context(), Check{Asker: door, Chains: chains, Sink: tp.sink})
		class := fleet.ClassWrongChain
		if want == "100" {
			class = fleet.ClassOK
		}
		s := tp.samples("a")
		if len(s) != 1 || s[0].ChainID != want || s[0].ChainIDClass != class || !s[0].Outcome.OK() {
			t.Errorf("%s: samples %+v", answer, s)
		}
		id := Identify(t.Context(), door, []fleet.EndpointID{idOf("a")}, time.Second, Hooks{})
		if id[0].ChainID != want || id[0].Outcome.Class != class {
			t.Errorf("%s: identity %+v", answer, id[0])
		}
	}
}

func TestThroughTheDoorAThrottleIsNoFailure(t *testing.T) {
	n := newNode(t, func(w http.ResponseWriter, _ *http.Request, _ string, _ json.RawMessage) bool {
		w.Header().Set("Retry-After", "7")
		http.Error(w, "slow down", http.StatusTooManyRequests)
		return true
	})
	door, chains := open(t, 5*time.Second, admission.Limits{}, n.URL)
	var tp tape
	CheckOnce(t.Context(), Check{Asker: door, Chains: chains, Sink: tp.sink})
	s := tp.samples("a")
	if len(s) != 1 || s[0].Outcome.Class != fleet.ClassRateLimited || s[0].Hold < 6_000 || s[0].Hold > 8_000 {
		t.Errorf("samples %+v", s)
	}
}

func TestThroughTheDoorADenialLeavesNoTrace(t *testing.T) {
	n := newNode(t, nil)
	door, chains := open(t, 5*time.Second, admission.Limits{PerDay: 7}, n.URL)
	var tp tape
	var told tally
	check := Check{Asker: door, Chains: chains, Sink: tp.sink, Hooks: told.hooks()}
	CheckOnce(t.Context(), check) // uses the budget up
	rows := len(tp.in)
	if rows != 6 {
		t.Fatalf("%d rows of the first round", rows)
	}
	CheckOnce(t.Context(), check)
	if len(tp.in) != rows {
		t.Errorf("denied, and emitted: %v", tp.in[rows:])
	}
	denials, faults := told.told()
	if len(denials) != 7 || denials[0].Kind != fleet.DenyBudget || len(faults) != 0 {
		t.Errorf("denials %v, faults %v", denials, faults)
	}
	if n.count("latest") != 1 {
		t.Errorf("the node was asked %d times", n.count("latest"))
	}
	id := Identify(t.Context(), door, []fleet.EndpointID{idOf("a")}, time.Second, Hooks{})
	if id[0].Denial == nil || id[0].ChainID != "" || id[0].Outcome.Class != fleet.ClassNone {
		t.Errorf("identity %+v", id[0])
	}
}

func TestThroughTheDoorAReconnectionAsksForTheChainID(t *testing.T) {
	n := newNode(t, nil)
	door, _ := open(t, 5*time.Second, admission.Limits{}, n.URL)
	var tp tape
	once := func() (fleet.Sample, identityAsked) {
		r := round{
			line: &line{asker: door, id: idOf("a"), timeout: 5 * time.Second, purse: free{}}, sink: tp.sink,
		}
		r.run(t.Context())
		s := tp.samples("a")
		return s[len(s)-1], identityAsked{n.count("eth_chainId"), n.count("genesis")}
	}
	if s, asked := once(); !s.Timing.Cold || s.ChainID != "100" || asked != (identityAsked{1, 1}) {
		t.Errorf("first round: cold %v, chain id %q, asked %+v", s.Timing.Cold, s.ChainID, asked)
	}
	if s, asked := once(); s.Timing.Cold || s.ChainID != "" || asked != (identityAsked{1, 1}) {
		t.Errorf("on the kept connection: cold %v, chain id %q, asked %+v", s.Timing.Cold, s.ChainID, asked)
	}
	door.DropIdle()
	if s, asked := once(); !s.Timing.Cold || s.ChainID != "100" || asked != (identityAsked{2, 2}) {
		t.Errorf("after a reconnection: cold %v, chain id %q, asked %+v", s.Timing.Cold, s.ChainID, asked)
	}
}

// identityAsked counts the questions about identity.
type identityAsked struct{ chainID, genesis int }

func TestThroughTheDoorADeadEndpointIsASampleWithItsReason(t *testing.T) {
	n := newNode(t, nil)
	url := n.URL + "/CANARYKEY0123456789"
	n.Close()
	door, chains := open(t, 2*time.Second, admission.Limits{}, url)
	var tp tape
	CheckOnce(t.Context(), Check{Asker: door, Chains: chains, Sink: tp.sink})
	s := tp.samples("a")
	if len(s) != 1 || s[0].Outcome.Class != fleet.ClassTransportFailure || s[0].Outcome.Sub != "refused" {
		t.Fatalf("samples %+v", s)
	}
	for _, in := range tp.in {
		if row, err := json.Marshal(in); err != nil || strings.Contains(string(row), "CANARY") {
			t.Errorf("row %s, error %v", row, err)
		}
	}
}

func TestThroughTheDoorAProberSamplesAndIsSuspicious(t *testing.T) {
	n := newNode(t, nil)
	door, chains := open(t, 5*time.Second, admission.Limits{}, n.URL)
	rows := make(chan fleet.Input, 1000)
	p := Start(t.Context(), Options{Asker: door, Chains: chains, Sink: func(in fleet.Input) { rows <- in }})
	defer p.Close()
	await := func(what string, match func(fleet.Input) bool) {
		t.Helper()
		late := time.After(10 * time.Second)
		for {
			select {
			case in := <-rows:
				if match(in) {
					return
				}
			case <-late:
				t.Fatalf("no %s", what)
			}
		}
	}
	await("sample", func(in fleet.Input) bool {
		s, ok := in.(fleet.Sample)
		return ok && s.Head != nil && s.ChainID == "100"
	})
	p.Confirm(idOf("a"), 990)
	await("confirmation", func(in fleet.Input) bool {
		r, ok := in.(fleet.Reading)
		return ok && r.What == fleet.ReadConfirm && r.Hash == hashOf(t, hashA)
	})
	p.Suspect(idOf("a"))
	await("call at the head's hash", func(in fleet.Input) bool {
		r, ok := in.(fleet.Reading)
		return ok && r.What == fleet.ReadCallAt && r.Outcome.OK() && r.Value == "0x"
	})
}
