package devnet

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAFrontLogsWhatReachedIt(t *testing.T) {
	n := start(t, quick("a"))
	f := n.Front("a")
	must(t, f.Set(Fault{Kind: Status, Code: 500})) // what it answers makes no difference
	post(t, f, one)
	post(t, f, two)
	post(t, f, "no JSON")
	rs := f.Requests()
	if len(rs) != 3 {
		t.Fatalf("%d requests", len(rs))
	}
	if r := rs[0]; r.Method != "eth_chainId" || r.Bytes != len(one) || r.At.IsZero() || r.Path != "/"+f.Key() {
		t.Errorf("the single call is %+v", r)
	}
	if r := rs[1]; r.Method != "batch" || !slices.Equal(r.Members, []string{"eth_chainId", "eth_blockNumber"}) {
		t.Errorf("the batch is %+v", r)
	}
	if r := rs[2]; r.Method != "" || r.Members != nil {
		t.Errorf("what is no request is %+v", r)
	}
	for method, want := range map[string]int{"": 3, "eth_chainId": 2, "eth_blockNumber": 1, "batch": 1, "eth_call": 0} {
		if got := f.Count(method); got != want {
			t.Errorf("count of %q is %d, want %d", method, got, want)
		}
	}
}

func TestTheLogIsBounded(t *testing.T) {
	var l requestLog
	for i := range logSize + 10 {
		l.add(Request{Bytes: i, Method: strings.Repeat("m", i%1000)})
	}
	got := l.last()
	if len(got) != logSize || got[0].Bytes != 10 || got[logSize-1].Bytes != logSize+9 {
		t.Errorf("%d entries from %d to %d", len(got), got[0].Bytes, got[len(got)-1].Bytes)
	}
	if len(l.counts) > logMethods+1 || l.count("other") == 0 || l.count("") != logSize+10 {
		t.Errorf("%d counters, other %d, all %d", len(l.counts), l.count("other"), l.count(""))
	}
}

func TestAFrontTakesPostsUpToALimit(t *testing.T) {
	n := start(t, quick("a"))
	f := n.Front("a")
	if g := post(t, f, strings.Repeat(" ", maxRequest+1)); g.status != http.StatusRequestEntityTooLarge && g.err == nil {
		t.Errorf("too large: status %d", g.status)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.URL(), nil)
	must(t, err)
	tr := &http.Transport{DisableKeepAlives: true}
	defer tr.CloseIdleConnections()
	res, err := tr.RoundTrip(req)
	must(t, err)
	must(t, res.Body.Close())
	if res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET: status %d", res.StatusCode)
	}
}

func TestJitterFollowsFromTheSeed(t *testing.T) {
	run := func(seed int64) (out []time.Duration) {
		o := quick("a")
		o.Seed = seed
		o.Fronts[0].Latency, o.Fronts[0].Jitter = time.Millisecond, time.Millisecond
		f := start(t, o).Front("a")
		for range 8 {
			d := f.latency(Fault{Kind: Slow, Latency: time.Millisecond, Jitter: time.Millisecond})
			if d < 2*time.Millisecond || d >= 4*time.Millisecond {
				t.Errorf("latency %v is not within [2ms, 4ms)", d)
			}
			out = append(out, d)
		}
		return out
	}
	first, again, other := run(1), run(1), run(2)
	if !slices.Equal(first, again) || slices.Equal(first, other) {
		t.Errorf("two runs with one seed: %v, %v; with another: %v", first, again, other)
	}
}

func TestScenariosAreWellFormed(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Scenarios() {
		if err := s.Check(); err != nil {
			t.Error(err)
		}
		if seen[s.Name] || s.Name == "" || s.Summary == "" {
			t.Errorf("scenario %q: name taken or empty, or no summary", s.Name)
		}
		seen[s.Name] = true
		if err := s.Options(1).withDefaults().check(); err != nil {
			t.Errorf("scenario %s: %v", s.Name, err)
		}
		if len(s.Fronts) < 4 || s.BlockTime < time.Second || s.LagSoft <= 0 || s.LagHard <= s.LagSoft {
			t.Errorf("scenario %s: %d fronts, block time %v, lag %v/%v", s.Name, len(s.Fronts), s.BlockTime, s.LagSoft, s.LagHard)
		}
		operators := map[string]bool{}
		for _, f := range s.Fronts {
			operators[f.Operator] = true
		}
		if len(operators) != len(s.Fronts) {
			t.Errorf("scenario %s: operators are not told apart", s.Name)
		}
		for _, st := range s.Steps {
			if st.Note == "" {
				t.Errorf("scenario %s: a step at %v without a note", s.Name, st.After)
			}
		}
		if got, ok := FindScenario(s.Name); !ok || got.Summary != s.Summary {
			t.Errorf("scenario %s is not found", s.Name)
		}
	}
	for _, name := range []string{"tour", "stale-primary", "wrong-chain", "outage", "throttle", "flap", "healthy"} {
		if !seen[name] {
			t.Errorf("no scenario %s", name)
		}
	}
	if _, ok := FindScenario("nothing"); ok {
		t.Error("found a scenario that is not there")
	}
}

func TestMalformedScenariosAreRefused(t *testing.T) {
	fronts := []FrontSpec{{Name: "a"}}
	for name, s := range map[string]Scenario{
		"no such front":  {Fronts: fronts, Steps: []Step{at(0, "b", Fault{}, "")}},
		"out of order":   {Fronts: fronts, Steps: []Step{at(2, "a", Fault{}, ""), at(1, "a", Fault{}, "")}},
		"past the round": {Fronts: fronts, Repeat: time.Second, Steps: []Step{at(1, "a", Fault{}, "")}},
		"nothing to do":  {Fronts: fronts, Steps: []Step{at(0, "a", nil, "")}},
		"bad fault":      {Fronts: fronts, Steps: []Step{at(0, "a", Fault{Kind: "sulk"}, "")}},
		"bad lag":        {Fronts: fronts, Steps: []Step{at(0, "a", NodeLag(-1), "")}},
		"bad step back":  {Fronts: fronts, Steps: []Step{at(0, "a", NodeStepBack(-1), "")}},
	} {
		if s.Check() == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func TestPlayDoesTheStepsInOrderAndRoundForRound(t *testing.T) {
	n := start(t, quick("a", "b"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var notes []string
	var states []Kind
	s := Scenario{
		Name: "short", Fronts: n.opts.Fronts, Repeat: 40 * time.Millisecond,
		Steps: []Step{
			{After: 0, Front: "a", Do: Fault{Kind: Hang}, Note: "hangs"},
			{After: 10 * time.Millisecond, Front: "b", Do: NodeFreeze(true), Note: "freezes"},
			{After: 20 * time.Millisecond, Front: "a", Do: Fault{}, Note: "heals"},
		},
	}
	err := n.Play(ctx, s, func(note string) {
		notes = append(notes, note)
		states = append(states, n.Front("a").Fault().Kind)
		if len(notes) == 5 {
			cancel()
		}
	})
	must(t, err)
	if want := []string{"a: hangs", "b: freezes", "a: heals", "a: hangs", "b: freezes"}; !slices.Equal(notes, want) {
		t.Errorf("notes %q", notes)
	}
	if want := []Kind{Hang, Hang, None, Hang, Hang}; !slices.Equal(states, want) {
		t.Errorf("states %q", states)
	}
	must(t, n.Mine(2))
	if got := n.Head().Number - head(t, n.Front("b")).height(t); got != 2 {
		t.Errorf("b is %d behind, want 2", got)
	}

	s.Repeat = 0
	must(t, n.Play(t.Context(), s, nil)) // ends by itself
	if err := n.Play(t.Context(), Scenario{Name: "bad", Steps: []Step{{Front: "x"}}}, nil); err == nil {
		t.Error("plays what is malformed")
	}
	s.Fronts = append(s.Fronts, FrontSpec{Name: "c"})
	s.Steps = []Step{{Front: "c", Do: NodeFreeze(true)}}
	if err := n.Play(t.Context(), s, nil); err == nil {
		t.Error("plays on a node that the net does not have")
	}
}
