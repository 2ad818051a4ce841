package failover

import (
	"cmp"
	"slices"

	"example.com/rpctop/internal/fleet"
)

const (
	secondRead  = 200        // ms until values that differ are read again
	beyondEvery = 6 * hourMS // between two looks at whether the block argument counts
	beyondBy    = 10_000_000 // blocks above the head
	watchTexts  = 120        // bytes of an endpoint's words in a non-answer
)

// Watch is what is known of one allowance that is looked after.
type Watch struct {
	Spec    fleet.WatchSpec     `json:"spec"`
	Verdict string              `json:"verdict"` // "": none yet
	Since   fleet.Millis        `json:"since"`
	Number  uint64              `json:"n"` // the block of the last comparison
	Hash    fleet.Hash          `json:"hash"`
	Odd     []string            `json:"odd"`
	Text    string              `json:"text"`
	Answers []fleet.WatchAnswer `json:"answers"` // of the last round that was judged
	Round   *WatchRound         `json:"round"`   // being read; nil: none
}

// WatchRound is a comparison in the making.
type WatchRound struct {
	Number  uint64              `json:"n"`
	Hash    fleet.Hash          `json:"hash"`
	Answers []fleet.WatchAnswer `json:"answers"`
	Denied  bool                `json:"denied"` // our own limits kept an answer from us
	// The second read of values that differ at one block.
	Again *SecondRead `json:"again"`
	// Why values at latest differ, by the endpoint that is the odd one.
	Checks []LagCheck `json:"checks"`
	Asked  bool       `json:"asked"` // the checks were decided
}

// SecondRead reads values that differ at one block hash once more.
type SecondRead struct {
	Number uint64              `json:"n"`
	Hash   fleet.Hash          `json:"hash"`
	First  []fleet.WatchAnswer `json:"first"`
	Second []fleet.WatchAnswer `json:"second"`
}

// LagCheck asks a reference endpoint for the value at the odd one's own head.
type LagCheck struct {
	Odd    string     `json:"odd"`
	By     string     `json:"by"` // the reference; "": nobody else has that block
	Number uint64     `json:"n"`
	Hash   fleet.Hash `json:"hash"`
	Behind uint64     `json:"behind"` // blocks below the reference's head
	Value  string     `json:"value"`  // the reference's at that block; "": it did not say
	Own    bool       `json:"own"`    // the odd one says the same of that block, and another thing at latest
}

// adoptWatches keeps what is known of watches that are configured as before.
func (c *Chain) adoptWatches() {
	old := c.Watches
	c.Watches = nil
	for _, spec := range c.Spec.Watches {
		w := &Watch{Spec: spec}
		if i := slices.IndexFunc(old, func(o *Watch) bool { return o.Spec == spec }); i >= 0 {
			*w = *old[i]
			w.Round = nil
		}
		c.Watches = append(c.Watches, w)
	}
}

// watching: a comparison of values is under way.
func (c *Chain) watching() bool {
	return slices.ContainsFunc(c.Watches, func(w *Watch) bool { return w.Round != nil })
}

// ownWatch gives a watch whose round may be changed.
func (c *Chain) ownWatch(i int) *Watch {
	w := *c.Watches[i]
	if w.Round != nil {
		r := *w.Round
		r.Answers, r.Checks = slices.Clone(r.Answers), slices.Clone(r.Checks)
		if r.Again != nil {
			again := *r.Again
			again.Second = slices.Clone(again.Second)
			r.Again = &again
		}
		w.Round = &r
	}
	c.Watches = slices.Clone(c.Watches)
	c.Watches[i] = &w
	return &w
}

// askWatches reads all watches at the common block that was just agreed on.
func (f *fold) askWatches(c *Chain) {
	if len(c.Watches) == 0 {
		return
	}
	m := c.Common
	for i := range c.Watches {
		c.ownWatch(i).Round = &WatchRound{Number: m.Number, Hash: m.Hash}
	}
	for _, a := range m.Answers {
		i := c.index(a.Endpoint)
		if i < 0 || a.Hash != m.Hash {
			continue
		}
		e := f.endpoint(c, i)
		if e.BeyondAt == 0 || f.s.At-e.BeyondAt >= beyondEvery {
			f.wish(c, e, fleet.Wish{What: fleet.ReadBeyond, Number: e.Head.Number + beyondBy})
		}
		f.wish(c, e, fleet.Wish{What: fleet.ReadWatch, Number: m.Number, Hash: m.Hash})
		for j := range c.Watches {
			w := c.ownWatch(j)
			w.Round.Answers = append(w.Round.Answers, fleet.WatchAnswer{Endpoint: e.Spec.Name})
		}
	}
}

// beyond takes the answer to a read of state that nobody can have.
func (f *fold) beyond(c *Chain, e *Endpoint, in fleet.Reading) {
	if !c.granted(in) {
		return
	}
	switch in.Outcome.Charge() {
	case fleet.ChargeFailure, fleet.ChargeThrottle:
		return // says nothing about blocks
	}
	if in.Outcome.Class == fleet.ClassLocalDenial || in.Outcome.Class == fleet.ClassLocalFault {
		return
	}
	e.Ignores, e.BeyondAt = in.Outcome.OK(), f.s.At
}

// watchAnswer takes one value.
func (f *fold) watchAnswer(c *Chain, e *Endpoint, in fleet.Reading) {
	i := slices.IndexFunc(c.Watches, func(w *Watch) bool { return w.Spec.Name == in.Watch })
	if i < 0 || c.Watches[i].Round == nil || !c.granted(in) {
		return
	}
	w := c.ownWatch(i)
	r := w.Round
	value, non := in.Value, ""
	if !in.Outcome.OK() {
		value, non = "", nonAnswer(in.Outcome)
		r.Denied = r.Denied || in.Outcome.Class == fleet.ClassLocalDenial
	}
	if e.Ignores {
		value, non = "", "ignores the block argument"
	}
	if a := answerOf(r.Answers, e.Spec.Name); a != nil && r.Again == nil && !r.Asked {
		a.At = f.s.At
		switch {
		case in.What == fleet.ReadWatchHead:
			a.Latest, a.LatestNon, a.LatestHead, a.LatestHash = value, non, in.Number, in.Hash
		case in.Number == r.Number && in.Hash == r.Hash:
			a.Value, a.NonAnswer = value, non
		}
		return
	}
	if s := r.Again; s != nil && in.What == fleet.ReadWatch && in.Number == s.Number && in.Hash == s.Hash {
		s.Second = append(s.Second, fleet.WatchAnswer{Endpoint: e.Spec.Name, Value: value, NonAnswer: non, At: f.s.At})
		return
	}
	for j := range r.Checks {
		if k := &r.Checks[j]; k.By == e.Spec.Name && k.Number == in.Number && k.Hash == in.Hash {
			k.Value = value
		}
	}
}

func answerOf(answers []fleet.WatchAnswer, name string) *fleet.WatchAnswer {
	i := slices.IndexFunc(answers, func(a fleet.WatchAnswer) bool { return a.Endpoint == name })
	if i < 0 {
		return nil
	}
	return &answers[i]
}

// judgeWatches moves the rounds on whose answers have come in or are overdue.
func (f *fold) judgeWatches(c *Chain) {
	for i := range c.Watches {
		if c.Watches[i].Round == nil {
			continue
		}
		w := c.ownWatch(i)
		if f.pendingWatch(c, w) {
			continue
		}
		f.judgeWatch(c, w)
	}
	if !c.watching() {
		c.drop(func(w fleet.Wish) bool { return w.What == fleet.ReadWatch })
	}
}

// pendingWatch: an answer is still awaited.
func (f *fold) pendingWatch(c *Chain, w *Watch) bool {
	r := w.Round
	if r.Again == nil && !r.Asked {
		for _, a := range r.Answers {
			complete := (a.Value != "" || a.NonAnswer != "") && (a.Latest != "" || a.LatestNon != "")
			if !complete && c.wished(func(x fleet.Wish) bool { return x.Endpoint == a.Endpoint && x.What == fleet.ReadWatch && x.Watch == "" }) {
				return true
			}
		}
		return false
	}
	return c.wished(func(x fleet.Wish) bool { return x.What == fleet.ReadWatch && x.Watch == w.Spec.Name })
}

// judgeWatch takes a round one step on: a second read where values differ at
// one block, questions where values at latest differ, a verdict.
func (f *fold) judgeWatch(c *Chain, w *Watch) {
	r := w.Round
	if s := r.Again; s != nil {
		if differ(s.Second) {
			f.inconsistent(c, w, s)
			return
		}
		if s.Number == r.Number && s.Hash == r.Hash {
			// The first read was of a moment in between: the second counts.
			for _, b := range s.Second {
				if a := answerOf(r.Answers, b.Endpoint); a != nil {
					a.Value, a.NonAnswer = b.Value, b.NonAnswer
				}
			}
		}
		r.Again = nil
	} else if differ(r.Answers) && !r.Asked {
		f.readAgain(c, w, r.Number, r.Hash, r.Answers)
		return
	}
	if !r.Asked {
		r.Asked = true
		f.askLags(c, w)
		if f.pendingWatch(c, w) {
			return
		}
	}
	if f.contradicted(c, w) {
		return
	}
	f.conclude(c, w)
}

// differ reports two values among answers at one block.
func differ(answers []fleet.WatchAnswer) bool {
	first := ""
	for _, a := range answers {
		switch {
		case a.Value == "":
		case first == "":
			first = a.Value
		case a.Value != first:
			return true
		}
	}
	return false
}

// readAgain has the values at a block read once more from all that told one.
func (f *fold) readAgain(c *Chain, w *Watch, n uint64, h fleet.Hash, first []fleet.WatchAnswer) {
	w.Round.Again = &SecondRead{Number: n, Hash: h, First: first}
	for _, a := range first {
		if e := c.Endpoint(a.Endpoint); e != nil && a.Value != "" {
			f.wish(c, e, fleet.Wish{What: fleet.ReadWatch, Watch: w.Spec.Name, Number: n, Hash: h, Delay: secondRead})
		}
	}
}

// askLags asks, for each endpoint whose value at latest differs from the
// reference's, what the reference says at that endpoint's own head.
func (f *fold) askLags(c *Chain, w *Watch) {
	r := w.Round
	live := make([]fleet.WatchAnswer, 0, len(r.Answers))
	for _, a := range r.Answers {
		if a.Latest != "" && !a.LatestHash.IsZero() {
			live = append(live, a)
		}
	}
	// The highest head is the reference; among those, the value that most have.
	votes := func(v string) int {
		n := 0
		for _, a := range live {
			if a.Latest == v {
				n++
			}
		}
		return n
	}
	slices.SortStableFunc(live, func(a, b fleet.WatchAnswer) int {
		return firstNonZero(cmp.Compare(b.LatestHead, a.LatestHead), votes(b.Latest)-votes(a.Latest))
	})
	for _, a := range live[min(1, len(live)):] {
		ref := live[0]
		if a.Latest == ref.Latest {
			continue
		}
		k := LagCheck{Odd: a.Endpoint, Number: a.LatestHead, Hash: a.LatestHash, Behind: ref.LatestHead - a.LatestHead}
		for _, b := range live {
			if b.Endpoint == a.Endpoint || b.LatestHead < a.LatestHead {
				continue
			}
			k.By = b.Endpoint
			if b.LatestHash == a.LatestHash {
				k.Value = b.Latest // it stands at that very block
			} else if e := c.Endpoint(b.Endpoint); e != nil {
				f.wish(c, e, fleet.Wish{What: fleet.ReadWatch, Watch: w.Spec.Name, Number: k.Number, Hash: k.Hash})
			}
			break
		}
		r.Checks = append(r.Checks, k)
	}
}

// contradicted: an odd value at latest is not what the reference says at that
// block. Both are read again at the block's hash before anything is concluded.
func (f *fold) contradicted(c *Chain, w *Watch) bool {
	r := w.Round
	for i := range r.Checks {
		k := &r.Checks[i]
		odd := answerOf(r.Answers, k.Odd)
		if k.By == "" || k.Value == "" || odd == nil || k.Own || k.Value == odd.Latest {
			continue
		}
		first := []fleet.WatchAnswer{{Endpoint: k.Odd, Value: odd.Latest}, {Endpoint: k.By, Value: k.Value}}
		k.Own = true // unless the second read contradicts
		f.readAgain(c, w, k.Number, k.Hash, first)
		return true
	}
	return false
}
