package upstream

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"example.com/rpctop/internal/fleet"
)

func TestConnectionsAreKept(t *testing.T) {
	n := newNode(t, answerHead)
	d := doorTo(t, n.URL)
	for i := range 20 {
		a := do(t, d, call("eth_blockNumber"))
		if first := i == 0; a.Timing.Cold != first || (a.Timing.Connect > 0) != first {
			t.Fatalf("request %d: %+v", i+1, a.Timing)
		}
		if !a.Sent || a.Timing.FirstByte <= 0 || a.Timing.Total < a.Timing.FirstByte {
			t.Fatalf("request %d: %+v", i+1, a)
		}
	}
	if n.connections() != 1 {
		t.Errorf("%d connections", n.connections())
	}
	d.DropIdle()
	if a := do(t, d, call("eth_blockNumber")); !a.Timing.Cold || n.connections() != 2 {
		t.Errorf("after a drop: %d connections, %+v", n.connections(), a.Timing)
	}
}

func TestManyCallsAtOnceKeepTheirAnswersApart(t *testing.T) {
	n := newNode(t, func(w http.ResponseWriter, r request) {
		var q struct{ Params [1]string }
		if err := json.Unmarshal([]byte(r.body), &q); err != nil {
			t.Error(err)
		}
		result(w, r, fmt.Sprintf("%q", q.Params[0]))
	})
	d := doorTo(t, n.URL)
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			want := fmt.Sprintf(`"0x%064x"`, i)
			c := call("eth_call")
			c.Params = json.RawMessage("[" + want + "]")
			a, err := d.Do(t.Context(), c)
			if err != nil || string(a.Result) != want {
				t.Errorf("call %d: %v, %+v", i, err, a)
			}
		})
	}
	wg.Wait()
	before := n.connections()
	for range 50 { // the pool has kept enough
		wg.Go(func() { do(t, d, call("eth_blockNumber")) })
		wg.Wait()
	}
	if n.connections() != before {
		t.Errorf("%d connections became %d", before, n.connections())
	}
}

func TestTheRequestIsOursButForWhatMayBeForwarded(t *testing.T) {
	n := newNode(t, answerHead)
	d := doorTo(t, n.URL, func(o *Options) {
		o.UserAgent = "rpctop/test"
		o.Targets[0].Header = map[string]string{"x-api-key": "configured", "Accept-Encoding": "br", "host": "virtual.example"}
	})
	c := call("eth_call")
	c.Params = json.RawMessage(`[{"to":"0x00", "data":"0x"},"latest"]`)
	c.Header = map[string]string{
		"traceparent": "00-1-2-03", "accept-encoding": "identity", "authorization": "Basic x", "Cookie": "a=b", "Origin": "http://evil.example",
		"Host": "evil.example", "Connection": "close", "Transfer-Encoding": "chunked", "X-Api-Key": "callers", "Content-Type": "text/plain",
	}
	wantOutcome(t, do(t, d, c), fleet.ClassOK, "", fleet.ChargeSuccess)
	want := map[string]string{
		"Traceparent": "00-1-2-03", "Accept-Encoding": "gzip", "Content-Type": "application/json", "Accept": "application/json",
		"User-Agent": "rpctop/test", "X-Api-Key": "configured", "Content-Length": fmt.Sprint(len(n.bodies[0])),
	}
	for k, v := range want {
		if got := n.lastHeader()[k]; len(got) != 1 || got[0] != v {
			t.Errorf("%s: %q, want %q", k, got, v)
		}
	}
	for k := range n.lastHeader() {
		if _, ok := want[k]; !ok {
			t.Errorf("%s was sent: %q", k, n.lastHeader()[k])
		}
	}
	if n.bodies[0] != `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"to":"0x00", "data":"0x"},"latest"]}` {
		t.Errorf("body %s", n.bodies[0])
	}
}

func TestAVirtualHostAndUserInfoAreSent(t *testing.T) {
	n := newNode(t, func(w http.ResponseWriter, r request) {
		if name, pass, ok := r.BasicAuth(); !ok || name != "us3r" || pass != "p@ss" || r.Host != "virtual.example" {
			t.Errorf("user %q:%q (%v), host %q", name, pass, ok, r.Host)
		}
		answerHead(w, r)
	})
	d := doorTo(t, strings.Replace(n.URL, "://", "://us3r:p%40ss@", 1), func(o *Options) {
		o.Targets[0].Header = map[string]string{"Host": "virtual.example"}
	})
	do(t, d, call("eth_blockNumber"))
	if host := d.Host(idA); "http://"+host != n.URL {
		t.Errorf("host %q", host)
	}
}

func TestAGzipAnswerIsUnpacked(t *testing.T) {
	var packed bytes.Buffer
	zw := gzip.NewWriter(&packed)
	fmt.Fprint(zw, `{"jsonrpc":"2.0","id":1,"result":"0x10"}`)
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	broken := bytes.Clone(packed.Bytes())
	broken[len(broken)-6] ^= 0xff // the checksum
	for name, tc := range map[string]struct {
		body  []byte
		class fleet.Class
	}{
		"whole":      {packed.Bytes(), fleet.ClassOK},
		"broken":     {broken, fleet.ClassMalformed},
		"not packed": {[]byte(`{"jsonrpc":"2.0","id":1,"result":"0x10"}`), fleet.ClassMalformed},
		"cut":        {packed.Bytes()[:packed.Len()-12], fleet.ClassTransportFailure},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, func(w http.ResponseWriter, _ request) {
				w.Header().Set("Content-Encoding", "gzip")
				_, _ = w.Write(tc.body)
			})
			if a := do(t, doorTo(t, n.URL), call("eth_blockNumber")); a.Outcome.Class != tc.class {
				t.Errorf("want %v, have %s", tc.class, a.Outcome.Evidence())
			}
		})
	}
}

func TestAPackedBombMeetsTheCap(t *testing.T) {
	n := newNode(t, func(w http.ResponseWriter, _ request) {
		w.Header().Set("Content-Encoding", "gzip")
		zw := gzip.NewWriter(w)
		block := make([]byte, 1<<20)
		for range 64 {
			if _, err := zw.Write(block); err != nil {
				return
			}
		}
		_ = zw.Close()
	})
	a := do(t, doorTo(t, n.URL), call("eth_getLogs"))
	wantOutcome(t, a, fleet.ClassLocalDenial, fleet.SubResponseCap, fleet.ChargeNothing)
}

func TestTheBodyComesBackByteForByte(t *testing.T) {
	body := "{ \"result\" : {\"b\":1.50,\"a\":\"\\u00e9/\\/\"},\n\"id\":1,\"jsonrpc\":\"2.0\"}\n"
	n := newNode(t, func(w http.ResponseWriter, _ request) { fmt.Fprint(w, body) })
	a := do(t, doorTo(t, n.URL), call("eth_feeHistory"))
	if string(a.Body) != body || string(a.Result) != `{"b":1.50,"a":"\u00e9/\/"}` {
		t.Errorf("%s: body %s, result %s", a.Outcome.Evidence(), a.Body, a.Result)
	}
}

func TestABatchGivesAnAttemptForEachMember(t *testing.T) {
	n := newNode(t, func(w http.ResponseWriter, r request) {
		var q []struct {
			ID     json.RawMessage
			Method string
		}
		if err := json.Unmarshal([]byte(r.body), &q); err != nil {
			t.Error(err)
		}
		fmt.Fprintf(w, `[{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"the method %s does not exist/is not available"}},{"jsonrpc":"2.0","id":%s,"result":"0x64"}]`,
			q[1].ID, q[1].Method, q[0].ID)
	})
	d := doorTo(t, n.URL)
	as, err := d.DoBatch(t.Context(), []Call{call("eth_chainId"), call("eth_syncing")})
	if err != nil || len(as) != 2 || n.requests() != 1 {
		t.Fatalf("%v, %d requests", err, n.requests())
	}
	if as[0].Method != "eth_chainId" || string(as[0].Result) != `"0x64"` || !as[0].Outcome.OK() {
		t.Errorf("%+v", as[0])
	}
	wantOutcome(t, as[1], fleet.ClassUnsupported, fleet.SubMethod, fleet.ChargeNothing)
	wantDenial(t, d, call("eth_syncing"), fleet.DenyFailureCache)
	if s := d.Status(idA); s.Calls != 2 || s.InFlight != 0 {
		t.Errorf("%+v", s)
	}
	if as, err := d.DoBatch(t.Context(), nil); as != nil || err != nil {
		t.Errorf("an empty batch: %v, %v", as, err)
	}
}

func TestABatchThatFailsAsAWholeFailsForEachMember(t *testing.T) {
	d := doorTo(t, refusedURL(t))
	as, err := d.DoBatch(t.Context(), []Call{call("eth_chainId"), call("eth_syncing")})
	if err != nil || len(as) != 2 {
		t.Fatal(err)
	}
	for _, a := range as {
		wantOutcome(t, a, fleet.ClassTransportFailure, "refused", fleet.ChargeFailure)
	}
}

func TestATransactionsHashIsCheckedAgainstItsBytes(t *testing.T) {
	n := newNode(t, func(w http.ResponseWriter, r request) { result(w, r, `"0x`+strings.Repeat("11", 32)+`"`) })
	c := call("eth_sendRawTransaction")
	c.Params = json.RawMessage(`["0x02aabb"]`)
	if a := do(t, doorTo(t, n.URL), c); a.Outcome.OK() {
		t.Errorf("another transaction's hash passed: %+v", a)
	}
	if h := rawTxHash(json.RawMessage(`["0x"]`)); !h.IsZero() {
		t.Errorf("no bytes have the hash %s", h)
	}
	if h := rawTxHash(json.RawMessage(`["0x03aabb"]`)); !h.IsZero() {
		t.Errorf("with a sidecar the hash is not that of the bytes, have %s", h)
	}
	if h := rawTxHash(json.RawMessage(`["0x616263"]`)).String(); h != "0x4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45" {
		t.Errorf("keccak of abc is not %s", h)
	}
}

func TestFingerprintsTellChangesAndNothingElse(t *testing.T) {
	key, h := []byte("key"), map[string]string{"a": "1", "b": "2"}
	base := Fingerprint(key, "http://127.0.0.1/x", h)
	if len(base) != 32 || base != Fingerprint(key, "http://127.0.0.1/x", map[string]string{"b": "2", "a": "1"}) {
		t.Errorf("not the same again: %s", base)
	}
	seen := map[string]bool{base: true}
	for _, other := range []string{
		Fingerprint([]byte("other"), "http://127.0.0.1/x", h),
		Fingerprint(key, "http://127.0.0.1/y", h),
		Fingerprint(key, "http://127.0.0.1/x", nil),
		Fingerprint(key, "http://127.0.0.1/x", map[string]string{"a": "1", "b": "3"}),
		Fingerprint(key, "http://127.0.0.1/x", map[string]string{"a": "1b", "": "2"}),
		Fingerprint(key, "http://127.0.0.1/x", map[string]string{"a1": "b2"}),
	} {
		if seen[other] {
			t.Errorf("%s twice", other)
		}
		seen[other] = true
	}
}
