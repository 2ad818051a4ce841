package proxy

import (
	"crypto/sha256"
	"crypto/subtle"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"example.com/rpctop/internal/fleet"
)

// admit checks who asks, and how, before anything is read: a page in a browser
// on this machine reaches loopback too. False: the request was answered.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) bool {
	if !s.hostKnown(r) {
		return s.refuse(w, r, http.StatusForbidden, "Host is not this machine: "+fleet.SanitizeMax(r.Host, 80))
	}
	origin := r.Header.Get("Origin")
	if len(r.Header.Values("Origin")) > 0 {
		if !slices.Contains(s.o.Origins, strings.ToLower(origin)) {
			return s.refuse(w, r, http.StatusForbidden, "Origin is not allowed: "+fleet.SanitizeMax(origin, 80))
		}
		w.Header().Set("Access-Control-Allow-Origin", origin)
		w.Header().Add("Vary", "Origin")
		w.Header().Set("Access-Control-Expose-Headers", headerEndpoint+", "+headerAttempts+", "+headerDegraded+", Retry-After")
		if r.Method == http.MethodOptions {
			w.Header().Set("Access-Control-Allow-Methods", "POST")
			w.Header().Set("Access-Control-Allow-Headers", "authorization, content-type, "+strings.ToLower(headerSession))
			w.WriteHeader(http.StatusNoContent)
			return false
		}
	}
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") { // h2c, which some clients offer, may be ignored
		return s.refuse(w, r, http.StatusNotImplemented, "WebSocket is not offered; POST to the same address")
	}
	read := r.URL.Path == "/healthz" || r.URL.Path == "/metrics"
	if r.URL.Path != "/healthz" && !s.trusted(r) { // what /healthz tells depends on it
		w.Header().Set("WWW-Authenticate", "Bearer")
		return s.refuse(w, r, http.StatusUnauthorized, "a token is needed: Authorization: Bearer TOKEN")
	}
	switch {
	case read && r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		return s.refuse(w, r, http.StatusMethodNotAllowed, "GET only")
	case read:
		return true
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", "POST")
		return s.refuse(w, r, http.StatusMethodNotAllowed, "JSON-RPC needs POST; GET serves /healthz and /metrics")
	case !isJSON(r.Header.Get("Content-Type")):
		return s.refuse(w, r, http.StatusUnsupportedMediaType, "Content-Type must be application/json")
	case r.ContentLength > s.o.Limits.MaxBody:
		return s.refuse(w, r, http.StatusRequestEntityTooLarge, tooLarge)
	}
	return true
}

const tooLarge = "the body is too large"

// refuse answers in plain text, and names nothing but the reason.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, status int, why string) bool {
	s.metrics.refused(status)
	s.tell("refused a request", "status", status, "why", why, "from", r.RemoteAddr)
	if status == http.StatusRequestEntityTooLarge || status == http.StatusRequestTimeout {
		w.Header().Set("Connection", "close") // the rest of the body is not waited for
	}
	http.Error(w, why, status)
	return false
}

// tell logs a refusal, at most one a second: whoever may reach the port may
// repeat it as often. The metrics count all.
func (s *Server) tell(msg string, args ...any) {
	now := s.o.Now().Unix()
	if was := s.told.Load(); was != now && s.told.CompareAndSwap(was, now) {
		s.o.Log.Warn(msg, args...)
	}
}

// hostKnown: a name that only this machine answers to, or the address that the
// connection came in at. Names of others are how DNS rebinding shows.
func (s *Server) hostKnown(r *http.Request) bool {
	host := strings.ToLower(r.Host)
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if host == "localhost" || slices.Contains(s.hosts, host) {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	if ip = ip.Unmap(); ip.IsLoopback() {
		return true
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && local.AddrPort().Addr().Unmap() == ip
}

// trusted compares digests, so that the time tells nothing of the token.
func (s *Server) trusted(r *http.Request) bool {
	if s.o.Token == "" {
		return true
	}
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	want, got := sha256.Sum256([]byte(s.o.Token)), sha256.Sum256([]byte(strings.TrimSpace(given)))
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}

// isJSON takes application/json with or without parameters.
func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	t, _, err := mime.ParseMediaType(contentType)
	return err == nil && t == "application/json"
}

// forwarded gives the client's headers that reach the endpoints; nil if none.
func (s *Server) forwarded(r *http.Request) (out map[string]string) {
	for _, k := range s.forward {
		if vs := r.Header[k]; len(vs) > 0 {
			if out == nil {
				out = make(map[string]string, len(s.forward))
			}
			out[k] = strings.Join(vs, ", ")
		}
	}
	return out
}
