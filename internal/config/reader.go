package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/rpctop/internal/fleet"
)

// Bounds are written in these.
const (
	ms     = time.Millisecond
	sec    = time.Second
	minute = time.Minute
	hour   = time.Hour
	day    = 24 * time.Hour
)

// reader reads one file and records what is wrong with it. A reader of a value
// that fails records the problem and gives the zero value, so that the rest is
// read as well.
type reader struct {
	file     string   // as it was named
	lines    []string // of the source, without line ends
	env      func(string) (string, bool)
	problems []Problem
	told     map[telling]bool
	warnings []Warning
	shown    map[pos]bool // scalars and keys that may be quoted
}

// object is a mapping with a fixed set of keys. A nil object has none, and
// complains of nothing: its own fault is recorded already.
type object struct {
	p      *reader
	at     pos
	what   string
	values map[string]*node
	keys   map[string]pos
	absent map[pos]int // which problem tells of the keys that are missing there
}

// object reads n as a mapping; nil if it is none, or if n is nil.
func (p *reader) object(n *node, what string, known []string) *object {
	if n == nil {
		return nil
	}
	if n.kind != mapping {
		p.failf(n.pos, "known here: "+strings.Join(known, ", "), "%s must be a mapping, not %s", what, n.describe())
		return nil
	}
	o := &object{p: p, at: n.pos, what: what, values: map[string]*node{}, keys: map[string]pos{}, absent: map[pos]int{}}
	for _, e := range n.entries {
		o.values[e.key], o.keys[e.key] = e.value, e.pos
		if !slices.Contains(known, e.key) {
			near := nearest(e.key, known)
			if near != "" && !secretKey(near) && e.value.kind == scalar {
				p.shown[e.value.pos] = true
			}
			p.failf(e.pos, suggest(e.key, known), "unknown key `%s` in %s", tame(e.key), what)
		}
	}
	return o
}

// get gives a key's value, nil if it is absent or empty.
func (o *object) get(key string) *node {
	if o == nil {
		return nil
	}
	if n := o.values[key]; n != nil && n.kind != null {
		return n
	}
	return nil
}

// need is get for a key that must be there; example shows how it is written.
func (o *object) need(key, example string) *node {
	n := o.get(key)
	if n == nil && o != nil {
		o.missing(key, example)
	}
	return n
}

// missing records an absent key; those of one mapping make one problem.
func (o *object) missing(key, example string) {
	at, ok := o.keys[key]
	if !ok {
		at = o.at
	}
	if first, ok := o.absent[at]; ok {
		pr := &o.p.problems[first]
		pr.Message += ", `" + key + "`"
		pr.Hint += ", " + key + ": " + example
		return
	}
	before := len(o.p.problems)
	o.p.failf(at, "write "+key+": "+example, "%s has no `%s`", o.what, key)
	if len(o.p.problems) > before { // else an alias brought us here before
		o.absent[at] = before
	}
}

// scalar gives the text of a single value. It does not permit quoting it.
func (p *reader) scalar(n *node, what string) (string, bool) {
	if n == nil {
		return "", false
	}
	if n.kind != scalar {
		p.failf(n.pos, "", "%s must be a single value, not %s", what, n.describe())
		return "", false
	}
	return n.text, true
}

// text gives a single value that is no secret, and permits quoting it.
func (p *reader) text(n *node, what string) (string, bool) {
	s, ok := p.scalar(n, what)
	if !ok {
		return "", false
	}
	if strings.Contains(s, "${") {
		// What ${} stands for is secret; this is shown and recorded.
		p.failf(p.within(n, "${"), "write the value itself", "%s takes no ${…}: it is not a secret", what)
		return "", false
	}
	p.shown[n.pos] = true
	return s, true
}

// within is the place of part in a scalar, its begin if it cannot be found.
func (p *reader) within(n *node, part string) pos {
	at := p.clamp(n.pos)
	line := []rune(p.lines[at.line-1])[at.col-1:]
	if i := strings.Index(string(line), part); i >= 0 {
		at.col += len([]rune(string(line)[:i]))
	}
	return at
}

// line reads a text of one line: printable, not empty.
func (p *reader) line(n *node, what string) string {
	s, ok := p.text(n, what)
	if ok && (s == "" || len(s) > 1024 || !printable(s)) {
		p.failf(n.pos, "", "%s must be one printable line", what)
		return ""
	}
	return s
}

// name reads the name of something of ours.
func (p *reader) name(n *node, what string) string {
	s, ok := p.text(n, what)
	if ok && !validName(s) {
		p.failf(n.pos, nameRule, "%s `%s` is not a name", what, tame(s))
		return ""
	}
	return s
}

// word reads one of a few words; the first is the default.
func (p *reader) word(n *node, what string, words ...string) string {
	if n == nil {
		return words[0]
	}
	s, ok := p.text(n, what)
	if ok && slices.Contains(words, s) {
		return s
	}
	if ok {
		hint := suggest(s, words)
		if strings.HasPrefix(hint, "known") {
			hint = "write one of: " + strings.Join(words, ", ")
		}
		p.failf(n.pos, hint, "%s cannot be `%s`", what, tame(s))
	}
	return words[0]
}

// integer reads a whole number, decimal or 0x, within bounds; def if n is nil.
func (p *reader) integer(n *node, what string, low, high, def int64) int64 {
	if n == nil {
		return def
	}
	s, ok := p.text(n, what)
	if !ok {
		return def
	}
	digits, base := s, 10 // 010 is ten, and not eight
	if h, isHex := strings.CutPrefix(s, "0x"); isHex {
		digits, base = h, 16
	}
	v, err := strconv.ParseInt(digits, base, 64)
	if err != nil || n.quoted {
		hint := fmt.Sprintf("write a number from %d to %d", low, high)
		if n.quoted && err == nil {
			hint = "remove the quotes"
		}
		p.failf(n.pos, hint, "%s must be a whole number, not `%s`", what, tame(s))
		return def
	}
	if v < low || v > high {
		p.failf(n.pos, fmt.Sprintf("write a number from %d to %d", low, high), "%s is out of range: %d", what, v)
		return def
	}
	return v
}

// number reads a number within bounds; def if n is nil.
func (p *reader) number(n *node, what string, low, high, def float64) float64 {
	if n == nil {
		return def
	}
	s, ok := p.text(n, what)
	if !ok {
		return def
	}
	v, err := strconv.ParseFloat(s, 64)
	hint := fmt.Sprintf("write a number from %s to %s", plain(low), plain(high))
	switch {
	case err != nil || n.quoted || strings.ContainsAny(s, "_xX"):
		p.failf(n.pos, hint, "%s must be a number, not `%s`", what, tame(s))
	case !(v >= low && v <= high): // a NaN is out of range, too
		p.failf(n.pos, hint, "%s is out of range: %s", what, tame(s))
	default:
		return v
	}
	return def
}

func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// duration reads a duration within bounds; def if n is nil.
func (p *reader) duration(n *node, what string, low, high, def time.Duration) time.Duration {
	if n == nil {
		return def
	}
	s, ok := p.text(n, what)
	if !ok {
		return def
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		hint := "write a number with its unit, such as 250ms, 5s, 2m or 168h"
		if _, numErr := strconv.ParseFloat(s, 64); numErr == nil {
			hint = fmt.Sprintf("a duration needs its unit: `%ss`, or `%sms`", tame(s), tame(s))
		}
		p.failf(n.pos, hint, "%s must be a duration, not `%s`", what, tame(s))
	case d < 0:
		p.failf(n.pos, "remove the sign", "%s cannot be negative: %s", what, tame(s))
	case d < low || d > high:
		p.failf(n.pos, fmt.Sprintf("write a duration from %s to %s", short(low), short(high)), "%s is out of range: %s", what, tame(s))
	default:
		return d
	}
	return def
}

// millis is duration for what the policy keeps in whole milliseconds.
func (p *reader) millis(n *node, what string, low, high time.Duration, def fleet.Millis) fleet.Millis {
	return millis(p.duration(n, what, low, high, time.Duration(def)*ms))
}

// short prints a duration without zero parts: 1h and not 1h0m0s.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// list gives the items of a list; nil if it is none.
func (p *reader) list(n *node, what, example string) []*node {
	if n == nil {
		return nil
	}
	if n.kind != sequence {
		p.failf(n.pos, "write "+example, "%s must be a list, not %s", what, n.describe())
		return nil
	}
	return n.items
}
