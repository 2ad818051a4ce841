package jsonrpc

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// failureCase is one file of testdata/cases, as far as one answer decides it.
type failureCase struct {
	ID, Title, Kind, Method string
	Request                 json.RawMessage
	Context                 struct {
		ExpectedChainID uint64 `json:"expected_chain_id"`
		Now             int64
	}
	Responses []caseResponse
	Expect    caseExpect
}

type caseResponse struct {
	Status       int
	Headers      map[string]string
	Body         string
	BodyEncoding string `json:"body_encoding"`
	Close, Fault string
	Endpoint     string
	AtMS         int64 `json:"at_ms"`
	Method       string
	Params       json.RawMessage
	OnlyIf       string `json:"only_if"`
	Generator    *struct {
		Prefix, Unit, Suffix string
		Count                int
	} `json:"body_generator"`
}

type caseExpect struct {
	Class, Sub       string
	Failover         bool
	Charge           bool  `json:"charge_endpoint"`
	Retry            bool  `json:"retry_same_endpoint"`
	CooldownMS       int64 `json:"cooldown_ms"`
	Decoded          json.RawMessage
	Items            map[string]string
	Nonconforming    bool
	Equivalents      []string
	ForbiddenStrings []string `json:"forbidden_substrings"`
	ForbiddenRunes   []string `json:"forbidden_runes"`
}

func loadCases(t testing.TB) []failureCase {
	t.Helper()
	files, err := filepath.Glob("testdata/cases/*.json")
	if err != nil || len(files) < 100 {
		t.Fatalf("cases: %d files, %v", len(files), err)
	}
	var cases []failureCase
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var c failureCase
		if err := json.Unmarshal(b, &c); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		cases = append(cases, c)
	}
	return cases
}

// bodyCap is the size of answer that the door reads.
const bodyCap = 32 << 20

func (r caseResponse) answer(t testing.TB) Answer {
	t.Helper()
	a := Answer{Status: r.Status, Body: []byte(r.Body), Header: map[string][]string{}}
	for k, v := range r.Headers {
		a.Header[k] = []string{v}
	}
	if r.BodyEncoding == "base64" {
		b, err := base64.StdEncoding.DecodeString(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		a.Body = b
	}
	if g := r.Generator; g != nil && len(g.Prefix)+len(g.Unit)*g.Count+len(g.Suffix) > bodyCap {
		a.Fault = FaultResponseCap
	}
	if r.Close == "mid_body" {
		a.Fault = FaultMidBody
	}
	if r.Fault != "" {
		fault, ok := faultOfCase[r.Fault]
		if !ok {
			t.Fatalf("fault %q has no counterpart", r.Fault)
		}
		a.Fault = fault
	}
	return a
}

var faultOfCase = map[string]Fault{
	"refused": FaultRefused, "timeout": FaultTimeout, "stall": FaultStall, "eof_on_reused_conn": FaultEOFReused,
	"dns_nxdomain": FaultDNSNotFound, "dns_temporary": FaultDNS, "tls_expired": FaultTLSExpired,
	"tls_not_yet_valid": FaultTLSNotYetValid, "no_route_ipv6": FaultNoRoute, "half_open": FaultHalfOpen,
	"ws_close_1006": FaultWSClosed, "suspend": FaultSuspended, "caller_cancel": FaultCancelled,
}

func (c failureCase) question(r caseResponse) Question {
	q := Question{Method: c.Method, ID: json.RawMessage("1"), Params: r.Params, ChainID: c.Context.ExpectedChainID}
	if r.Method != "" {
		q.Method = r.Method
	}
	if c.Context.Now != 0 {
		q.Now = time.Unix(c.Context.Now, 0)
	}
	var members []struct {
		ID     json.RawMessage
		Method string
	}
	var request struct{ Params json.RawMessage }
	if json.Unmarshal(c.Request, &members) == nil {
		for _, m := range members {
			q.Members = append(q.Members, Question{Method: m.Method, ID: m.ID, ChainID: q.ChainID})
		}
	} else if json.Unmarshal(c.Request, &request) == nil && request.Params != nil {
		q.Params = request.Params
	}
	if q.Method == MethodBatch {
		q.ID = nil
	}
	return q
}

// elsewhere lists the cases that one answer does not decide, and what does.
var elsewhere = map[string]string{
	"045": "three answers in turn; the null alone is checked in TestEachAnswerOfATimeline",
	"056": "two heights of one endpoint: the fold",
	"057": "head against peers and clock: the fold",
	"058": "head against peers and clock: the fold",
	"059": "head against peers: the fold",
	"060": "agreement of all endpoints: the fold",
	"061": "a height against peers: the fold",
	"063": "two tags of one endpoint: the fold",
	"064": "timestamps over time: the fold",
	"065": "what may count as a head: the prober",
	"066": "lag in time: the fold",
	"067": "a timestamp against the clock: the fold",
	"069": "silence of a feed: the prober",
	"103": "eth_getCode of two endpoints: recovery",
	"114": "a hash that nobody shows for a minute: recovery",
	"120": "two endpoints at one height: the fold",
	"121": "receipt against head: recovery",
	"122": "values at two heights: the prober",
	"127": "the pinned spender: recovery",
	"128": "one approve: recovery",
	"131": "the clock jumped: the engine",
	"133": "all endpoints fail alike: the engine",
	"135": "all endpoints fail alike: the engine",
	"142": "state of the whole set: failover",
	"143": "hold time after a return: failover",
	"145": "the request does not leave: the proxy",
	"146": "the request does not leave: the proxy",
}

// subElsewhere lists the cases whose sub says where a secret sits, which only
// the door knows.
var subElsewhere = map[string]bool{"147": true, "148": true, "149": true}

func TestAnswersOfTheCasesGetTheExpectedVerdict(t *testing.T) {
	checked := 0
	for _, c := range loadCases(t) {
		if elsewhere[c.ID] != "" {
			continue
		}
		r, ok := c.deciding()
		if !ok {
			t.Errorf("%s: no answer decides it, and it is not listed as decided elsewhere", c.ID)
			continue
		}
		checked++
		t.Run(c.ID+" "+c.Title, func(t *testing.T) {
			a := r.answer(t)
			checkCase(t, c, Classify(c.question(r), a))
			for i, body := range c.Expect.Equivalents {
				t.Run(fmt.Sprintf("equivalent %d", i+1), func(t *testing.T) {
					b := a
					b.Body = []byte(body)
					checkCase(t, c, Classify(c.question(r), b))
				})
			}
		})
	}
	if checked < 75 {
		t.Errorf("only %d cases were checked", checked)
	}
}

// deciding gives the answer that decides the case: the only one, or for
// timelines the subject's first one of that class of event.
func (c failureCase) deciding() (caseResponse, bool) {
	if len(c.Responses) == 0 {
		return caseResponse{}, false
	}
	if c.Kind == "http" {
		return c.Responses[0], true
	}
	if len(c.Responses) == 0 {
		return caseResponse{}, false
	}
	return c.Responses[decidedBy[c.ID]], true // the first one, unless it says otherwise
}

// decidedBy gives the index of the deciding answer where it is not the first.
var decidedBy = map[string]int{"070": 1, "080": 1, "106": 1, "125": 1}

func checkCase(t *testing.T, c failureCase, v Verdict) {
	t.Helper()
	e := c.Expect
	if got := v.Outcome.Class.String(); got != e.Class {
		t.Errorf("class %s (rule %q, message %q), want %s", got, v.Rule, v.Outcome.Message, e.Class)
	}
	if e.Sub != "" && !subElsewhere[c.ID] && v.Outcome.Sub != e.Sub {
		t.Errorf("sub %q, want %q", v.Outcome.Sub, e.Sub)
	}
	if v.Failover != e.Failover || v.Charge != e.Charge || v.RetrySame != e.Retry {
		t.Errorf("failover, charge, retry = %v %v %v, want %v %v %v", v.Failover, v.Charge, v.RetrySame, e.Failover, e.Charge, e.Retry)
	}
	if got := v.Cooldown.Milliseconds(); got != e.CooldownMS {
		t.Errorf("cooldown %d ms, want %d", got, e.CooldownMS)
	}
	if got := v.Nonconforming != ""; got != e.Nonconforming {
		t.Errorf("nonconforming %q, want %v", v.Nonconforming, e.Nonconforming)
	}
	items := map[string]string{}
	for _, it := range v.Items {
		items[string(it.ID)] = it.Verdict.Outcome.Class.String()
	}
	if e.Items != nil && !reflect.DeepEqual(items, e.Items) {
		t.Errorf("items %v, want %v", items, e.Items)
	}
	if e.Decoded != nil {
		checkDecoded(t, c, v)
	}
	seen := fmt.Sprintf("%s %s %s %s", v.Outcome.Message, v.Detail, v.Nonconforming, v.Outcome.Evidence())
	for _, s := range append(e.ForbiddenStrings, "CANARYKEY") {
		if strings.Contains(seen, s) {
			t.Errorf("%q shows in %q", s, seen)
		}
	}
	for _, u := range e.ForbiddenRunes {
		var r rune
		if _, err := fmt.Sscanf(u, "U+%X", &r); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsRune(seen, r) {
			t.Errorf("%s shows in %q", u, seen)
		}
	}
}

// checkDecoded compares what was read: a quantity, the items of a batch by id,
// or a revert.
func checkDecoded(t *testing.T, c failureCase, v Verdict) {
	t.Helper()
	quantity := func(raw json.RawMessage) string {
		n, _, err := ParseQuantity(raw)
		if err != nil {
			t.Fatal(err)
		}
		return "0x" + n.Text(16)
	}
	var one string
	var byID map[string]string
	var revert struct {
		Selector, Error *string
		Args            []string
	}
	switch {
	case json.Unmarshal(c.Expect.Decoded, &one) == nil && one != "":
		if got := quantity(v.Result); got != one {
			t.Errorf("decoded %s, want %s", got, one)
		}
	case c.Method == MethodBatch && json.Unmarshal(c.Expect.Decoded, &byID) == nil:
		got := map[string]string{}
		for _, it := range v.Items {
			got[string(it.ID)] = quantity(it.Verdict.Result)
		}
		if !reflect.DeepEqual(got, byID) {
			t.Errorf("decoded %v, want %v", got, byID)
		}
	case string(c.Expect.Decoded) == "null":
		if v.Revert != nil {
			t.Errorf("revert %+v, want none", v.Revert)
		}
	default:
		if err := json.Unmarshal(c.Expect.Decoded, &revert); err != nil {
			t.Fatal(err)
		}
		var got Revert
		if v.Revert != nil {
			got = *v.Revert
		}
		if got.Selector != deref(revert.Selector) || got.Name != deref(revert.Error) || !reflect.DeepEqual(got.Args, revert.Args) {
			t.Errorf("revert %s %s %q, want %s %s %q", got.Selector, got.Name, got.Args, deref(revert.Selector), deref(revert.Error), revert.Args)
		}
	}
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Answers of timelines whose own class is plain, whatever the case makes of
// them together.
func TestEachAnswerOfATimeline(t *testing.T) {
	for _, c := range loadCases(t) {
		if c.Kind == "http" {
			continue
		}
		for i, r := range c.Responses {
			if r.Method == "newHeads" { // a notification, not an answer
				continue
			}
			v := Classify(c.question(r), r.answer(t))
			want := plainClass(r)
			if want != "" && v.Outcome.Class.String() != want {
				t.Errorf("%s answer %d (%s): class %s, want %s: %s", c.ID, i, r.Method, v.Outcome.Class, want, v.Outcome.Message)
			}
		}
	}
}

func plainClass(r caseResponse) string {
	switch {
	case r.Fault == "suspend":
		return "local-fault"
	case r.Fault != "" || r.Status >= 500:
		return "transport-failure"
	case r.Status == 429:
		return "rate-limited"
	case strings.Contains(r.Body, `"result":null`):
		return "not-yet-visible"
	case strings.Contains(r.Body, `"result"`):
		return "ok"
	case strings.Contains(r.Body, "reverted"):
		return "deterministic-revert"
	}
	return ""
}
