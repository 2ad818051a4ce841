package devnet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

const (
	maxRequest = 8 << 20  // bytes of a request's body
	maxAnswer  = 64 << 20 // bytes of a node's answer
)

// answer is what a front is about to say.
type answer struct {
	status int
	header map[string]string
	body   []byte
}

func jsonAnswer(body []byte) answer {
	return answer{http.StatusOK, map[string]string{"Content-Type": "application/json"}, body}
}

// serve takes one HTTP request: log, wait, then do wrong or pass on.
func (f *Front) serve(w http.ResponseWriter, r *http.Request) {
	if !f.enter() {
		panic(http.ErrAbortHandler)
	}
	defer f.leave()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			http.Error(w, "body too large", http.StatusRequestEntityTooLarge)
		}
		return
	}
	req := parseRequest(body)
	f.log.add(Request{At: time.Now(), Method: req.method(), Members: req.members(), Path: r.URL.Path, Bytes: len(body)})
	if r.Method != http.MethodPost {
		http.Error(w, "POST only", http.StatusMethodNotAllowed)
		return
	}
	fault, height, changed := f.current(req)
	if !pause(r.Context(), f.latency(fault)) {
		return
	}
	f.respond(w, r, req, fault, height, changed)
}

// respond answers under a fault. Handlers that have to cut the connection end
// in a panic that net/http takes for just that.
func (f *Front) respond(w http.ResponseWriter, r *http.Request, req request, fault Fault, height uint64, changed <-chan struct{}) {
	if fault.Kind == Hang {
		select {
		case <-r.Context().Done():
		case <-f.net.ctx.Done():
		case <-changed:
		}
		panic(http.ErrAbortHandler)
	}
	if a, ok := f.gateway(req, fault); ok {
		write(w, a)
		return
	}
	a, err := f.pass(r.Context(), req, fault, height)
	if err != nil {
		if r.Context().Err() != nil {
			return // the client left
		}
		http.Error(w, "node does not answer", http.StatusBadGateway)
		return
	}
	switch fault.Kind {
	case Truncated:
		a.body = a.body[:len(a.body)/2]
		write(w, a)
	case Reset:
		reset(w, a)
	case SendCut:
		panic(http.ErrAbortHandler)
	default:
		write(w, a)
	}
}

// current gives the fault that this request meets, the height at which a frozen
// front stands, and a channel that closes with the fault.
func (f *Front) current(req request) (Fault, uint64, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fault := f.active
	if !fault.hits(req.methods()) {
		return Fault{}, 0, f.changed
	}
	f.matches++
	if fault.Every > 0 && f.matches%fault.Every != 0 {
		return Fault{}, 0, f.changed
	}
	height := f.pinned
	if fault.Kind == Behind {
		height = below(f.node.head(), fault.Blocks)
	}
	return fault, height, f.changed
}

// latency is the front's own, with jitter, and that of the fault.
func (f *Front) latency(fault Fault) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.spec.Latency + f.jitter(f.spec.Jitter)
	if fault.Kind == Slow {
		d += fault.Latency + f.jitter(fault.Jitter)
	}
	return d
}

func (f *Front) jitter(limit time.Duration) time.Duration {
	if limit <= 0 {
		return 0
	}
	return time.Duration(f.rng.Int64N(int64(limit)))
}

// gateway gives the answers that never see the node.
func (f *Front) gateway(req request, fault Fault) (answer, bool) {
	switch fault.Kind {
	case Empty:
		return jsonAnswer(nil), true
	case Status:
		return answer{fault.Code, fault.Header, []byte(fault.Body)}, true
	case HTML:
		body := fault.Body
		if body == "" {
			body = "<!DOCTYPE html><html><head><title>Just a moment...</title></head><body><h1>Checking your browser</h1></body></html>\n"
		}
		return answer{http.StatusOK, map[string]string{"Content-Type": "text/html; charset=utf-8"}, []byte(body)}, true
	case Throttle:
		a := answer{http.StatusTooManyRequests, map[string]string{"Content-Type": "application/json"}, req.fail(-32005, "Too Many Requests")}
		if fault.RetryAfter > 0 {
			a.header["Retry-After"] = strconv.Itoa(int((fault.RetryAfter + time.Second - 1) / time.Second))
		}
		return a, true
	case RateLimited:
		return jsonAnswer(req.fail(-32005, "rate limit exceeded")), true
	case RPCError:
		return jsonAnswer(req.fail(fault.Code, fault.Body)), true
	case Escapes:
		return jsonAnswer(req.fail(-32000, hostileText)), true
	case Canary:
		text := fmt.Sprintf("invalid API key %s for %s", f.key, f.URL())
		return answer{http.StatusUnauthorized, map[string]string{"Content-Type": "application/json", "X-Api-Key": f.key}, req.fail(-32001, text)}, true
	case Redirect:
		return answer{http.StatusTemporaryRedirect, map[string]string{"Location": "http://" + f.addr + "/moved/" + f.key}, nil}, true
	}
	return answer{}, false
}

// hostileText clears the screen, sets the window's title, writes to the
// clipboard, hides itself by bidi controls and forges a line of a log.
const hostileText = "\x1b[2J\x1b[31mowned\x1b]0;title\x07\x1b]52;c;b3duZWQ=\x07\u202egnp.exe\u202c\u009b1A\r\nlevel=info msg=\"all is well\"\x00\x7f"

// pass asks the node, with the request and the answer bent as the fault says.
func (f *Front) pass(ctx context.Context, req request, fault Fault, height uint64) (answer, error) {
	b := f.bender(fault, height)
	if b == nil {
		return f.forward(ctx, req.raw)
	}
	if b.local != nil {
		if body, ok := b.local(req); ok {
			return jsonAnswer(body), nil
		}
	}
	sent, err := req.encode(b.before)
	if err != nil {
		return answer{}, err
	}
	a, err := f.forward(ctx, sent)
	if err != nil || a.status != http.StatusOK {
		return a, err
	}
	if body, ok := req.bend(a.body, b); ok {
		a.body = body
	}
	return a, nil
}

// forward hands a body to the node.
func (f *Front) forward(ctx context.Context, body []byte) (answer, error) {
	out, err := http.NewRequestWithContext(ctx, http.MethodPost, f.node.url, bytes.NewReader(body))
	if err != nil {
		return answer{}, fmt.Errorf("front %s: %w", f.spec.Name, err)
	}
	out.Header.Set("Content-Type", "application/json")
	res, err := f.net.dial.RoundTrip(out)
	if err != nil {
		return answer{}, fmt.Errorf("front %s: %w", f.spec.Name, err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return answer{}, fmt.Errorf("front %s: read answer: %w", f.spec.Name, err)
	}
	return answer{res.StatusCode, map[string]string{"Content-Type": res.Header.Get("Content-Type")}, got}, nil
}

func write(w http.ResponseWriter, a answer) {
	for k, v := range a.header {
		w.Header().Set(k, v)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // the client may have left
}

// reset announces the whole answer, sends half of it and aborts the connection.
func reset(w http.ResponseWriter, a answer) {
	hj, ok := w.(http.Hijacker)
	if !ok {
		panic(http.ErrAbortHandler)
	}
	conn, buf, err := hj.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer conn.Close()
	fmt.Fprintf(buf, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", a.status, http.StatusText(a.status), len(a.body))
	_, _ = buf.Write(a.body[:len(a.body)/2])
	_ = buf.Flush()
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // close sends RST instead of FIN
	}
}
