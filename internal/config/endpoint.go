package config

import (
	"fmt"
	"strings"

	"example.com/rpctop/internal/admission"
)

func (p *reader) endpoints(n *node, chain string) []Endpoint {
	items := p.list(n, "`endpoints`", `[{name: own, url: "http://127.0.0.1:8545"}]`)
	if n.kind == sequence && len(items) == 0 {
		p.failf(n.pos, `write [{name: own, url: "http://127.0.0.1:8545"}]`, "%s has no endpoint", chain)
	}
	out := make([]Endpoint, 0, len(items))
	names := map[string]int{}
	for i, item := range items {
		if o := p.object(item, label("endpoint", i, item)+" of "+chain, endpointKeys); o != nil {
			out = append(out, p.endpoint(o, names))
		}
	}
	return out
}

// label names the item of a list in messages: by its name if it has one, else
// by its number.
func label(what string, i int, item *node) string {
	for _, e := range item.entries {
		if e.key == "name" && e.value.kind == scalar && validName(e.value.text) {
			return what + " `" + tame(e.value.text) + "`"
		}
	}
	return fmt.Sprintf("%s %d", what, i+1)
}

func (p *reader) endpoint(o *object, names map[string]int) Endpoint {
	e := Endpoint{Name: p.uniqueName(o, names)}
	if n := o.need("url", `"https://…"`); n != nil {
		p.endpointURL(&e, n)
	}
	if n := o.get("operator"); n != nil {
		e.Operator = strings.ToLower(p.line(n, "`operator`"))
	}
	e.Tier = int(p.integer(o.get("tier"), "`tier`", 0, 99, 0))
	e.Offset = p.duration(o.get("offset"), "`offset`", 0, minute, 0)
	e.Timeout = p.duration(o.get("timeout"), "`timeout`", 100*ms, 5*minute, DefaultTimeout)
	e.Limits = p.limits(o.get("limits"), "`limits`")
	p.headers(&e, o.get("headers"))
	p.probe(&e, o.get("probe"))
	return e
}

func (p *reader) probe(e *Endpoint, n *node) {
	if !e.Local {
		e.Probe.PerDay = DefaultPerDay
	}
	o := p.object(n, "`probe`", probeKeys)
	perDay, every := o.get("per_day"), o.get("every")
	switch {
	case perDay != nil && every != nil:
		p.failf(every.pos, "keep one of the two", "`probe` takes `per_day` or `every`, not both")
	case perDay != nil:
		e.Probe = Probe{PerDay: p.integer(perDay, "`per_day`", 100, 100_000_000, DefaultPerDay)}
	case every != nil:
		e.Probe = Probe{Every: p.duration(every, "`every`", 50*ms, maxProbePause, sec)}
	}
}

func (p *reader) headers(e *Endpoint, n *node) {
	if n == nil {
		return
	}
	if n.kind != mapping {
		p.failf(n.pos, `write {X-Token: "${TOKEN}"}`, "`headers` must be a mapping from names to values, not %s", n.describe())
		return
	}
	e.Headers = make(map[string]Secret, len(n.entries))
	seen := map[string]bool{}
	for _, h := range n.entries {
		lower := strings.ToLower(h.key)
		switch {
		case !validHeader(h.key):
			p.failf(h.pos, "", "`%s` is not the name of a header", tame(h.key))
			continue
		case hopByHop(lower):
			p.failf(h.pos, "remove it", "the header `%s` is written by the transport itself", h.key)
			continue
		case seen[lower]:
			p.failf(h.pos, "remove one of the two", "the header `%s` stands here twice", tame(h.key))
			continue
		}
		seen[lower] = true
		value, expanded, ok := p.expand(h.value, "the header `"+tame(h.key)+"`")
		if ok && (value == "" || !headerValue(value)) {
			p.failf(h.value.pos, "one line of printable characters", "the value of the header `%s` cannot be sent", tame(h.key))
		}
		e.Headers[h.key] = Secret(value)
		e.Expanded = append(e.Expanded, expanded...)
	}
}

// headerValue reports whether s can be the value of a header.
func headerValue(s string) bool {
	return strings.TrimSpace(s) == s && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// maxUnits is beyond any plan, and far from the end of the numbers.
const maxUnits = 1_000_000_000_000

func (p *reader) limits(n *node, what string) admission.Limits {
	o := p.object(n, what, limitKeys)
	if o == nil {
		return admission.Limits{}
	}
	l := admission.Limits{
		RPS:      p.number(o.get("rps"), "`rps`", 0.01, 100_000, 0),
		Burst:    int(p.integer(o.get("burst"), "`burst`", 1, 1_000_000, 0)),
		InFlight: int(p.integer(o.get("in_flight"), "`in_flight`", 1, 100_000, 0)),
		PerDay:   p.integer(o.get("per_day"), "`per_day`", 1, maxUnits, 0),
		PerMonth: p.integer(o.get("per_month"), "`per_month`", 1, maxUnits, 0),
		Units:    p.units(o.get("units")),
	}
	if b := o.get("burst"); b != nil && o.get("rps") == nil {
		p.failf(b.pos, "set rps as well, such as rps: 10", "`burst` means nothing without `rps`")
	}
	return l
}

// units reads the provider's prices; `default` is that of all other methods.
func (p *reader) units(n *node) map[string]int64 {
	if n == nil {
		return nil
	}
	if n.kind != mapping {
		p.failf(n.pos, "write {eth_call: 26, default: 20}", "`units` must be a mapping from methods to costs, not %s", n.describe())
		return nil
	}
	units := make(map[string]int64, len(n.entries))
	for _, e := range n.entries {
		name := e.key
		if name == "default" {
			name = "*" // admission's word
		} else if !validMethod(name) {
			p.failf(e.pos, "write a method such as eth_call, or default", "`%s` is not a method", tame(name))
			continue
		}
		if e.value.kind == null {
			p.failf(e.pos, "write "+e.key+": 20", "`%s` has no cost", e.key)
			continue
		}
		units[name] = p.integer(e.value, "`"+e.key+"`", 0, 1_000_000, 0)
	}
	return units
}

// validMethod reports whether s reads as a JSON-RPC method: eth_call.
func validMethod(s string) bool {
	space, name, ok := strings.Cut(s, "_")
	notAlnum := func(r rune) bool { return !isAlnum(r) && r != '_' }
	return ok && space != "" && name != "" && len(s) <= maxName && !strings.ContainsFunc(s, notAlnum)
}
