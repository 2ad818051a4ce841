package config

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/rpctop/internal/fleet"
)

// Load reads and validates the file at path. env answers for ${NAME}; nil: no
// variable is set. The error is an *Errors if the content is wrong, else it
// wraps the file system's (fs.ErrNotExist for a file that is not there).
func Load(path string, env func(string) (string, bool)) (*Config, error) {
	src, err := readSmall(path, maxSource)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	c, err := Parse(path, src, env)
	if err != nil {
		return nil, err
	}
	if st, err := os.Stat(path); err == nil && othersMayRead(st.Mode()) {
		w := Warning{Position{File: path}, "every user of this machine can read it", "chmod o-r"}
		c.Warnings = append([]Warning{w}, c.Warnings...)
	}
	return c, nil
}

func othersMayRead(m fs.FileMode) bool { return m.Perm()&0o004 != 0 }

// Parse validates a configuration. name stands in messages, and relative paths
// start at its folder. The error is an *Errors with all that is wrong.
func Parse(name string, src []byte, env func(string) (string, bool)) (*Config, error) {
	text := strings.ReplaceAll(strings.TrimPrefix(string(src), "\ufeff"), "\r\n", "\n")
	p := &reader{file: name, lines: strings.Split(text, "\n"), env: env, told: map[telling]bool{}, shown: map[pos]bool{}}
	c := Default()
	c.File = name
	if at, ok := p.validText(); !ok {
		p.failf(at, "save it as UTF-8 text", "this is not UTF-8 text")
	} else {
		p.config(c, p.tree(text))
	}
	if err := p.errors(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(p.warnings, func(a, b Warning) int { return byPosition(a.Position, b.Position) })
	c.Warnings = p.warnings
	return c, nil
}

// validText finds the first byte that is no UTF-8, or a NUL.
func (p *reader) validText() (pos, bool) {
	for i, line := range p.lines {
		for j, r := range line {
			bad := r == 0
			if r == utf8.RuneError {
				_, size := utf8.DecodeRuneInString(line[j:])
				bad = size == 1
			}
			if bad {
				return pos{i + 1, utf8.RuneCountInString(line[:j]) + 1}, false
			}
		}
	}
	return pos{}, true
}

const chainsExample = `{gnosis: {chain_id: 100, endpoints: [{name: own, url: "http://127.0.0.1:8545"}]}}`

func (p *reader) config(c *Config, root *node) {
	if root == nil {
		if len(p.problems) == 0 {
			p.failf(pos{1, 1}, "write chains: "+chainsExample, "the file names no chain")
		}
		return
	}
	o := p.object(root, "the configuration", topKeys)
	if n := o.need("chains", chainsExample); n != nil {
		c.Chains = p.chains(n)
	}
	c.Limits = p.limits(o.get("limits"), "`limits`")
	p.policy(&c.Policy, o.get("policy"))
	p.proxy(&c.Proxy, o.get("proxy"))
	c.OnAlarm = p.onAlarm(o.get("on_alarm"))
	if s := p.object(o.get("store"), "`store`", storeKeys); s != nil {
		c.Store.KeepRaw = p.duration(s.get("keep_raw"), "`keep_raw`", hour, 10*365*day, DefaultKeepRaw)
		if n := s.get("group"); n != nil {
			c.Store.Group = p.name(n, "`group`")
		}
	}
	c.Recoveries = p.recoveries(o.get("recoveries"), c.Chains)
}

func (p *reader) chains(n *node) []Chain {
	if n.kind != mapping {
		p.failf(n.pos, "write chains: "+chainsExample, "`chains` must be a mapping from names to chains, not %s", n.describe())
		return nil
	}
	if len(n.entries) == 0 {
		p.failf(n.pos, "write chains: "+chainsExample, "`chains` names no chain")
	}
	var out []Chain
	ids := map[uint64]string{}
	for _, e := range n.entries {
		if !p.entryName(e, "chain", "healthz", "metrics") {
			continue
		}
		ch, idAt := p.chain(e)
		if first, twice := ids[ch.ChainID]; twice {
			p.failf(idAt, "list all its endpoints under one name", "chain `%s` has the chain id %d of chain `%s`", e.key, ch.ChainID, first)
		} else if ch.ChainID != 0 {
			ids[ch.ChainID] = e.key
		}
		out = append(out, ch)
	}
	return out
}

// entryName checks a name that is a key. reserved names mean something else
// where the name is used: paths of the proxy, words of a verb.
func (p *reader) entryName(e entry, what string, reserved ...string) bool {
	switch {
	case !validName(e.key):
		p.failf(e.pos, nameRule, "%s `%s` is not a name", what, tame(e.key))
	case slices.Contains(reserved, e.key):
		p.failf(e.pos, "take another name", "%s `%s`: the name is reserved", what, e.key)
	default:
		return true
	}
	return false
}

func (p *reader) chain(e entry) (ch Chain, idAt pos) {
	what := "chain `" + e.key + "`"
	value := e.value
	if value.kind == null {
		value = &node{kind: mapping, pos: e.pos}
	}
	ch.Name = e.key
	o := p.object(value, what, chainKeys)
	if n := o.need("chain_id", "100"); n != nil {
		idAt = n.pos
		ch.ChainID = uint64(p.integer(n, "`chain_id`", 1, 1<<53, 0))
	}
	_, blockTime, isKnown := KnownChain(ch.ChainID)
	if !isKnown {
		blockTime = DefaultBlockTime
	}
	if n := o.get("block_time"); n != nil {
		blockTime = p.duration(n, "`block_time`", 10*ms, 10*minute, blockTime)
	} else if !isKnown && ch.ChainID != 0 {
		p.warnf(idAt, "set block_time", "the block time of chain id %d is not known, %s is assumed", ch.ChainID, short(DefaultBlockTime))
	}
	ch.BlockTime = blockTime
	if n := o.get("genesis"); n != nil {
		ch.Genesis = p.hash(n, "`genesis`")
	}
	ch.Lag = p.lag(o.get("lag"))
	if n := o.need("endpoints", `[{name: own, url: "http://127.0.0.1:8545"}]`); n != nil {
		ch.Endpoints = p.endpoints(n, what)
		p.independence(n.pos, ch)
	}
	ch.Watches = p.watches(o.get("watches"))
	return ch, idAt
}

func (p *reader) lag(n *node) Lag {
	o := p.object(n, "`lag`", lagKeys)
	if o == nil {
		return Lag{}
	}
	softNode, hardNode := o.need("soft", "5s"), o.need("hard", "30s")
	l := Lag{
		Soft: p.duration(softNode, "`soft`", 10*ms, hour, 0),
		Hard: p.duration(hardNode, "`hard`", 10*ms, hour, 0),
	}
	if l.Soft > 0 && l.Hard > 0 && l.Soft >= l.Hard {
		p.failf(softNode.pos, "write lag: {soft: 5s, hard: 30s}", "`soft` must be less than `hard`: %s and %s", short(l.Soft), short(l.Hard))
	}
	return l
}

// independence warns where no head could ever be corroborated.
func (p *reader) independence(at pos, ch Chain) {
	if len(ch.Endpoints) < 2 {
		return
	}
	for _, e := range ch.Endpoints {
		if e.Operator == "" || e.Operator != ch.Endpoints[0].Operator {
			return
		}
	}
	p.warnf(at, "set operator, or add an endpoint of somebody else",
		"all endpoints of chain `%s` have the operator `%s`: none can confirm another", ch.Name, tame(ch.Endpoints[0].Operator))
}

func (p *reader) watches(n *node) []Watch {
	var out []Watch
	names := map[string]int{}
	for i, item := range p.list(n, "`watches`", `[{name: …, token: "0x…", owner: "0x…", spender: "0x…"}]`) {
		o := p.object(item, label("watch", i, item), watchKeys)
		if o == nil {
			continue
		}
		w := Watch{Name: p.uniqueName(o, names)}
		w.Token = p.address(o.need("token", `"0x…"`), "`token`")
		w.Owner = p.address(o.need("owner", `"0x…"`), "`owner`")
		w.Spender = p.address(o.need("spender", `"0x…"`), "`spender`")
		if r := o.get("required"); r != nil {
			w.Required = p.amount(r, "`required`")
		}
		out = append(out, w)
	}
	return out
}

// uniqueName reads `name`; names maps those that were seen to their lines.
func (p *reader) uniqueName(o *object, names map[string]int) string {
	n := o.need("name", "a short name")
	name := p.name(n, "`name`")
	if name == "" {
		return ""
	}
	if line, twice := names[name]; twice {
		p.failf(n.pos, "rename one of the two", "the name `%s` stands here twice; first in line %d", name, line)
	} else {
		names[name] = n.pos.line
	}
	return name
}

func (p *reader) policy(out *fleet.Policy, n *node) {
	o := p.object(n, "`policy`", policyKeys)
	if o == nil {
		return
	}
	out.Attempts = int(p.integer(o.get("attempts"), "`attempts`", 1, 10, int64(out.Attempts)))
	out.ServeDegraded = p.word(o.get("serve_degraded"), "`serve_degraded`", "reads", "never")
	if s := p.object(o.get("sticky"), "`sticky`", stickyKeys); s != nil {
		out.StickyRatio = p.number(s.get("ratio"), "`ratio`", 1, 100, out.StickyRatio)
		out.StickyGap = fleet.MicrosOf(p.duration(s.get("gap"), "`gap`", 0, minute, out.StickyGap.Duration()))
		out.StickyBeaten = p.millis(s.get("beaten"), "`beaten`", 0, hour, out.StickyBeaten)
		out.StickyDwell = p.millis(s.get("dwell"), "`dwell`", 0, day, out.StickyDwell)
	}
	if b := p.object(o.get("breaker"), "`breaker`", breakerKeys); b != nil {
		out.BreakerRun = int(p.integer(b.get("run"), "`run`", 1, 1000, int64(out.BreakerRun)))
		out.BreakerRatio = p.number(b.get("ratio"), "`ratio`", 0.01, 1, out.BreakerRatio)
		out.BreakerOf = int(p.integer(b.get("of"), "`of`", 1, 10_000, int64(out.BreakerOf)))
		out.BreakerWithin = p.millis(b.get("within"), "`within`", sec, hour, out.BreakerWithin)
	}
}
