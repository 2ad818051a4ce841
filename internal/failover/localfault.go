package failover

import (
	"slices"

	"example.com/rpctop/internal/fleet"
)

// Doubt is a failure that may be this machine's: it is charged to nobody until
// it is clear that the network was there.
type Doubt struct {
	At     fleet.Millis `json:"at"`
	Sample fleet.Sample `json:"sample"`
}

const (
	doubtFor  = 1_000 // ms that a doubtful failure waits: one tick
	doubtMost = 1_024 // failures that wait; more are charged at once
)

// doubtful reports a failure by which an endpoint cannot be told from this
// machine's own network or clock: nothing was heard from anybody.
func doubtful(in fleet.Sample) bool {
	if in.Outcome.Class != fleet.ClassTransportFailure || heard(in) {
		return false
	}
	switch in.Outcome.Sub {
	case "dns", fleet.SubTimeout, "no-route", "tls-not-yet-valid":
		return true
	}
	return false
}

// heard reports a sign of life from outside: a TCP accept, a refusal, a byte
// of HTTP. A certificate that is not valid yet came over the network, but
// speaks of our clock.
func heard(in fleet.Sample) bool {
	if in.Outcome.Sub == "tls-not-yet-valid" {
		return false
	}
	return in.Outcome.Status != 0 || in.Timing.Connect > 0 || in.Timing.FirstByte > 0 ||
		in.Outcome.OK() || in.Outcome.Sub == "refused"
}

// putAside puts a doubtful failure aside; false if it is to be judged at once.
func (f *fold) putAside(in fleet.Sample) bool {
	s := f.s
	if heard(in) {
		s.HeardAt = s.At
		f.chargeDoubts() // the network is there, and a newer sample must not overtake an older one
	}
	if !doubtful(in) || len(s.Doubts) >= doubtMost || f.operators() < 2 {
		return false
	}
	s.Doubts = append(s.Doubts[:len(s.Doubts):len(s.Doubts)], Doubt{s.At, in})
	return true
}

// chargeDoubts judges all that waits as what it looked like.
func (f *fold) chargeDoubts() {
	held := f.s.Doubts
	f.s.Doubts = nil
	for _, h := range held {
		f.judge(h.Sample)
	}
}

// operators counts those of all chains, up to two.
func (f *fold) operators() int {
	first := ""
	for _, c := range f.s.Chains {
		for _, e := range c.Endpoints {
			switch {
			case first == "":
				first = e.Spec.Operator
			case e.Spec.Operator != first:
				return 2
			}
		}
	}
	return 1
}

// release judges what was held: if endpoints of two operators failed by one
// and the same sub, and nobody was heard from since a tick before the first of
// them, the fault is local and charged to nobody; else each is charged to its
// endpoint when its time is up.
func (f *fold) release() {
	s := f.s
	if len(s.Doubts) == 0 {
		return
	}
	held := s.Doubts
	s.Doubts = nil
	silent := s.HeardAt < s.At
	for _, h := range held {
		silent = silent && s.HeardAt < h.began()
	}
	for _, h := range held {
		switch {
		case silent && f.alike(held, h):
			f.excuse(h.Sample)
		case s.At-h.At >= doubtFor || !silent:
			f.judge(h.Sample)
		default:
			s.Doubts = append(s.Doubts, h)
		}
	}
}

// began is when the request that failed was handed over: a sign of life since
// then shows that the network was there while it waited.
func (h Doubt) began() fleet.Millis {
	return h.At - fleet.Millis(h.Sample.Timing.Total/1000) - doubtFor
}

// Doubtful reports failures that would be excused unless somebody is heard
// from: a reason to ask everybody at once.
func (s *State) Doubtful() bool { return len(s.Doubts) > 1 && s.HeardAt < s.Doubts[0].began() }

// alike reports whether endpoints of two operators failed by the same sub.
func (f *fold) alike(held []Doubt, h Doubt) bool {
	mine := f.operatorOf(h.Sample.Endpoint)
	return slices.ContainsFunc(held, func(o Doubt) bool {
		return o.Sample.Outcome.Sub == h.Sample.Outcome.Sub && f.operatorOf(o.Sample.Endpoint) != mine
	})
}

func (f *fold) operatorOf(id fleet.EndpointID) string {
	if c := f.s.Chain(id.Chain); c != nil {
		if e := c.Endpoint(id.Name); e != nil {
			return e.Spec.Operator
		}
	}
	return ""
}

// excuse notes a failure as this machine's own.
func (f *fold) excuse(in fleet.Sample) {
	sub := "network"
	if in.Outcome.Sub == "tls-not-yet-valid" {
		sub = "clock"
	}
	in.Outcome = fleet.Outcome{Class: fleet.ClassLocalFault, Sub: sub, Origin: fleet.OriginLocal,
		Message: "endpoints of several operators failed alike: " + in.Outcome.Evidence()}
	f.judge(in)
	if f.s.LocalAt == 0 || f.s.At-f.s.LocalAt > 10_000 {
		f.emit(fleet.Event{Kind: fleet.EventAlarm, Class: fleet.ClassLocalFault, Sub: sub,
			Reason: "this machine's " + sub + ": " + in.Outcome.Message + "; charged to nobody"})
	}
	f.s.LocalAt = f.s.At
}
