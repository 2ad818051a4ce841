package ui

import (
	"math"
	"strconv"
	"strings"

	"example.com/rpctop/internal/fleet"
)

// filter says which endpoints are shown: those that every term admits. Its zero
// value admits all.
type filter struct {
	text  string // as typed
	terms []filterTerm
	wrong string // what is wrong with the terms that are left out; "" nothing
}

// filterTerm is one word of a filter: `field op value`, or a free text.
type filterTerm struct {
	not    bool
	field  string // "": free text
	op     string // : = > < >= <=
	word   string // lower case
	number float64
}

// filterField is something that a term can ask about.
type filterField struct {
	name, help string
	unit       filterUnit
}

type filterUnit uint8

const (
	unitWord filterUnit = iota
	unitSeconds
	unitMillis
	unitPercent
	unitCount
)

// filterFields is what a filter knows; help and docs are made from it.
func filterFields() []filterField {
	return []filterField{
		{"chain", "the chain's name", unitWord},
		{"name", "the endpoint's name", unitWord},
		{"state", "ok, lagging, stale, down, …", unitWord},
		{"role", "serving, pinned, backup, ejected", unitWord},
		{"operator", "who runs it", unitWord},
		{"gate", "what keeps it out", unitWord},
		{"flag", "a mark such as multi-backend", unitWord},
		{"client", "the node's software", unitWord},
		{"lag", "seconds behind, or with a unit: 500ms, 2m", unitSeconds},
		{"blocks", "blocks behind", unitCount},
		{"seen", "seconds since the last good probe", unitSeconds},
		{"cost", "expected ms to a usable answer", unitMillis},
		{"p50", "ms", unitMillis},
		{"p95", "ms", unitMillis},
		{"errors", "per cent", unitPercent},
		{"denied", "requests that our own limits refused", unitCount},
		{"today", "probe calls since 00:00 UTC", unitCount},
		{"tier", "of the config", unitCount},
	}
}

func filterFieldOf(name string) (filterField, bool) {
	for _, f := range filterFields() {
		if f.name == name {
			return f, true
		}
	}
	return filterField{}, false
}

// parseFilter reads a filter. Terms that make no sense are left out, and the
// first of them is said to be wrong.
func parseFilter(text string) filter {
	f := filter{text: strings.TrimSpace(text)}
	for _, word := range strings.Fields(f.text) {
		t, wrong := parseTerm(word)
		if wrong == "" {
			f.terms = append(f.terms, t)
		} else if f.wrong == "" {
			f.wrong = clean(word) + ": " + wrong
		}
	}
	return f
}

func parseTerm(word string) (t filterTerm, wrong string) {
	body, not := strings.CutPrefix(word, "!")
	t.not = not
	if body == "" {
		return t, "what should not be there?"
	}
	at := strings.IndexAny(body, ":=<>")
	if at < 0 {
		t.word = strings.ToLower(body)
		return t, ""
	}
	t.field, t.op = strings.ToLower(body[:at]), body[at:at+1]
	value := body[at+1:]
	if t.op != ":" && strings.HasPrefix(value, "=") {
		t.op, value = strings.TrimSuffix(t.op, "=")+"=", value[1:]
	}
	field, ok := filterFieldOf(t.field)
	switch {
	case !ok:
		return t, "there is no field " + clean(t.field) + "; " + filterFieldNames()
	case value == "":
		return t, "a value is missing"
	case field.unit == unitWord && t.op != ":" && t.op != "=":
		return t, clean(t.field) + " is a word: compare it with :"
	case field.unit == unitWord:
		t.word = strings.ToLower(value)
		return t, ""
	}
	if t.number, ok = filterNumber(field.unit, value); !ok {
		return t, clean(value) + " is no number"
	}
	return t, ""
}

func filterFieldNames() string {
	s := ""
	for i, f := range filterFields() {
		if i > 0 {
			s += ", "
		}
		s += f.name
	}
	return s
}

// filterNumber reads a number in the unit of a field, or in one that is told.
func filterNumber(u filterUnit, s string) (float64, bool) {
	scale := 1.0
	switch u {
	case unitSeconds, unitMillis:
		for _, known := range [...]struct {
			unit string
			ms   float64
		}{{"ms", 1}, {"s", 1000}, {"m", 60_000}, {"h", 3_600_000}} {
			if rest, ok := strings.CutSuffix(s, known.unit); ok {
				s, scale = rest, known.ms
				if u == unitSeconds {
					scale /= 1000
				}
				break
			}
		}
	case unitPercent:
		s = strings.TrimSuffix(s, "%")
	}
	v, err := strconv.ParseFloat(s, 64)
	return v * scale, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// matches reports whether every term admits the endpoint. What is not known is
// neither more nor less than anything, nor equal to it.
func (f *filter) matches(ch *fleet.ChainView, e *fleet.EndpointView, at fleet.Millis) bool {
	for _, t := range f.terms {
		if t.admits(ch, e, at) == t.not {
			return false
		}
	}
	return true
}

func (t *filterTerm) admits(ch *fleet.ChainView, e *fleet.EndpointView, at fleet.Millis) bool {
	switch t.field {
	case "":
		for _, s := range [...]string{e.Name, ch.Name, e.Operator, e.State, e.Role, reason(e)} {
			if holds(s, t.word) {
				return true
			}
		}
		return false
	case "chain":
		return t.word1(ch.Name)
	case "name":
		return t.word1(e.Name)
	case "state":
		return t.word1(e.State)
	case "role":
		return t.word1(e.Role)
	case "operator":
		return t.word1(e.Operator)
	case "gate":
		return e.Gate != nil && t.word1(e.Gate.Name)
	case "client":
		return t.word1(e.Client)
	case "flag":
		for _, flag := range e.Flags {
			if t.word1(flag) {
				return true
			}
		}
		return false
	}
	v, known := figure(t.field, e, at)
	if !known {
		return false
	}
	switch t.op {
	case ">":
		return v > t.number
	case "<":
		return v < t.number
	case ">=":
		return v >= t.number
	case "<=":
		return v <= t.number
	default:
		return v == t.number
	}
}

// word1 compares a word: with : it is a part of it, with = all of it.
func (t *filterTerm) word1(s string) bool {
	if t.op == "=" {
		return strings.ToLower(clean(s)) == t.word
	}
	return holds(s, t.word)
}

func holds(s, lower string) bool { return strings.Contains(strings.ToLower(clean(s)), lower) }

// figure gives a number of an endpoint as its column shows it: lag and seen in
// seconds, latencies and cost in ms, errors in per cent.
func figure(field string, e *fleet.EndpointView, at fleet.Millis) (v float64, known bool) {
	switch field {
	case "lag":
		if e.LagMS != nil {
			return float64(*e.LagMS) / 1000, true
		}
	case "blocks":
		if e.LagBlocks != nil {
			return float64(*e.LagBlocks), true
		}
	case "seen":
		return float64(max(at-e.HeadAt, 0)) / 1000, e.HeadAt != 0
	case "cost":
		return e.Cost.Total, e.Cost.Known
	case "p50":
		return float64(e.P50) / 1000, e.Successes > 0
	case "p95":
		return float64(e.P95) / 1000, e.Successes > 0
	case "errors":
		return e.ErrorRate * 100, e.Samples > 0
	case "denied":
		return float64(e.Denials), true
	case "today":
		return float64(e.UsedToday), true
	case "tier":
		return float64(e.Tier), true
	case "head":
		if e.Head != nil {
			return float64(e.Head.Number), true
		}
	}
	return 0, false
}
