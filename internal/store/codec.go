package store

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"example.com/rpctop/internal/fleet"
)

// encodeError says that a row cannot be stored at all: a programming error.
type encodeError struct{ err error }

func (e *encodeError) Error() string { return "encode row: " + e.err.Error() }
func (e *encodeError) Unwrap() error { return e.err }

// body is the content of a row that is no sample: nothing for a tick, packed
// numbers for traffic (there may be one each second, endpoint and kind), JSON
// for all else.
func (n *names) body(in fleet.Input) (any, error) {
	switch in := in.(type) {
	case fleet.Tick:
		return nil, nil
	case fleet.Traffic:
		return n.packTraffic(in)
	case nil:
		return nil, &encodeError{errors.New("no input")}
	default:
		b, err := json.Marshal(in)
		if err != nil {
			return nil, &encodeError{err}
		}
		return string(b), nil
	}
}

// input reads what body wrote.
func (l *lookup) input(kind fleet.RowKind, body []byte) (fleet.Input, error) {
	switch kind {
	case fleet.RowLead:
		return fromJSON[fleet.Lead](body)
	case fleet.RowConfig:
		return fromJSON[fleet.Config](body)
	case fleet.RowClock:
		return fromJSON[fleet.Clock](body)
	case fleet.RowTick:
		return fleet.Tick{}, nil
	case fleet.RowReading:
		return fromJSON[fleet.Reading](body)
	case fleet.RowFailure:
		return fromJSON[fleet.Failure](body)
	case fleet.RowTraffic:
		return l.unpackTraffic(body)
	case fleet.RowCommand:
		return fromJSON[fleet.Command](body)
	case fleet.RowRecovery:
		return fromJSON[fleet.Recovery](body)
	case fleet.RowGap:
		return fromJSON[fleet.Gap](body)
	}
	return nil, fmt.Errorf("kind of row %s is unknown", kind)
}

func fromJSON[T fleet.Input](body []byte) (fleet.Input, error) {
	var v T
	err := json.Unmarshal(body, &v)
	return v, err
}

// packTraffic writes signed varints: endpoint, kind, lost, denials, number of
// counts, then class, sub and n of each, number of buckets, then the step from
// the bucket before and n of each. Where calls failed over, the number of those
// counts follows, then endpoint, class, sub and n of each.
func (n *names) packTraffic(t fleet.Traffic) ([]byte, error) {
	endpoint, err := n.endpoint(t.Endpoint)
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, 64)
	b = binary.AppendVarint(b, endpoint)
	b = binary.AppendVarint(b, int64(t.Kind))
	b = binary.AppendVarint(b, int64(t.Lost))
	b = binary.AppendVarint(b, t.Denials)
	b = binary.AppendVarint(b, int64(len(t.Counts)))
	for _, c := range t.Counts {
		sub, err := n.text(c.Sub)
		if err != nil {
			return nil, err
		}
		b = binary.AppendVarint(b, int64(c.Class))
		b = binary.AppendVarint(b, sub)
		b = binary.AppendVarint(b, c.N)
	}
	b = binary.AppendVarint(b, int64(len(t.Latency)))
	last := 0
	for _, c := range t.Latency {
		b = binary.AppendVarint(b, int64(c.Bucket-last))
		b = binary.AppendVarint(b, c.N)
		last = c.Bucket
	}
	if len(t.Failovers) == 0 {
		return b, nil
	}
	b = binary.AppendVarint(b, int64(len(t.Failovers)))
	for _, c := range t.Failovers {
		to, err := n.endpoint(fleet.EndpointID{Chain: t.Endpoint.Chain, Name: c.To})
		if err != nil {
			return nil, err
		}
		sub, err := n.text(c.Sub)
		if err != nil {
			return nil, err
		}
		b = binary.AppendVarint(b, to)
		b = binary.AppendVarint(b, int64(c.Class))
		b = binary.AppendVarint(b, sub)
		b = binary.AppendVarint(b, c.N)
	}
	return b, nil
}

// unpackTraffic reads what packTraffic wrote.
func (l *lookup) unpackTraffic(body []byte) (fleet.Traffic, error) {
	r := varints{rest: body}
	var t fleet.Traffic
	endpoint := r.next()
	t.Kind = fleet.Kind(r.next())
	t.Lost = fleet.Micros(r.next())
	t.Denials = r.next()
	subs := make([]int64, 0, 4)
	for range r.length() {
		t.Counts = append(t.Counts, fleet.ClassCount{Class: fleet.Class(r.next())})
		subs = append(subs, r.next())
		t.Counts[len(t.Counts)-1].N = r.next()
	}
	last := 0
	for range r.length() {
		last += int(r.next())
		t.Latency = append(t.Latency, fleet.BucketCount{Bucket: last, N: r.next()})
	}
	var over [][2]int64 // endpoint and sub of each failover
	if len(r.rest) > 0 {
		for range r.length() {
			to := r.next()
			t.Failovers = append(t.Failovers, fleet.FailoverCount{Class: fleet.Class(r.next())})
			over = append(over, [2]int64{to, r.next()})
			t.Failovers[len(t.Failovers)-1].N = r.next()
		}
	}
	if r.bad || len(r.rest) > 0 {
		return t, errors.New("packed traffic is damaged")
	}
	var err error
	if t.Endpoint, err = l.endpoint(endpoint); err != nil {
		return t, err
	}
	for i, sub := range subs {
		if t.Counts[i].Sub, err = l.text(sub); err != nil {
			return t, err
		}
	}
	for i, o := range over {
		to, err := l.endpoint(o[0])
		if err != nil {
			return t, err
		}
		t.Failovers[i].To = to.Name
		if t.Failovers[i].Sub, err = l.text(o[1]); err != nil {
			return t, err
		}
	}
	return t, nil
}

// varints reads signed varints; once one is missing, it is bad and gives 0.
type varints struct {
	rest []byte
	bad  bool
}

func (r *varints) next() int64 {
	v, n := binary.Varint(r.rest)
	if n <= 0 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// length is a number of things that follow, each at least two bytes long.
func (r *varints) length() int64 {
	v := r.next()
	if v < 0 || v > int64(len(r.rest)/2) {
		r.bad, r.rest = true, nil
		return 0
	}
	return v
}

// The bits of samples.flags.
const (
	flagCold = 1 << iota
	flagSuspicion
	flagTraffic
)

func flagsOf(s fleet.Sample) int64 {
	var f int64
	for bit, set := range map[int64]bool{flagCold: s.Timing.Cold, flagSuspicion: s.Suspicion, flagTraffic: s.Traffic} {
		if set {
			f |= bit
		}
	}
	return f
}

// hashBytes gives an empty blob for the zero hash: it is common, and NULLs
// would not be unique.
func hashBytes(h fleet.Hash) []byte {
	if h.IsZero() {
		return []byte{}
	}
	return h[:]
}

func hashFrom(b []byte) (h fleet.Hash, err error) {
	if n := copy(h[:], b); len(b) != n || n != 0 && n != len(h) {
		return h, fmt.Errorf("stored hash has %d bytes", len(b))
	}
	return h, nil
}
