package fleet

import (
	"encoding/json"
	"time"
)

// EventKind says what happened.
type EventKind string

// The kinds of event, as exports and `watch` print them.
const (
	EventSwitch   EventKind = "switch"   // the incumbent changed
	EventFailover EventKind = "failover" // a call was answered by another endpoint
	EventGate     EventKind = "gate"     // an endpoint may not serve any more
	EventUngate   EventKind = "ungate"   // it may again
	EventOverride EventKind = "override" // the operator's word changed
	EventDenied   EventKind = "denied"   // our own limits refused
	EventAlarm    EventKind = "alarm"    // somebody should look
	EventRecovery EventKind = "recovery" // a recovery moved
	EventWatch    EventKind = "watch"    // a verdict changed
	EventService  EventKind = "service"  // lead taken, config changed
	EventGap      EventKind = "gap"      // rows were lost
)

// Event is a decision or a change that the fold emitted, with its reason.
type Event struct {
	Seq      uint64          `json:"seq"` // of events, rising by one
	Row      uint64          `json:"row"` // the row that caused it
	At       Millis          `json:"-"`
	Kind     EventKind       `json:"kind"`
	Chain    string          `json:"chain,omitempty"`
	Endpoint string          `json:"endpoint,omitempty"`
	From     string          `json:"from,omitempty"`
	To       string          `json:"to,omitempty"`
	Class    Class           `json:"class,omitempty"`
	Sub      string          `json:"sub,omitempty"`
	Reason   string          `json:"reason"`
	Data     json.RawMessage `json:"data,omitempty"`
}

// RFC3339Millis is the layout of times in JSON: UTC with milliseconds.
const RFC3339Millis = "2006-01-02T15:04:05.000Z07:00"

// MarshalJSON writes the line that `watch --ndjson` prints.
func (e Event) MarshalJSON() ([]byte, error) {
	type plain Event
	return json.Marshal(struct {
		Version int    `json:"version"`
		At      string `json:"at"`
		plain
	}{1, e.At.Time().Format(RFC3339Millis), plain(e)})
}

// UnmarshalJSON reads such a line.
func (e *Event) UnmarshalJSON(b []byte) error {
	type plain Event
	v := struct {
		At string `json:"at"`
		*plain
	}{plain: (*plain)(e)}
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	t, err := time.Parse(RFC3339Millis, v.At)
	if err != nil {
		return err
	}
	e.At = MillisOf(t)
	return nil
}
