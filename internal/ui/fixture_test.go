package ui

import (
	"context"
	"fmt"
	"sync"

	"example.com/rpctop/internal/fleet"
)

// fixtureAt is the moment that all fixtures show.
const fixtureAt fleet.Millis = 1_796_079_600_000 // 2026-11-30T23:00:00Z

// fakeSource shows what a test gives it, and notes what it was asked to do.
type fakeSource struct {
	mu      sync.Mutex
	snap    *fleet.Snapshot
	events  []fleet.Event
	kept    int // events that are kept; 0: all
	asked   []fleet.Command
	verdict func(fleet.Command) (fleet.Verdict, error)
}

func (f *fakeSource) Snapshot() *fleet.Snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.snap
}

func (f *fakeSource) Events(since uint64, most int) (evs []fleet.Event, missed uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := f.events
	if f.kept > 0 && len(all) > f.kept {
		all = all[len(all)-f.kept:]
	}
	for _, e := range all {
		if e.Seq <= since {
			continue
		}
		if len(evs) == 0 {
			missed = e.Seq - since - 1
		}
		if len(evs) < most {
			evs = append(evs, e)
		}
	}
	return evs, missed
}

func (f *fakeSource) Do(ctx context.Context, c fleet.Command) (fleet.Verdict, error) {
	f.mu.Lock()
	f.asked = append(f.asked, c)
	answer := f.verdict
	f.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return fleet.Verdict{}, err
	}
	if answer != nil {
		return answer(c)
	}
	return fleet.Verdict{ID: c.ID, Accepted: true, Recorded: true, Message: "done"}, nil
}

func (f *fakeSource) commands() []fleet.Command {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]fleet.Command(nil), f.asked...)
}

func (f *fakeSource) show(s *fleet.Snapshot) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.snap = s
}

func ptr[T any](v T) *T { return &v }

func hash(b byte) (h fleet.Hash) {
	for i := range h {
		h[i] = b + byte(i*7)
	}
	return h
}

// healthy makes an endpoint that serves well at a head.
func healthy(name, operator string, tier int, head uint64, p50 float64) fleet.EndpointView {
	e := fleet.EndpointView{
		Name: name, Operator: operator, Tier: tier, State: "ok", Role: "backup",
		Last: fleet.Outcome{Class: fleet.ClassOK, Origin: fleet.OriginNode}, LastAt: fixtureAt - 1200,
		Head:   &fleet.Head{Number: head, Hash: hash(byte(head)), Parent: hash(byte(head - 1)), Time: uint64(fixtureAt/1000) - 3},
		HeadAt: fixtureAt - 1200, LagBlocks: ptr(int64(0)), LagMS: ptr(fleet.Millis(0)), SoftMS: 5000, HardMS: 30_000,
		Bound: "hard: 30 s from the config", ChainID: "100", Genesis: hash(0x4f), Client: "Nethermind/v1.30.1+2b75a75a/linux-x64/dotnet9.0.0",
		Syncing: "no", P50: fleet.Micros(p50 * 1000), P95: fleet.Micros(p50 * 2150), Successes: 61.5, Samples: 1184,
		Every: 8640, PerDay: 10_000, UsedToday: 9_583,
		LastTiming: fleet.Timing{FirstByte: fleet.Micros(p50 * 940), Total: fleet.Micros(p50 * 1000)},
		Cost: fleet.CostTerms{Known: true, Latency: p50 * 1.2, ErrBound: 0.009, Error: p50 * 0.03, Lag: 0, Throttle: 0,
			Total: p50*1.2 + p50*0.03},
	}
	for i := range 12 {
		e.Spark = append(e.Spark, fleet.SparkPoint{At: fixtureAt - 58_000 + fleet.Millis(i)*5000,
			Total: fleet.Micros(p50 * 1000 * (0.6 + 0.25*float64((i*7)%5))), OK: true})
	}
	return e
}

// gated takes an endpoint out.
func gated(e fleet.EndpointView, state, evidence, ends string, since, until fleet.Millis) fleet.EndpointView {
	e.State, e.Evidence = state, evidence
	e.Gate = &fleet.Gate{Name: state, Evidence: evidence, Since: since, Until: until, Ends: ends}
	return e
}

// chainOf ranks endpoints as they stand, those with a gate last.
func chainOf(name string, id, head uint64, incumbent string, es ...fleet.EndpointView) fleet.ChainView {
	ch := fleet.ChainView{
		Name: name, ChainID: id, BlockTime: 5000, State: "ok", Incumbent: incumbent, Endpoints: es,
		Reference: &fleet.Reference{Number: head, Hash: hash(byte(head)), Time: uint64(fixtureAt/1000) - 3, Since: fixtureAt - 2400,
			Corroborated: true, By: []string{"official", "drpc"}},
	}
	rank := 0
	for i := range es {
		e := &es[i]
		if e.ChainID != "" && e.State != "wrong-chain" {
			e.ChainID = fmt.Sprint(id)
		}
		if e.Gate != nil {
			continue
		}
		rank++
		cd := fleet.Candidate{Endpoint: e.Name, Eligible: true, Rank: rank, Cost: e.Cost,
			Why: fmt.Sprintf("tier %d, cost %.0f ms", e.Tier, e.Cost.Total)}
		if e.Name == incumbent {
			cd.Why = fmt.Sprintf("lowest cost of tier %d, serving for 3h", e.Tier)
			if e.Role == "backup" {
				e.Role = "serving"
			}
		} else {
			cd.Needs = "be cheaper than " + incumbent + " by 30 % and 30 ms for 15 s"
		}
		ch.Ranking = append(ch.Ranking, cd)
	}
	for i := range es {
		e := &es[i]
		if e.Gate == nil {
			continue
		}
		ch.State = "degraded"
		ch.Ranking = append(ch.Ranking, fleet.Candidate{Endpoint: e.Name, Why: e.Evidence, Gate: e.Gate, Cost: e.Cost, Needs: e.Gate.Ends})
	}
	return ch
}

func fixtureSnapshot() *fleet.Snapshot {
	const g, b, m = 38_211_904, 24_310_077, 21_443_210
	stale := gated(healthy("ankr", "ankr", 1, g-6, 62), "stale", "no new block for 31 s while drpc advanced 6",
		"lag under 5 s in 2 samples in a row", fixtureAt-41_000, 0)
	stale.LagBlocks, stale.LagMS = ptr(int64(6)), ptr(fleet.Millis(31_200))
	stale.Cost.Lag, stale.Cost.Total = 15_600, 15_676
	down := gated(healthy("own-node", "us", 0, g-412, 2.4), "down", "3 failures in a row: transport-failure(refused)",
		"3 good probe rounds in a row", fixtureAt-2_060_000, fixtureAt+24_000)
	down.Local, down.HeadAt, down.LagMS, down.LagBlocks = true, fixtureAt-2_063_000, nil, nil
	down.Last = fleet.Outcome{Class: fleet.ClassTransportFailure, Sub: "refused", Origin: fleet.OriginTransport, Message: "connection refused"}
	down.ErrorRate, down.Failures, down.Every, down.PerDay, down.UsedToday = 1, 71, 1000, 86_400, 22_310
	for i := range 9 {
		down.Spark[i+3].OK = false
		down.LastFailures = append(down.LastFailures, fleet.PastFailure{At: fixtureAt - fleet.Millis(4000+i*31_000), Outcome: down.Last})
	}
	lagging := healthy("publicnode", "allnodes", 1, b-3, 118)
	lagging.State, lagging.LagBlocks, lagging.LagMS, lagging.SoftMS = "lagging", ptr(int64(3)), ptr(fleet.Millis(6100)), 4000
	lagging.Bound, lagging.Flags = "soft: 1.5 x p95 of the observed skew = 4.0 s", []string{"multi-backend"}
	lagging.Cost.Lag, lagging.Cost.Total = 3050, 3195
	throttled := gated(healthy("quicknode", "quicknode", 2, b, 51), "throttled", "rate-limited HTTP 429 code -32007: 50/second request limit reached",
		"the hold runs out", fixtureAt-3000, fixtureAt+11_000)
	throttled.Denials, throttled.Cost.Throttle = 1204, 812
	wrong := gated(healthy("cheap-rpc", "cheap", 2, 7_120_334, 38), "wrong-chain", "eth_chainId says 8454, 8453 is configured",
		"10 minutes of right answers, or clear", fixtureAt-7_300_000, 0)
	wrong.ChainID = "8454"
	refused := gated(healthy("alchemy", "alchemy", 1, b, 29), "refused", "remote-denial(auth) HTTP 401 code -32600: Must be authenticated!",
		"a probe every 10 min that succeeds", fixtureAt-540_000, 0)
	ejected := gated(healthy("infura", "consensys", 1, m, 44), "ejected", "ejected by ops: billing dispute, see INC-2231", "at its expiry, or clear",
		fixtureAt-3_600_000, fixtureAt+25_200_000)
	ejected.Role = "ejected"
	fresh := fleet.EndpointView{Name: "llama", Operator: "llama", Tier: 1, State: "unknown", Role: "backup", Every: 8640, PerDay: 10_000}
	pinned := healthy("coinbase", "coinbase", 1, b, 87)
	pinned.Role = "pinned"
	base := chainOf("base", 8453, b, "coinbase", pinned, lagging, throttled, wrong, refused)
	pin := fleet.Override{Action: fleet.ActionPin, Chain: "base", Endpoint: "coinbase", Author: "maria", Reason: "withdrawals must see one mempool",
		Since: fixtureAt - 1_800_000, Until: fixtureAt + 27_000_000}
	base.Pin, base.Overrides, base.Switches = &pin, []fleet.Override{pin}, 5
	base.Frozen = "5 soft switches in 10 minutes"
	base.Alarms = []string{"cheap-rpc answers for another chain: its config or its operator is wrong"}
	eth := chainOf("ethereum", 1, m, "flashbots", healthy("flashbots", "flashbots", 1, m, 41), ejected, fresh)
	eth.BlockTime = 12_000
	eth.Overrides = []fleet.Override{{Action: fleet.ActionEject, Chain: "ethereum", Endpoint: "infura", Author: "ops",
		Reason: "billing dispute, see INC-2231", Since: fixtureAt - 3_600_000, Until: fixtureAt + 25_200_000}}
	return &fleet.Snapshot{
		Version: 1, Seq: 90_112, At: fixtureAt, EventSeq: 412,
		Leader: &fleet.LeaderView{PID: 4242, Role: "console", Author: "maria", Version: "0.1.0", Since: fixtureAt - 4_000_000},
		Chains: []fleet.ChainView{
			chainOf("gnosis", 100, g, "official", down, healthy("official", "gnosis", 1, g, 41), healthy("drpc", "drpc", 1, g, 66), stale),
			base, eth,
		},
	}
}

func fixtureEvents() []fleet.Event {
	at := func(back fleet.Millis) fleet.Millis { return fixtureAt - back }
	evs := []fleet.Event{
		{At: at(7_300_000), Kind: fleet.EventGate, Chain: "base", Endpoint: "cheap-rpc", Class: fleet.ClassWrongChain, Reason: "wrong-chain: eth_chainId says 8454, 8453 is configured"},
		{At: at(3_600_000), Kind: fleet.EventOverride, Chain: "ethereum", Endpoint: "infura", Reason: "eject until 06:00Z by ops: billing dispute, see INC-2231"},
		{At: at(2_060_000), Kind: fleet.EventGate, Chain: "gnosis", Endpoint: "own-node", Class: fleet.ClassTransportFailure, Reason: "down: 3 failures in a row: transport-failure(refused)"},
		{At: at(2_060_000), Kind: fleet.EventSwitch, Chain: "gnosis", From: "own-node", To: "official", Reason: "own-node is down; official is the cheapest of tier 1"},
		{At: at(1_800_000), Kind: fleet.EventOverride, Chain: "base", Endpoint: "coinbase", Reason: "pin until 06:30Z by maria: withdrawals must see one mempool"},
		{At: at(540_000), Kind: fleet.EventGate, Chain: "base", Endpoint: "alchemy", Class: fleet.ClassRemoteDenial, Reason: "refused: remote-denial(auth) HTTP 401 code -32600: Must be authenticated!"},
		{At: at(41_000), Kind: fleet.EventGate, Chain: "gnosis", Endpoint: "ankr", Class: fleet.ClassStale, Reason: "stale: no new block for 31 s while drpc advanced 6"},
		{At: at(9_000), Kind: fleet.EventFailover, Chain: "base", From: "publicnode", To: "coinbase", Class: fleet.ClassStale, Reason: "lagging: 3 blocks, 6.1 s behind; 14 calls in 5 s"},
		{At: at(3_000), Kind: fleet.EventGate, Chain: "base", Endpoint: "quicknode", Class: fleet.ClassRateLimited, Reason: "throttled: HTTP 429 code -32007, retry after 14 s"},
		{At: at(2_000), Kind: fleet.EventDenied, Chain: "base", Endpoint: "quicknode", Reason: "1,204 requests refused by our failure cache, charged to nobody"},
	}
	for i := range evs {
		evs[i].Seq = 412 - uint64(len(evs)-1-i)
	}
	return evs
}

func newFake() *fakeSource { return &fakeSource{snap: fixtureSnapshot(), events: fixtureEvents()} }

func fixtureOptions(src Source) Options {
	return Options{Source: src, Title: "demo", Author: "maria", Start: fixtureAt.Time(), ProxyURL: "http://127.0.0.1:8745",
		Colour: ColourNever, Getenv: func(string) string { return "" }}
}

// manyChains makes a fleet of n endpoints on the given number of chains.
func manyChains(chains, n int) *fleet.Snapshot {
	s := &fleet.Snapshot{Version: 1, At: fixtureAt, Leader: &fleet.LeaderView{PID: 1, Role: "serve"}}
	for i := range chains {
		var es []fleet.EndpointView
		for j := i; j < n; j += chains {
			e := healthy(fmt.Sprintf("endpoint-%03d", j), "op", 1, 1_000_000+uint64(i), 20+float64(j%90))
			if j%11 == 3 {
				e = gated(e, "down", "3 failures in a row: transport-failure(timeout)", "3 good probe rounds in a row", fixtureAt-9000, 0)
			}
			es = append(es, e)
		}
		s.Chains = append(s.Chains, chainOf(fmt.Sprintf("chain-%02d", i), uint64(i+1), 1_000_000+uint64(i), es[0].Name, es...))
	}
	return s
}
