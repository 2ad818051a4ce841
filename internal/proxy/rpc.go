package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/jsonrpc"
)

// client is who asks: what all requests of one HTTP request share.
type client struct {
	session string // of the client's own making; "": none
	header  map[string]string
}

// maxSession is the length of a session's name, in bytes.
const maxSession = 128

// rpc answers a body of JSON-RPC.
func (s *Server) rpc(w http.ResponseWriter, r *http.Request) {
	ch := s.chainOf(r.URL.Path)
	if ch == nil {
		s.refuse(w, r, http.StatusNotFound, "no such chain here; POST to /<chain>")
		return
	}
	who := client{session: r.Header.Get(headerSession), header: s.forwarded(r)}
	if len(who.session) > maxSession || fleet.Sanitize(who.session) != who.session {
		s.refuse(w, r, http.StatusBadRequest, headerSession+" must be at most 128 printable characters")
		return
	}
	buf := buffers.Get().(*bytes.Buffer)
	defer func() {
		if buf.Cap() <= keptBuffer {
			buf.Reset()
			buffers.Put(buf)
		}
	}()
	if !s.readBody(w, r, buf) {
		return
	}
	in, batch, err := jsonrpc.ReadIncoming(buf.Bytes(), s.o.Limits.MaxDepth, s.o.Limits.MaxBatch)
	switch {
	case errors.Is(err, jsonrpc.ErrTooMany):
		s.refuse(w, r, http.StatusRequestEntityTooLarge, err.Error())
	case errors.Is(err, jsonrpc.ErrTooDeep):
		s.write(w, nullID, notARequest(err.Error()))
	case err != nil:
		s.write(w, nullID, notJSON(err.Error()))
	case batch && len(in) == 0:
		s.write(w, nullID, notARequest("an empty batch"))
	case batch:
		s.writeBatch(w, in, s.batch(r.Context(), ch, in, who))
	default:
		rep := s.carry(r.Context(), ch, in[0], who)
		if in[0].ID == nil && in[0].Problem == "" {
			w.WriteHeader(http.StatusNoContent) // a notification gets no answer
			return
		}
		s.write(w, in[0].ID, rep)
	}
}

var nullID = json.RawMessage("null")

// keptBuffer is the size of a buffer that is worth keeping.
const keptBuffer = 64 << 10

// buffers are for bodies; nothing that outlives a request points into one.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// readBody reads the body within its limits of size and time.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request, buf *bytes.Buffer) bool {
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(s.o.Limits.ReadBody)) // not every writer has one
	_, err := buf.ReadFrom(http.MaxBytesReader(w, r.Body, s.o.Limits.MaxBody))
	if err == nil {
		// From here on the connection is read only to learn that the client
		// left. After an error the deadline stays, or the rest would be awaited.
		_ = rc.SetReadDeadline(time.Time{})
		return true
	}
	var large *http.MaxBytesError
	var late net.Error
	switch {
	case errors.As(err, &large):
		return s.refuse(w, r, http.StatusRequestEntityTooLarge, tooLarge)
	case errors.As(err, &late) && late.Timeout():
		return s.refuse(w, r, http.StatusRequestTimeout, "the body took too long")
	}
	return s.refuse(w, r, http.StatusBadRequest, "the body could not be read")
}

// batch carries the members of a batch out, several at a time, and gives the
// replies in the order of the requests. Once the answers have grown too large
// together, the members that have not begun are refused.
func (s *Server) batch(ctx context.Context, ch *chain, in []jsonrpc.Incoming, who client) []reply {
	out := make([]reply, len(in))
	var size atomic.Int64
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(len(in), s.o.Limits.Abreast) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(in) {
					return
				}
				if size.Load() > s.o.Limits.MaxAnswers {
					out[i] = batchTooLarge()
					continue
				}
				out[i] = s.carry(ctx, ch, in[i], who)
				size.Add(int64(len(out[i].result) + len(out[i].fail)))
			}
		})
	}
	wg.Wait()
	return out
}

// carry answers one request.
func (s *Server) carry(ctx context.Context, ch *chain, in jsonrpc.Incoming, who client) (rep reply) {
	if in.Problem != "" {
		return notARequest(in.Problem)
	}
	start := s.o.Now()
	defer func() { s.metrics.request(ch, in.Method, s.methods, rep.class, s.o.Now().Sub(start)) }()
	defer func() {
		if p := recover(); p != nil { // one request's panic is not the process's
			s.o.Log.Error("panic in a request", "method", fleet.SanitizeMax(in.Method, 80), "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			rep = own{status: 500, code: -32603, class: "internal", message: "internal error"}.reply()
		}
	}()
	m, ok := s.methods[in.Method]
	if !ok {
		s.tell("refused a method", "chain", ch.Name, "method", fleet.SanitizeMax(in.Method, 80), "why", refusal(in.Method))
		return notListed(in.Method)
	}
	switch m.use {
	case useSend:
		return s.send(ctx, ch, in, who)
	case useNew:
		return s.newFilter(ctx, ch, m, in, who)
	case useFilter:
		return s.useFilter(ctx, ch, in, who)
	}
	return s.read(ctx, ch, m, in, who)
}
