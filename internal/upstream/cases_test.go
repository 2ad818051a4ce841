package upstream

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/rpctop/internal/fleet"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// failureCase is a file of ../jsonrpc/testdata/cases, as far as one answer
// through the door concerns it.
type failureCase struct {
	ID, Title, Kind, Method string
	Request                 json.RawMessage
	Context                 struct {
		ExpectedChainID uint64 `json:"expected_chain_id"`
		URL             string
	}
	Responses []caseResponse
	Expect    struct {
		Class, Sub          string
		ChargeEndpoint      bool  `json:"charge_endpoint"`
		CooldownMS          int64 `json:"cooldown_ms"`
		Decoded             any
		ForbiddenSubstrings []string `json:"forbidden_substrings"`
		ForbiddenRunes      []string `json:"forbidden_runes"`
	}
}

type caseResponse struct {
	Status       int
	Headers      map[string]string
	Body         string
	BodyEncoding string `json:"body_encoding"`
	Close        string
	Fault        string
	Generator    *struct {
		Prefix, Unit, Suffix string
		Count                int
	} `json:"body_generator"`
}

// write sends a response byte for byte.
func (r caseResponse) write(rw *bufio.ReadWriter) {
	if r.Close == "before_headers" {
		return
	}
	body := r.Body
	if r.BodyEncoding == "base64" {
		b, err := base64.StdEncoding.DecodeString(body)
		if err != nil {
			panic(err)
		}
		body = string(b)
	}
	size := len(body)
	if g := r.Generator; g != nil {
		size = len(g.Prefix) + len(g.Unit)*g.Count + len(g.Suffix)
	}
	fmt.Fprintf(rw, "HTTP/1.1 %d %s\r\nConnection: close\r\n", r.Status, http.StatusText(r.Status))
	for k, v := range r.Headers {
		fmt.Fprintf(rw, "%s: %s\r\n", k, v)
	}
	if r.Headers["Content-Length"] == "" {
		fmt.Fprintf(rw, "Content-Length: %d\r\n", size)
	}
	fmt.Fprint(rw, "\r\n", body)
	if g := r.Generator; g != nil {
		fmt.Fprint(rw, g.Prefix)
		const block = 10_000
		for left := g.Count; left > 0; left -= block {
			if _, err := rw.WriteString(strings.Repeat(g.Unit, min(left, block))); err != nil {
				return // the door has seen enough
			}
		}
		fmt.Fprint(rw, g.Suffix)
	}
}

func TestTheFailureCasesThroughTheDoor(t *testing.T) {
	files, err := filepath.Glob("../jsonrpc/testdata/cases/*.json")
	if err != nil || len(files) < 100 {
		t.Fatalf("%d cases found (%v)", len(files), err)
	}
	played := 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var c failureCase
		if err := json.Unmarshal(b, &c); err != nil {
			// Cases of other kinds have other shapes.
			continue
		}
		if c.Kind != "http" || len(c.Responses) == 0 { // without a response nothing may reach the door
			continue
		}
		played++
		t.Run(c.ID+" "+c.Title, func(t *testing.T) { playCase(t, c) })
	}
	if played < 55 {
		t.Errorf("only %d cases played", played)
	}
}

func playCase(t *testing.T, c failureCase) {
	t.Parallel()
	response := c.Responses[0]
	n := newNode(t, func(w http.ResponseWriter, r request) {
		if r.Method != http.MethodPost {
			t.Errorf("came as a %s", r.Method)
		}
		raw(t, w, response.write)
	})
	target := Target{ID: idA, URL: n.URL, ChainID: c.Context.ExpectedChainID}
	if response.Fault == "refused" {
		target.URL = refusedURL(t)
	}
	target.URL = withSecrets(t, target.URL, c.Context.URL)
	d := newDoor(t, Options{Targets: []Target{target}})
	attempts := askCase(t, d, c)
	if served := n.requests(); response.Fault == "" && served != 1 {
		t.Errorf("%d requests reached the endpoint", served)
	}
	a := mostTelling(attempts)
	if a.Outcome.Class.String() != c.Expect.Class {
		t.Fatalf("want %s, have %s", c.Expect.Class, a.Outcome.Evidence())
	}
	if c.Context.URL == "" && c.Expect.Sub != "" && a.Outcome.Sub != c.Expect.Sub {
		t.Errorf("want sub %q, have %q", c.Expect.Sub, a.Outcome.Sub)
	}
	switch a.Outcome.Class {
	case fleet.ClassTransportFailure, fleet.ClassMalformed, fleet.ClassServerError:
		if charged := a.Charge() == fleet.ChargeFailure; charged != c.Expect.ChargeEndpoint {
			t.Errorf("charged: %v", charged)
		}
	default:
		if a.Charge() == fleet.ChargeFailure {
			t.Errorf("%v is charged", a.Outcome.Class)
		}
	}
	if want := min(c.Expect.CooldownMS, 3_600_000); a.Outcome.Class == fleet.ClassRateLimited && a.RetryAfter.Milliseconds() != want {
		t.Errorf("rests %v, want %d ms", a.RetryAfter, want)
	}
	if want, ok := c.Expect.Decoded.(string); ok && a.Outcome.OK() && strings.HasPrefix(want, "0x") && c.Method == "eth_blockNumber" {
		if got := strings.ToLower(strings.Trim(string(a.Result), `"`)); got != want && a.Result[0] == '"' {
			t.Errorf("read %s, want %s", got, want)
		}
	}
	for _, a := range attempts {
		seen := everything(a)
		wantNoSecret(t, "the attempt", seen)
		for _, s := range c.Expect.ForbiddenSubstrings {
			if strings.Contains(seen, s) {
				t.Errorf("%q is in %s", s, seen)
			}
		}
		for _, s := range c.Expect.ForbiddenRunes {
			n, err := strconv.ParseUint(strings.TrimPrefix(s, "U+"), 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			if strings.ContainsRune(a.Outcome.Message, rune(n)) {
				t.Errorf("%s is in %q", s, a.Outcome.Message)
			}
		}
	}
}

// askCase puts a case's question.
func askCase(t *testing.T, d *Door, c failureCase) []*fleet.Attempt {
	t.Helper()
	var req struct {
		Params    json.RawMessage
		Headers   map[string]string
		BatchSize int `json:"batch_size"`
	}
	var members []struct {
		Method string
		Params json.RawMessage
	}
	if len(c.Request) > 0 && c.Request[0] == '[' {
		if err := json.Unmarshal(c.Request, &members); err != nil {
			t.Fatal(err)
		}
	} else if len(c.Request) > 0 {
		if err := json.Unmarshal(c.Request, &req); err != nil {
			t.Fatal(err)
		}
	}
	if c.Method != "batch" {
		one := call(c.Method)
		one.Params, one.Header = req.Params, req.Headers
		return []*fleet.Attempt{do(t, d, one)}
	}
	var calls []Call
	for _, m := range members {
		one := call(m.Method)
		one.Params = m.Params
		calls = append(calls, one)
	}
	for range req.BatchSize {
		calls = append(calls, call("eth_chainId"))
	}
	as, err := d.DoBatch(t.Context(), calls)
	if err != nil || len(as) != len(calls) {
		t.Fatalf("%d attempts of %d: %v", len(as), len(calls), err)
	}
	return as
}

// mostTelling gives the attempt of a batch that went worst.
func mostTelling(as []*fleet.Attempt) *fleet.Attempt {
	return slices.MaxFunc(as, func(a, b *fleet.Attempt) int { return int(a.Outcome.Class) - int(b.Outcome.Class) })
}

// withSecrets moves user info, path and query of a case's URL to a node.
func withSecrets(t *testing.T, to, from string) string {
	t.Helper()
	if from == "" {
		return to
	}
	u, err := url.Parse(from)
	if err != nil {
		t.Fatal(err)
	}
	v, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	u.Scheme, u.Host = v.Scheme, v.Host
	return u.String()
}

// refusedURL is an address where nobody listens.
func refusedURL(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}
