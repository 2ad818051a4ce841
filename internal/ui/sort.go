package ui

import (
	"cmp"
	"slices"
	"strings"

	"example.com/rpctop/internal/fleet"
)

// ordering is how the endpoints of each chain stand; chains stay where the
// config has them. The zero value is the order of the config.
type ordering struct {
	by   string // a name of sortKeys
	back bool   // the other way round than the key's own
}

// sortKey is something to sort by.
type sortKey struct {
	letter, name string
	big          bool // its own way is the largest first: the worst
}

// sortKeys is what can be sorted by; help and docs are made from it.
func sortKeys() []sortKey {
	return []sortKey{
		{"n", "name", false}, {"s", "state", false}, {"c", "cost", false}, {"l", "lag", true}, {"b", "blocks", true},
		{"m", "p50", false}, {"p", "p95", false}, {"e", "errors", true}, {"h", "head", true}, {"a", "seen", true},
		{"d", "denied", true}, {"t", "today", true},
	}
}

// configured is the name of the order of the config.
const configured = "config"

func sortKeyOf(name string) (sortKey, bool) {
	for _, k := range sortKeys() {
		if k.name == name {
			return k, true
		}
	}
	return sortKey{}, false
}

// pick is `s` and a letter: another key sorts by it, the same reverses.
func (o ordering) pick(name string) ordering {
	if o.by == name {
		return ordering{by: name, back: !o.back}
	}
	return ordering{by: name}
}

// falling reports that the largest stands first.
func (o ordering) falling() bool {
	k, _ := sortKeyOf(o.by)
	return k.big != o.back
}

// String says how it is sorted, for the header.
func (o ordering) String() string {
	if o.by == "" {
		return ""
	}
	if o.falling() {
		return o.by + " ↓"
	}
	return o.by + " ↑"
}

// severity orders states, the worst first.
var severity = [...]string{"wrong-chain", "identity-flap", "forked", "down", "stale", "refused", "throttled", "identity-unknown",
	"lagging", "ejected", "unknown", "ok"}

// compare tells which of two endpoints stands first. What is not known stands
// last either way.
func (o ordering) compare(a, b *fleet.EndpointView, at fleet.Millis) int {
	n := 0
	switch o.by {
	case "":
		return 0
	case "name":
		n = cmp.Compare(strings.ToLower(clean(a.Name)), strings.ToLower(clean(b.Name)))
	case "state":
		n = cmp.Compare(slices.Index(severity[:], a.State), slices.Index(severity[:], b.State))
	default:
		av, aok := figure(o.by, a, at)
		bv, bok := figure(o.by, b, at)
		switch {
		case aok && bok:
			n = cmp.Compare(av, bv)
		case aok:
			return -1
		case bok:
			return 1
		}
	}
	if o.falling() {
		return -n
	}
	return n
}

// arrange lists the endpoints that a filter admits, chain by chain, sorted;
// equal ones stay in the order of the config. The endpoint keep is listed
// whether it is admitted or not.
func arrange(s *fleet.Snapshot, f filter, o ordering, keep fleet.EndpointID) []fleet.EndpointID {
	var out []fleet.EndpointID
	var shown []*fleet.EndpointView
	for i := range s.Chains {
		ch := &s.Chains[i]
		shown = shown[:0]
		for j := range ch.Endpoints {
			e := &ch.Endpoints[j]
			if len(f.terms) == 0 || keep == (fleet.EndpointID{Chain: ch.Name, Name: e.Name}) || f.matches(ch, e, s.At) {
				shown = append(shown, e)
			}
		}
		if o.by != "" {
			slices.SortStableFunc(shown, func(a, b *fleet.EndpointView) int { return o.compare(a, b, s.At) })
		}
		for _, e := range shown {
			out = append(out, fleet.EndpointID{Chain: ch.Name, Name: e.Name})
		}
	}
	return out
}
