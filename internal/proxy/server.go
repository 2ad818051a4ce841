package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// program is what an rpctop calls itself at /healthz.
const program = "rpctop"

// Listen opens the proxy's port. If somebody has it, the error says who: the
// rpctop that answers there, by its process id, or nobody that we know.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr)
	if err == nil || !errors.Is(err, syscall.EADDRINUSE) {
		if err != nil {
			err = fmt.Errorf("listen for programs: %w", err)
		}
		return ln, err
	}
	return nil, fmt.Errorf("listen for programs: %s is in use by %s; set proxy.listen, or stop it", addr, holder(ctx, addr))
}

// holder says who answers at an address of this machine.
func holder(ctx context.Context, addr string) string {
	const unknown = "another program"
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return unknown
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/healthz", nil)
	if err != nil {
		return unknown
	}
	t := &http.Transport{DisableKeepAlives: true} // straight there, whatever the environment says
	defer t.CloseIdleConnections()
	resp, err := t.RoundTrip(r)
	if err != nil {
		return unknown
	}
	defer resp.Body.Close()
	var h health
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil || json.Unmarshal(b, &h) != nil || h.Program != program {
		return unknown
	}
	return fmt.Sprintf("another rpctop (pid %d, %s)", h.PID, strings.ToValidUTF8(h.Role, "?"))
}

// Serve answers programs that come to ln until Shutdown, and then gives nil.
func (s *Server) Serve(ln net.Listener) error {
	s.keeper.start(func(ctx context.Context) { s.keep(ctx) })
	if err := s.http.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		s.keeper.stop()
		return fmt.Errorf("serve programs: %w", err)
	}
	return nil
}

// Shutdown takes no new requests and waits for those that are under way; when
// ctx ends first, they are cut.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = fmt.Errorf("shut down the proxy: %w", errors.Join(err, s.http.Close()))
	}
	s.keeper.stop()
	return err
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// A client that reads slowly is cut, whatever it asked.
	write := http.NewResponseController(w)
	_ = write.SetWriteDeadline(time.Now().Add(s.o.Limits.ReadBody + s.o.Limits.Call + s.o.Limits.Write)) // not every writer has one
	// Nor does a refused request's body, which net/http reads to its end, hold anybody up.
	_ = write.SetReadDeadline(time.Now().Add(s.o.Limits.ReadBody))
	if !s.admit(w, r) {
		return
	}
	switch r.URL.Path {
	case "/healthz":
		s.healthz(w, r)
	case "/metrics":
		s.metrics.serve(w, r)
	default:
		s.rpc(w, r)
	}
}

// chainOf finds the chain that a path names.
func (s *Server) chainOf(path string) *chain {
	if path == "/" {
		return s.def
	}
	return s.chains[strings.TrimPrefix(strings.TrimSuffix(path, "/"), "/")]
}
