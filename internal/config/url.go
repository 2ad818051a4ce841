package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
)

// FromURLs makes endpoints of the URLs of a command line: named after their
// hosts, each name once, with the defaults of a configuration. Chains are not
// known yet. The error is an *Errors that counts the arguments from 1 and shows
// no more of a URL than its host.
func FromURLs(urls []string) ([]Endpoint, []Warning, error) {
	p := &reader{}
	var out []Endpoint
	names, first := map[string]bool{}, map[string]int{}
	for i, raw := range urls {
		at := Position{File: fmt.Sprintf("argument %d (%s)", i+1, showArgument(raw))}
		u, problem, hint := checkURL(raw)
		if j, twice := first[raw]; twice && problem == "" {
			problem, hint = fmt.Sprintf("the same URL as argument %d", j), "give it once"
		}
		if problem != "" {
			p.problems = append(p.problems, Problem{Position: at, Message: problem, Hint: hint})
			continue
		}
		first[raw] = i + 1
		e := Endpoint{Timeout: DefaultTimeout}
		e.setURL(u, raw)
		if !e.Local {
			e.Probe.PerDay = DefaultPerDay
		}
		e.Name = uniqueHost(u, names)
		if carriesKey(u) {
			p.warnings = append(p.warnings, Warning{at, "what looks like a key can be seen by other users of this machine", "hand URLs over on standard input: rpctop -"})
		}
		out = append(out, e)
	}
	if len(p.problems) > 0 {
		return nil, nil, &Errors{p.problems}
	}
	return out, p.warnings, nil
}

func showArgument(raw string) string {
	if !strings.Contains(raw, "://") {
		return Hidden
	}
	return showURL(raw)
}

// uniqueHost derives a name from the host, and the port if it is given.
func uniqueHost(u *url.URL, taken map[string]bool) string {
	base := strings.Map(func(r rune) rune {
		if isKeyRune(r) || r == '.' {
			return r
		}
		return '-'
	}, strings.ToLower(u.Host[strings.LastIndex(u.Host, "@")+1:]))
	base = strings.TrimLeft(base, "-._")
	if len(base) > maxName-4 {
		base = base[:maxName-4]
	}
	if base == "" {
		base = "endpoint"
	}
	name := base
	for n := 2; taken[name]; n++ {
		name = base + "-" + strconv.Itoa(n)
	}
	taken[name] = true
	return name
}

// endpointURL reads `url` into the endpoint.
func (p *reader) endpointURL(e *Endpoint, n *node) {
	raw, expanded, ok := p.expand(n, "`url`")
	if !ok {
		return
	}
	u, problem, hint := checkURL(raw)
	if problem != "" {
		p.failf(n.pos, hint, "`url`: %s", problem)
		return
	}
	e.setURL(u, raw)
	e.Expanded = append(e.Expanded, expanded...)
	// With references removed, is there still a key in the file itself?
	if literal, err := url.Parse(withoutReferences(n.text)); err == nil && carriesKey(literal) {
		p.warnf(n.pos, "keep it outside: ${NAME} or ${file:PATH}", "what looks like a key stands in the file")
	}
}

func (e *Endpoint) setURL(u *url.URL, raw string) {
	e.URL, e.Host = Secret(raw), strings.ToLower(u.Hostname())
	e.Local, e.Operator = localHost(e.Host), operatorOf(e.Host)
}

func withoutReferences(s string) string {
	for {
		i := strings.Index(s, "${")
		if i < 0 {
			return s
		}
		j := strings.IndexByte(s[i:], '}')
		if j < 0 {
			return s[:i]
		}
		s = s[:i] + s[i+j+1:]
	}
}

// checkURL gives the URL, or what is wrong with it. No text of url.Parse is
// passed on: it quotes its input.
func checkURL(raw string) (u *url.URL, problem, hint string) {
	const want = `write "http://host:port/path" or "https://host/path"`
	scheme, rest, hasScheme := strings.Cut(raw, "://")
	scheme = strings.ToLower(scheme)
	switch {
	case raw == "":
		return nil, "it is empty", want
	case strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return nil, "it has blanks or control characters in it", want
	case !hasScheme && (strings.ContainsAny(raw[:1], `/.~\`) || strings.EqualFold(filepath.Ext(raw), ".ipc")), scheme == "ipc":
		return nil, "IPC paths are not supported by this version", "use the node's HTTP endpoint: http://127.0.0.1:8545"
	case !hasScheme:
		return nil, "it has no scheme", want
	case scheme == "ws" || scheme == "wss":
		return nil, scheme + ":// is not supported by this version", "use the provider's http:// or https:// endpoint"
	case scheme != "http" && scheme != "https":
		return nil, "its scheme is neither http nor https", want
	case strings.Contains(rest, "#"):
		return nil, "it has a fragment (#…), which is never sent", "remove it; inside a key, # is written %23"
	}
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || u.Opaque != "" {
		return nil, "it has no valid host", want
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return nil, "its port is not between 1 and 65535", want
		}
	}
	return u, "", ""
}

// carriesKey guesses whether the URL holds a key.
func carriesKey(u *url.URL) bool {
	if _, has := u.User.Password(); has {
		return true
	}
	for _, seg := range strings.Split(u.Path, "/") {
		if looksLikeKey(seg) {
			return true
		}
	}
	for name, values := range u.Query() {
		n := strings.ToLower(name)
		named := strings.Contains(n, "key") || strings.Contains(n, "token") || strings.Contains(n, "auth")
		for _, v := range values {
			if looksLikeKey(v) || named && v != "" {
				return true
			}
		}
	}
	return false
}

// localHost reports whether the host is one's own: a loopback, private or
// link-local address, or a name that no public resolver answers. No name is
// looked up.
func localHost(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	host = strings.TrimSuffix(host, ".")
	if !strings.Contains(host, ".") {
		return true // localhost, a container, a machine of the LAN
	}
	for _, zone := range []string{".localhost", ".local", ".internal", ".home.arpa"} {
		if strings.HasSuffix(host, zone) {
			return true
		}
	}
	return false
}

// operatorOf guesses who runs a host: its registrable domain, an address as it
// is. It knows the usual shape of national second levels (co.uk) only; where it
// is wrong it takes two for one, which corroborates too little and never too
// much.
func operatorOf(host string) string {
	if _, err := netip.ParseAddr(host); err == nil {
		return host
	}
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	n := len(labels)
	keep := 2
	if n > 2 && len(labels[n-1]) == 2 {
		switch labels[n-2] {
		case "ac", "co", "com", "edu", "gov", "ne", "net", "or", "org":
			keep = 3
		}
	}
	return strings.Join(labels[max(0, n-keep):], ".")
}
