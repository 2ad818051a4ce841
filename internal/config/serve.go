package config

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// minToken is the shortest token that guards a proxy.
const minToken = 16

func defaultForward() []string { return []string{"traceparent", "x-request-id"} }

func (p *reader) proxy(out *Proxy, n *node) {
	o := p.object(n, "`proxy`", proxyKeys)
	if o == nil {
		return
	}
	loopback, listenAt := true, o.at
	if n := o.get("listen"); n != nil {
		listenAt = n.pos
		out.Listen, loopback = p.listen(n)
	}
	if n := o.get("token"); n != nil {
		token, _, ok := p.expand(n, "`token`")
		out.Token = Secret(token)
		if ok && (len(token) < minToken || !headerValue(token)) {
			p.failf(n.pos, "make one: openssl rand -hex 24", "`token` must have at least %d printable characters", minToken)
		}
	} else if !loopback {
		p.failf(listenAt, `set token: "${file:PATH}", or listen on `+DefaultListen, "others can reach `listen`, and there is no `token`")
	}
	for _, n := range p.list(o.get("allow"), "`allow`", "[debug_traceCall]") {
		if s, ok := p.text(n, "a method"); ok && !validMethod(s) {
			p.failf(n.pos, "write a method such as debug_traceCall", "`%s` is not a method", tame(s))
		} else if ok {
			out.Allow = append(out.Allow, s)
		}
	}
	for _, n := range p.list(o.get("origins"), "`origins`", `["https://app.example.org"]`) {
		if s, ok := p.text(n, "an origin"); ok && !validOrigin(s) {
			p.failf(n.pos, "write scheme://host, or scheme://host:port; there is no wildcard", "`%s` is not an origin", tame(s))
		} else if ok {
			out.Origins = append(out.Origins, strings.ToLower(s))
		}
	}
	if n := o.get("forward_headers"); n != nil {
		out.ForwardHeaders = p.forward(n)
	}
}

func (p *reader) forward(n *node) []string {
	out := []string{}
	for _, n := range p.list(n, "`forward_headers`", "[traceparent, x-request-id]") {
		s, ok := p.text(n, "a header")
		lower := strings.ToLower(s)
		switch {
		case !ok:
		case !validHeader(s):
			p.failf(n.pos, "", "`%s` is not the name of a header", tame(s))
		case hopByHop(lower) || slices.Contains([]string{"authorization", "cookie", "origin", "x-rpctop-session"}, lower):
			p.failf(n.pos, "remove it", "the header `%s` is never forwarded", lower)
		default:
			out = append(out, lower)
		}
	}
	return out
}

// listen reads host:port, and tells whether only this machine can reach it.
func (p *reader) listen(n *node) (addr string, loopback bool) {
	s, ok := p.text(n, "`listen`")
	if !ok {
		return DefaultListen, true
	}
	host, port, found := cutPort(s)
	if _, err := strconv.ParseUint(port, 10, 16); !found || err != nil || host != "" && !plainHost(host) {
		p.failf(n.pos, `write "127.0.0.1:8745"`, "`listen` must be host:port, not `%s`", tame(s))
		return DefaultListen, true
	}
	ip, err := netip.ParseAddr(host)
	return s, host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// cutPort splits host:port, the host of [::1]:80 without its brackets.
func cutPort(s string) (host, port string, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return "", "", false
	}
	host, port = s[:i], s[i+1:]
	if inner, v6 := strings.CutPrefix(host, "["); v6 {
		return strings.TrimSuffix(inner, "]"), port, strings.HasSuffix(inner, "]")
	}
	return host, port, !strings.Contains(host, ":")
}

// validOrigin reports whether s is what browsers send as Origin.
func validOrigin(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && plainHost(u.Host) &&
		u.User == nil && u.Path == "" && u.RawQuery == "" && !u.ForceQuery && !strings.Contains(s, "#")
}

// onAlarm reads an argv. Its words may be secrets, so they are not quoted.
func (p *reader) onAlarm(n *node) []string {
	var out []string
	items := p.list(n, "`on_alarm`", "[page-me, rpctop]: a program and its arguments; there is no shell")
	for i, item := range items {
		s, ok := p.scalar(item, "an argument of `on_alarm`")
		if ok && (strings.ContainsRune(s, 0) || i == 0 && s == "") {
			p.failf(item.pos, "the first word is the program", "this cannot be an argument of `on_alarm`")
		}
		out = append(out, s)
	}
	if n != nil && n.kind == sequence && len(items) == 0 {
		p.failf(n.pos, "leave it out, or write [page-me, rpctop]", "`on_alarm` names no program")
	}
	return out
}
