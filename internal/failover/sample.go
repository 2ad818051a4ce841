package failover

import (
	"example.com/rpctop/internal/fleet"
)

// Bounds of what is kept per endpoint.
const (
	keptFailures = 8
	sparkSpan    = 60_000 // ms
	sparkPoints  = 64
	keptWindow   = 120 // seconds of attempts, an upper bound for breaker.within
)

// sample folds one probe round; what may be this machine's own fault waits.
func (f *fold) sample(in fleet.Sample) {
	if !f.putAside(in) {
		f.judge(in)
	}
}

// judge takes one probe round to its endpoint.
func (f *fold) judge(in fleet.Sample) {
	c, e, i, ok := f.find(in.Endpoint)
	if !ok {
		return
	}
	e.Samples++
	answered := in.Start + fleet.Millis(in.Timing.Total/1000)
	e.identify(c, in, f.s.At)
	e.count(f.s, fleet.KindHead, in.Outcome, in.Timing.Total, 1)
	e.note(f.s.At, in.Start, in.Outcome, in.Timing.Total, in.Hold)
	e.LastTiming = in.Timing
	if in.Head != nil {
		e.see(*in.Head, in.Start)
		f.advance(c, answered)
		c.measure(e, in.Start)
	}
	e.judgeBreaker(f.s, in)
	f.evaluate(i)
}

// failure folds one attributable failure, or a throttle, of the hot path.
func (f *fold) failure(in fleet.Failure) {
	_, e, i, ok := f.find(in.Endpoint)
	if !ok {
		return
	}
	run := e.Run
	e.count(f.s, in.Kind, in.Outcome, in.Total, 1)
	e.note(f.s.At, f.s.At, in.Outcome, in.Total, in.Hold)
	// The hot path has counted itself: successes in between are told later.
	e.Run = max(run, in.Run)
	if in.Outcome.Class == fleet.ClassWrongChain && in.Outcome.Sub != subIdentity {
		e.wrong("answered a client: "+in.Outcome.Evidence(), f.s.At)
	}
	if in.Outcome.Charge() == fleet.ChargeFailure {
		e.tripBreaker(f.s, in.Outcome)
	}
	f.evaluate(i)
}

// traffic folds one second of clients' requests. Its counts leave out what was
// told as single failures in that second.
func (f *fold) traffic(in fleet.Traffic) {
	c, e, i, ok := f.find(in.Endpoint)
	if !ok {
		return
	}
	f.failedOver(c, in)
	e.Denials += uint64(max(in.Denials, 0))
	if len(in.Counts) == 0 && len(in.Latency) == 0 {
		return // denials alone: nothing to judge
	}
	bad := int64(0)
	for _, n := range in.Counts {
		o := fleet.Outcome{Class: n.Class, Sub: n.Sub}
		if o.Charge() == fleet.ChargeFailure {
			bad += n.N
		}
	}
	for _, n := range in.Counts {
		o := fleet.Outcome{Class: n.Class, Sub: n.Sub}
		lost := fleet.Micros(0)
		if o.Charge() == fleet.ChargeFailure && bad > 0 {
			lost = in.Lost / fleet.Micros(bad)
		}
		run := e.Run
		e.tally(f.s, o, lost, n.N)
		e.Run = min(e.Run, run) // the hot path tells runs of failures by rows of their own
	}
	for _, b := range in.Latency {
		e.Latency[kindIndex(in.Kind)] = e.Latency[kindIndex(in.Kind)].addBucket(f.s.At, b.Bucket, float64(b.N))
	}
	f.evaluate(i)
}

func kindIndex(k fleet.Kind) int {
	if int(k) < fleet.Kinds {
		return int(k)
	}
	return int(fleet.KindOther)
}

// count takes one outcome into latency and error counts.
func (e *Endpoint) count(s *State, kind fleet.Kind, o fleet.Outcome, total fleet.Micros, n int64) {
	e.tally(s, o, total, n)
	if o.Charge() == fleet.ChargeSuccess {
		k := kindIndex(kind)
		e.Latency[k] = e.Latency[k].add(s.At, total, float64(n))
	}
}

// tally counts n outcomes of one class; lost is the time that each took.
func (e *Endpoint) tally(s *State, o fleet.Outcome, lost fleet.Micros, n int64) {
	at := s.At
	switch o.Charge() {
	case fleet.ChargeSuccess:
		e.Answered += uint64(n)
		e.Run = 0
		e.Good = e.Good.add(at, float64(n))
		e.window(s, n, 0)
	case fleet.ChargeFailure:
		e.Failures += uint64(n)
		e.Run += int(n)
		e.Bad = e.Bad.add(at, float64(n))
		e.Lost = e.Lost.add(at, float64(float64(n)*float64(lost)/1000))
		e.window(s, n, n)
	case fleet.ChargeThrottle:
		e.Throttles = e.Throttles.add(at, float64(n))
	}
}

func (e *Endpoint) window(s *State, n, bad int64) {
	sec := second(s.At)
	within := min(int64(s.Policy.BreakerWithin)/1000, keptWindow)
	next := make([]Second, 0, len(e.Window)+1)
	for _, w := range e.Window {
		if w.Sec > sec-within {
			next = append(next, w)
		}
	}
	if len(next) == 0 || next[len(next)-1].Sec != sec {
		next = append(next, Second{Sec: sec})
	}
	next[len(next)-1].N += int(n)
	next[len(next)-1].Bad += int(bad)
	e.Window = next
}

// note keeps what an operator wants to see of an attempt, and what a refusal
// or a throttle means for the time to come.
func (e *Endpoint) note(at, start fleet.Millis, o fleet.Outcome, total fleet.Micros, hold fleet.Millis) {
	e.Last, e.LastAt = o, max(e.LastAt, start)
	ok := o.Charge() == fleet.ChargeSuccess
	spark := make([]fleet.SparkPoint, 0, len(e.Spark)+1)
	for _, p := range e.Spark {
		if p.At > at-sparkSpan {
			spark = append(spark, p)
		}
	}
	spark = append(spark, fleet.SparkPoint{At: at, Total: total, OK: ok})
	e.Spark = spark[max(0, len(spark)-sparkPoints):]
	if !ok {
		past := append([]fleet.PastFailure{{At: at, Outcome: o}}, e.Past...)
		e.Past = past[:min(len(past), keptFailures)]
	}
	switch {
	case o.Class == fleet.ClassRemoteDenial:
		refused := o
		e.Refused = &refused
	case o.Charge() == fleet.ChargeSuccess:
		e.Refused, e.HoldUntil = nil, 0
	case o.Charge() == fleet.ChargeThrottle:
		hold = max(hold, 1_000)
		if at+hold > e.HoldUntil {
			e.HoldUntil, e.HoldOf = at+hold, o.Evidence()
		}
		e.Held = e.Held.add(at, float64(hold))
	}
}

// reading folds a value besides the head.
func (f *fold) reading(in fleet.Reading) {
	c, e, i, ok := f.find(in.Endpoint)
	if !ok {
		return
	}
	good := in.Outcome.OK()
	switch in.What {
	case fleet.ReadGenesis:
		if good {
			e.genesis(c, in.Hash, f.s.At)
		}
	case fleet.ReadClient:
		if good {
			e.Client = in.Value
		}
	case fleet.ReadSyncing:
		if good {
			e.Syncing = in.Value
		}
	case fleet.ReadSafe, fleet.ReadFinalized:
		f.finality(c, e, in)
	case fleet.ReadCommon:
		f.common(c, e, in)
		f.compare(c)
	case fleet.ReadWatch, fleet.ReadWatchHead:
		f.watchAnswer(c, e, in)
		f.compare(c)
	case fleet.ReadBeyond:
		f.beyond(c, e, in)
	case fleet.ReadConfirm:
		e.confirm(c, in, f.s.At)
		f.advance(c, f.s.At)
		c.setLag(e, e.HeadAt)
	case fleet.ReadCallAt:
		e.breakerRound(f.s, in.Outcome)
	}
	f.evaluate(i)
}

// number is the height of a reading; nil if it was not read.
func number(in fleet.Reading) *uint64 {
	if !in.Outcome.OK() {
		return nil
	}
	n := in.Number
	return &n
}
