// Package report writes what the program knows in the formats that others
// rely on. The formats are contracts: fields are added, never changed in
// meaning. It reads snapshots, and decides nothing.
package report

import (
	"encoding/json"
	"math"
	"slices"
	"time"

	"example.com/rpctop/internal/fleet"
)

// FormatVersion is the version of every JSON format.
const FormatVersion = 1

// Status is the JSON of `check --json` and `status --json`.
type Status struct {
	Version int           `json:"version"`
	At      string        `json:"at"` // RFC 3339, UTC, milliseconds
	Exit    int           `json:"exit"`
	Leader  *StatusLeader `json:"leader,omitempty"`
	Notices []string      `json:"notices,omitempty"`
	Chains  []StatusChain `json:"chains"`
}

// StatusLeader names the process that sequences.
type StatusLeader struct {
	PID     int    `json:"pid"`
	Role    string `json:"role"`
	Author  string `json:"author"`
	Version string `json:"version"`
	Since   string `json:"since,omitempty"`
	Alive   bool   `json:"alive"`
}

// StatusChain is one chain.
type StatusChain struct {
	Name      string           `json:"name"`
	ChainID   uint64           `json:"chain_id"`
	State     string           `json:"state"` // ok, degraded, none, stalled
	Reference *StatusReference `json:"reference"`
	Incumbent string           `json:"incumbent"`
	Alarms    []string         `json:"alarms"`
	Overrides []StatusOverride `json:"overrides"`
	Endpoints []StatusEndpoint `json:"endpoints"`
	Watches   []StatusWatch    `json:"watches"`
}

// StatusReference is the reference head.
type StatusReference struct {
	Number       uint64     `json:"number"`
	Hash         fleet.Hash `json:"hash"`
	Corroborated bool       `json:"corroborated"`
}

// StatusOverride is the operator's word in force; Until is null for ever.
type StatusOverride struct {
	Action   fleet.Action `json:"action"`
	Endpoint string       `json:"endpoint"`
	Author   string       `json:"author"`
	Reason   string       `json:"reason"`
	Since    string       `json:"since"`
	Until    *string      `json:"until"`
	Strict   bool         `json:"strict"`
	Recorded bool         `json:"recorded"`
}

// StatusGate is why an endpoint may not serve.
type StatusGate struct {
	Name     string  `json:"name"`
	Evidence string  `json:"evidence"`
	Until    *string `json:"until"`
}

// StatusLatency is in ms; null without a success.
type StatusLatency struct {
	P50 *float64 `json:"p50"`
	P95 *float64 `json:"p95"`
}

// StatusEndpoint is one endpoint. What was not read is null or "", never 0.
type StatusEndpoint struct {
	Name      string        `json:"name"`
	State     string        `json:"state"`
	Role      string        `json:"role"`
	Class     fleet.Class   `json:"class"` // of the last sample
	Sub       string        `json:"sub"`
	Origin    fleet.Origin  `json:"origin"`
	Gate      *StatusGate   `json:"gate"`
	CostMS    *float64      `json:"cost_ms"`
	Head      *uint64       `json:"head"`
	HeadHash  fleet.Hash    `json:"head_hash"`
	LagBlocks *int64        `json:"lag_blocks"`
	LagMS     *int64        `json:"lag_ms"`
	Latency   StatusLatency `json:"latency_ms"`
	ChainID   *json.Number  `json:"chain_id"` // exact, as it was read; null: unread
	Client    string        `json:"client"`
	Samples   uint64        `json:"samples"`
	Denials   uint64        `json:"denials"`
	Flags     []string      `json:"flags"`
	Evidence  string        `json:"evidence"`
}

// Exit codes of check and status.
const (
	ExitGood     = 0
	ExitDegraded = 3
	ExitNone     = 4
)

// ExitOf gives the exit code for a snapshot: 4 if a chain has no eligible
// endpoint, else 3 if anything is gated, a chain is stalled or a watch is
// inconsistent, else 0.
func ExitOf(v *fleet.Snapshot) int {
	exit := ExitGood
	for _, c := range v.Chains {
		switch c.State {
		case "none":
			return ExitNone
		case "degraded", "stalled":
			exit = ExitDegraded
		}
		if slices.ContainsFunc(c.Watches, func(w fleet.WatchView) bool { return w.Verdict == fleet.WatchInconsistent }) {
			exit = ExitDegraded
		}
	}
	return exit
}

// StatusOf turns a snapshot into its JSON form.
func StatusOf(v *fleet.Snapshot) Status {
	s := Status{Version: FormatVersion, At: stamp(v.At), Exit: ExitOf(v), Notices: v.Notices, Chains: make([]StatusChain, 0, len(v.Chains))}
	if l := v.Leader; l != nil {
		s.Leader = &StatusLeader{PID: l.PID, Role: l.Role, Author: l.Author, Version: l.Version, Since: stamp(l.Since)}
	}
	for _, c := range v.Chains {
		s.Chains = append(s.Chains, chainOf(c))
	}
	return s
}

func chainOf(c fleet.ChainView) StatusChain {
	out := StatusChain{Name: c.Name, ChainID: c.ChainID, State: c.State, Incumbent: c.Incumbent, Alarms: orEmpty(c.Alarms),
		Overrides: make([]StatusOverride, 0, len(c.Overrides)), Endpoints: make([]StatusEndpoint, 0, len(c.Endpoints)), Watches: watchesOf(c.Watches)}
	if r := c.Reference; r != nil {
		out.Reference = &StatusReference{r.Number, r.Hash, r.Corroborated}
	}
	for _, o := range c.Overrides {
		out.Overrides = append(out.Overrides, StatusOverride{Action: o.Action, Endpoint: o.Endpoint, Author: o.Author, Reason: o.Reason,
			Since: stamp(o.Since), Until: stampOrNull(o.Until), Strict: o.Strict, Recorded: !o.Unrecorded})
	}
	for _, e := range c.Endpoints {
		out.Endpoints = append(out.Endpoints, endpointOf(e))
	}
	return out
}

func endpointOf(e fleet.EndpointView) StatusEndpoint {
	out := StatusEndpoint{Name: e.Name, State: e.State, Role: e.Role, Class: e.Last.Class, Sub: e.Last.Sub, Origin: e.Last.Origin,
		LagBlocks: e.LagBlocks, Client: e.Client, Samples: e.Samples, Denials: e.Denials,
		Flags: orEmpty(e.Flags), Evidence: e.Evidence}
	if id := json.Number(e.ChainID); id != "" {
		out.ChainID = &id
	}
	if g := e.Gate; g != nil {
		out.Gate = &StatusGate{g.Name, g.Evidence, stampOrNull(g.Until)}
	}
	if e.Cost.Known {
		out.CostMS = tenth(e.Cost.Total)
	}
	if e.Head != nil {
		n := e.Head.Number
		out.Head, out.HeadHash = &n, e.Head.Hash
	}
	if e.LagMS != nil {
		n := int64(*e.LagMS)
		out.LagMS = &n
	}
	if e.Successes > 0 {
		out.Latency = StatusLatency{tenth(float64(e.P50) / 1000), tenth(float64(e.P95) / 1000)}
	}
	return out
}

func tenth(v float64) *float64 {
	v = math.Round(v*10) / 10
	return &v
}

func stamp(m fleet.Millis) string {
	if m == 0 {
		return ""
	}
	return m.Time().Format(fleet.RFC3339Millis)
}

func stampOrNull(m fleet.Millis) *string {
	if m == 0 {
		return nil
	}
	s := stamp(m)
	return &s
}

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// Time is the layout of times for people: UTC, to the second.
const Time = time.DateTime
