package fleet

import "fmt"

// RowKind says what a row of the history is. The numbers are stored.
type RowKind uint8

// The kinds of row.
const (
	RowNone RowKind = iota
	RowLead
	RowConfig
	RowClock
	RowTick
	RowSample
	RowReading
	RowFailure
	RowTraffic
	RowCommand
	RowRecovery
	RowGap
	rowEnd
)

var rowNames = [rowEnd]string{"", "lead", "config", "clock", "tick", "sample", "reading", "failure", "traffic", "command", "recovery", "gap"}

// String gives the kind's word.
func (k RowKind) String() string {
	if k < rowEnd {
		return rowNames[k]
	}
	return fmt.Sprintf("row(%d)", uint8(k))
}

// Row is one input of the fold, exactly as it is stored. Seq rises by one from
// row to row; At never decreases.
type Row struct {
	Seq   uint64
	At    Millis
	Input Input
}

// Input is the content of a row: one of the types below, by value.
type Input interface{ RowKind() RowKind }

// Lead says that a process took the lead.
type Lead struct {
	Version string `json:"version"` // of the program
	Fold    int    `json:"fold"`    // of the fold: a replay compares it first
	Config  string `json:"config"`  // fingerprint of the configuration
	Author  string `json:"author"`  // the OS user
	PID     int    `json:"pid"`     // of the process
	Role    string `json:"role"`    // console, serve, verb or demo
	Wall    Millis `json:"wall"`    // the wall clock when it took the lead
}

// Config carries all that decisions depend on besides the other rows.
type Config struct {
	Policy    Policy      `json:"policy"`
	Seed      uint64      `json:"seed"`
	Chains    []ChainSpec `json:"chains"`
	Overrides []Override  `json:"overrides"`
}

// Clock records a jump of the wall clock by more than two seconds.
type Clock struct {
	Jump Millis `json:"jump_ms"` // new wall minus expected wall
}

// Tick is the second hand of the fold.
type Tick struct{}

// Sample is one probe round: the answer to "latest", and the chain id if it
// was asked.
type Sample struct {
	Endpoint EndpointID
	Start    Millis // when the block request was handed over
	Outcome  Outcome
	Timing   Timing
	Head     *Head  // nil unless the class is ok
	ChainID  string // decimal; "" if it was not asked or not read
	// ChainIDClass is how the chain-id question ended; ClassNone: not asked.
	ChainIDClass Class
	Hold         Millis // how long the endpoint asked to be left alone; 0: it did not
	Suspicion    bool   // asked out of turn
	Traffic      bool   // seen in clients' traffic, no probe
}

// Head is a block as one answer stated it. The hash is not recomputed.
type Head struct {
	Number uint64 `json:"number"`
	Hash   Hash   `json:"hash"`
	Parent Hash   `json:"parent"`
	Time   uint64 `json:"time"` // block timestamp, Unix seconds
}

// ReadingKind says what a reading is about.
type ReadingKind string

// What is read besides the head.
const (
	ReadGenesis   ReadingKind = "genesis"    // hash of block 0
	ReadClient    ReadingKind = "client"     // web3_clientVersion
	ReadSyncing   ReadingKind = "syncing"    // shown, never a gate
	ReadSafe      ReadingKind = "safe"       // block at the tag
	ReadFinalized ReadingKind = "finalized"  // block at the tag
	ReadConfirm   ReadingKind = "confirm"    // our reference hash at the reference height
	ReadCallAt    ReadingKind = "call-at"    // one eth_call at the latest hash
	ReadCommon    ReadingKind = "common"     // hash of the block at a height that all have
	ReadWatch     ReadingKind = "watch"      // an allowance at a block hash
	ReadWatchHead ReadingKind = "watch-head" // an allowance at latest; Number and Hash are the endpoint's head
	ReadBeyond    ReadingKind = "beyond"     // state far above the head, which nobody can have
)

// Reading is a value with where it came from, or a typed non-answer: Value is
// "" unless the class is ok.
type Reading struct {
	Endpoint EndpointID  `json:"endpoint"`
	What     ReadingKind `json:"what"`
	Outcome  Outcome     `json:"outcome"`
	Value    string      `json:"value,omitempty"`
	Number   uint64      `json:"number,omitempty"`
	Hash     Hash        `json:"hash,omitempty"`
	Watch    string      `json:"watch,omitempty"` // name of the watch; "" for other readings
	Total    Micros      `json:"total_us,omitempty"`
}

// Failure is an attributable failure on the hot path, told at once.
type Failure struct {
	Endpoint EndpointID `json:"endpoint"`
	Kind     Kind       `json:"kind"`
	Method   string     `json:"method"`
	Outcome  Outcome    `json:"outcome"`
	Total    Micros     `json:"total_us"`
	Run      int        `json:"run"`               // failures in a row, as the hot path counted
	Hold     Millis     `json:"hold_ms,omitempty"` // of a throttle
}

// Traffic is one second of clients' requests to one endpoint and kind.
type Traffic struct {
	Endpoint EndpointID    `json:"endpoint"`
	Kind     Kind          `json:"kind"`
	Counts   []ClassCount  `json:"counts"`            // by class, ascending
	Latency  []BucketCount `json:"latency,omitempty"` // of successes, ascending
	Lost     Micros        `json:"lost_us,omitempty"` // total time of failures
	Denials  int64         `json:"denials,omitempty"` // read by no decision
	// Failovers counts calls that would have been this endpoint's and were
	// answered by another. They are told, and judged by no decision.
	Failovers []FailoverCount `json:"failovers,omitempty"`
}

// FailoverCount counts calls that another endpoint answered, for one reason.
type FailoverCount struct {
	To    string `json:"to"` // of the same chain
	Class Class  `json:"class"`
	Sub   string `json:"sub,omitempty"`
	N     int64  `json:"n"`
}

// ClassCount counts outcomes of one class.
type ClassCount struct {
	Class Class  `json:"class"`
	Sub   string `json:"sub,omitempty"`
	N     int64  `json:"n"`
}

// BucketCount counts successes in one bucket of the latency histogram.
type BucketCount struct {
	Bucket int   `json:"b"`
	N      int64 `json:"n"`
}

// Recovery is a change of state told by the process that runs a recovery.
type Recovery struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Chain   string `json:"chain"`
	State   string `json:"state"`
	Pin     string `json:"pin,omitempty"`
	Outcome string `json:"outcome,omitempty"`
	Reason  string `json:"reason,omitempty"`
	TxHash  string `json:"tx,omitempty"`
}

// Gap says that rows were lost, and why. A checkpoint follows it, and readers
// resume there.
type Gap struct {
	From  uint64 `json:"from"`
	To    uint64 `json:"to"`
	Cause string `json:"cause"`
}

// RowKind implements Input.
func (Lead) RowKind() RowKind     { return RowLead }
func (Config) RowKind() RowKind   { return RowConfig }
func (Clock) RowKind() RowKind    { return RowClock }
func (Tick) RowKind() RowKind     { return RowTick }
func (Sample) RowKind() RowKind   { return RowSample }
func (Reading) RowKind() RowKind  { return RowReading }
func (Failure) RowKind() RowKind  { return RowFailure }
func (Traffic) RowKind() RowKind  { return RowTraffic }
func (Command) RowKind() RowKind  { return RowCommand }
func (Recovery) RowKind() RowKind { return RowRecovery }
func (Gap) RowKind() RowKind      { return RowGap }
