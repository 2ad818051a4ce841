package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/upstream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// call is one question as the fake door saw it.
type call struct {
	at     time.Time
	end    time.Time
	id     fleet.EndpointID
	method string
	params string
	what   string // a word for the question
}

// fakeDoor answers in virtual time. answer says how; the default is a healthy
// endpoint of chain 100.
type fakeDoor struct {
	answer func(ctx context.Context, c call) (*fleet.Attempt, error)

	mu       sync.Mutex
	calls    []call
	inFlight map[string]int
	peak     map[string]int // by endpoint and question
}

func whatOf(method, params string) string {
	switch {
	case method == "eth_getBlockByNumber" && strings.Contains(params, "latest"):
		return "latest"
	case method == "eth_getBlockByNumber" && strings.Contains(params, "finalized"):
		return "finalized"
	case method == "eth_getBlockByNumber" && strings.Contains(params, "safe"):
		return "safe"
	case method == "eth_getBlockByNumber" && strings.Contains(params, `"0x0"`):
		return "genesis"
	case method == "eth_getBlockByNumber":
		return "block"
	case method == "eth_call" && strings.Contains(params, "blockHash"):
		return "call-by-hash"
	case method == "eth_call":
		return "call-by-number"
	}
	return method
}

func (f *fakeDoor) Do(ctx context.Context, c upstream.Call) (*fleet.Attempt, error) {
	q := call{at: time.Now(), id: c.Endpoint, method: c.Method, params: string(c.Params), what: whatOf(c.Method, string(c.Params))}
	if !c.NoCache || c.Caller != fleet.CallerProbe {
		panic("a probe must pass the cache by, and say who it is")
	}
	key := q.id.String() + " " + q.what
	f.mu.Lock()
	if f.inFlight == nil {
		f.inFlight, f.peak = map[string]int{}, map[string]int{}
	}
	f.inFlight[key]++
	f.peak[key] = max(f.peak[key], f.inFlight[key])
	f.mu.Unlock()
	answer := f.answer
	if answer == nil {
		answer = healthy
	}
	a, err := answer(ctx, q)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inFlight[key]--
	if err == nil {
		q.end = time.Now()
		f.calls = append(f.calls, q)
	}
	return a, err
}

// seen gives the calls for one question to one endpoint; "" is any.
func (f *fakeDoor) seen(name, what string) []call {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []call
	for _, c := range f.calls {
		if (name == "" || c.id.Name == name) && (what == "" || c.what == what) {
			out = append(out, c)
		}
	}
	return out
}

// atOnce gives how often one question was in flight at the same time.
func (f *fakeDoor) atOnce(name, what string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.peak[idOf(name).String()+" "+what]
}

func (f *fakeDoor) count(name, what string) int { return len(f.seen(name, what)) }

const (
	hashA = "0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	hashB = "0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

func block(number uint64, hash string) string {
	return fmt.Sprintf(`{"number":"0x%x","hash":"%s","parentHash":"%s","timestamp":"0x65000000"}`, number, hash, hashB)
}

// results are what a healthy endpoint says.
var results = map[string]string{
	"latest": block(1000, hashA), "finalized": block(900, hashB), "safe": block(950, hashB),
	"genesis": block(0, hashB), "block": block(990, hashA),
	"eth_chainId": `"0x64"`, "web3_clientVersion": `"geth/v1"`, "eth_syncing": `false`,
	"call-by-hash": `"0x"`, "call-by-number": `"0x"`,
}

func ok(c call, result string) *fleet.Attempt {
	return &fleet.Attempt{
		Endpoint: c.id, Method: c.method, Start: fleet.MillisOf(c.at), Sent: true,
		Outcome: fleet.Outcome{Class: fleet.ClassOK, Origin: fleet.OriginNode, Status: 200},
		Timing:  fleet.Timing{Total: fleet.MicrosOf(time.Since(c.at))},
		Result:  json.RawMessage(result),
	}
}

func failed(c call, class fleet.Class, sub string) *fleet.Attempt {
	a := ok(c, "")
	a.Result = nil
	a.Outcome.Class, a.Outcome.Sub = class, sub
	return a
}

// wait lets virtual time pass, or ends with the caller.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// pass lets virtual time pass in a test.
func pass(d time.Duration) { <-time.After(d) }

func healthy(ctx context.Context, c call) (*fleet.Attempt, error) {
	if !wait(ctx, 50*time.Millisecond) {
		return aborted(c), nil
	}
	return ok(c, results[c.what]), nil
}

func aborted(c call) *fleet.Attempt {
	a := failed(c, fleet.ClassLocalFault, fleet.SubCancelled)
	a.Censored = true
	return a
}

// hang never answers: the attempt uses up its own deadline.
func hang(ctx context.Context, c call, timeout time.Duration) (*fleet.Attempt, error) {
	if !wait(ctx, timeout) {
		return aborted(c), nil
	}
	return failed(c, fleet.ClassTransportFailure, fleet.SubTimeout), nil
}

// tape keeps what was emitted.
type tape struct {
	mu sync.Mutex
	in []fleet.Input
}

func (t *tape) sink(in fleet.Input) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.in = append(t.in, in)
}

func (t *tape) samples(name string) []fleet.Sample {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []fleet.Sample
	for _, in := range t.in {
		if s, ok := in.(fleet.Sample); ok && (name == "" || s.Endpoint.Name == name) {
			out = append(out, s)
		}
	}
	return out
}

func (t *tape) readings(what fleet.ReadingKind) []fleet.Reading {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []fleet.Reading
	for _, in := range t.in {
		if r, ok := in.(fleet.Reading); ok && (what == "" || r.What == what) {
			out = append(out, r)
		}
	}
	return out
}

func chainOf(specs ...fleet.EndpointSpec) []fleet.ChainSpec {
	return []fleet.ChainSpec{{Name: "gnosis", ChainID: 100, BlockTime: 5000, Endpoints: specs}}
}

func remote(name string, every fleet.Millis, perDay int64) fleet.EndpointSpec {
	return fleet.EndpointSpec{Name: name, Every: every, PerDay: perDay, Timeout: 4000}
}

func local(name string) fleet.EndpointSpec {
	return fleet.EndpointSpec{Name: name, Every: 1000, Local: true, Timeout: 4000}
}

func idOf(name string) fleet.EndpointID { return fleet.EndpointID{Chain: "gnosis", Name: name} }

// tally counts what the hooks tell; lanes of one round may tell at once.
type tally struct {
	mu      sync.Mutex
	denials []*fleet.Denial
	faults  []string
}

func (y *tally) hooks() Hooks {
	return Hooks{
		Denied: func(_ fleet.EndpointID, d *fleet.Denial) {
			y.mu.Lock()
			defer y.mu.Unlock()
			y.denials = append(y.denials, d)
		},
		Fault: func(_ fleet.EndpointID, err error) {
			y.mu.Lock()
			defer y.mu.Unlock()
			y.faults = append(y.faults, err.Error())
		},
	}
}

func (y *tally) told() (denials []*fleet.Denial, faults []string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	return slices.Clone(y.denials), slices.Clone(y.faults)
}
