package proxy

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/rpctop/internal/failover"
)

func TestASlowBodyThatIsRefusedIsCut(t *testing.T) {
	w := newWorld(t, worldOptions{proxy: func(o *Options) {
		o.Limits.ReadBody = 300 * time.Millisecond
		o.Limits.Call = 300 * time.Millisecond
		o.Limits.Write = 300 * time.Millisecond
	}})
	for _, h := range []string{"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\n",
		"POST /nochain HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n",
		"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n"} {
		c, err := net.Dial("tcp", w.addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, h); err != nil {
			t.Fatal(err)
		}
		if err := c.SetReadDeadline(time.Now().Add(4 * time.Second)); err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(c)
		if err != nil {
			t.Errorf("%q: not cut in 4s: %v (%q)", h[:20], err, b)
		}
		_ = c.Close()
	}
}

func TestAPendingBlockIsNobodysHead(t *testing.T) {
	w := newWorld(t, worldOptions{proxy: nil})
	w.server.o.Saw = w.caller.Saw
	w.head("a", 100)
	w.head("b", 101)
	ans := func(n, p string) func(http.ResponseWriter, asked) {
		return func(rw http.ResponseWriter, r asked) {
			switch {
			case r.Method == "eth_blockNumber":
				say(rw, r, `"result":"`+n+`"`)
			case r.Method == "eth_getBlockByNumber":
				say(rw, r, `"result":{"number":"`+p+`","hash":null,"nonce":null,"miner":null,"parentHash":"0x`+strings.Repeat("b0", 32)+`","timestamp":"0x1","transactions":[]}`)
			default:
				say(rw, r, `"result":"`+n+`"`)
			}
		}
	}
	w.nodes["a"].set(ans("0x64", "0x65"))
	w.nodes["b"].set(ans("0x65", "0x66"))
	// the session sees block 101 at b
	w.fold(overrideCmd("a"))
	w.post(question("eth_blockNumber", "[]"), headerSession, "s")
	w.fold(clearCmd())
	w.post(question("eth_getBalance", `["0x00000000000000000000000000000000000000aa","latest"]`), headerSession, "s")
	w.post(question("eth_getBlockByNumber", `["pending",false]`), headerSession, "other")
	g := w.post(question("eth_getBalance", `["0x00000000000000000000000000000000000000aa","latest"]`), headerSession, "s")
	if g.header.Get(headerEndpoint) != "b" {
		t.Error("older state served below the floor")
	}
}

func TestALyingReceiptLocksNoSessionOut(t *testing.T) {
	w, pools, hashOf := pooled(t, "a", "b")
	k := testKey(t)
	p, h := sign(t, k, testChain, 0)
	hashOf[p] = h
	if g := w.post(question(sendMethod, p), headerSession, "s"); g.status != 200 {
		t.Fatal(g)
	}
	pools["a"].set(func() { pools["a"].block[h] = "0x3b9aca00" })
	g := w.post(question("eth_getTransactionReceipt", `["`+h+`"]`), headerSession, "s")
	w.heads(102)
	g = w.post(question("eth_getBalance", `["0x00000000000000000000000000000000000000aa","latest"]`), headerSession, "s")
	if g.status != 200 {
		t.Error("floor above the reference head")
	}
}

func TestAPanicInARequestIsItsOwnEndOnly(t *testing.T) {
	w := newWorld(t, worldOptions{proxy: func(o *Options) { o.Caller = panicker{} }})
	for _, tc := range []struct {
		name, body string
		status     int
	}{
		{"a single request", question("eth_chainId", "[]"), 500},
		{"a member of a batch", "[" + question("eth_chainId", "[]") + "]", 200},
	} {
		if g := w.post(tc.body); g.status != tc.status || !strings.Contains(g.body, "-32603") {
			t.Errorf("%s: HTTP %d %s", tc.name, g.status, g.body)
		}
	}
}

type panicker struct{}

func (panicker) Call(context.Context, failover.CallRequest) failover.CallResult { panic("boom") }
