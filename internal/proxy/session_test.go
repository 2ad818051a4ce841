package proxy

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"example.com/rpctop/internal/fleet"
)

func TestTimeNeverGoesBackwards(t *testing.T) {
	for _, c := range []struct {
		name   string
		header []string
	}{
		{"for those without a session", nil},
		{"in a session", []string{headerSession, "s"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, worldOptions{})
			w.heads(101)
			w.nodes["a"].set(result(`"0x65"`))
			if got := w.post(question("eth_blockNumber", "[]"), c.header...).result(t); got != `"0x65"` {
				t.Fatalf("block %s", got)
			}
			w.nodes["a"].set(result(`"0x64"`)) // another backend behind the same name
			w.nodes["b"].set(result(`"0x65"`))
			g := w.post(question("eth_blockNumber", "[]"), c.header...)
			if g.result(t) != `"0x65"` || g.header.Get(headerEndpoint) != "b" {
				t.Errorf("%v %s", g.header, g.body)
			}
			if c.header != nil { // what the session has seen binds nobody else
				if got := w.post(question("eth_blockNumber", "[]")).result(t); got != `"0x64"` {
					t.Errorf("without the session: %s", got)
				}
			}
		})
	}
}

func TestNobodyIsUpToTheSession(t *testing.T) {
	w := newWorld(t, worldOptions{})
	w.heads(102)
	w.nodes["a"].set(result(`"0x66"`))
	session := []string{headerSession, "s"}
	w.post(question("eth_blockNumber", "[]"), session...)
	w.head("a", 101) // steps back
	w.head("b", 101)
	start := time.Now()
	g := w.post(question("eth_getBalance", balance), session...)
	e := g.failure(t)
	if g.status != 503 || e.Code != codeBehindFloor || e.Data.Class != "behind-floor" || !e.Data.Retryable || g.header.Get("Retry-After") == "" {
		t.Errorf("HTTP %d %s", g.status, g.body)
	}
	if waited := time.Since(start); waited < time.Second {
		t.Errorf("waited %v only", waited)
	}
	if n := w.nodes["a"].count("eth_getBalance") + w.nodes["b"].count("eth_getBalance"); n != 0 {
		t.Errorf("%d stale questions", n)
	}
	done := make(chan got)
	go func() { done <- w.post(question("eth_getBalance", balance), session...) }()
	w.head("b", 102)
	if g := <-done; g.header.Get(headerEndpoint) != "b" {
		t.Errorf("after b caught up: HTTP %d %s", g.status, g.body)
	}
	if g := w.post(question("eth_getBalance", `["0x00000000000000000000000000000000000000aa","0x10"]`), session...); g.header.Get(headerEndpoint) != "a" {
		t.Errorf("a floor bound a read of an old block: %v", g.header)
	}
}

func TestAHeadFarAboveTheReferenceIsNotPassedOn(t *testing.T) {
	w := newWorld(t, worldOptions{chain: func(c *fleetChain) { c.BlockTime = 60_000 }})
	w.nodes["a"].set(result(`"0xf4240"`))
	w.nodes["b"].set(result(`"0x65"`))
	g := w.post(question("eth_blockNumber", "[]"))
	if g.result(t) != `"0x65"` || w.susp.Load() != 1 {
		t.Errorf("%s, %d suspicions", g.body, w.susp.Load())
	}
	w.nodes["a"].set(result(`"0x67"`))
	if g := w.post(question("eth_blockNumber", "[]")); g.result(t) != `"0x67"` {
		t.Errorf("3 blocks above: %s", g.body)
	}
	if f := w.server.book.floors[w.server.def]; f != 100 {
		t.Errorf("the floor is %d, above the reference head", f)
	}
}

func TestLogsAreAskedOfThoseWhoHaveThem(t *testing.T) {
	w := newWorld(t, worldOptions{names: []string{"a", "b", "c"}})
	w.head("b", 101)
	w.head("c", 101) // the reference; a is a block behind
	if g := w.post(question("eth_getLogs", `[{"fromBlock":"0x1","toBlock":"0x65"}]`)); g.header.Get(headerEndpoint) == "a" {
		t.Error("logs up to 101 came from an endpoint at 100")
	}
	w.nodes["a"].set(result(`[]`))
	if g := w.post(question("eth_getLogs", `[{"fromBlock":"0x1","toBlock":"0x64"}]`)); g.header.Get(headerEndpoint) != "a" {
		t.Error("logs up to 100 did not come from the incumbent")
	}
}

func TestANullIsAskedOfEverybodyOncePerBlock(t *testing.T) {
	w := newWorld(t, worldOptions{names: []string{"a", "b", "c", "d"}})
	for _, n := range w.nodes {
		n.set(result(`null`))
	}
	ask := question("eth_getTransactionReceipt", `["0x`+strings.Repeat("ab", 32)+`"]`)
	total := func() (n int) {
		for _, x := range w.nodes {
			n += x.count("eth_getTransactionReceipt")
		}
		return n
	}
	if g := w.post(ask); g.body != `{"jsonrpc":"2.0","id":1,"result":null}` || total() != 4 {
		t.Fatalf("%s after %d questions", g.body, total())
	}
	if g := w.post(ask); g.result(t) != "null" || total() != 5 {
		t.Errorf("again: %s after %d questions", g.body, total())
	}
	w.heads(101)
	if g := w.post(ask); g.result(t) != "null" || total() != 9 {
		t.Errorf("a block later: %s after %d questions", g.body, total())
	}
	w.nodes["d"].set(result(`{"transactionHash":"0x` + strings.Repeat("ab", 32) + `","blockNumber":"0x66"}`))
	w.heads(102)
	if g := w.post(ask); !strings.Contains(g.result(t), "0x66") {
		t.Errorf("d has it: %s", g.body)
	}
	w.nodes["b"].set(status(503))
	w.nodes["d"].set(result(`null`))
	w.heads(103)
	if g := w.post(ask); g.status != 503 || strings.Contains(g.body, `"result"`) {
		t.Errorf("one did not answer, so nothing is known: HTTP %d %s", g.status, g.body)
	}
}

func TestSessionsAreBounded(t *testing.T) {
	b, ch, now := newBook(), &chain{}, time.Now()
	for i := range maxSessions + 500 {
		b.view(ch, fmt.Sprint(i), nil, now, ref{})
	}
	if n := b.order.Len(); n > maxSessions+1 || n != len(b.sessions) {
		t.Errorf("%d sessions, %d in the table", n, len(b.sessions))
	}
	b.view(ch, "late", nil, now.Add(sessionTTL), ref{})
	if len(b.sessions) != 1 {
		t.Errorf("%d sessions after their time", len(b.sessions))
	}
	for i := range maxRelays + 10 {
		r := &relay{at: now, sender: common.BigToAddress(common.Big1)}
		r.ch, r.hash = ch, fleet.Hash{byte(i), byte(i >> 8), 1}
		b.relayed(r, "x", now)
	}
	if len(b.relays) > maxRelays || len(b.sessions[sessionKey{ch: ch, named: "x"}].Value.(*session).relays) > perSession {
		t.Errorf("%d relays", len(b.relays))
	}
}

func TestFiltersStayWithTheEndpointThatMadeThem(t *testing.T) {
	w := newWorld(t, worldOptions{})
	w.nodes["a"].set(func(rw http.ResponseWriter, r asked) {
		if r.Method == "eth_newBlockFilter" {
			say(rw, r, `"result":"0xf1"`)
		} else {
			say(rw, r, `"result":["0x1"]`)
		}
	})
	w.nodes["b"].set(w.nodes["a"].answer)
	if g := w.post(question("eth_newBlockFilter", "[]")); g.result(t) != `"0xf1"` {
		t.Fatal(g.body)
	}
	if g := w.post(question("eth_getFilterChanges", `["0xf1"]`)); g.result(t) != `["0x1"]` || g.header.Get(headerEndpoint) != "a" {
		t.Errorf("%v %s", g.header, g.body)
	}
	if e := w.post(question("eth_getFilterChanges", `["0xf2"]`)).failure(t); e.Code != -32000 || !strings.HasPrefix(e.Message, "filter not found") {
		t.Errorf("a filter that nobody made: %+v", e)
	}
	w.fold(overrideCmd("a"))
	// b numbers its filters alike, and its first one has the id of a's.
	if g := w.post(question("eth_newBlockFilter", "[]")); g.status == 200 {
		t.Errorf("one id for two filters: %s", g.body)
	}
	if e := w.post(question("eth_getFilterChanges", `["0xf1"]`)).failure(t); e.Code != -32000 || !strings.Contains(e.Message, "serves no more") {
		t.Errorf("a lost filter: %+v", e)
	}
	if n := w.nodes["b"].count("eth_getFilterChanges"); n != 0 {
		t.Error("another endpoint was asked for the filter")
	}
	if g := w.post(question("eth_newBlockFilter", "[]")); g.result(t) != `"0xf1"` {
		t.Errorf("a new one: %s", g.body)
	}
	w.post(question("eth_uninstallFilter", `["0xf1"]`))
	if e := w.post(question("eth_getFilterChanges", `["0xf1"]`)).failure(t); e.Code != -32000 {
		t.Errorf("an uninstalled filter: %+v", e)
	}
}
