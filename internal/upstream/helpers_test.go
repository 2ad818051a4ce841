package upstream

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.com/rpctop/internal/fleet"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// canary is the key that may be seen nowhere.
const canary = "CANARYKEY0123456789CANARYKEY0123"

var idA = fleet.EndpointID{Chain: "gnosis", Name: "a"}

// node is an endpoint on loopback. It counts what reaches it.
type node struct {
	*httptest.Server
	mu       sync.Mutex
	bodies   []string
	headers  []http.Header
	conns    int
	arrivals chan struct{} // one for each request, while there is room
}

// request is one that reached the node, with its body read.
type request struct {
	*http.Request
	body string
	nth  int // from 1
	id   json.RawMessage
}

func newNode(t *testing.T, answer func(w http.ResponseWriter, r request)) *node {
	t.Helper()
	return startNode(t, answer, func(s *httptest.Server) { s.Start() })
}

func startNode(t *testing.T, answer func(w http.ResponseWriter, r request), start func(*httptest.Server)) *node {
	t.Helper()
	n := &node{arrivals: make(chan struct{}, 1000)}
	n.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		var head struct{ ID json.RawMessage }
		_ = json.Unmarshal(b, &head) // a batch has none
		n.mu.Lock()
		n.bodies = append(n.bodies, string(b))
		n.headers = append(n.headers, r.Header.Clone())
		nth := len(n.bodies)
		n.mu.Unlock()
		n.arrivals <- struct{}{}
		answer(w, request{r, string(b), nth, head.ID})
	}))
	n.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			n.mu.Lock()
			n.conns++
			n.mu.Unlock()
		}
	}
	n.Config.ErrorLog = quiet()
	start(n.Server)
	t.Cleanup(func() {
		n.CloseClientConnections()
		n.Close()
	})
	return n
}

func (n *node) requests() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.bodies)
}

func (n *node) connections() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.conns
}

func (n *node) lastHeader() http.Header {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.headers[len(n.headers)-1]
}

// result answers with a result.
func result(w http.ResponseWriter, r request, result string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, r.id, result)
}

func answerHead(w http.ResponseWriter, r request) { result(w, r, `"0x10"`) }

// hang answers never.
func hang(_ http.ResponseWriter, r request) { <-r.Context().Done() }

// raw writes bytes of our own making and closes the connection.
func raw(t *testing.T, w http.ResponseWriter, write func(*bufio.ReadWriter)) {
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close()
	write(rw)
	_ = rw.Flush() // the door may have gone: it has its limit
}

func newDoor(t *testing.T, o Options) *Door {
	t.Helper()
	d, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// doorTo is a door to one node, whose target may be changed before.
func doorTo(t *testing.T, url string, change ...func(*Options)) *Door {
	t.Helper()
	o := Options{Targets: []Target{{ID: idA, URL: url, Timeout: 20 * time.Second}}}
	for _, f := range change {
		f(&o)
	}
	return newDoor(t, o)
}

func call(method string) Call {
	return Call{Endpoint: idA, Method: method, Caller: fleet.CallerInteractive}
}

func do(t *testing.T, d *Door, c Call) *fleet.Attempt {
	t.Helper()
	return doCtx(t, t.Context(), d, c)
}

func doCtx(t *testing.T, ctx context.Context, d *Door, c Call) *fleet.Attempt {
	t.Helper()
	a, err := d.Do(ctx, c)
	if err != nil {
		t.Fatalf("%s: %v", c.Method, err)
	}
	return a
}

func wantDenial(t *testing.T, d *Door, c Call, kind fleet.DenialKind) *fleet.Denial {
	t.Helper()
	a, err := d.Do(t.Context(), c)
	var denial *fleet.Denial
	if a != nil || !errors.As(err, &denial) || denial.Kind != kind {
		t.Fatalf("want a denial (%s), have %+v, %v", kind, a, err)
	}
	return denial
}

func wantOutcome(t *testing.T, a *fleet.Attempt, class fleet.Class, sub string, charge fleet.Charge) {
	t.Helper()
	if a.Outcome.Class != class || a.Outcome.Sub != sub || a.Charge() != charge {
		t.Fatalf("want %v(%s) charged %d, have %s charged %d", class, sub, charge, a.Outcome.Evidence(), a.Charge())
	}
}

// everything prints all that an attempt holds, for looking for what must not
// be there.
func everything(a *fleet.Attempt) string {
	return fmt.Sprintf("%+v %#v %s %s %s", a, a, a.Result, a.Body, a.Outcome.Evidence())
}

// wantNoSecret fails if a text holds the canary in any form, or its beginning.
func wantNoSecret(t *testing.T, where, text string) {
	t.Helper()
	for _, form := range []string{canary, canary[:8], "Q0FOQVJZS0VZ", strings.ToLower(canary)} {
		if strings.Contains(text, form) {
			t.Errorf("%s holds %q: %s", where, form, text)
		}
	}
}
