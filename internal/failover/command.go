package failover

import (
	"slices"
	"strings"

	"example.com/rpctop/internal/fleet"
)

// MaxReason is the length, in bytes, at which an operator's reason is cut.
const MaxReason = 200

// Judge says whether an operator's command may run on a state. It is asked
// before the command becomes a row; a refused command never does.
func Judge(s *State, cmd fleet.Command) fleet.Verdict {
	v := fleet.Verdict{ID: cmd.ID}
	refuse := func(code, message string) fleet.Verdict {
		v.Code, v.Message = code, message
		return v
	}
	c := s.Chain(cmd.Chain)
	if c == nil {
		return refuse("unknown-chain", "no chain "+quote(cmd.Chain)+"; there is "+list(names(s)))
	}
	e := c.Endpoint(cmd.Endpoint)
	switch {
	case e == nil && (cmd.Endpoint != "" || cmd.Action != fleet.ActionClear):
		return refuse("unknown-endpoint", "chain "+c.Spec.Name+" has no endpoint "+quote(cmd.Endpoint)+"; it has "+list(c.names()))
	case cmd.Action != fleet.ActionPin && cmd.Action != fleet.ActionEject && cmd.Action != fleet.ActionClear:
		return refuse("invalid", "action "+quote(string(cmd.Action))+" is not pin, eject or clear")
	case cmd.Author == "":
		return refuse("invalid", "a command needs its author")
	case cmd.Action != fleet.ActionClear && cmd.Until != 0 && cmd.Until <= s.Wall():
		return refuse("invalid", "its end, "+clock(cmd.Until)+", is not in the future")
	}
	if diff := difference(s, c, e, cmd.Expect); diff != "" {
		return refuse("changed", "not done, since what was shown has changed: "+diff)
	}
	if cmd.Action == fleet.ActionPin && e.Gate != nil && (e.Gate.Quarantine() || e.Gate.Name == GateEjected) {
		return refuse("unsafe", e.Spec.Name+" is "+e.Gate.Name+" ("+e.Gate.Evidence+"): nothing is served from it, so it cannot be pinned")
	}
	if cmd.Action == fleet.ActionEject && !cmd.Yes && e.Gate == nil && c.eligible() == 1 {
		return refuse("last-eligible", e.Spec.Name+" is the last eligible endpoint of "+c.Spec.Name+": nobody would serve")
	}
	v.Accepted = true
	v.Message = accepted(s, c, cmd)
	return v
}

func accepted(s *State, c *Chain, cmd fleet.Command) string {
	until := " for ever"
	if cmd.Until != 0 {
		until = " until " + cmd.Until.Time().Format("2006-01-02 15:04:05") + " UTC"
	}
	switch cmd.Action {
	case fleet.ActionPin:
		return c.Spec.Name + " is pinned to " + cmd.Endpoint + until
	case fleet.ActionEject:
		pin := ""
		if o := s.override(c.Spec.Name, fleet.ActionPin, cmd.Endpoint); o != nil {
			pin = "; the pin to it by " + o.Author + " has ended"
		}
		return cmd.Endpoint + " is ejected from " + c.Spec.Name + until + pin
	}
	if cmd.Endpoint == "" {
		return "cleared " + c.Spec.Name
	}
	return "cleared " + cmd.Endpoint + " of " + c.Spec.Name
}

// difference says what no longer holds of what the asker saw; "": nothing.
func difference(s *State, c *Chain, e *Endpoint, x *fleet.Expect) string {
	if x == nil {
		return ""
	}
	var diff []string
	if e != nil {
		if serving := c.Incumbent == e.Spec.Name; serving != x.Serving {
			diff = append(diff, e.Spec.Name+map[bool]string{true: " serves now", false: " does not serve any more"}[serving])
		}
		if now := StateOf(c, e); now != x.State && (grave(now) || grave(x.State)) {
			diff = append(diff, e.Spec.Name+" was "+x.State+" and is "+now)
		}
	}
	if n := s.inForce(c.Spec.Name); n != x.Overrides {
		diff = append(diff, itoa(int64(x.Overrides))+" overrides were in force, now "+itoa(int64(n)))
	}
	if n := Order(s, c, Ask{Kind: headRanking, Tip: true}).Eligible; n != x.Eligible {
		diff = append(diff, itoa(int64(x.Eligible))+" endpoints were eligible, now "+itoa(int64(n)))
	}
	return strings.Join(diff, "; ")
}

// grave: a state that an operator's decision hangs on; ok and lagging do not
// differ for it.
func grave(state string) bool { return state != StateOK && state != StateLagging }

func (c *Chain) eligible() int {
	n := 0
	for _, e := range c.Endpoints {
		if e.Gate == nil {
			n++
		}
	}
	return n
}

func (s *State) inForce(chain string) int {
	n := 0
	for _, o := range s.Overrides {
		if o.Chain == chain {
			n++
		}
	}
	return n
}

// Apply gives the overrides in force after an accepted command. It is what the
// journal stores before the command is acknowledged.
func Apply(in []fleet.Override, cmd fleet.Command, at fleet.Millis) []fleet.Override {
	out := make([]fleet.Override, 0, len(in)+1)
	for _, o := range in {
		same := o.Chain == cmd.Chain
		switch {
		case same && cmd.Action == fleet.ActionClear && (cmd.Endpoint == "" || o.Endpoint == cmd.Endpoint):
		case same && cmd.Action == fleet.ActionPin && o.Action == fleet.ActionPin:
		case same && cmd.Action == fleet.ActionEject && o.Endpoint == cmd.Endpoint:
		default:
			out = append(out, o)
		}
	}
	if cmd.Action != fleet.ActionClear {
		out = append(out, fleet.Override{Action: cmd.Action, Chain: cmd.Chain, Endpoint: cmd.Endpoint, Author: cmd.Author,
			Reason: fleet.SanitizeMax(cmd.Reason, MaxReason), Since: at, Until: cmd.Until, Strict: cmd.Strict, Unrecorded: cmd.Unrecorded})
	}
	return out
}

// command folds an accepted command.
func (f *fold) command(in fleet.Command) {
	f.s.Overrides = Apply(f.s.Overrides, in, f.s.Wall())
	f.emit(fleet.Event{Kind: fleet.EventOverride, Chain: in.Chain, Endpoint: in.Endpoint, Sub: string(in.Action),
		Reason: string(in.Action) + " by " + in.Author + reason(fleet.SanitizeMax(in.Reason, MaxReason))})
	for i, c := range f.s.Chains {
		if c.Spec.Name != in.Chain {
			continue
		}
		c = f.chain(i)
		if in.Action == fleet.ActionClear {
			f.clear(c, in.Endpoint)
		}
		f.evaluate(i)
	}
}

// clear ends what only an operator or time can end. An endpoint whose identity
// was wrong must show it anew.
func (f *fold) clear(c *Chain, name string) {
	if name == "" {
		c.FrozenAt, c.FrozenOff = 0, f.s.At
		c.Split = nil
	}
	for i := range c.Endpoints {
		if name != "" && c.Endpoints[i].Spec.Name != name {
			continue
		}
		e := f.endpoint(c, i)
		if e.Wrong != "" || e.Flap {
			e.ChainID, e.Genesis = "", fleet.Hash{}
			e.Reprove = !c.Spec.Genesis.IsZero()
		}
		e.Wrong, e.RightSince, e.WrongTimes, e.Flap = "", 0, nil, false
		e.unfork()
		e.SelfOdd, e.SelfRun, e.Ignores, e.SplitAt = "", 0, false, 0
		e.Gates, e.ReturnAt = 0, 0
	}
}

func quote(s string) string { return "\"" + fleet.SanitizeMax(s, 64) + "\"" }

func names(s *State) []string {
	var out []string
	for _, c := range s.Chains {
		out = append(out, c.Spec.Name)
	}
	return out
}

func (c *Chain) names() []string {
	var out []string
	for _, e := range c.Endpoints {
		out = append(out, e.Spec.Name)
	}
	return out
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	names = slices.Clone(names)
	if len(names) > 8 {
		names = append(names[:8], "…")
	}
	return strings.Join(names, ", ")
}
