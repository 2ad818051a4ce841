package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/jsonrpc"
)

// Causes of an end that is neither the endpoint's nor the caller's.
var (
	errOwnDeadline = errors.New("the attempt's own deadline")
	errDoorClosed  = errors.New("the door is closed")
)

// exchange is one HTTP exchange as it went.
type exchange struct {
	answer jsonrpc.Answer
	local  *fleet.Outcome // set when our side ended it: nothing of the answer counts
	timing fleet.Timing
	sent   bool
}

// exchange posts a body to an endpoint and reads the answer, within timeout.
// repeatable allows one more try where a kept connection turns out to be dead.
func (d *Door) exchange(ctx context.Context, e *endpoint, forward map[string]string, body []byte, timeout time.Duration, repeatable bool) *exchange {
	parent := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(d.life, func() { cancel(errDoorClosed) })()
	ctx, stop := context.WithTimeoutCause(ctx, timeout, errOwnDeadline)
	defer stop()

	tr := newTrace()
	x := &exchange{}
	resp, err := d.transport.RoundTrip(d.request(tr.attach(ctx), e, forward, body, repeatable))
	if err == nil {
		err = d.read(x, resp)
	}
	x.timing, x.sent = tr.finish()
	if err == nil {
		return x
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errOwnDeadline):
		x.answer.Fault, x.answer.FaultText = late(tr, x, timeout)
	case errors.Is(cause, errDoorClosed):
		x.local = localFault("shutdown", "rpctop is shutting down")
	case errors.Is(parent.Err(), context.DeadlineExceeded):
		x.local = localFault(fleet.SubTimeout, "the call ran out of time before this attempt's deadline")
	case parent.Err() != nil:
		x.local = localFault(fleet.SubCancelled, "cancelled by the caller")
	case x.answer.Fault != "":
		// read has told it already
	default:
		x.answer.Fault, x.answer.FaultText = explain(err, tr.wasReused(), d.now())
	}
	x.answer.Body = nil
	return x
}

// request builds the HTTP request. Redirects are not followed, for RoundTrip
// never does: a POST would come out as a GET, and the key would travel again.
func (d *Door) request(ctx context.Context, e *endpoint, forward map[string]string, body []byte, repeatable bool) *http.Request {
	u := e.url
	r := (&http.Request{
		Method: http.MethodPost, URL: &u, Host: e.host, Header: make(http.Header, len(e.header)+len(forward)+4),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
		GetBody: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil },
	}).WithContext(ctx)
	for k, v := range forward {
		if k := http.CanonicalHeaderKey(k); forwardable(k) {
			r.Header.Set(k, v)
		}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", d.userAgent)
	for k, v := range e.header {
		r.Header[k] = v
	}
	if repeatable {
		// With an empty key nothing is sent, and the transport may repeat the
		// request on another connection when a kept one turns out to be dead
		// before a byte of the answer.
		r.Header["Idempotency-Key"] = []string{}
	}
	return r
}

// read fills the answer. The error says that the body is not complete.
func (d *Door) read(x *exchange, resp *http.Response) error {
	defer resp.Body.Close()
	x.answer.Status = resp.StatusCode
	x.answer.Header = map[string][]string(resp.Header.Clone())
	for _, k := range [...]string{"Location", "Set-Cookie"} { // no use for them, and keys come back in them
		delete(x.answer.Header, k)
	}
	if resp.ContentLength > d.maxBody {
		return d.capped(x)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, d.maxBody+1))
	switch {
	case int64(len(body)) > d.maxBody:
		return d.capped(x)
	case err != nil && badPacking(err):
		x.answer.Body = []byte("(a gzip body that does not unpack)")
		return nil
	case err != nil:
		x.answer.Body = body
		x.answer.Fault = jsonrpc.FaultMidBody
		x.answer.FaultText = fmt.Sprintf("closed after %d bytes of an answer", len(body))
		if n := resp.ContentLength; n > 0 {
			x.answer.FaultText = fmt.Sprintf("closed after %d of %d bytes", len(body), n)
		}
		return err
	}
	x.answer.Body = body
	if target := resp.Header.Get("Location"); target != "" && resp.StatusCode/100 == 3 && !looksLikeJSON(body) {
		x.answer.Fault, x.answer.FaultText = jsonrpc.FaultRedirect, redirectText(resp.Request.URL, target)
	}
	return nil
}

// capped ends an exchange whose answer is larger than we take.
func (d *Door) capped(x *exchange) error {
	size := fmt.Sprintf("%d bytes", d.maxBody)
	if d.maxBody%(1<<20) == 0 {
		size = fmt.Sprintf("%d MiB", d.maxBody>>20)
	}
	x.answer.Fault = jsonrpc.FaultResponseCap
	x.answer.FaultText = "answer exceeded rpctop's limit of " + size + "; the endpoint is not at fault"
	return errors.New("response cap")
}

// redirectText says where a redirect leads without saying it: a Location
// repeats the key.
func redirectText(from *url.URL, location string) string {
	to, err := from.Parse(location)
	switch {
	case err == nil && from.Scheme == "http" && to.Scheme == "https":
		return "redirects to https: set the https URL in the config"
	case err == nil && to.Host == from.Host:
		return "redirects to another path of its host: set the final URL in the config"
	default:
		return "redirects to another host: set the final URL in the config"
	}
}

func looksLikeJSON(b []byte) bool {
	b = bytes.TrimLeft(b, " \t\r\n")
	return len(b) > 0 && (b[0] == '{' || b[0] == '[')
}

// late says what was missing when the attempt's own deadline came.
func late(tr *trace, x *exchange, timeout time.Duration) (jsonrpc.Fault, string) {
	within := " within " + timeout.Round(time.Millisecond).String()
	switch {
	case x.answer.Status != 0:
		return jsonrpc.FaultTimeout, fmt.Sprintf("answer not complete%s (%d bytes came)", within, len(x.answer.Body))
	case tr.connected():
		return jsonrpc.FaultStall, "no answer" + within
	default:
		return jsonrpc.FaultTimeout, "no connection" + within
	}
}

func localFault(sub, text string) *fleet.Outcome {
	return &fleet.Outcome{Class: fleet.ClassLocalFault, Sub: sub, Origin: fleet.OriginLocal, Message: text}
}
