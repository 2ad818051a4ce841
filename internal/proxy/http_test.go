package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestWhoMayAskAndHow(t *testing.T) {
	w := newWorld(t, worldOptions{proxy: func(o *Options) {
		o.Origins = []string{"https://app.example.org"}
		o.Limits.MaxBody, o.Limits.MaxBatch, o.Limits.MaxDepth = 2000, 3, 8
	}})
	ok := question("eth_getBalance", balance)
	for _, c := range []struct {
		name   string
		body   string
		header []string
		status int
		code   int // JSON-RPC; 0: no JSON-RPC answer, or a result
	}{
		{"loopback by address", ok, nil, 200, 0},
		{"loopback by name", ok, []string{"Host", "localhost:8745"}, 200, 0},
		{"loopback of IPv6", ok, []string{"Host", "[::1]:8745"}, 200, 0},
		{"case 146: another Host", ok, []string{"Host", "evil.example:8545"}, 403, 0},
		{"a Host that begins like loopback", ok, []string{"Host", "127.0.0.1.evil.example"}, 403, 0},
		{"a Host that ends like loopback", ok, []string{"Host", "evil.localhost"}, 403, 0},
		{"case 146: another Origin", ok, []string{"Origin", "http://evil.example"}, 403, 0},
		{"the Origin of a file", ok, []string{"Origin", "null"}, 403, 0},
		{"an allowed Origin", ok, []string{"Origin", "https://app.example.org"}, 200, 0},
		{"an upgrade with another Origin", ok, []string{"Origin", "http://evil.example", "Upgrade", "websocket", "Connection", "Upgrade"}, 403, 0},
		{"an offer of HTTP/2", ok, []string{"Upgrade", "h2c", "Connection", "Upgrade"}, 200, 0},
		{"an upgrade", ok, []string{"Upgrade", "websocket", "Connection", "Upgrade"}, 501, 0},
		{"a form", ok, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, 0},
		{"plain text", ok, []string{"Content-Type", "text/plain"}, 415, 0},
		{"JSON with a charset", ok, []string{"Content-Type", "Application/JSON; charset=utf-8"}, 200, 0},
		{"too large", `{"x":"` + strings.Repeat("0", 2000) + `"}`, nil, 413, 0},
		{"too many in a batch", "[" + ok + "," + ok + "," + ok + "," + ok + "]", nil, 413, 0},
		{"too deep", `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":` + strings.Repeat("[", 8) + strings.Repeat("]", 8) + `}`, nil, 400, -32600},
		{"deep enough", `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":` + strings.Repeat("[", 7) + strings.Repeat("]", 7) + `}`, nil, 200, 0},
		{"no JSON", `{"jsonrpc":`, nil, 400, -32700},
		{"JSON and more", ok + "x", nil, 400, -32700},
		{"nothing", ``, nil, 400, -32700},
		{"a number", `7`, nil, 400, -32600},
		{"an empty batch", ` [ ] `, nil, 400, -32600},
		{"no method", `{"jsonrpc":"2.0","id":1}`, nil, 400, -32600},
		{"a method that is no text", `{"jsonrpc":"2.0","id":1,"method":1}`, nil, 400, -32600},
		{"params that are no list", `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":"x"}`, nil, 400, -32600},
		{"an id that is a list", `{"jsonrpc":"2.0","id":[1],"method":"eth_call"}`, nil, 400, -32600},
		{"another protocol", `{"jsonrpc":"1.0","id":1,"method":"eth_call"}`, nil, 400, -32600},
		{"a session's name that is too long", ok, []string{headerSession, strings.Repeat("s", 129)}, 400, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := len(w.nodes["a"].requests())
			g := w.post(c.body, c.header...)
			if g.status != c.status {
				t.Fatalf("HTTP %d %s, want %d", g.status, g.body, c.status)
			}
			var v struct{ Error *ownError }
			_ = json.Unmarshal([]byte(g.body), &v) // plain text has none
			if v.Error == nil && c.code != 0 || v.Error != nil && v.Error.Code != c.code {
				t.Errorf("answer %s, want code %d", g.body, c.code)
			}
			if c.status != 200 && len(w.nodes["a"].requests()) != before {
				t.Error("it was passed on")
			}
			if cors := g.header.Get("Access-Control-Allow-Origin"); cors != "" && c.name != "an allowed Origin" {
				t.Errorf("Access-Control-Allow-Origin: %s", cors)
			}
		})
	}
	for method, want := range map[string]int{"GET": 405, "PUT": 405, "OPTIONS": 405} {
		r, _ := http.NewRequestWithContext(t.Context(), method, w.url, nil)
		resp, err := w.http.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: HTTP %d, want %d", method, resp.StatusCode, want)
		}
	}
}

func TestBatchesAnswerEachMemberAndNoNotification(t *testing.T) {
	w := newWorld(t, worldOptions{})
	ask := `"method":"eth_getBalance","params":` + balance
	g := w.post(`[{"jsonrpc":"2.0","id":"x",` + ask + `},{"jsonrpc":"2.0",` + ask + `},1,{"jsonrpc":"2.0","id":3,"method":"eth_sign"},{"jsonrpc":"2.0","id":null,` + ask + `}]`)
	var out []struct {
		ID            json.RawMessage
		Result, Error json.RawMessage
	}
	if err := json.Unmarshal([]byte(g.body), &out); err != nil || len(out) != 4 || g.status != 200 {
		t.Fatalf("HTTP %d %s", g.status, g.body)
	}
	for i, want := range []string{`"x"`, "null", "3", "null"} {
		if string(out[i].ID) != want || (out[i].Result != nil) != (i == 0 || i == 3) {
			t.Errorf("member %d: %s", i, g.body)
		}
	}
	if g.header.Get(headerEndpoint) != "a" || g.header.Get(headerAttempts) != "3" {
		t.Errorf("headers %v", g.header)
	}
	for _, body := range []string{`{"jsonrpc":"2.0",` + ask + `}`, `[{"jsonrpc":"2.0",` + ask + `},{"jsonrpc":"2.0",` + ask + `}]`} {
		if g := w.post(body); g.status != 204 || g.body != "" {
			t.Errorf("notifications got HTTP %d %s", g.status, g.body)
		}
	}
}

func TestATokenIsAskedForWhereThereIsOne(t *testing.T) {
	const token = "0123456789abcdef"
	w := newWorld(t, worldOptions{proxy: func(o *Options) { o.Token = token }})
	ask := question("eth_getBalance", balance)
	for header, want := range map[string]int{"": 401, "Bearer x": 401, "Basic " + token: 401, token: 401, "Bearer " + token: 200, "bearer " + token: 200} {
		g := w.post(ask, "Authorization", header)
		if g.status != want || strings.Contains(g.body, token) {
			t.Errorf("Authorization %q: HTTP %d %s", header, g.status, g.body)
		}
	}
	for path, want := range map[string]int{"/healthz": 200, "/metrics": 401} {
		resp, err := w.http.Get(w.url + path)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != want || strings.Contains(string(b), "main") {
			t.Errorf("%s: HTTP %d %s", path, resp.StatusCode, b)
		}
	}
}

func (w *world) get(path string) (int, string) {
	w.t.Helper()
	resp, err := w.http.Get(w.url + path)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func TestHealthAndMetrics(t *testing.T) {
	w := newWorld(t, worldOptions{})
	w.nodes["a"].set(status(503))
	w.post(question("eth_getBalance", balance))
	w.post(question("x_"+strings.Repeat("y", 50), "[]"))
	code, body := w.get("/healthz")
	var h health
	if err := json.Unmarshal([]byte(body), &h); err != nil || code != 200 || h.Status != "ok" || h.PID != 4711 || len(h.Chains) != 1 || h.Chains[0].Incumbent != "a" {
		t.Errorf("HTTP %d %s", code, body)
	}
	_, body = w.get("/metrics")
	for _, want := range []string{
		`rpctop_requests_total{chain="main",class="ok",kind="state"} 1`,
		`rpctop_requests_total{chain="main",class="local-denial",kind="other"} 1`,
		`rpctop_attempts_total{chain="main",class="transport-failure",endpoint="a"} 1`,
		`rpctop_failovers_total{chain="main",class="transport-failure",from="a",to="b"} 1`,
		`rpctop_endpoint_state{chain="main",endpoint="a",state="ok"} 1`,
		`rpctop_endpoint_serving{chain="main",endpoint="a"} 1`,
		`rpctop_request_seconds_count{chain="main",kind="state"} 1`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
	if strings.Contains(body, "yyy") {
		t.Error("a client's text became a label")
	}
}

func TestAPortInUseSaysByWhom(t *testing.T) {
	w := newWorld(t, worldOptions{})
	if _, err := Listen(t.Context(), w.addr); err == nil || !strings.Contains(err.Error(), "another rpctop (pid 4711, test)") {
		t.Errorf("error %v", err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 1))
			_, _ = io.WriteString(c, "500 what?\r\n")
			c.Close()
		}
	}()
	defer ln.Close()
	if _, err := Listen(t.Context(), ln.Addr().String()); err == nil || !strings.Contains(err.Error(), "another program") {
		t.Errorf("error %v", err)
	}
}

func TestSlowClientsAreCut(t *testing.T) {
	w := newWorld(t, worldOptions{proxy: func(o *Options) {
		o.Limits.ReadHeader, o.Limits.ReadBody, o.Limits.Write = 50*time.Millisecond, 50*time.Millisecond, 50*time.Millisecond
	}})
	w.nodes["a"].set(result(`"` + strings.Repeat("0", 8<<20) + `"`))
	for name, sent := range map[string]string{
		"in the header": "POST / HTTP/1.1\r\nHost: localhost\r\nX-",
		"in the body":   "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			c, err := net.Dial("tcp", w.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_ = c.SetDeadline(time.Now().Add(10 * time.Second))
			if _, err := io.WriteString(c, sent); err != nil {
				t.Fatal(err)
			}
			if b, err := io.ReadAll(c); timedOut(err) {
				t.Errorf("not cut: %q %v", b, err)
			}
		})
	}
	t.Run("in reading the answer", func(t *testing.T) {
		c, err := net.Dial("tcp", w.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.(*net.TCPConn).SetReadBuffer(4096)
		body := question("eth_getLogs", `[{"fromBlock":"0x1"}]`)
		fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		await(t, "the request", func() bool { return len(w.nodes["a"].requests()) > 0 })
		// The server gives up although nobody reads; Shutdown would hang otherwise.
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if err := w.server.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
}

func TestAnEndpointThatNeverEndsItsAnswerIsLeft(t *testing.T) {
	w := newWorld(t, worldOptions{chain: func(c *fleetChain) { c.Endpoints[0].Timeout = 1_000 }})
	w.nodes["a"].set(func(rw http.ResponseWriter, r asked) {
		_, _ = io.WriteString(rw, `{"jsonrpc":"2.0","id":`+string(r.ID)+`,"result":"0x`)
		rw.(http.Flusher).Flush()
		<-r.ctx.Done()
	})
	g := w.post(question("eth_getBalance", balance))
	if g.result(t) != `"0x2a"` || g.header.Get(headerEndpoint) != "b" {
		t.Errorf("HTTP %d %v %s", g.status, g.header, g.body)
	}
	if n := w.state.Load().Chain("main").Endpoint("a").Failures; n != 1 {
		t.Errorf("a has %d failures", n)
	}
}

func TestAnAnswerOverOurOwnLimitIsNobodysFault(t *testing.T) { // case 024
	// Time enough for 33 MiB on a slow machine: size is what is tested.
	w := newWorld(t, worldOptions{chain: func(c *fleetChain) { c.Endpoints[0].Timeout = 18_000 }})
	w.nodes["a"].set(result(`["` + strings.Repeat("0", 33<<20) + `"]`))
	g := w.post(question("eth_getLogs", `[{"fromBlock":"0x1"}]`))
	e := g.failure(t)
	if g.status != 502 || e.Data.Class != "local-denial" || e.Data.Retryable || !strings.Contains(e.Message, "MiB") {
		t.Errorf("HTTP %d %s", g.status, g.body)
	}
	if len(w.nodes["b"].requests()) != 0 || w.state.Load().Chain("main").Endpoint("a").Failures != 0 {
		t.Error("it was charged, or tried elsewhere")
	}
}

func TestGzipIsBetweenTheDoorAndTheEndpoint(t *testing.T) { // case 026
	w := newWorld(t, worldOptions{proxy: func(o *Options) { o.Forward = append(o.Forward, "accept-encoding") }})
	w.nodes["a"].set(func(rw http.ResponseWriter, r asked) {
		if r.header.Get("Accept-Encoding") != "gzip" {
			t.Errorf("the endpoint saw Accept-Encoding %q", r.header.Get("Accept-Encoding"))
		}
		say(rw, r, `"result":"0x64"`)
	})
	g := w.post(question("eth_blockNumber", "[]"), "Accept-Encoding", "gzip")
	if g.header.Get("Content-Encoding") != "" || g.result(t) != `"0x64"` {
		t.Errorf("%v %s", g.header, g.body)
	}
}

func TestNobodyIsEligible(t *testing.T) {
	w := newWorld(t, worldOptions{})
	w.fold(overrideCmd("a"))
	w.fold(overrideCmd("b"))
	g := w.post(question("eth_getBalance", balance))
	e := g.failure(t)
	if g.status != 503 || e.Code != codeNoEndpoint || e.Data.Class != "no-endpoint" || len(e.Data.Endpoints) != 2 || !strings.Contains(e.Data.Endpoints[0].Why, "ejected") {
		t.Errorf("HTTP %d %s", g.status, g.body)
	}
	if code, _ := w.get("/healthz"); code != 503 {
		t.Errorf("/healthz: HTTP %d", code)
	}
}

func TestRefusalsAreLoggedAndDoNotFloodTheLog(t *testing.T) {
	var log lines
	w := newWorld(t, worldOptions{proxy: func(o *Options) { o.Log = log.logger() }})
	for range 50 {
		w.post(question("eth_sendTransaction", "[]"))
	}
	if n := log.count("eth_sendTransaction"); n < 1 || n > 10 {
		t.Errorf("%d lines for 50 refusals", n)
	}
	if _, body := w.get("/metrics"); !strings.Contains(body, `class="local-denial",kind="other"} 50`) {
		t.Error("the metrics do not count all")
	}
}
