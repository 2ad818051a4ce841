package upstream

import (
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"time"

	"example.com/rpctop/internal/jsonrpc"
)

// explain turns an error of the transport into a fault and words of our own.
// The error itself goes no further: its text may hold the URL, a header or
// whatever the remote wrote.
func explain(err error, reused bool, now time.Time) (jsonrpc.Fault, string) {
	fault, text := explainDirect(err, reused, now)
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "proxyconnect" {
		text = "through HTTPS_PROXY: " + text
	}
	return fault, text
}

func explainDirect(err error, reused bool, now time.Time) (jsonrpc.Fault, string) {
	if p := (*proxyRefusal)(nil); errors.As(err, &p) {
		return jsonrpc.FaultHTTP, fmt.Sprintf("HTTPS_PROXY refuses to connect (HTTP %d)", p.status)
	}
	if fault, text, ok := explainName(err); ok {
		return fault, text
	}
	if fault, text, ok := explainTLS(err, now); ok {
		return fault, text
	}
	if fault, text, ok := explainSocket(err); ok {
		return fault, text
	}
	var ne net.Error
	switch {
	case closedEarly(err) && reused:
		return jsonrpc.FaultEOFReused, "a kept connection was closed before an answer came"
	case closedEarly(err):
		return jsonrpc.FaultEOF, "connection closed before an answer came"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &ne) && ne.Timeout():
		return jsonrpc.FaultTimeout, "no connection in time"
	}
	return jsonrpc.FaultHTTP, "no valid HTTP exchange"
}

// proxyRefusal is a proxy's answer to CONNECT that is no success. What the
// transport would make of it is the proxy's own text.
type proxyRefusal struct{ status int }

func (*proxyRefusal) Error() string { return "proxy refuses" }

func checkProxy(_ context.Context, _ *url.URL, _ *http.Request, r *http.Response) error {
	if r.StatusCode != http.StatusOK {
		return &proxyRefusal{r.StatusCode}
	}
	return nil
}

// closedEarly recognises an end before the first byte. The transport has no
// exported value for the second form.
func closedEarly(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		err.Error() == "http: server closed idle connection"
}

func explainName(err error) (jsonrpc.Fault, string, bool) {
	var e *net.DNSError
	if !errors.As(err, &e) {
		return "", "", false
	}
	switch {
	case e.IsNotFound:
		return jsonrpc.FaultDNSNotFound, "name not found", true
	case e.IsTimeout:
		return jsonrpc.FaultDNS, "the name server did not answer", true
	default:
		return jsonrpc.FaultDNS, "the name server failed", true
	}
}

func explainTLS(err error, now time.Time) (jsonrpc.Fault, string, bool) {
	var (
		invalid x509.CertificateInvalidError
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		verify  *tls.CertificateVerificationError
		record  tls.RecordHeaderError
		alert   tls.AlertError
	)
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil && now.Before(invalid.Cert.NotBefore):
		return jsonrpc.FaultTLSNotYetValid, "certificate not valid before " + day(invalid.Cert.NotBefore) + ": is this machine's clock right?", true
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil:
		return jsonrpc.FaultTLSExpired, "certificate expired on " + day(invalid.Cert.NotAfter), true
	case errors.As(err, &unknown):
		return jsonrpc.FaultTLS, "certificate signed by an unknown authority", true
	case errors.As(err, &host):
		return jsonrpc.FaultTLS, "certificate is for another name", true
	case errors.As(err, &invalid), errors.As(err, &verify):
		return jsonrpc.FaultTLS, "certificate is not valid", true
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return jsonrpc.FaultTLS, "the port does not speak TLS", true
	case errors.As(err, &alert):
		return jsonrpc.FaultTLS, "TLS refused by the endpoint", true
	}
	return "", "", false
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

func explainSocket(err error) (jsonrpc.Fault, string, bool) {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return "", "", false
	}
	switch errno {
	case syscall.ECONNREFUSED:
		return jsonrpc.FaultRefused, "connection refused", true
	case syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNABORTED:
		return jsonrpc.FaultReset, "connection reset", true
	case syscall.ETIMEDOUT:
		return jsonrpc.FaultTimeout, "no connection in time", true
	case syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EADDRNOTAVAIL, syscall.EAFNOSUPPORT:
		// The family is named so that nobody suspects the provider.
		if op := (*net.OpError)(nil); errors.As(err, &op) {
			if a, ok := op.Addr.(*net.TCPAddr); ok && a.IP.To4() == nil {
				return jsonrpc.FaultNoRoute, "no IPv6 route from here", true
			}
		}
		return jsonrpc.FaultNoRoute, "no route from here", true
	}
	return "", "", false
}

// badPacking reports a body that came whole and does not unpack.
func badPacking(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.As(err, &corrupt)
}
