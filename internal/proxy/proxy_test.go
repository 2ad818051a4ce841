package proxy

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/rpctop/internal/admission"
	"example.com/rpctop/internal/failover"
	"example.com/rpctop/internal/fleet"
)

const balance = `["0x00000000000000000000000000000000000000aa","latest"]`

func TestTheReferenceCase(t *testing.T) {
	t.Run("A answers 503, B answers 42", func(t *testing.T) {
		w := newWorld(t, worldOptions{policy: func(p *fleet.Policy) { p.Attempts = 2 }})
		w.nodes["a"].set(status(503))
		g := w.post(`{"jsonrpc":"2.0","id":"mine\u0041","method":"eth_getBalance","params":`+balance+`}`,
			"Traceparent", "00-1", "Authorization", "Bearer x", "Cookie", "k=v", "X-Other", "1")
		if want := `{"jsonrpc":"2.0","id":"mine\u0041","result":"0x2a"}`; g.status != 200 || g.body != want {
			t.Fatalf("HTTP %d %s, want %s", g.status, g.body, want)
		}
		if g.header.Get(headerEndpoint) != "b" || g.header.Get(headerAttempts) != "2" || g.header.Get(headerDegraded) != "" {
			t.Errorf("headers %v", g.header)
		}
		for _, name := range []string{"a", "b"} {
			rs := w.nodes[name].requests()
			if len(rs) != 1 {
				t.Fatalf("%s was asked %d times", name, len(rs))
			}
			h := rs[0].header
			if h.Get("Traceparent") != "00-1" || h.Get("Authorization") != "" || h.Get("Cookie") != "" || h.Get("X-Other") != "" {
				t.Errorf("%s saw the headers %v", name, h)
			}
			if string(rs[0].Params) != balance {
				t.Errorf("%s saw params %s", name, rs[0].Params)
			}
		}
		c := w.state.Load().Chain("main")
		if n := c.Endpoint("a").Failures; n != 1 {
			t.Errorf("a has %d failures", n)
		}
		if n := c.Endpoint("b").Failures; n != 0 {
			t.Errorf("b has %d failures", n)
		}
		if rows := w.meter.Drain(); len(rows) != 2 || rows[1].Counts[0].Class != fleet.ClassOK {
			t.Errorf("traffic %+v", rows)
		}
	})
	t.Run("one attempt names A and leaves B alone", func(t *testing.T) {
		w := newWorld(t, worldOptions{policy: func(p *fleet.Policy) { p.Attempts = 1 }})
		w.nodes["a"].set(status(503))
		g := w.post(question("eth_getBalance", balance))
		e := g.failure(t)
		if g.status != 503 || e.Code != codeNoEndpoint || !e.Data.Retryable || e.Data.Origin != "local" || !strings.Contains(e.Data.Reason, "a: ") {
			t.Errorf("HTTP %d %s", g.status, g.body)
		}
		if n := len(w.nodes["b"].requests()); n != 0 {
			t.Errorf("b was asked %d times", n)
		}
	})
	t.Run("a cancel leaves A alone", func(t *testing.T) {
		w := newWorld(t, worldOptions{})
		arrived := make(chan struct{})
		left := make(chan struct{})
		w.nodes["a"].set(func(_ http.ResponseWriter, r asked) {
			close(arrived)
			<-r.ctx.Done()
			close(left)
		})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-arrived; cancel() }()
		if _, err := w.try(ctx, question("eth_getBalance", balance)); err == nil {
			t.Fatal("an answer in spite of the cancel")
		}
		<-left // the request to A was aborted
		if n := len(w.nodes["b"].requests()); n != 0 {
			t.Errorf("b was asked %d times", n)
		}
		if n := w.state.Load().Chain("main").Endpoint("a").Failures; n != 0 {
			t.Errorf("a was charged with %d failures", n)
		}
	})
}

// facts are what a denial must leave as it is.
type facts struct {
	States, Order []string
	Gates         []*fleet.Gate
	Incumbent     string
}

func factsOf(v *fleet.Snapshot) (f facts) {
	c := v.Chains[0]
	f.Incumbent = c.Incumbent
	for _, e := range c.Endpoints {
		f.States, f.Gates = append(f.States, e.State), append(f.Gates, e.Gate)
	}
	for _, r := range c.Ranking {
		f.Order = append(f.Order, r.Endpoint)
	}
	return f
}

func TestADenialIsOursAloneAndChangesNothing(t *testing.T) {
	tight := admission.Limits{RPS: 0.001, Burst: 1}
	w := newWorld(t, worldOptions{limits: map[string]admission.Limits{"a": tight, "b": tight}})
	for range 4 { // uses up the bursts
		w.post(question("eth_getBalance", balance))
	}
	drain := func() (n uint64) {
		for _, tr := range w.meter.Drain() {
			w.fold(tr)
		}
		for _, e := range failover.View(w.state.Load()).Chains[0].Endpoints {
			n += e.Denials
		}
		return n
	}
	denied := drain()
	before := factsOf(failover.View(w.state.Load()))
	asked := len(w.nodes["a"].requests()) + len(w.nodes["b"].requests())
	g := w.post(question("eth_getBalance", balance))
	e := g.failure(t)
	if g.status != 429 || e.Code != codeOverloaded || g.header.Get("Retry-After") == "" {
		t.Errorf("HTTP %d %v %s", g.status, g.header, g.body)
	}
	if d := e.Data; d.Origin != "local" || d.Class != "overloaded" || !d.Retryable || d.RetryAfterMS <= 0 || d.Reason == "" {
		t.Errorf("data %+v", d)
	}
	after := drain()
	if diff := cmp.Diff(before, factsOf(failover.View(w.state.Load()))); diff != "" {
		t.Errorf("the denial changed something: %s", diff)
	}
	if after <= denied {
		t.Errorf("denials %d, before %d", after, denied)
	}
	if n := len(w.nodes["a"].requests()) + len(w.nodes["b"].requests()); n != asked {
		t.Errorf("%d requests left for a denied call", n-asked)
	}
}

func TestADeniedMemberOfABatchIsDeniedAlone(t *testing.T) {
	tight := admission.Limits{RPS: 0.001, Burst: 10}
	w := newWorld(t, worldOptions{names: []string{"a"}, limits: map[string]admission.Limits{"a": tight}, proxy: func(o *Options) { o.Limits.Abreast = 1 }})
	var members []string
	for i := range 20 {
		members = append(members, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"eth_getBalance","params":%s}`, i, balance))
	}
	g := w.post("[" + strings.Join(members, ",") + "]")
	ok, denied := strings.Count(g.body, `"result":"0x2a"`), strings.Count(g.body, `"code":-32005`)
	if g.status != 200 || ok == 0 || denied == 0 || ok+denied != 20 {
		t.Errorf("HTTP %d, %d answered, %d denied: %s", g.status, ok, denied, g.body)
	}
	for i := range 19 {
		if strings.Index(g.body, fmt.Sprintf(`"id":%d,`, i)) > strings.Index(g.body, fmt.Sprintf(`"id":%d,`, i+1)) {
			t.Errorf("the answer to %d stands after the next", i)
		}
	}
}

func TestCase144ARevertGoesBackAtOnce(t *testing.T) {
	w := newWorld(t, worldOptions{})
	const revert = `{"code":3,"message":"execution reverted","data":"0x08c379a0000000000000000000000000000000000000000000000000000000000000002000000000000000000000000000000000000000000000000000000000000000046e6f706500000000000000000000000000000000000000000000000000000000"}`
	w.nodes["a"].set(fails(revert))
	g := w.post(`{"jsonrpc":"2.0","id":  7.0 ,"method":"eth_call","params":[{"to":"0x00000000000000000000000000000000000000aa"},"latest"]}`)
	if want := `{"jsonrpc":"2.0","id":7.0,"error":` + revert + `}`; g.status != 200 || g.body != want {
		t.Errorf("HTTP %d %s, want %s", g.status, g.body, want)
	}
	if len(w.nodes["a"].requests()) != 1 || len(w.nodes["b"].requests()) != 0 {
		t.Error("a revert was tried elsewhere")
	}
	if n := w.state.Load().Chain("main").Endpoint("a").Failures; n != 0 {
		t.Errorf("a was charged with %d failures", n)
	}
}

func TestCase145MethodsThatAreNotListedReachNobody(t *testing.T) {
	w := newWorld(t, worldOptions{proxy: func(o *Options) { o.Allow = []string{"debug_traceCall"} }})
	for _, m := range []string{"eth_sendTransaction", "eth_sign", "eth_signTypedData_v4", "eth_accounts", "personal_unlockAccount", "admin_addPeer",
		"miner_start", "debug_setHead", "eth_subscribe", "eth_getblockbynumber", "engine_newPayloadV4", "txpool_content", "eth_call "} {
		g := w.post(question(m, "[]"))
		e := g.failure(t)
		if g.status != 200 || e.Code != -32601 || e.Data.Origin != "local" || e.Data.Class != "local-denial" || e.Data.Retryable || !strings.Contains(g.body, `"id":1`) {
			t.Errorf("%s: HTTP %d %s", m, g.status, g.body)
		}
		if m == "eth_subscribe" && !strings.Contains(e.Data.Reason, "over HTTP") {
			t.Errorf("eth_subscribe: %s", e.Data.Reason)
		}
	}
	if n := len(w.nodes["a"].requests()) + len(w.nodes["b"].requests()); n != 0 {
		t.Errorf("%d requests left", n)
	}
	w.nodes["a"].set(result(`{"gas":1}`))
	if got := w.post(question("debug_traceCall", `[{},"latest"]`)).result(t); got != `{"gas":1}` {
		t.Errorf("an allowed method: %s", got)
	}
	for _, m := range []string{"eth_sendTransaction", "personal_sign", "eth_subscribe"} {
		if _, err := New(Options{Chains: []Chain{{"main", 1}}, Caller: w.caller, State: w.state.Load, Snapshot: func() *fleet.Snapshot { return nil }, Allow: []string{m}}); err == nil {
			t.Errorf("%s could be allowed", m)
		}
	}
}

func TestAnswersAreSplicedByteForByte(t *testing.T) {
	w := newWorld(t, worldOptions{})
	for _, raw := range []string{`"0x2A"`, `"0x02a"`, `"0x2a"`} {
		w.nodes["a"].set(result(raw))
		if g := w.post(question("eth_getBalance", balance)); g.body != `{"jsonrpc":"2.0","id":1,"result":`+raw+`}` {
			t.Errorf("%s came as %s", raw, g.body)
		}
	}
	odd := `{ "b" : 1e2 , "a":"\u00e9\/" , "b":null}`
	w.nodes["a"].set(result(odd))
	for _, id := range []string{`null`, `-0`, `1.50`, `"\ud83d\ude00"`, `""`, `12345678901234567890123`} {
		g := w.post(`{"id":` + id + `,"method":"eth_feeHistory","params":["0x1","latest",[]],"jsonrpc":"2.0"}`)
		if want := `{"jsonrpc":"2.0","id":` + id + `,"result":` + odd + `}`; g.body != want {
			t.Errorf("id %s: %s", id, g.body)
		}
	}
}

func TestTheLastDuplicateKeyCountsForEverybody(t *testing.T) {
	w := newWorld(t, worldOptions{})
	g := w.post(`{"jsonrpc":"2.0","id":1,"id":2,"method":"eth_sendTransaction","method":"eth_getBalance","params":[1],"params":` + balance + `}`)
	if !strings.Contains(g.body, `"id":2`) || g.result(t) != `"0x2a"` {
		t.Errorf("answer %s", g.body)
	}
	if rs := w.nodes["a"].requests(); len(rs) != 1 || rs[0].Method != "eth_getBalance" || string(rs[0].Params) != balance {
		t.Errorf("a saw %+v", rs)
	}
	g = w.post(`{"jsonrpc":"2.0","id":1,"method":"eth_getBalance","m\u0065thod":"eth_sendTransaction"}`)
	if e := g.failure(t); e.Code != -32601 {
		t.Errorf("an escaped key: %s", g.body)
	}
}

func TestAWrongChainIsNeverServed(t *testing.T) {
	w := newWorld(t, worldOptions{})
	w.nodes["a"].set(result(`"0x1"`))
	w.nodes["b"].set(result(`"0x64"`))
	g := w.post(question("eth_chainId", "[]"))
	if g.result(t) != `"0x64"` || g.header.Get(headerEndpoint) != "b" {
		t.Errorf("%v %s", g.header, g.body)
	}
	if w.susp.Load() == 0 {
		t.Error("nobody was suspected")
	}
	w.nodes["b"].set(result(`"0x2a"`))
	if g := w.post(question("eth_getBalance", balance)); g.header.Get(headerEndpoint) != "b" {
		t.Errorf("the next call went to %v", g.header)
	}
	w.nodes["b"].set(result(`"0x1"`))
	if g := w.post(question("eth_chainId", "[]")); g.status != 503 || strings.Contains(g.body, `"result"`) {
		t.Errorf("everybody is wrong: HTTP %d %s", g.status, g.body)
	}
}
