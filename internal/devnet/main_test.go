package devnet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.com/rpctop/internal/fleet"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// Both belong to go-ethereum, are started once a process, and have no end.
		goleak.IgnoreAnyFunction("github.com/syndtr/goleveldb/leveldb.(*DB).mpoolDrain"),
		goleak.IgnoreAnyFunction("github.com/ethereum/go-ethereum/core.(*txSenderCacher).cache"),
	)
}

// quick is a net without latency that mines only when told.
func quick(names ...string) Options {
	o := Options{Seed: 7, Manual: true}
	for _, name := range names {
		o.Fronts = append(o.Fronts, FrontSpec{Name: name, Operator: name, Elsewhere: name == "elsewhere"})
	}
	return o
}

func start(t *testing.T, o Options) *Net {
	t.Helper()
	n, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// got is what a plain client saw.
type got struct {
	status int
	header http.Header
	body   []byte
	err    error
}

// post sends a body over a connection of its own and follows no redirect.
func post(t *testing.T, f *Front, body string) got {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	return postWithin(t, ctx, f, body)
}

func postWithin(t *testing.T, ctx context.Context, f *Front, body string) got {
	t.Helper()
	tr := &http.Transport{DisableKeepAlives: true}
	defer tr.CloseIdleConnections()
	client := &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.URL(), bytes.NewReader([]byte(body)))
	must(t, err)
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return got{err: err}
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return got{res.StatusCode, res.Header, b, err}
}

type rpcError struct {
	Code    int
	Message string
}

func (e *rpcError) Error() string { return strconv.Itoa(e.Code) + " " + e.Message }

// try makes one JSON-RPC call.
func try(t *testing.T, f *Front, out any, method string, params ...any) error {
	t.Helper()
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	must(t, err)
	g := post(t, f, string(body))
	if g.err != nil {
		return g.err
	}
	var r struct {
		Result json.RawMessage
		Error  *rpcError
	}
	if err := json.Unmarshal(g.body, &r); err != nil {
		return err
	}
	if r.Error != nil {
		return r.Error
	}
	return json.Unmarshal(r.Result, out)
}

func ask(t *testing.T, f *Front, out any, method string, params ...any) {
	t.Helper()
	if err := try(t, f, out, method, params...); err != nil {
		t.Fatalf("%s of %s: %v", method, f.Name(), err)
	}
}

type block struct {
	Number     string
	Hash       fleet.Hash
	ParentHash fleet.Hash
}

func (b block) height(t *testing.T) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(b.Number, 0, 64)
	must(t, err)
	return n
}

// blockAt asks a front for a block by height or tag; nil: it says null.
func blockAt(t *testing.T, f *Front, tag string) *block {
	t.Helper()
	var b *block
	ask(t, f, &b, "eth_getBlockByNumber", tag, false)
	return b
}

func head(t *testing.T, f *Front) block {
	t.Helper()
	b := blockAt(t, f, "latest")
	if b == nil {
		t.Fatalf("%s has no latest block", f.Name())
	}
	return *b
}

func hex(n uint64) string { return "0x" + strconv.FormatUint(n, 16) }

// eventually waits for a condition, up to ten seconds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited in vain: %s", what)
		case <-tick.C:
		}
	}
}

// answers reports whether a front passes a call on.
func answers(t *testing.T, f *Front) bool {
	t.Helper()
	var id string
	return try(t, f, &id, "eth_chainId") == nil
}

func isRPC(err error, code int) bool {
	var e *rpcError
	return errors.As(err, &e) && e.Code == code
}
