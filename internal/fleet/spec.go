package fleet

// Policy holds the numbers that decisions follow; it is stored with each
// config row, so that a replay decides by the same ones.
type Policy struct {
	Attempts      int     `json:"attempts"`       // per call, hops included
	ServeDegraded string  `json:"serve_degraded"` // "reads" or "never"
	StickyRatio   float64 `json:"sticky_ratio"`   // beaten means C_inc > ratio x C_best
	StickyGap     Micros  `json:"sticky_gap_us"`  // and C_inc - C_best > gap
	StickyBeaten  Millis  `json:"sticky_beaten_ms"`
	StickyDwell   Millis  `json:"sticky_dwell_ms"`
	BreakerRun    int     `json:"breaker_run"`   // failures in a row that open it
	BreakerRatio  float64 `json:"breaker_ratio"` // or this share
	BreakerOf     int     `json:"breaker_of"`    // of at least so many
	BreakerWithin Millis  `json:"breaker_within_ms"`
}

// DefaultPolicy gives the defaults that the documentation states.
func DefaultPolicy() Policy {
	return Policy{
		Attempts: 3, ServeDegraded: "reads",
		StickyRatio: 1.3, StickyGap: 30_000, StickyBeaten: 15_000, StickyDwell: 30_000,
		BreakerRun: 3, BreakerRatio: 0.5, BreakerOf: 10, BreakerWithin: 30_000,
	}
}

// ChainSpec is what decisions need to know of a configured chain; no URL is
// in it, so it can be stored and exported.
type ChainSpec struct {
	Name      string         `json:"name"`
	ChainID   uint64         `json:"chain_id"`
	BlockTime Millis         `json:"block_time_ms"`
	Genesis   Hash           `json:"genesis,omitempty"`     // zero: not configured
	LagSoft   Millis         `json:"lag_soft_ms,omitempty"` // 0: derived
	LagHard   Millis         `json:"lag_hard_ms,omitempty"` // 0: derived
	Endpoints []EndpointSpec `json:"endpoints"`
	Watches   []WatchSpec    `json:"watches,omitempty"`
}

// EndpointSpec is what decisions need to know of a configured endpoint.
type EndpointSpec struct {
	Name        string `json:"name"`
	Operator    string `json:"operator"` // two with one operator are not independent
	Tier        int    `json:"tier"`
	Offset      Micros `json:"offset_us,omitempty"`
	Local       bool   `json:"local,omitempty"` // loopback or private address
	Every       Millis `json:"every_ms"`        // the probe's pace
	PerDay      int64  `json:"per_day"`         // the probe's budget of calls; 0: unlimited
	Timeout     Millis `json:"timeout_ms"`
	Fingerprint string `json:"fingerprint"` // HMAC of URL and headers
}

// Action is what an operator asks for.
type Action string

// The operator's verbs.
const (
	ActionPin   Action = "pin"   // this chain goes to this endpoint
	ActionEject Action = "eject" // never this one
	ActionClear Action = "clear" // end overrides and gates that end by clear
)

// Override is an operator's word in force.
type Override struct {
	Action   Action `json:"action"` // pin or eject
	Chain    string `json:"chain"`
	Endpoint string `json:"endpoint"`
	Author   string `json:"author"` // the OS user's name: a record, no authentication
	Reason   string `json:"reason"`
	Since    Millis `json:"since"`
	Until    Millis `json:"until"` // wall time; 0: for ever
	Strict   bool   `json:"strict,omitempty"`
	// Unrecorded: in force, but the journal could not take it.
	Unrecorded bool `json:"unrecorded,omitempty"`
}

// Command is an operator's verb, as asked.
type Command struct {
	ID       string `json:"id"` // unique; made by the asker
	Author   string `json:"author"`
	Action   Action `json:"action"`
	Chain    string `json:"chain"`
	Endpoint string `json:"endpoint,omitempty"` // may be empty for clear: the whole chain
	Reason   string `json:"reason,omitempty"`
	Until    Millis `json:"until,omitempty"` // 0: for ever
	Strict   bool   `json:"strict,omitempty"`
	Yes      bool   `json:"yes,omitempty"` // the second question was answered
	// Unrecorded: the journal could not take it; it is in force all the same.
	Unrecorded bool `json:"unrecorded,omitempty"`
	// Expect binds the command to what the asker saw; nil: not bound.
	Expect *Expect `json:"expect,omitempty"`
}

// Expect is what a dialog showed when the operator decided. The engine
// refuses, with the difference, if it no longer holds.
type Expect struct {
	Serving   bool   `json:"serving"`
	State     string `json:"state"`
	Overrides int    `json:"overrides"` // in force on the chain
	Eligible  int    `json:"eligible"`  // endpoints of the chain that may serve
}

// Verdict is the engine's answer to a command.
type Verdict struct {
	ID       string `json:"id"`
	Accepted bool   `json:"accepted"`
	Recorded bool   `json:"recorded"`
	// Code is "" when accepted; else unknown-chain, unknown-endpoint, unsafe,
	// last-eligible (ask once more), changed, expired, invalid.
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
}
