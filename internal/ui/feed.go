package ui

import (
	"strings"

	"example.com/rpctop/internal/fleet"
)

// feed is the line-up of events.
type feed struct {
	lines   []feedLine // oldest first
	since   uint64     // the last event pulled
	begun   bool
	focused bool   // keys move in it
	sel     uint64 // the selected event; 0: the newest, whichever that is
}

// feedLine is an event, or the place where some are missing.
type feedLine struct {
	fleet.Event
	missed uint64
}

// pull takes new events. At the first time it begins a little before the
// newest, and what lies before that is not missing.
func (f *feed) pull(s Source, newest uint64) {
	if !f.begun {
		f.begun = true
		if newest > pulledEvents {
			f.since = newest - pulledEvents
		}
		evs, _ := s.Events(f.since, pulledEvents)
		f.add(evs, 0)
		return
	}
	evs, missed := s.Events(f.since, pulledEvents)
	f.add(evs, missed)
}

func (f *feed) add(evs []fleet.Event, missed uint64) {
	if missed > 0 {
		gap := feedLine{missed: missed}
		gap.Kind, gap.Seq = fleet.EventGap, f.since+missed
		if len(evs) > 0 {
			gap.At = evs[0].At
		}
		gap.Reason = plural(int(min(missed, 1<<31)), "event") + " came faster than could be shown; the history has them"
		f.lines = append(f.lines, gap)
		f.since = max(f.since, gap.Seq)
	}
	for _, e := range evs {
		if e.Seq <= f.since && f.since != 0 {
			continue
		}
		f.lines = append(f.lines, feedLine{Event: e})
		f.since = e.Seq
	}
	if n := len(f.lines) - keptEvents; n > 0 {
		f.lines = append([]feedLine(nil), f.lines[n:]...)
	}
}

// at gives the i-th newest line.
func (f *feed) at(i int) *feedLine {
	if i < 0 || i >= len(f.lines) {
		return nil
	}
	return &f.lines[len(f.lines)-1-i]
}

// selected gives how many lines are newer than the selected one.
func (f *feed) selected() int {
	if f.sel == 0 {
		return 0
	}
	for i := range f.lines {
		if l := f.at(i); l.Seq <= f.sel {
			return i
		}
	}
	return max(len(f.lines)-1, 0)
}

// move selects the event n lines further down; the newest is followed.
func (f *feed) move(n int) {
	i := max(0, min(len(f.lines)-1, f.selected()+n))
	f.sel = 0
	if l := f.at(i); l != nil && i > 0 {
		f.sel = l.Seq
	}
}

// lastSwitch gives the newest switch of a chain; nil if none is kept.
func (f *feed) lastSwitch(chain string) *fleet.Event {
	for i := range f.lines {
		if l := f.at(i); l.Kind == fleet.EventSwitch && l.Chain == chain {
			return &l.Event
		}
	}
	return nil
}

// subject says whom an event is about: from and to, or the endpoint.
func subject(e *fleet.Event) string {
	from, to := clean(e.From), clean(e.To)
	switch {
	case e.Kind == fleet.EventSwitch || e.Kind == fleet.EventFailover:
		if from == "" {
			from = "nobody"
		}
		if to == "" {
			to = "nobody"
		}
		return from + " → " + to
	case e.Endpoint != "":
		return clean(e.Endpoint)
	default:
		return ""
	}
}

// about gives the endpoint that an event leads to.
func about(e *fleet.Event) fleet.EndpointID {
	for _, name := range []string{e.Endpoint, e.From, e.To} {
		if name != "" {
			return fleet.EndpointID{Chain: e.Chain, Name: name}
		}
	}
	return fleet.EndpointID{Chain: e.Chain}
}

// eventLook gives the ink of an event's kind.
func eventLook(k fleet.EventKind) ink {
	switch k {
	case fleet.EventAlarm, fleet.EventGap:
		return bad
	case fleet.EventGate, fleet.EventFailover, fleet.EventSwitch, fleet.EventDenied:
		return warn
	case fleet.EventUngate:
		return good
	case fleet.EventOverride, fleet.EventRecovery, fleet.EventWatch:
		return strong
	default:
		return faint
	}
}

// eventLines draws the newest events in exactly h lines of w cells.
func (c *console) eventLines(w, h int) []string {
	f := &c.feed
	first := 0
	if i := f.selected(); f.focused && i >= h {
		first = i - h + 1
	}
	nameW, chainW, kindW := 0, 0, 8
	for i := first; i < min(first+h, len(f.lines)); i++ {
		l := f.at(i)
		nameW, chainW = max(nameW, cells(subject(&l.Event))), max(chainW, cells(clean(l.Chain)))
	}
	nameW, chainW = min(nameW, max(w/4, 14)), min(chainW, max(w/10, 8))
	if w < 60 {
		chainW = 0
	}
	out := make([]string, 0, h)
	for i := first; len(out) < h; i++ {
		l := f.at(i)
		if l == nil {
			if i == 0 {
				out = append(out, c.theme.paint(faint, fit("  nothing has happened yet", w)))
				continue
			}
			out = append(out, "")
			continue
		}
		out = append(out, c.eventLine(l, w, nameW, chainW, kindW, f.focused && i == f.selected()))
	}
	return out
}

func (c *console) eventLine(l *feedLine, w, nameW, chainW, kindW int, selected bool) string {
	t, e := &c.theme, &l.Event
	mark, stamp, kind := "  ", "        ", fit(string(e.Kind), kindW)
	if selected {
		mark = "▸ "
	}
	if e.At != 0 {
		stamp = e.At.Time().Format("15:04:05")
	}
	name := ""
	if s := subject(e); s != "" || chainW > 0 {
		name = fitName(s, nameW)
	}
	chain := ""
	if chainW > 0 {
		chain = fitName(clean(e.Chain), chainW) + "  "
	}
	reason := clean(e.Reason)
	if name != "" {
		reason = "  " + reason
	}
	rest := w - cells(mark+stamp+"  "+kind+" "+chain+name)
	reason = fit(reason, max(rest, 0))
	if selected {
		return t.paint(chosen, fit(mark+stamp+"  "+kind+" "+chain+name+reason, w))
	}
	return mark + t.paint(faint, stamp) + "  " + t.paint(eventLook(e.Kind), kind) + " " +
		t.paint(faint, chain) + name + strings.TrimRight(reason, " ")
}
