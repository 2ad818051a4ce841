package failover

import (
	"encoding/json"
	"slices"
	"strings"

	"example.com/rpctop/internal/fleet"
)

// inconsistent concludes that endpoints say different things of one block, and
// have said so twice: the side with fewer operators is named, both if neither
// has.
func (f *fold) inconsistent(c *Chain, w *Watch, s *SecondRead) {
	r := w.Round
	if s.Number == r.Number && s.Hash == r.Hash {
		for _, b := range s.Second {
			if a := answerOf(r.Answers, b.Endpoint); a != nil {
				a.Value, a.NonAnswer = b.Value, b.NonAnswer
			}
		}
	}
	type camp struct {
		value string
		ends  []string
		ops   []string
	}
	var camps []camp
	slices.SortStableFunc(s.Second, func(a, b fleet.WatchAnswer) int { return c.index(a.Endpoint) - c.index(b.Endpoint) })
	for _, a := range s.Second {
		e := c.Endpoint(a.Endpoint)
		if a.Value == "" || e == nil {
			continue
		}
		i := slices.IndexFunc(camps, func(x camp) bool { return x.value == a.Value })
		if i < 0 {
			i = len(camps)
			camps = append(camps, camp{value: a.Value})
		}
		camps[i].ends = append(camps[i].ends, a.Endpoint)
		if !slices.Contains(camps[i].ops, e.Spec.Operator) {
			camps[i].ops = append(camps[i].ops, e.Spec.Operator)
		}
	}
	slices.SortStableFunc(camps, func(a, b camp) int { return len(b.ops) - len(a.ops) })
	var odd, parts []string
	for i, x := range camps {
		if i > 0 || len(camps[0].ops) == len(camps[1].ops) {
			odd = append(odd, x.ends...)
		}
		verb := " says "
		if len(x.ends) > 1 {
			verb = " say "
		}
		parts = append(parts, strings.Join(x.ends, ", ")+verb+x.value)
	}
	who := "the odd one is " + strings.Join(odd, ", ")
	if len(camps[0].ops) == len(camps[1].ops) {
		who = "no majority says which is right"
	}
	f.verdict(c, w, fleet.WatchInconsistent, odd, strings.Join(parts, ", ")+" at block "+utoa(s.Number)+" "+s.Hash.String()+", read twice; "+who)
}

// conclude finds the verdict of a round in which nothing is contradicted.
func (f *fold) conclude(c *Chain, w *Watch) {
	r := w.Round
	var unverified, lagging, parts []string
	for _, k := range r.Checks {
		odd := answerOf(r.Answers, k.Odd)
		if odd == nil {
			continue
		}
		if k.Value != "" && k.Value == odd.Latest {
			lagging = append(lagging, k.Odd)
			text := k.Odd + " has " + odd.Latest + " at block " + utoa(k.Number) + ", as has " + k.By + " there"
			if k.Behind > 0 {
				text += "; it sees the change in " + blocks(int64(min(k.Behind, 1<<62))) + " at most"
			}
			parts = append(parts, text)
		} else if k.Own {
			unverified = append(unverified, k.Odd)
			parts = append(parts, k.Odd+" has "+odd.Latest+" at latest, and by its own word "+k.Value+" at block "+utoa(k.Number)+", its head")
		} else {
			unverified = append(unverified, k.Odd)
			parts = append(parts, k.Odd+" has "+odd.Latest+" at block "+utoa(k.Number)+", and nobody else shows that block")
		}
	}
	live, value := 0, ""
	var silent []string
	for _, a := range r.Answers {
		switch {
		case a.Value != "":
			live, value = live+1, a.Value
		case a.NonAnswer != "":
			silent = append(silent, a.Endpoint+": "+a.NonAnswer)
		default:
			silent = append(silent, a.Endpoint+": no answer in time")
		}
	}
	where := " at block " + utoa(r.Number) + " " + r.Hash.Short()
	switch {
	case len(unverified) > 0:
		f.verdict(c, w, fleet.WatchUnverifiable, unverified, strings.Join(parts, "; "))
	case len(lagging) > 0:
		f.verdict(c, w, fleet.WatchLagging, lagging, strings.Join(parts, "; "))
	case live >= 2:
		f.verdict(c, w, fleet.WatchConsistent, nil, itoa(int64(live))+" say "+value+where)
	case r.Denied && w.Verdict != "":
		// Our own limits kept answers from us: nothing is concluded from that.
		r.keep(w)
		w.Round = nil
	case live == 1:
		f.verdict(c, w, fleet.WatchUnconfirmed, nil, "one answer, "+value+where+rest(silent))
	default:
		f.verdict(c, w, fleet.WatchUnanswered, nil, "no answer"+where+rest(silent))
	}
}

// nonAnswer names why there is no value.
func nonAnswer(o fleet.Outcome) string {
	name := o.Class.String()
	switch o.Class {
	case fleet.ClassLocalDenial:
		name = "denied by us"
	case fleet.ClassDeterministicRevert:
		name = "reverts"
	case fleet.ClassNotYetVisible:
		name = "does not have the block"
	case fleet.ClassStateUnavailable:
		name = "state is pruned"
	}
	if o.Message == "" {
		return name
	}
	return name + ": " + fleet.SanitizeMax(o.Message, watchTexts)
}

func rest(silent []string) string {
	if len(silent) == 0 {
		return ""
	}
	return "; " + strings.Join(silent, "; ")
}

// keep takes over the answers of a round: an endpoint that was not part of it
// keeps what it said before.
func (r *WatchRound) keep(w *Watch) {
	out := make([]fleet.WatchAnswer, 0, max(len(w.Answers), len(r.Answers)))
	for _, a := range w.Answers {
		if answerOf(r.Answers, a.Endpoint) == nil && w.Number == r.Number && w.Hash == r.Hash {
			out = append(out, a)
		}
	}
	w.Answers = append(out, r.Answers...)
	w.Number, w.Hash = r.Number, r.Hash
}

// verdict ends a round, and tells of a verdict that has changed.
func (f *fold) verdict(c *Chain, w *Watch, word string, odd []string, text string) {
	w.Round.keep(w)
	w.Round = nil
	changed := w.Verdict != word || !slices.Equal(w.Odd, odd)
	w.Text = text
	if !changed {
		return
	}
	if w.Verdict != word {
		w.Since = f.s.At
	}
	w.Verdict, w.Odd = word, odd
	who := ""
	if len(odd) == 1 {
		who = odd[0]
	}
	data, _ := json.Marshal(struct { // strings and numbers: cannot fail
		Watch   string              `json:"watch"`
		Number  uint64              `json:"number"`
		Hash    fleet.Hash          `json:"hash"`
		Odd     []string            `json:"odd"`
		Answers []fleet.WatchAnswer `json:"answers"`
	}{w.Spec.Name, w.Number, w.Hash, odd, w.Answers})
	f.emit(fleet.Event{Kind: fleet.EventWatch, Chain: c.Spec.Name, Endpoint: who, Sub: word, Reason: w.Spec.Name + " is " + word + ": " + text, Data: data})
}

// watchAlarms: a contradiction is always somebody's fault.
func (c *Chain) watchAlarms() []Alarm {
	var out []Alarm
	for _, w := range c.Watches {
		if w.Verdict == fleet.WatchInconsistent {
			out = append(out, Alarm{Key: "watch:" + w.Spec.Name, Text: "watch " + w.Spec.Name + " is inconsistent: " + w.Text})
		}
	}
	return out
}

func (c *Chain) viewWatches() []fleet.WatchView {
	var out []fleet.WatchView
	for _, w := range c.Watches {
		out = append(out, fleet.WatchView{WatchSpec: w.Spec, Verdict: w.Verdict, Since: w.Since, Number: w.Number, Hash: w.Hash,
			Odd: w.Odd, Text: w.Text, Answers: w.Answers})
	}
	return out
}
