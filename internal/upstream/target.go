package upstream

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"example.com/rpctop/internal/admission"
	"example.com/rpctop/internal/fleet"
)

// DefaultTimeout is an attempt's deadline where neither the call nor the
// endpoint states one.
const DefaultTimeout = 10 * time.Second

// Target is an endpoint as the config states it. It holds secrets and prints
// its name only.
type Target struct {
	ID      fleet.EndpointID
	URL     string            // http or https
	Header  map[string]string // sent with each request
	Timeout time.Duration     // of one attempt; 0: DefaultTimeout
	ChainID uint64            // expected; 0: answers are not checked against it
	Limits  admission.Limits
	Secrets []string // further secrets of at least minValue bytes: what a ${} stood for
}

// Format prints the target's name, whatever the verb.
func (t Target) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "target %s", t.ID) }

// MarshalJSON writes the target's name.
func (t Target) MarshalJSON() ([]byte, error) { return []byte(fmt.Sprintf("%q", t.ID.String())), nil }

// endpoint is a target made ready for requests.
type endpoint struct {
	id      fleet.EndpointID
	url     url.URL // without user info
	header  http.Header
	host    string // a Host header of the config; "" for the URL's
	timeout time.Duration
	chainID uint64
}

// newEndpoint reads a target. No error repeats any part of the URL or of a
// header's value.
func newEndpoint(t Target) (*endpoint, []string, error) {
	u, err := parseURL(t.URL)
	if err != nil {
		return nil, nil, fmt.Errorf("endpoint %s: %w", t.ID, err)
	}
	e := &endpoint{id: t.ID, header: http.Header{}, timeout: t.Timeout, chainID: t.ChainID}
	if e.timeout <= 0 {
		e.timeout = DefaultTimeout
	}
	if u.User != nil {
		pass, _ := u.User.Password()
		r := http.Request{Header: e.header}
		r.SetBasicAuth(u.User.Username(), pass)
	}
	for _, k := range slices.Sorted(maps.Keys(t.Header)) {
		v := t.Header[k]
		if strings.ContainsAny(k+v, "\r\n\x00") || k == "" {
			return nil, nil, fmt.Errorf("endpoint %s: header %q has a line break in its name or value", t.ID, fleet.SanitizeMax(k, 40))
		}
		switch k := http.CanonicalHeaderKey(k); {
		case k == "Host":
			e.host = v
		case !ours(k):
			e.header.Set(k, v)
		}
	}
	secrets := secretsOf(u, t.Header)
	for _, s := range t.Secrets {
		if len(s) >= minValue {
			secrets = append(secrets, s)
		}
	}
	e.url = *u
	e.url.User = nil
	e.url.Fragment, e.url.RawFragment = "", ""
	return e, secrets, nil
}

// ours reports the headers that the door alone sets: a forwarded
// Accept-Encoding would switch off the transport's unpacking, the others frame
// the message.
func ours(canonical string) bool {
	switch canonical {
	case "Accept-Encoding", "Connection", "Content-Length", "Content-Type", "Host", "Keep-Alive",
		"Proxy-Authorization", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
		"Expect", "Idempotency-Key", "X-Idempotency-Key":
		return true
	}
	return false
}

// forwardable reports whether a caller's header may reach an endpoint: never
// what identifies a caller to us.
func forwardable(canonical string) bool {
	switch canonical {
	case "Authorization", "Cookie", "Origin", "Referer":
		return false
	}
	return !ours(canonical)
}

func parseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		// The library's text repeats the URL.
		return nil, errors.New("its URL cannot be read: check for blanks, control characters and % signs")
	}
	switch u.Scheme {
	case "http", "https":
	case "ws", "wss":
		return nil, errors.New("ws:// and wss:// endpoints are not supported: give the http(s) URL")
	default:
		return nil, errors.New("its URL must begin with http:// or https:// (IPC paths are not supported)")
	}
	if u.Hostname() == "" {
		return nil, errors.New("its URL has no host")
	}
	return u, nil
}
