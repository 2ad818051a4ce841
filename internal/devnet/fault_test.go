package devnet

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	one = `{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}`
	two = `[{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]},{"jsonrpc":"2.0","id":2,"method":"eth_blockNumber","params":[]}]`
)

func TestEachFaultAsAPlainClientSeesIt(t *testing.T) {
	n := start(t, quick("a"))
	f := n.Front("a")
	text := func(status int, parts ...string) func(*testing.T, got) {
		return func(t *testing.T, g got) {
			t.Helper()
			if g.err != nil || g.status != status {
				t.Fatalf("status %d, error %v, want status %d", g.status, g.err, status)
			}
			for _, p := range parts {
				if !strings.Contains(string(g.body), p) {
					t.Errorf("body %q is without %q", g.body, p)
				}
			}
		}
	}
	header := func(key, want string, next func(*testing.T, got)) func(*testing.T, got) {
		return func(t *testing.T, g got) {
			t.Helper()
			next(t, g)
			if v := g.header.Get(key); v != want {
				t.Errorf("header %s is %q, want %q", key, v, want)
			}
		}
	}
	broken := func(causes ...error) func(*testing.T, got) {
		return func(t *testing.T, g got) {
			t.Helper()
			for _, c := range causes {
				if errors.Is(g.err, c) {
					return
				}
			}
			t.Errorf("error %v, want one of %v", g.err, causes)
		}
	}
	whole := text(200, `{"jsonrpc":"2.0","id":1,"result":"0x539"}`)
	for _, c := range []struct {
		name  string
		fault Fault
		body  string
		want  func(*testing.T, got)
	}{
		{"none", Fault{}, one, whole},
		{"none, batch", Fault{}, two, text(200, `"id":1,"result":"0x539"`, `"id":2,"result":"0x8"`)},
		{"refuse", Fault{Kind: Refuse}, one, broken(syscall.ECONNREFUSED)},
		{"reset", Fault{Kind: Reset}, one, broken(syscall.ECONNRESET, io.ErrUnexpectedEOF)},
		{"slow", Fault{Kind: Slow, Latency: time.Millisecond, Jitter: time.Millisecond}, one, whole},
		{"truncated", Fault{Kind: Truncated}, one, func(t *testing.T, g got) {
			text(200, `{"jsonrpc"`)(t, g)
			if json.Valid(g.body) {
				t.Errorf("%q is whole", g.body)
			}
		}},
		{"empty", Fault{Kind: Empty}, one, func(t *testing.T, g got) {
			text(200)(t, g)
			if len(g.body) > 0 {
				t.Errorf("body %q", g.body)
			}
		}},
		{"status", Fault{Kind: Status, Code: 503, Header: map[string]string{"Server": "edge"}, Body: "down"}, one, header("Server", "edge", text(503, "down"))},
		{"html", Fault{Kind: HTML}, one, header("Content-Type", "text/html; charset=utf-8", text(200, "<html>"))},
		{"throttle with a hint", Fault{Kind: Throttle, RetryAfter: 1500 * time.Millisecond}, one, header("Retry-After", "2", text(429, `"code":-32005`))},
		{"throttle without a hint", Fault{Kind: Throttle}, one, header("Retry-After", "", text(429))},
		{"throttle of what is no request", Fault{Kind: Throttle}, "{", text(429, `"id":null`)},
		{"rate limit inside 200", Fault{Kind: RateLimited}, two, text(200, `[{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"rate limit exceeded"}},{"jsonrpc":"2.0","id":2,`)},
		{"error as told", Fault{Kind: RPCError, Code: -32016, Body: "over rate limit"}, one, text(200, `"id":1,"error":{"code":-32016,"message":"over rate limit"}`)},
		{"escapes", Fault{Kind: Escapes}, one, text(200, `\u001b[2J`, `\u001b]52;c;`, "\u202e")},
		{"canary", Fault{Kind: Canary}, one, header("X-Api-Key", f.Key(), text(401, f.Key(), f.URL()))},
		{"redirect", Fault{Kind: Redirect}, one, func(t *testing.T, g got) {
			text(307)(t, g)
			if l := g.header.Get("Location"); !strings.HasSuffix(l, "/moved/"+f.Key()) {
				t.Errorf("Location %q", l)
			}
		}},
		{"wrong id", Fault{Kind: WrongID}, one, text(200, `"id":987654321,"result":"0x539"`)},
		{"an object for a batch", Fault{Kind: BatchObject}, two, text(200, `{"jsonrpc":"2.0","id":null,"error":`)},
		{"a batch fault leaves single calls alone", Fault{Kind: BatchObject}, one, whole},
		{"reordered", Fault{Kind: BatchReordered}, two, text(200, `[{"jsonrpc":"2.0","id":2,"result":"0x8"},{"jsonrpc":"2.0","id":1,"result":"0x539"}]`)},
		{"missing item", Fault{Kind: BatchMissing}, two, func(t *testing.T, g got) {
			if want := `[{"jsonrpc":"2.0","id":1,"result":"0x539"}]`; string(g.body) != want {
				t.Errorf("body %q, want %q", g.body, want)
			}
		}},
		{"wrong chain", Fault{Kind: WrongChain}, one, text(200, `"result":"0x53a"`)},
		{"wrong chain as told", Fault{Kind: WrongChain, ChainID: 100}, `{"jsonrpc":"2.0","id":"x","method":"net_version"}`, text(200, `"id":"x","result":"100"`)},
		{"ahead", Fault{Kind: Ahead, Blocks: 1_000_000}, two, text(200, `"id":2,"result":"0xf4248"`)},
		{"behind", Fault{Kind: Behind, Blocks: 3}, two, text(200, `"id":2,"result":"0x5"`)},
		{"forged", Fault{Kind: Forged, Body: `"0x01"`}, `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{},"latest"]}`, text(200, `"result":"0x01"`)},
		{"other methods only", Fault{Kind: Throttle, Methods: []string{"eth_call"}}, one, whole},
		{"a member of a batch counts", Fault{Kind: Throttle, Methods: []string{"eth_blockNumber"}}, two, text(429)},
	} {
		t.Run(c.name, func(t *testing.T) {
			must(t, f.Set(c.fault))
			if got := f.Fault(); got.Kind != c.fault.Kind {
				t.Errorf("the front says its fault is %s", got)
			}
			c.want(t, post(t, f, c.body))
			must(t, f.Set(Fault{}))
			whole(t, post(t, f, one)) // healed, on the same port
		})
	}
}

func TestAHangingRequestEndsWithItsClientTheFaultOrTheNet(t *testing.T) {
	o := quick("a")
	n, err := Start(t.Context(), o)
	must(t, err)
	f := n.Front("a")
	hang := func(end func(cancel context.CancelFunc)) error {
		t.Helper()
		must(t, f.Set(Fault{Kind: Hang}))
		before := f.Count("eth_chainId")
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		done := make(chan got, 1)
		go func() { done <- postWithin(t, ctx, f, one) }()
		eventually(t, "the request at the front", func() bool { return f.Count("eth_chainId") > before })
		select {
		case g := <-done:
			t.Fatalf("answered: %d %v", g.status, g.err)
		default:
		}
		end(cancel)
		return (<-done).err
	}
	if err := hang(func(cancel context.CancelFunc) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("the client left: %v", err)
	}
	if err := hang(func(context.CancelFunc) { must(t, f.Set(Fault{})) }); !errors.Is(err, io.EOF) {
		t.Errorf("the fault ended: %v", err)
	}
	if err := hang(func(context.CancelFunc) { must(t, n.Close()) }); err == nil {
		t.Error("the net closed: no error")
	}
	if err := f.Set(Fault{}); !errors.Is(err, net.ErrClosed) || answers(t, f) {
		t.Errorf("set after Close: %v", err)
	}
}

func TestFaultsInTime(t *testing.T) {
	n := start(t, quick("a"))
	f := n.Front("a")
	down := func() bool { return !answers(t, f) }
	up := func() bool { return answers(t, f) }

	must(t, f.Set(Fault{Kind: Refuse, Delay: 20 * time.Millisecond}))
	if f.Fault().Kind != Refuse {
		t.Error("a delayed fault is not shown")
	}
	eventually(t, "the delayed fault", down)
	must(t, f.Set(Fault{Kind: Refuse, For: 20 * time.Millisecond}))
	eventually(t, "its end", up)

	must(t, f.Set(Fault{Kind: Flap, Period: 30 * time.Millisecond, Between: []Fault{{Kind: Refuse}, {Kind: Throttle}}}))
	limited := func() bool { return post(t, f, one).status == 429 }
	for range 2 {
		eventually(t, "the flap's refusal", func() bool { return errors.Is(post(t, f, one).err, syscall.ECONNREFUSED) })
		eventually(t, "the flap's throttle", limited)
	}
	must(t, f.Set(Fault{})) // ends the flap, whatever its phase
	for range 20 {
		if !up() {
			t.Fatal("the flap goes on")
		}
	}

	must(t, f.Set(Fault{Kind: Throttle, Every: 3}))
	var hit []bool
	for range 6 {
		hit = append(hit, down())
	}
	if want := []bool{false, false, true, false, false, true}; !slices.Equal(hit, want) {
		t.Errorf("every third: %v", hit)
	}
}

func TestAFaultSpelledOutInTime(t *testing.T) {
	hang, none, reset := Fault{Kind: Hang}, Fault{}, Fault{Kind: Reset}
	for _, c := range []struct {
		name  string
		fault Fault
		want  string
		loop  int
	}{
		{"for good", hang, "hang 0s", -1},
		{"delayed", Fault{Kind: Hang, Delay: 1}, "none 1ns, hang 0s", -1},
		{"for a while", Fault{Kind: Hang, For: 2}, "hang 2ns, none 0s", -1},
		{"delayed, for a while", Fault{Kind: Hang, Delay: 1, For: 2}, "none 1ns, hang 2ns, none 0s", -1},
		{"flap", Fault{Kind: Flap, Period: 3, Between: []Fault{hang, none}}, "hang 3ns, none 3ns", 0},
		{"flap by its members", Fault{Kind: Flap, Delay: 1, Period: 3, Between: []Fault{{Kind: Hang, For: 2}, reset}}, "none 1ns, hang 2ns, reset 3ns", 1},
	} {
		ps, loop := c.fault.phases()
		var parts []string
		for _, p := range ps {
			parts = append(parts, p.fault.String()+" "+p.hold.String())
		}
		if got := strings.Join(parts, ", "); got != c.want || loop != c.loop {
			t.Errorf("%s: %s, loop %d; want %s, loop %d", c.name, got, loop, c.want, c.loop)
		}
	}
}

func TestMalformedFaultsAreRefusedAndChangeNothing(t *testing.T) {
	n := start(t, quick("a"))
	f := n.Front("a")
	for name, bad := range map[string]Fault{
		"unknown kind":         {Kind: "sulk"},
		"no status":            {Kind: Status},
		"no result":            {Kind: Forged},
		"negative delay":       {Delay: -1},
		"refuse every other":   {Kind: Refuse, Every: 2},
		"flap of one":          {Kind: Flap, Between: []Fault{{}}, Period: 1},
		"flap without periods": {Kind: Flap, Between: []Fault{{}, {Kind: Hang}}},
		"flap of flaps":        {Kind: Flap, Period: 1, Between: []Fault{{}, {Kind: Flap}}},
		"bad member":           {Kind: Flap, Period: 1, Between: []Fault{{}, {Kind: Status}}},
	} {
		if err := f.Set(bad); err == nil {
			t.Errorf("%s: taken", name)
		}
		if f.Fault().Kind != None || !answers(t, f) {
			t.Errorf("%s: changed the front", name)
		}
	}
}
