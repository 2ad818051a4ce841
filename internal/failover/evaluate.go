package failover

import (
	"strconv"

	"example.com/rpctop/internal/fleet"
)

const (
	settleFor   = 2_000     // ms after a lead in which late first answers are waited for
	spillBelow  = 5_000     // ms of a throttle that only spill requests
	flapMost    = 4         // soft switches
	flapWindow  = 600_000   // ms
	hourMS      = 3_600_000 // ms
	headRanking = fleet.KindHead
)

func ratio(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// evaluate judges a chain after something changed: gates, who serves, alarms.
func (f *fold) evaluate(i int) {
	c := f.chain(i)
	f.regate(c)
	if f.settling(c) {
		return
	}
	f.elect(c)
	f.stall(c)
	f.alarms(c)
}

// settling: just after a lead, while endpoints have not answered for the first
// time, nobody is judged by being slower with a first answer than another.
func (f *fold) settling(c *Chain) bool {
	if f.s.At-f.s.LeadAt >= settleFor {
		return false
	}
	for _, e := range c.Endpoints {
		if e.Samples == 0 {
			return true
		}
	}
	return false
}

// elect decides whether the incumbent changes.
func (f *fold) elect(c *Chain) {
	s := f.s
	f.forget(c)
	r := Order(s, c, Ask{Kind: headRanking})
	inc := c.Endpoint(c.Incumbent)
	if r.Eligible == 0 {
		if inc != nil && !f.spills(inc) {
			f.change(c, "", nobody(s, c, inc), false)
		} else if inc == nil && !c.Served {
			c.Served = true
			f.emit(fleet.Event{Kind: fleet.EventSwitch, Chain: c.Spec.Name, Class: fleet.ClassNoEndpoint, Reason: "no endpoint is eligible"})
		}
		return
	}
	best := c.best(r)
	pin := s.override(c.Spec.Name, fleet.ActionPin, "")
	switch {
	case inc == nil:
		f.change(c, r.First(), f.firstReason(c, r.First()), false)
	case pin != nil && pin.Endpoint == r.First() && c.Incumbent != pin.Endpoint:
		f.change(c, pin.Endpoint, "pinned by "+pin.Author+reason(pin.Reason), false)
	case inc.Gate != nil:
		if !f.spills(inc) {
			f.change(c, best, gateName(inc.Gate)+": "+inc.Gate.Evidence, false)
		}
	case pin != nil && c.Incumbent == pin.Endpoint:
		c.Beaten = 0
	case pin != nil && pin.Strict:
		c.Beaten = 0
	default:
		f.challenge(c, r, inc)
	}
}

// nobody says why nobody serves any more.
func nobody(s *State, c *Chain, inc *Endpoint) string {
	if inc.Gate != nil {
		return "no endpoint is eligible, " + inc.Spec.Name + " is " + inc.Gate.Name
	}
	if pin := s.override(c.Spec.Name, fleet.ActionPin, ""); pin != nil && pin.Strict {
		return "the strict pin to " + pin.Endpoint + " by " + pin.Author + " lets nobody else serve"
	}
	return "no endpoint is eligible"
}

// best is the first eligible endpoint that is not the incumbent.
func (c *Chain) best(r Ranking) string {
	for _, x := range r.Candidates[:r.Eligible] {
		if x.Endpoint != c.Incumbent {
			return x.Endpoint
		}
	}
	return ""
}

// spills: a short throttle moves requests, not the incumbent.
func (f *fold) spills(e *Endpoint) bool {
	return gateName(e.Gate) == GateThrottled && e.HoldUntil-f.s.At < spillBelow
}

func (f *fold) firstReason(c *Chain, name string) string {
	if pin := f.s.override(c.Spec.Name, fleet.ActionPin, name); pin != nil {
		return "pinned by " + pin.Author + reason(pin.Reason)
	}
	if c.Served {
		return name + " is eligible again"
	}
	return "the best of those that answered"
}

// challenge compares the incumbent with the best other: a lower tier takes
// over when its hold-down is past, a lower cost when it has beaten the
// incumbent for long enough.
func (f *fold) challenge(c *Chain, r Ranking, inc *Endpoint) {
	s, p := f.s, f.s.Policy
	if c.Disputed() != "" {
		c.Beaten = 0 // whoever is better may be on the wrong side
		return
	}
	var own, rival fleet.Candidate
	var rivalE *Endpoint
	for _, x := range r.Candidates[:r.Eligible] {
		e := c.Endpoint(x.Endpoint)
		switch {
		case x.Endpoint == c.Incumbent:
			own = x
		case e.Spec.Tier > inc.Spec.Tier || s.At < e.ReturnAt:
		case rivalE == nil || e.Spec.Tier < rivalE.Spec.Tier || e.Spec.Tier == rivalE.Spec.Tier && x.Cost.Total < rival.Cost.Total:
			rival, rivalE = x, e
		}
	}
	if rivalE == nil {
		c.Beaten = 0
		return
	}
	if rivalE.Spec.Tier < inc.Spec.Tier && !c.late(rivalE) {
		if c.FrozenAt == 0 {
			f.change(c, rival.Endpoint, "tier "+itoa(int64(rivalE.Spec.Tier))+" is eligible again, tier "+itoa(int64(inc.Spec.Tier))+" served", true)
		}
		return
	}
	beaten := own.Cost.Total > float64(p.StickyRatio*rival.Cost.Total) &&
		own.Cost.Total-rival.Cost.Total > float64(p.StickyGap)/1000
	switch {
	case !beaten:
		c.Beaten = 0
	case c.Beaten == 0:
		c.Beaten = s.At
	case s.At-c.Beaten >= p.StickyBeaten && s.At-c.Since >= p.StickyDwell && c.FrozenAt == 0:
		f.change(c, rival.Endpoint, c.beatenReason(own, rival, inc, s.At-c.Beaten), true)
	}
}

func (c *Chain) beatenReason(own, rival fleet.Candidate, inc *Endpoint, beaten fleet.Millis) string {
	text := "costs " + ftoa(own.Cost.Total) + " ms against " + ftoa(rival.Cost.Total) + " ms for " + span(beaten)
	switch {
	case own.Cost.Lag > own.Cost.Total/2 && inc.Lag != nil && inc.LagBlocks != nil:
		text += ", since it is " + span(*inc.Lag) + " and " + blocks(*inc.LagBlocks) + " behind"
	case own.Cost.Error > own.Cost.Total/2:
		text += ", since its attempts fail"
	case own.Cost.Throttle > own.Cost.Total/2:
		text += ", since it throttles"
	}
	return text
}

// change makes another endpoint the incumbent ("": nobody), and says why.
func (f *fold) change(c *Chain, to, why string, soft bool) {
	from, class := c.Incumbent, fleet.ClassNone
	if e := c.Endpoint(from); e != nil && e.Gate != nil {
		class = gateClass(e.Gate.Name, e)
	}
	if to == "" {
		class = fleet.ClassNoEndpoint
	}
	c.Incumbent, c.Since, c.Beaten, c.Served = to, f.s.At, 0, true
	if from != "" {
		c.Switches = append(c.Switches[:len(c.Switches):len(c.Switches)], Switch{f.s.At, soft})
	}
	f.emit(fleet.Event{Kind: fleet.EventSwitch, Chain: c.Spec.Name, Endpoint: to, From: from, To: to, Class: class, Reason: why})
	if soft && c.softSwitches(f.s.At) > flapMost {
		c.FrozenAt = f.s.At
	}
}

// forget drops switches older than an hour, and thaws soft switching.
func (f *fold) forget(c *Chain) {
	n := 0
	for n < len(c.Switches) && c.Switches[n].At <= f.s.At-hourMS {
		n++
	}
	c.Switches = c.Switches[n:]
	if c.FrozenAt != 0 && c.softSwitches(f.s.At) < flapMost {
		c.FrozenAt = 0
	}
}

// softSwitches counts those of the flap window that a clear has not forgiven.
func (c *Chain) softSwitches(at fleet.Millis) int {
	n := 0
	for _, w := range c.Switches {
		if w.Soft && w.At > at-flapWindow && w.At > c.FrozenOff {
			n++
		}
	}
	return n
}
