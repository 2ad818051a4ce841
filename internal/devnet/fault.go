package devnet

import (
	"fmt"
	"slices"
	"time"
)

// Kind names what a front does wrong.
type Kind string

// The kinds of faults. Where a kind has parameters, the comment names the
// fields of Fault that it reads.
const (
	None Kind = "" // passes everything on

	// The transport.
	Refuse    Kind = "refuse"    // connection refused; living connections are cut
	Reset     Kind = "reset"     // half of the answer, then a TCP reset
	Slow      Kind = "slow"      // Latency, Jitter: on top of the front's own
	Hang      Kind = "hang"      // no answer until the fault or the client ends
	Truncated Kind = "truncated" // half of the body, as a complete HTTP answer
	Empty     Kind = "empty"     // HTTP 200 without a body

	// The gateway.
	Status      Kind = "status"       // Code, Header, Body: an HTTP answer as given
	HTML        Kind = "html"         // a page with HTTP 200; Body, or a usual one
	Throttle    Kind = "throttle"     // HTTP 429; RetryAfter in whole seconds, if > 0
	RateLimited Kind = "rate-limited" // HTTP 200 with error -32005
	RPCError    Kind = "rpc-error"    // HTTP 200 with error Code and Body as its message
	Escapes     Kind = "escapes"      // HTTP 200 with an error text that attacks terminals
	Canary      Kind = "canary"       // HTTP 401 that quotes the URL with its key
	Redirect    Kind = "redirect"     // HTTP 307 to an address with the key in it

	// The envelope.
	WrongID        Kind = "wrong-id"        // another id than was asked
	BatchObject    Kind = "batch-object"    // one object instead of the batch's array
	BatchReordered Kind = "batch-reordered" // the items in reverse order
	BatchMissing   Kind = "batch-missing"   // without the last item

	// The content.
	Frozen       Kind = "frozen"        // the chain as it was when the fault began
	Behind       Kind = "behind"        // Blocks: the chain as it was so many blocks ago
	Ahead        Kind = "ahead"         // Blocks: claims a head so much higher
	WrongChain   Kind = "wrong-chain"   // ChainID: claims that id; 0: the right one plus 1
	OtherGenesis Kind = "other-genesis" // claims another block 0
	Forged       Kind = "forged"        // Body is the result (JSON) of eth_call; Selector, if any, must match

	// Transactions.
	Private Kind = "private"  // takes raw transactions and shows them to nobody until they are mined
	SendCut Kind = "send-cut" // passes raw transactions on and cuts the connection instead of answering

	Flap Kind = "flap" // Between: one after the other, over and over
)

// Fault is what a front is told to do. The zero value is a front that works.
type Fault struct {
	Kind Kind

	Latency    time.Duration
	Jitter     time.Duration // at most; the amounts follow from the seed
	Code       int           // HTTP status or JSON-RPC error code
	Header     map[string]string
	Body       string
	RetryAfter time.Duration
	Blocks     uint64
	ChainID    uint64
	Selector   string // the first four bytes of call data, "0x" and 8 hex digits

	// Between holds the faults that Flap goes through, each for its own For, or
	// for Period where that is 0.
	Between []Fault
	Period  time.Duration

	// For every kind:
	Delay   time.Duration // begins so long after it was set
	For     time.Duration // ends by itself after that; 0: stays
	Every   int           // hits each n-th matching request only; 0: all
	Methods []string      // hits these methods only; nil: all
}

// String names the fault and its main parameter.
func (f Fault) String() string {
	s := string(f.Kind)
	switch f.Kind {
	case None:
		s = "none"
	case Slow:
		s = fmt.Sprintf("slow by %v", f.Latency)
	case Status:
		s = fmt.Sprintf("status %d", f.Code)
	case RPCError:
		s = fmt.Sprintf("rpc-error %d", f.Code)
	case Throttle:
		if f.RetryAfter > 0 {
			s = fmt.Sprintf("throttle with Retry-After %v", f.RetryAfter)
		}
	case Behind:
		s = fmt.Sprintf("behind by %d", f.Blocks)
	case Ahead:
		s = fmt.Sprintf("ahead by %d", f.Blocks)
	case Flap:
		s = "flap between"
		for i, b := range f.Between {
			if i > 0 {
				s += " and"
			}
			s += " " + b.String()
		}
	}
	return s
}

// Check reports what is wrong with a fault, before a front takes it.
func (f Fault) Check() error {
	switch {
	case f.Delay < 0 || f.For < 0 || f.Latency < 0 || f.Jitter < 0 || f.RetryAfter < 0 || f.Every < 0:
		return fmt.Errorf("fault %s: negative duration or count", f)
	case f.Kind == Status && (f.Code < 200 || f.Code > 599):
		return fmt.Errorf("fault %s: not a final HTTP status", f)
	case f.Kind == Forged && f.Body == "":
		return fmt.Errorf("fault %s: no result to give", f)
	case f.Kind == Refuse && (f.Every > 0 || f.Methods != nil):
		return fmt.Errorf("fault %s: a refused connection has no requests to choose from", f)
	case f.Kind == Flap:
		return f.checkFlap()
	case !slices.Contains(kinds(), f.Kind):
		return fmt.Errorf("fault %q: unknown kind", string(f.Kind))
	}
	return nil
}

func (f Fault) checkFlap() error {
	if len(f.Between) < 2 {
		return fmt.Errorf("fault %s: needs two faults to go between", f)
	}
	for _, b := range f.Between {
		if b.Kind == Flap || b.Delay > 0 {
			return fmt.Errorf("fault %s: a member cannot flap or be delayed", f)
		}
		if b.For <= 0 && f.Period <= 0 {
			return fmt.Errorf("fault %s: a member without duration", f)
		}
		if err := b.Check(); err != nil {
			return err
		}
	}
	return nil
}

func kinds() []Kind {
	return []Kind{None, Refuse, Reset, Slow, Hang, Truncated, Empty, Status, HTML, Throttle, RateLimited, RPCError,
		Escapes, Canary, Redirect, WrongID, BatchObject, BatchReordered, BatchMissing, Frozen, Behind, Ahead,
		WrongChain, OtherGenesis, Forged, Private, SendCut, Flap}
}

// hits reports whether the fault concerns a request with these methods.
func (f Fault) hits(methods []string) bool {
	want := f.Methods
	if want == nil && (f.Kind == Private || f.Kind == SendCut) {
		want = []string{sendRaw}
	}
	if want == nil {
		return true
	}
	for _, m := range methods {
		if slices.Contains(want, m) {
			return true
		}
	}
	return false
}

// phase is a stretch of time with one fault.
type phase struct {
	fault Fault
	hold  time.Duration // 0: for good
}

// phases spells a fault out in time; loop is the index from which to repeat
// once the end is reached, -1: never.
func (f Fault) phases() (ps []phase, loop int) {
	loop = -1
	if f.Delay > 0 {
		ps = append(ps, phase{Fault{}, f.Delay})
	}
	if f.Kind != Flap {
		ps = append(ps, phase{f, f.For})
		if f.For > 0 {
			ps = append(ps, phase{Fault{}, 0})
		}
		return ps, loop
	}
	loop = len(ps)
	for _, b := range f.Between {
		hold := b.For
		if hold == 0 {
			hold = f.Period
		}
		ps = append(ps, phase{b, hold})
	}
	return ps, loop
}
