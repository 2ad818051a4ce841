package fleet

import (
	"fmt"
	"time"
)

// Millis is a moment as Unix milliseconds.
type Millis int64

// Time converts to a time in UTC.
func (m Millis) Time() time.Time { return time.UnixMilli(int64(m)).UTC() }

// MillisOf converts a time.
func MillisOf(t time.Time) Millis { return Millis(t.UnixMilli()) }

// Micros is a duration in microseconds.
type Micros int64

// MicrosOf converts a duration.
func MicrosOf(d time.Duration) Micros { return Micros(d.Microseconds()) }

// Duration converts back.
func (m Micros) Duration() time.Duration { return time.Duration(m) * time.Microsecond }

// EndpointID names an endpoint within its chain. Its URL is a secret and is
// known to the door alone.
type EndpointID struct {
	Chain string `json:"chain"`
	Name  string `json:"name"`
}

// String gives chain/name.
func (e EndpointID) String() string { return e.Chain + "/" + e.Name }

// Outcome is what one request to one endpoint ended as: what it means, where
// that comes from, and the evidence.
type Outcome struct {
	Class  Class  `json:"class"`
	Sub    string `json:"sub,omitempty"`
	Origin Origin `json:"origin,omitempty"`
	Status int    `json:"status,omitempty"` // HTTP status; 0 if there was no HTTP answer
	Code   *int64 `json:"code,omitempty"`   // JSON-RPC error code; nil if there was none
	// Message is the error text from outside or ours: redacted, sanitised,
	// cut at MaxText.
	Message string `json:"message,omitempty"`
}

// OK reports whether the outcome carries a usable result.
func (o Outcome) OK() bool { return o.Class == ClassOK }

// Evidence is one line that tells an operator what was seen: status, code and
// message, without any secret.
func (o Outcome) Evidence() string {
	s := o.Class.String()
	if o.Sub != "" {
		s += "(" + o.Sub + ")"
	}
	if o.Status != 0 {
		s += fmt.Sprintf(" HTTP %d", o.Status)
	}
	if o.Code != nil {
		s += fmt.Sprintf(" code %d", *o.Code)
	}
	if o.Message != "" {
		s += ": " + o.Message
	}
	return s
}

// Timing is the latency of one attempt by phase. A phase that did not happen
// (a kept connection has no connect) is 0 and Cold is false.
type Timing struct {
	Connect   Micros `json:"connect_us,omitempty"`
	TLS       Micros `json:"tls_us,omitempty"`
	FirstByte Micros `json:"first_byte_us,omitempty"` // since the start
	Total     Micros `json:"total_us"`
	Cold      bool   `json:"cold,omitempty"` // first request on a new connection
}

// Attempt is a request that was handed to the transport, dialling included.
// Only an Attempt may change an endpoint's health.
type Attempt struct {
	Endpoint EndpointID
	Method   string
	Outcome  Outcome
	Timing   Timing
	Start    Millis // when it was handed over, by the door's clock
	Sent     bool   // bytes of the request may have left
	// Censored: the attempt ended because the caller cancelled or its call ran
	// out of time before the attempt's own deadline. It is charged to nobody.
	Censored   bool
	RetryAfter time.Duration // how long the endpoint asked to be left alone; 0 if it did not
	Cached     bool          // answered by the immutable cache; nothing was sent
	// Result is the verbatim JSON of the result when the class is ok, or of the
	// revert data's answer; nil otherwise.
	Result []byte
	// Body is the verbatim JSON-RPC body, for faces that pass answers on.
	Body []byte
}

// Charge is what the attempt does to its endpoint's health.
func (a Attempt) Charge() Charge {
	if a.Censored || a.Cached {
		return ChargeNothing
	}
	return a.Outcome.Charge()
}

// Caller is our own kind of caller; budgets follow it, and nothing that a
// remote said.
type Caller uint8

// The callers.
const (
	CallerProbe Caller = iota
	CallerProxy
	CallerInteractive
	CallerRecovery
	CallerExport
)

// String gives the caller's word.
func (c Caller) String() string {
	return [...]string{"probe", "proxy", "interactive", "recovery", "export"}[c]
}

// MarshalText writes the word.
func (c Caller) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// DenialKind says which rule of ours refused.
type DenialKind string

// The kinds of denial.
const (
	DenyRate         DenialKind = "rate"
	DenyInFlight     DenialKind = "in_flight"
	DenyBudget       DenialKind = "budget"
	DenyFailureCache DenialKind = "failure_cache"
	DenyPaused       DenialKind = "paused"
	DenyShutdown     DenialKind = "shutdown"
	DenyMethod       DenialKind = "method"
	DenyHost         DenialKind = "host"
	DenyRule         DenialKind = "rule"
)

// Denial means that nothing was handed over: a rule of ours refused. It can be
// counted and shown, and nothing else; it survives wrapping by errors.As.
type Denial struct {
	Kind       DenialKind    `json:"kind"`
	Scope      string        `json:"scope"` // global, endpoint, kind or request
	Endpoint   EndpointID    `json:"endpoint"`
	Caller     Caller        `json:"caller"`
	RetryAfter time.Duration `json:"retry_after"`
	At         time.Time     `json:"at"`
	// Recorded is the remote outcome that filled the failure-cache entry; nil
	// for every other kind.
	Recorded *Outcome `json:"recorded,omitempty"`
}

// Error says whose refusal it is, so that no reader takes it for the
// endpoint's.
func (d *Denial) Error() string {
	s := fmt.Sprintf("denied locally (%s, %s)", d.Kind, d.Scope)
	if d.Endpoint.Name != "" {
		s += " for " + d.Endpoint.String()
	}
	if d.RetryAfter > 0 {
		s += fmt.Sprintf(", retry after %s", d.RetryAfter.Round(time.Millisecond))
	}
	return s
}

// WantOfBudget reports whether the refusal is for want of budget, and so
// always retryable.
func (d *Denial) WantOfBudget() bool {
	switch d.Kind {
	case DenyMethod, DenyHost, DenyRule:
		return false
	case DenyFailureCache:
		return d.Recorded == nil || d.Recorded.Class == ClassRateLimited
	default:
		return true
	}
}
