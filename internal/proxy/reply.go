package proxy

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/rpctop/internal/jsonrpc"
)

// Headers of the proxy's own.
const (
	headerSession  = "X-Rpctop-Session"
	headerEndpoint = "X-Rpctop-Endpoint"
	headerAttempts = "X-Rpctop-Attempts"
	headerDegraded = "X-Rpctop-Degraded"
)

// reply is what a request gets: a result or an error, verbatim.
type reply struct {
	status     int // HTTP; 0: 200
	result     json.RawMessage
	fail       json.RawMessage // an error object
	class      string          // for the metrics
	retryAfter time.Duration
	endpoint   string // that answered
	attempts   int
	degraded   string // why the answer may be old; "": it is not
	gone       bool   // the client has left, nobody reads this
}

// append writes the answer as one object.
func (r *reply) append(dst []byte, id json.RawMessage) []byte {
	dst = r.open(dst, id)
	if r.fail != nil {
		dst = append(dst, r.fail...)
	} else {
		dst = append(dst, r.result...)
	}
	return append(dst, '}')
}

// open writes all up to the result's or error's own bytes.
func (r *reply) open(dst []byte, id json.RawMessage) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	if r.fail != nil {
		return append(dst, `,"error":`...)
	}
	return append(dst, `,"result":`...)
}

// write sends the answer to a single request. Its large part is not copied.
func (s *Server) write(w http.ResponseWriter, id json.RawMessage, r reply) {
	if r.gone {
		return
	}
	head := r.open(make([]byte, 0, 64+len(id)), id)
	body := r.result
	if r.fail != nil {
		body = r.fail
	}
	h := w.Header()
	h["Content-Type"] = jsonType
	h.Set("Content-Length", strconv.Itoa(len(head)+len(body)+1))
	if r.endpoint != "" {
		h[headerEndpoint] = []string{r.endpoint}
	}
	h[headerAttempts] = []string{strconv.Itoa(r.attempts)}
	if r.degraded != "" {
		h[headerDegraded] = []string{r.degraded}
	}
	if r.retryAfter > 0 {
		h.Set("Retry-After", seconds(r.retryAfter))
	}
	status := r.status
	if status == 0 {
		status = http.StatusOK
	}
	s.limitWriting(w)
	w.WriteHeader(status)
	for _, part := range [...][]byte{head, body, {'}'}} {
		if _, err := w.Write(part); err != nil {
			return // the client has left
		}
	}
}

var jsonType = []string{"application/json"}

// writeBatch sends the answers to a batch in the order of its requests; those
// to notifications are left out.
func (s *Server) writeBatch(w http.ResponseWriter, in []jsonrpc.Incoming, replies []reply) {
	size, attempts := 2, 0
	var endpoints, degraded []string
	for i := range replies {
		r := &replies[i]
		if r.gone {
			return // one client sent them all
		}
		size += len(r.result) + len(r.fail) + len(in[i].ID) + 48
		attempts += r.attempts
		if r.endpoint != "" && !slices.Contains(endpoints, r.endpoint) {
			endpoints = append(endpoints, r.endpoint)
		}
		if r.degraded != "" && !slices.Contains(degraded, r.degraded) {
			degraded = append(degraded, r.degraded)
		}
	}
	body := make([]byte, 0, size)
	for i := range replies {
		if in[i].ID == nil && in[i].Problem == "" {
			continue
		}
		if len(body) == 0 {
			body = append(body, '[')
		} else {
			body = append(body, ',')
		}
		body = replies[i].append(body, in[i].ID)
	}
	h := w.Header()
	h.Set(headerAttempts, strconv.Itoa(attempts))
	if len(endpoints) > 0 {
		h.Set(headerEndpoint, strings.Join(endpoints, ", "))
	}
	if len(degraded) > 0 {
		h.Set(headerDegraded, strings.Join(degraded, ", "))
	}
	if len(body) == 0 {
		w.WriteHeader(http.StatusNoContent) // notifications only
		return
	}
	body = append(body, ']')
	h["Content-Type"] = jsonType
	h.Set("Content-Length", strconv.Itoa(len(body)))
	s.limitWriting(w)
	_, _ = w.Write(body) // the client may have left
}

// limitWriting cuts a client that does not take its answer.
func (s *Server) limitWriting(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.o.Limits.Write)) // not every writer has one
}

// seconds rounds up: a client that comes back too early would be refused again.
func seconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}
