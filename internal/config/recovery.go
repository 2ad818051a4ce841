package config

import (
	"net/url"
	"slices"
	"strings"
)

// presetContextGraph is the one preset so far.
const presetContextGraph = "origintrail/create-context-graph"

func (p *reader) recoveries(n *node, chains []Chain) []Recovery {
	if n == nil {
		return nil
	}
	if n.kind != mapping {
		p.failf(n.pos, "write recoveries: {NAME: {…}}", "`recoveries` must be a mapping from names to recoveries, not %s", n.describe())
		return nil
	}
	var out []Recovery
	for _, e := range n.entries {
		if p.entryName(e, "recovery", "list") {
			out = append(out, p.recovery(e, chains))
		}
	}
	return out
}

func (p *reader) recovery(e entry, chains []Chain) Recovery {
	r := Recovery{Name: e.key}
	value := e.value
	if value.kind == null {
		value = &node{kind: mapping, pos: e.pos}
	}
	o := p.object(value, "recovery `"+e.key+"`", recoveryKeys)
	if o == nil {
		return r
	}
	p.target(&r, o)
	if n := o.need("chain", "the name of a chain"); n != nil {
		r.Chain = p.chainName(n, chains)
	}
	r.From = p.address(o.need("from", `"0x…"`), "`from`")
	r.Spender = p.address(o.get("spender"), "`spender`")
	if token := o.get("token"); token != nil || r.Preset == "" {
		r.Token = p.address(o.need("token", `"0x…"`), "`token`")
	}
	if n := o.need("required", "revert"); n != nil {
		r.Required = p.required(n)
	}
	if n := o.need("signer", "{keystore: PATH}"); n != nil {
		r.Signer = p.signer(n)
	}
	r.Approve = p.approve(o.get("approve"))
	if f := p.object(o.get("fees"), "`fees`", feeKeys); f != nil {
		r.Fees.MaxFeePerGas = p.fee(f.get("max_fee_per_gas"), "`max_fee_per_gas`")
		r.Fees.MaxCost = p.fee(f.get("max_cost"), "`max_cost`")
		r.Fees.TargetGas = uint64(p.integer(f.get("target_gas"), "`target_gas`", 21_000, 1_000_000_000, 0))
	}
	return r
}

// target reads what is called: a preset, to + data, or to + abi + method + args.
func (p *reader) target(r *Recovery, o *object) {
	const forms = "write preset, or to + data, or to + abi + method + args"
	preset, data, abi, method := o.get("preset"), o.get("data"), o.get("abi"), o.get("method")
	switch {
	case preset != nil:
		r.Preset = p.word(preset, "`preset`", presetContextGraph)
		for _, n := range []*node{data, abi, method} {
			if n != nil {
				p.failf(n.pos, forms, "a preset brings its own call")
			}
		}
	case data != nil && (abi != nil || method != nil):
		p.failf(data.pos, forms, "`data` is the whole call; it goes with no `abi` and `method`")
	case data == nil && abi == nil && method == nil:
		p.failf(o.at, forms, "%s does not say what is called", o.what)
	case data == nil:
		o.need("abi", `"function f(uint256)"`)
		o.need("method", "f")
	}
	if preset == nil {
		o.need("to", `"0x…"`)
	}
	r.To = p.address(o.get("to"), "`to`")
	r.Data = p.bytes(data, "`data`")
	if abi != nil {
		r.ABI = p.line(abi, "`abi`")
	}
	if method != nil {
		r.Method = p.line(method, "`method`")
	}
	r.Value = p.amount(o.get("value"), "`value`")
	if args := o.get("args"); args != nil {
		if data != nil {
			p.failf(args.pos, forms, "`data` is the whole call; it goes with no `args`")
		}
		r.Args = p.args(p.list(args, "`args`", `["0x…", 1]`))
	}
}

// args keeps arguments as they are written: the ABI tells their types later.
func (p *reader) args(items []*node) []any {
	out := make([]any, 0, len(items))
	for _, n := range items {
		if n.kind == sequence {
			out = append(out, p.args(n.items))
		} else if s, ok := p.text(n, "an argument"); ok {
			out = append(out, s)
		}
	}
	return out
}

func (p *reader) chainName(n *node, chains []Chain) string {
	s, ok := p.text(n, "`chain`")
	if !ok {
		return ""
	}
	names := make([]string, len(chains))
	for i, c := range chains {
		names[i] = c.Name
	}
	// Without any chain that is what has to be repaired first.
	if len(names) > 0 && !slices.Contains(names, s) {
		p.failf(n.pos, suggest(s, names), "there is no chain `%s`", tame(s))
	}
	return s
}

func (p *reader) required(n *node) Required {
	if n.kind == mapping {
		o := p.object(n, "`required`", requiredKeys)
		r := Required{From: "call", To: p.address(o.need("to", `"0x…"`), "`to`")}
		call := o.need("call", `"deposit()"`)
		if r.Call = p.line(call, "`call`"); r.Call != "" && !view(r.Call) {
			p.failf(call.pos, `write a view without arguments, such as "deposit()"`, "`call` cannot be `%s`", tame(r.Call))
		}
		return r
	}
	if n.text == "revert" {
		p.text(n, "`required`")
		return Required{From: "revert"}
	}
	if n.kind == scalar && !strings.ContainsAny(n.text, "0123456789") {
		p.failf(n.pos, `write revert, or {call: "deposit()", to: "0x…"}, or "100e18"`, "`required` is none of the known ones")
		return Required{}
	}
	return Required{From: "amount", Amount: p.amount(n, "`required`")}
}

// view reports whether s is the signature of a function without arguments.
func view(s string) bool {
	name, ok := strings.CutSuffix(s, "()")
	return ok && validVar(name)
}

// signer reads who signs. Nothing here is quoted: a raw key may have been put
// where its variable's name belongs.
func (p *reader) signer(n *node) Signer {
	const forms = "write offline, or {keystore: PATH}, {external: URL}, {env: NAME}"
	if n.kind == scalar {
		if n.text != "offline" {
			p.failf(n.pos, forms, "`signer` is none of the known ones")
		}
		return Signer{Kind: "offline"}
	}
	o := p.object(n, "`signer`", signerKeys)
	if o == nil {
		return Signer{}
	}
	if len(n.entries) != 1 {
		p.failf(n.pos, forms, "`signer` takes exactly one way to sign")
		return Signer{}
	}
	key, value := n.entries[0].key, n.entries[0].value
	if !slices.Contains(signerKeys, key) {
		return Signer{}
	}
	if key == "env" {
		s, ok := p.scalar(value, "`env`")
		if ok && !validVar(s) {
			p.failf(value.pos, "write the variable's name: {env: DEV_KEY}", "`env` is not the name of a variable")
		}
		return Signer{Kind: key, Env: s}
	}
	s, _, ok := p.expand(value, "`"+key+"`")
	switch {
	case !ok:
	case s == "" || !printable(s):
		p.failf(value.pos, forms, "`%s` is empty", key)
	case key == "keystore":
		return Signer{Kind: key, Keystore: p.relative(s)}
	case !signerAddress(s):
		p.failf(value.pos, "https://…, http:// on loopback, or the path of a socket", "`external` must be reached in private")
	default:
		return Signer{Kind: key, External: Secret(s)}
	}
	return Signer{Kind: key}
}

// signerAddress refuses plain HTTP beyond loopback.
func signerAddress(s string) bool {
	if !strings.Contains(s, "://") {
		return strings.HasPrefix(s, "/") || strings.HasSuffix(s, ".ipc")
	}
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" {
		return false
	}
	host := u.Hostname()
	return u.Scheme == "https" || u.Scheme == "http" && (host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.") && localHost(host))
}

func (p *reader) approve(n *node) Approve {
	a := Approve{Policy: "exact", ZeroFirst: "ask", MaxApproves: 1}
	o := p.object(n, "`approve`", approveKeys)
	if o == nil {
		return a
	}
	a.Policy = p.word(o.get("policy"), "`policy`", "exact", "target", "unlimited")
	a.ZeroFirst = p.word(o.get("zero_first"), "`zero_first`", "ask", "auto", "never")
	a.MaxApproves = int(p.integer(o.get("max_approves"), "`max_approves`", 1, 2, 1))
	a.Max = p.amount(o.get("max"), "`max`")
	amount := o.get("amount")
	switch {
	case a.Policy == "target":
		a.Amount = p.amount(o.need("amount", `"1000e18"`), "`amount`")
		if a.Amount != nil && a.Max != nil && a.Amount.Cmp(a.Max) > 0 {
			p.failf(amount.pos, "raise `max`, or lower `amount`", "`amount` is above `max`")
		}
	case amount != nil:
		p.failf(amount.pos, "remove it, or write policy: target", "`amount` goes with the policy target")
	}
	return a
}
