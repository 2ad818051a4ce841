package fleet

// Snapshot is what the faces show: an immutable picture of the fold at one
// row. Its JSON is the shape of `status --json` and `check --json`; fields are
// added, never changed in meaning.
type Snapshot struct {
	Version   uint64      // rises with every change
	Seq       uint64      // the last row folded
	At        Millis      // its time
	EventSeq  uint64      // the last event emitted
	Chains    []ChainView // in the order of the config
	Recording Recording
	Leader    *LeaderView // nil: nobody leads
	Following bool        // this process follows another's lead
	// Notices are standing remarks for the operator: another config, a
	// clock jump, a store that was set aside.
	Notices []string
}

// Recording says whether the history and the journal are being written.
type Recording struct {
	History string // "" while recording; else why not
	Journal string // "" while recording; else why not
	Dropped uint64 // samples dropped before the fold, in this process
}

// LeaderView names the process that leads.
type LeaderView struct {
	PID     int    `json:"pid"`
	Role    string `json:"role"`
	Author  string `json:"author"`
	Version string `json:"version"`
	Since   Millis `json:"-"`
}

// ChainView is one chain at one moment.
type ChainView struct {
	Name      string
	ChainID   uint64
	BlockTime Millis
	State     string // ok, degraded, none, stalled
	Reference *Reference
	Incumbent string // "" if nobody serves
	Pin       *Override
	Overrides []Override // in force
	Switches  int        // in the last hour
	Frozen    string     // why soft switching is frozen; "" if it is not
	Alarms    []string   // standing alarms
	Endpoints []EndpointView
	Watches   []WatchView // in the order of the config
	// Disputed says why it is not known which of two chains is the right one;
	// "": nobody disputes it.
	Disputed string
	// Ranking is the order for a read of the tip, best first, then those that
	// are out; it is what the why pane shows.
	Ranking []Candidate
}

// Reference is the corroborated head of a chain.
type Reference struct {
	Number       uint64
	Hash         Hash
	Time         uint64 // block timestamp, Unix seconds
	Since        Millis // first sighting by us
	Corroborated bool
	By           []string // endpoints that support it
}

// Gate is a hard reason not to serve.
type Gate struct {
	Name     string `json:"name"` // ejected, wrong-chain, identity-flap, forked, refused, throttled, down, identity-unknown, stale
	Evidence string `json:"evidence"`
	Since    Millis `json:"since"`
	Until    Millis `json:"until,omitempty"` // 0: not known
	Ends     string `json:"ends,omitempty"`  // what would end it, in words
}

// Quarantine reports whether the gate means: never served from, not even last.
func (g Gate) Quarantine() bool {
	switch g.Name {
	case "wrong-chain", "identity-flap", "forked":
		return true
	}
	return false
}

// EndpointView is one endpoint at one moment.
type EndpointView struct {
	Name         string
	Operator     string
	Tier         int
	Local        bool
	State        string // see cli.md: ok, lagging, stale, down, …
	Role         string // serving, pinned, ejected, backup
	Gate         *Gate  // nil: none
	Flags        []string
	Last         Outcome // of the last sample; ClassNone without one
	LastAt       Millis  // start of the last sample; 0: none
	Evidence     string  // of the last sample that was not ok, or of the gate
	Head         *Head   // of the last ok sample; nil: none
	HeadAt       Millis  // start of that sample
	LagBlocks    *int64  // reference minus head; nil: not known
	LagMS        *Millis
	SoftMS       Millis // the bounds in force
	HardMS       Millis
	Bound        string  // which bound bit, in words
	ChainID      string  // decimal; "" unread
	Genesis      Hash    // zero: unread
	Client       string  // web3_clientVersion; "" unread
	Syncing      string  // "", "no" or a description
	P50, P95     Micros  // of successes, decayed; valid if Successes > 0
	Successes    float64 // decayed weight behind the quantiles
	ErrorRate    float64 // plain share of attributable failures in the last attempts
	Samples      uint64  // this run
	Failures     uint64  // attributable, this run
	Denials      uint64  // ours; read by no decision
	Spark        []SparkPoint
	Cost         CostTerms
	Every        Millis        // the probe's pace
	PerDay       int64         // probe calls a day at that pace
	LastTiming   Timing        // of the last sample by phase; Total 0: none
	UsedToday    int64         // probe calls since 00:00 UTC, this process
	LastFailures []PastFailure // newest first, few
}

// SparkPoint is one probe of the last minute.
type SparkPoint struct {
	At    Millis
	Total Micros
	OK    bool
}

// PastFailure is kept to be seen after the endpoint has healed.
type PastFailure struct {
	At      Millis
	Outcome Outcome
}

// CostTerms are the parts of an endpoint's score: expected milliseconds to a
// usable answer, C = L + e/(1-e) x (F + L_alt) + a x lag + q x R + offset.
type CostTerms struct {
	Known    bool    // false: not a single sample yet
	Latency  float64 // L, ms
	ErrBound float64 // e, 0..0.98
	Error    float64 // e/(1-e) x (F + L_alt), ms
	Lag      float64 // a x lag, ms
	Throttle float64 // q x R, ms
	Offset   float64 // ms
	Total    float64 // C, ms, at most 60 000
}

// Candidate is one line of the why pane.
type Candidate struct {
	Endpoint string
	Eligible bool
	Rank     int    // 1 is first; 0: out
	Why      string // why it stands here, or what took it out
	Needs    string // what would have to change for it to serve
	Gate     *Gate
	Cost     CostTerms
}
