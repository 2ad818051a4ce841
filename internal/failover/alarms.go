package failover

import (
	"slices"

	"example.com/rpctop/internal/fleet"
)

// stall notes when nobody has advanced for long: it is the chain's, and gates
// nobody.
func (f *fold) stall(c *Chain) { c.Stalled = c.stalled(f.s.At) }

// alarms tells what an operator should look at, once when it begins; it
// stands until its cause is gone.
func (f *fold) alarms(c *Chain) {
	now := f.causes(c)
	next := make([]Alarm, 0, len(now))
	for _, a := range now {
		if i := slices.IndexFunc(c.Alarms, func(o Alarm) bool { return o.Key == a.Key }); i >= 0 {
			a.At = c.Alarms[i].At
		} else {
			a.At = f.s.At
			class := fleet.ClassNone
			if a.Key == "stall" {
				class = fleet.ClassChainStall
			}
			f.emit(fleet.Event{Kind: fleet.EventAlarm, Chain: c.Spec.Name, Class: class, Sub: a.Key, Reason: a.Text})
		}
		next = append(next, a)
	}
	c.Alarms = next
}

func (f *fold) causes(c *Chain) []Alarm {
	var out []Alarm
	eligible, wrong, read := 0, 0, 0
	for _, e := range c.Endpoints {
		name := e.Spec.Name
		switch gateName(e.Gate) {
		case "":
			eligible++
		case GateRefused:
			out = append(out, Alarm{Key: "refused:" + name, Text: name + " refuses us: " + e.Gate.Evidence})
		case GateIdentityFlap:
			out = append(out, Alarm{Key: "flap:" + name, Text: name + " is of two chains: " + e.Gate.Evidence})
		case GateForked:
			if e.parted() {
				out = append(out, Alarm{Key: "forked:" + name, Text: name + " is on another fork: " + e.Gate.Evidence})
			}
		case GateWrongChain:
			out = append(out, Alarm{Key: "wrong:" + name, Text: name + " is on another chain: " + e.Gate.Evidence})
		}
		if e.ChainID != "" && e.ChainID != "0" {
			read++
			if e.ChainID != utoa(c.Spec.ChainID) {
				wrong++
			}
		}
	}
	if wrong > 1 && 2*wrong > read {
		out = append(out, Alarm{Key: "config", Text: itoa(int64(wrong)) + " of " + itoa(int64(read)) + " endpoints say another chain id than the configured " + utoa(c.Spec.ChainID) + ": the config is probably wrong"})
	}
	if pin := f.s.override(c.Spec.Name, fleet.ActionPin, ""); pin != nil {
		if e := c.Endpoint(pin.Endpoint); e != nil && e.Gate != nil {
			out = append(out, Alarm{Key: "pin", Text: "the pinned " + pin.Endpoint + " is " + e.Gate.Name + ": " + serves(c, pin)})
		}
	}
	if eligible == 0 {
		out = append(out, Alarm{Key: "none", Text: "no endpoint is eligible"})
	}
	if c.FrozenAt != 0 {
		out = append(out, Alarm{Key: "frozen", Text: "FLAP: more than " + itoa(flapMost) + " soft switches in 10 minutes; soft switching is frozen"})
	}
	if why := c.Disputed(); why != "" {
		out = append(out, Alarm{Key: "disputed", Text: "disputed: " + why})
	}
	out = append(out, c.watchAlarms()...)
	if c.Stalled {
		out = append(out, Alarm{Key: "stall", Text: "no endpoint has a new block since " + clock(c.Ref.Since) + ", all agree"})
	}
	return out
}

func serves(c *Chain, pin *fleet.Override) string {
	switch {
	case pin.Strict:
		return "nobody else serves, since the pin is strict"
	case c.Incumbent != "":
		return c.Incumbent + " serves meanwhile"
	}
	return "nobody serves"
}
