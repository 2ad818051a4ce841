// Package failover decides who serves the next request, and why. It is pure:
// Step folds the rows of the history into a State and emits the decisions,
// Order ranks a chain's endpoints for one request. There is no I/O, no clock
// and no chance inside, so that the same rows give the same state and the same
// decisions on every machine, live and in a replay.
//
// A State is immutable once Step has returned it: Step copies what it changes
// and shares the rest. Whoever holds a State may read it from any goroutine.
//
// Floats are rounded explicitly after each product, no transcendental function
// is used, and no map is ranged over, for the same reason.
package failover

import (
	"slices"

	"example.com/rpctop/internal/fleet"
)

// FoldVersion names the rules of this package. It rises whenever the same rows
// would give another state, and a replay compares it first.
const FoldVersion = 1

// State is what the fold has learnt. Its JSON is the content of a checkpoint
// and reads back to an equal State.
type State struct {
	Fold      int              `json:"fold"`
	Seq       uint64           `json:"seq"`    // the last row folded
	At        fleet.Millis     `json:"at"`     // its time
	Events    uint64           `json:"events"` // the last event emitted
	Jump      fleet.Millis     `json:"jump"`   // wall clock minus At since the lead
	Lead      fleet.Lead       `json:"lead"`
	LeadAt    fleet.Millis     `json:"lead_at"`
	Policy    fleet.Policy     `json:"policy"`
	Seed      uint64           `json:"seed"`
	Overrides []fleet.Override `json:"overrides"`
	Chains    []*Chain         `json:"chains"`

	// What may be this machine's own fault; see localfault.go.
	Doubts  []Doubt      `json:"doubts"`   // oldest first
	HeardAt fleet.Millis `json:"heard_at"` // the last sign of life from outside
	LocalAt fleet.Millis `json:"local_at"` // the last failure that was excused
}

// Chain is the part of the state that belongs to one chain.
type Chain struct {
	Spec      fleet.ChainSpec `json:"spec"` // its Endpoints are empty: each Endpoint has its own
	Incumbent string          `json:"incumbent"`
	Since     fleet.Millis    `json:"since"`  // when the incumbent began to serve
	Beaten    fleet.Millis    `json:"beaten"` // since when it has been beaten at every evaluation; 0: it is not
	Served    bool            `json:"served"` // somebody has served in this run
	Ref       *Ref            `json:"ref"`
	Sightings []Sighting      `json:"sightings"` // how the reference head advanced, ascending
	Known     []Known         `json:"known"`     // hashes of blocks that counted, oldest first
	Switches  []Switch        `json:"switches"`  // of the last hour
	FrozenAt  fleet.Millis    `json:"frozen_at"` // since when soft switching is frozen; 0: it is not
	FrozenOff fleet.Millis    `json:"frozen_off"`
	Stalled   bool            `json:"stalled"`
	Alarms    []Alarm         `json:"alarms"`
	Failovers []Failover      `json:"failovers"` // told within the last seconds, oldest first
	Endpoints []*Endpoint     `json:"endpoints"`

	// The comparison of the endpoints with each other.
	Common   *Common      `json:"common"`
	Split    *Split       `json:"split"` // nil: they agree
	Finals   []Final      `json:"finals"`
	Watches  []*Watch     `json:"watches"` // in the order of the config
	Wishes   []fleet.Wish `json:"wishes"`  // questions that wait for their answer, oldest first
	LastWish uint64       `json:"last_wish"`
}

// Ref is the reference head: the highest block that two operators support, or
// that a lone endpoint has proven.
type Ref struct {
	fleet.Head
	Since        fleet.Millis `json:"since"` // first sighting by us
	Corroborated bool         `json:"corroborated"`
}

// Sighting says when the reference head reached a height.
type Sighting struct {
	Number   uint64       `json:"n"`
	At       fleet.Millis `json:"at"`
	Observed bool         `json:"o"` // we saw it happen; false: it was there when we first looked
}

// Known is a block whose hash counted.
type Known struct {
	Number uint64     `json:"n"`
	Hash   fleet.Hash `json:"h"`
}

// Switch remembers a change of the incumbent.
type Switch struct {
	At   fleet.Millis `json:"at"`
	Soft bool         `json:"soft"` // by cost or tier; not by a gate, not by the operator
}

// Alarm stands until its cause is gone.
type Alarm struct {
	Key  string       `json:"key"`
	Text string       `json:"text"`
	At   fleet.Millis `json:"at"`
}

// Failover is a kind of failover that was told a moment ago; what comes after
// it is counted, and told together.
type Failover struct {
	From  string       `json:"from"`
	To    string       `json:"to"`
	Class fleet.Class  `json:"class"`
	Sub   string       `json:"sub"`
	At    fleet.Millis `json:"at"` // when it was last told
	N     int64        `json:"n"`  // calls since then
}

// Endpoint is the part of the state that belongs to one endpoint.
type Endpoint struct {
	Spec fleet.EndpointSpec `json:"spec"`

	// Identity. ChainID is "" until it was read in this run.
	ChainID     string         `json:"chain_id"`
	Wrong       string         `json:"wrong"`       // evidence of a wrong identity; "": none
	RightSince  fleet.Millis   `json:"right_since"` // of right answers without a break while Wrong; 0: none
	WrongTimes  []fleet.Millis `json:"wrong_times"` // when it turned wrong, in 24 h
	Reprove     bool           `json:"reprove"`     // cleared by hand: its genesis must be read anew before it serves
	Flap        bool           `json:"flap"`        // turned wrong twice: ends by clear only
	Genesis     fleet.Hash     `json:"genesis"`
	Client      string         `json:"client"`
	Syncing     string         `json:"syncing"`
	Safe        *uint64        `json:"safe"`
	Finalized   *uint64        `json:"finalized"`
	FinalizedOf fleet.Hash     `json:"finalized_of"`

	// Heads.
	Head      *fleet.Head    `json:"head"`
	HeadAt    fleet.Millis   `json:"head_at"`    // start of the sample that gave it
	Backsteps []fleet.Millis `json:"backsteps"`  // when the head went back, in 10 minutes
	Lag       *fleet.Millis  `json:"lag"`        // nil: not known
	LagBlocks *int64         `json:"lag_blocks"` // nil: not known
	LagFrom   string         `json:"lag_from"`   // how the lag was measured
	Skew      Decayed        `json:"skew"`       // of its lags while fresh, ms
	Stale     bool           `json:"stale"`
	FreshRun  int            `json:"fresh_run"` // samples in a row that count towards leaving stale
	FreshHead uint64         `json:"fresh_head"`
	ForkedBy  string         `json:"forked_by"` // why, in one word; says what ends it
	OddAt     fleet.Millis   `json:"odd_at"`    // when it first showed another block than the others'; 0: not
	Forked    string         `json:"forked"`    // evidence; "": not forked
	Ahead     bool           `json:"ahead"`     // above the reference, not confirmed yet
	Confirm   uint64         `json:"confirm"`   // height at which our reference hash should be asked of it; 0: none
	ConfirmOf fleet.Hash     `json:"confirm_of"`
	Confirmed fleet.Millis   `json:"confirmed"` // when it last returned our reference hash
	Denies    int            `json:"denies"`    // questions for it in a row that brought nothing

	// Comparison with the others.
	Compared  fleet.Millis `json:"compared"`   // when it was last asked for a common block; 0: not yet
	SplitAt   fleet.Millis `json:"split_at"`   // when it last did not know a block below its own head; 0: never
	ForkAt    fleet.Millis `json:"fork_at"`    // since when it is held apart for a proven fork
	ForkDepth uint64       `json:"fork_depth"` // of that, at least; 0: not known
	SelfOdd   string       `json:"self_odd"`   // how it contradicts itself; "": it does not
	SelfRun   int          `json:"self_run"`   // readings in a row in which it did
	Ignores   bool         `json:"ignores"`    // answers state reads for blocks that nobody has
	BeyondAt  fleet.Millis `json:"beyond_at"`  // when that was last tried; 0: not yet

	// Outcomes. Counts are of this run, weights decay with a half-life of five minutes.
	Samples    uint64               `json:"samples"`
	Answered   uint64               `json:"answered"` // successes, this run
	Failures   uint64               `json:"failures"` // attributable, this run
	Denials    uint64               `json:"denials"`  // ours; no decision reads it
	Run        int                  `json:"run"`      // attributable failures in a row
	Latency    [fleet.Kinds]Decayed `json:"latency"`  // of successes, µs
	Good       Weight               `json:"good"`
	Bad        Weight               `json:"bad"`
	Lost       Weight               `json:"lost"`      // ms lost in failures
	Throttles  Weight               `json:"throttles"` // throttled attempts
	Held       Weight               `json:"held"`      // ms of holds asked for
	Window     []Second             `json:"window"`    // attributable attempts for the breaker
	Last       fleet.Outcome        `json:"last"`
	LastAt     fleet.Millis         `json:"last_at"`
	LastTiming fleet.Timing         `json:"last_timing"`
	Past       []fleet.PastFailure  `json:"past"` // newest first
	Spark      []fleet.SparkPoint   `json:"spark"`
	Refused    *fleet.Outcome       `json:"refused"`    // a remote denial that stands
	HoldUntil  fleet.Millis         `json:"hold_until"` // of a throttle
	HoldOf     string               `json:"hold_of"`    // its evidence
	Breaker    Breaker              `json:"breaker"`
	Gate       *fleet.Gate          `json:"gate"`
	Gates      int                  `json:"gates"`     // k of the hold-down
	HeldBack   bool                 `json:"held_back"` // a gate that counts for the hold-down stood since it was last healthy
	GateTold   bool                 `json:"gate_told"` // an event told of the gate
	Healthy    fleet.Millis         `json:"healthy"`   // since when without a gate; 0: gated
	ReturnAt   fleet.Millis         `json:"return_at"`
}

// Breaker stops requests to an endpoint that fails.
type Breaker struct {
	Open     bool         `json:"open"`
	Since    fleet.Millis `json:"since"`
	Why      string       `json:"why"`
	Backoff  fleet.Millis `json:"backoff"` // pace of the probes while open
	Rounds   int          `json:"rounds"`  // good rounds in a row, of three
	Pending  bool         `json:"pending"` // the round's head and chain id were good; its call at the hash is awaited
	Openings int          `json:"openings"`
}

// Second counts the attributable attempts of one second.
type Second struct {
	Sec int64 `json:"s"`
	N   int   `json:"n"`
	Bad int   `json:"b"`
}

// Chain gives a chain by name, or nil.
func (s *State) Chain(name string) *Chain {
	for _, c := range s.Chains {
		if c.Spec.Name == name {
			return c
		}
	}
	return nil
}

// Endpoint gives an endpoint by name, or nil.
func (c *Chain) Endpoint(name string) *Endpoint {
	if i := c.index(name); i >= 0 {
		return c.Endpoints[i]
	}
	return nil
}

func (c *Chain) index(name string) int {
	return slices.IndexFunc(c.Endpoints, func(e *Endpoint) bool { return e.Spec.Name == name })
}

// Specs gives the configured chains, each with its endpoints.
func (s *State) Specs() []fleet.ChainSpec {
	specs := make([]fleet.ChainSpec, 0, len(s.Chains))
	for _, c := range s.Chains {
		spec := c.Spec
		for _, e := range c.Endpoints {
			spec.Endpoints = append(spec.Endpoints, e.Spec)
		}
		specs = append(specs, spec)
	}
	return specs
}

// Wall is the wall clock at the last row.
func (s *State) Wall() fleet.Millis { return s.At + s.Jump }
