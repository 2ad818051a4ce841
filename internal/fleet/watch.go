package fleet

// WatchSpec is an allowance that is looked after: what is read, and how much
// of it somebody needs. Addresses are 0x and 40 hex digits; Required is a
// decimal number in the token's smallest unit, "" if none is given.
type WatchSpec struct {
	Name     string `json:"name"` // unique within the chain
	Token    string `json:"token"`
	Owner    string `json:"owner"`
	Spender  string `json:"spender"`
	Required string `json:"required,omitempty"`
}

// Wish is a question that the fold wants put to one endpoint besides its
// rounds. The answer comes back as a reading that repeats What, Number and
// Watch.
type Wish struct {
	ID       uint64      `json:"id"` // rises within a chain
	Endpoint string      `json:"endpoint"`
	What     ReadingKind `json:"what"` // common, watch or beyond
	Number   uint64      `json:"number"`
	Hash     Hash        `json:"hash"`            // of a watch: the block that is read
	Watch    string      `json:"watch,omitempty"` // one watch, at the block alone; "": all, and at latest too
	At       Millis      `json:"at"`              // when it was wished for
	Delay    Millis      `json:"delay_ms"`        // to be put no earlier than this after At
	Until    Millis      `json:"until"`           // no answer counts after it
}

// The verdicts on a watch, the first that fits.
const (
	WatchInconsistent = "inconsistent" // two values at one block hash, read twice
	WatchUnverifiable = "unverifiable" // values at latest differ, and nobody else has the odd one's block
	WatchLagging      = "lagging"      // values at latest differ, and lag explains it
	WatchConsistent   = "consistent"   // two answers or more at one block hash, all equal
	WatchUnconfirmed  = "unconfirmed"  // one answer
	WatchUnanswered   = "unanswered"   // none
)

// WatchView is one watch at one moment.
type WatchView struct {
	WatchSpec
	Verdict string // "" before the first round
	Since   Millis // of the verdict
	Number  uint64 // the block at which values were compared
	Hash    Hash   // zero: not compared yet
	Odd     []string
	Text    string // the verdict in words, with values, block and endpoints
	Answers []WatchAnswer
}

// WatchAnswer is what one endpoint says of a watch. Values are decimal; a
// value that could not be read is "", and the non-answer says why.
type WatchAnswer struct {
	Endpoint   string `json:"endpoint"`
	Value      string `json:"value"` // at the block of the comparison
	NonAnswer  string `json:"non_answer"`
	Latest     string `json:"latest"` // at its own head
	LatestNon  string `json:"latest_non"`
	LatestHead uint64 `json:"latest_head"` // 0: not read
	LatestHash Hash   `json:"latest_hash"`
	At         Millis `json:"at"` // of its last answer; 0: none
}
