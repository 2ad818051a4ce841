package upstream

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/rpctop/internal/fleet"
)

func TestTransportFaultsAreToldInOurWords(t *testing.T) {
	for _, tc := range []struct {
		name string
		url  func(t *testing.T) string
		sub  string
		text string
		sent bool
	}{
		{"nobody listens", refusedURL, "refused", "connection refused", false},
		{"closed before an answer", func(t *testing.T) string {
			return newNode(t, func(w http.ResponseWriter, _ request) { raw(t, w, func(*bufio.ReadWriter) {}) }).URL
		}, "eof", "connection closed before an answer came", true},
		{"reset before an answer", func(t *testing.T) string {
			return newNode(t, func(w http.ResponseWriter, _ request) {
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				_ = conn.(*net.TCPConn).SetLinger(0) // closing sends a RST
				_ = conn.Close()
			}).URL
		}, "reset", "connection reset", true},
		{"closed in mid body", func(t *testing.T) string {
			return newNode(t, func(w http.ResponseWriter, _ request) {
				raw(t, w, func(rw *bufio.ReadWriter) {
					fmt.Fprint(rw, "HTTP/1.1 200 OK\r\nContent-Length: 4096\r\n\r\n", `{"jsonrpc":"2.0","id":1,"result":"`+canary)
				})
			}).URL
		}, "", "closed after 66 of 4096 bytes", true},
		{"no HTTP at all", func(t *testing.T) string {
			return newNode(t, func(w http.ResponseWriter, _ request) {
				raw(t, w, func(rw *bufio.ReadWriter) { fmt.Fprint(rw, "220 "+canary+" ESMTP\r\n") })
			}).URL
		}, "http", "no valid HTTP exchange", true},
		{"TLS where there is none", func(t *testing.T) string {
			return strings.Replace(newNode(t, answerHead).URL, "http:", "https:", 1)
		}, "tls", "the port does not speak TLS", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := doorTo(t, tc.url(t)+"/"+canary)
			a := do(t, d, call("eth_blockNumber"))
			if tc.sub == "" {
				tc.sub = a.Outcome.Sub // the judgement's word
			}
			wantOutcome(t, a, fleet.ClassTransportFailure, tc.sub, fleet.ChargeFailure)
			if !strings.Contains(a.Outcome.Message, tc.text) || a.Sent != tc.sent || a.Censored {
				t.Errorf("sent %v, %q", a.Sent, a.Outcome.Message)
			}
			wantNoSecret(t, "the attempt", everything(a))
		})
	}
}

// failingDialer lets every dial end with an error that holds the canary.
func failingDialer(d *Door, err error) {
	d.transport.DialContext = func(context.Context, string, string) (net.Conn, error) { return nil, err }
}

func TestDiallingErrorsKeepTheirKindAndLoseTheirText(t *testing.T) {
	six, four := &net.TCPAddr{IP: net.IPv6loopback, Port: 1}, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}
	dial := func(addr net.Addr, err error) error {
		return &net.OpError{Op: "dial", Net: "tcp", Addr: addr, Err: os.NewSyscallError("connect "+canary, err)}
	}
	for _, tc := range []struct {
		name, sub, text string
		err             error
	}{
		{"no such name", "dns", "name not found", &net.DNSError{Err: canary, Name: canary, IsNotFound: true}},
		{"a name server that fails", "dns", "the name server failed", &net.DNSError{Err: canary, Name: canary, IsTemporary: true}},
		{"a name server that is silent", "dns", "the name server did not answer", &net.DNSError{Err: canary, Name: canary, IsTimeout: true}},
		{"only IPv6, and no route", "no-route", "no IPv6 route from here", dial(six, syscall.ENETUNREACH)},
		{"no route", "no-route", "no route from here", dial(four, syscall.EHOSTUNREACH)},
		{"no SYN-ACK", "timeout", "no connection in time", dial(four, syscall.ETIMEDOUT)},
		{"a proxy that refuses", "refused", "through HTTPS_PROXY: connection refused", &net.OpError{Op: "proxyconnect", Err: dial(four, syscall.ECONNREFUSED)}},
		{"something else", "http", "no valid HTTP exchange", errors.New("dial " + canary)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := doorTo(t, "http://127.0.0.1:1/")
			failingDialer(d, tc.err)
			a := do(t, d, call("eth_blockNumber"))
			wantOutcome(t, a, fleet.ClassTransportFailure, tc.sub, fleet.ChargeFailure)
			if !strings.Contains(a.Outcome.Message, tc.text) || a.Sent {
				t.Errorf("sent %v, %q", a.Sent, a.Outcome.Message)
			}
			wantNoSecret(t, "the attempt", everything(a))
		})
	}
}

func TestAProxyThatRefusesIsNamed(t *testing.T) {
	proxy := newNode(t, func(w http.ResponseWriter, r request) {
		if r.Method != http.MethodConnect || r.Host != "a.example:443" || strings.Contains(fmt.Sprint(r.Header), canary) {
			t.Errorf("%s %s %v", r.Method, r.Host, r.Header)
		}
		w.WriteHeader(http.StatusProxyAuthRequired)
	})
	d := doorTo(t, "https://a.example/"+canary)
	d.transport.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse(proxy.URL) }
	a := do(t, d, call("eth_blockNumber"))
	wantOutcome(t, a, fleet.ClassTransportFailure, "http", fleet.ChargeFailure)
	if a.Sent || !strings.Contains(a.Outcome.Message, "HTTPS_PROXY refuses to connect (HTTP 407)") {
		t.Errorf("sent %v, %q", a.Sent, a.Outcome.Message)
	}
	wantNoSecret(t, "the attempt", everything(a))
}

// certificate makes a self-signed one for 127.0.0.1.
func certificate(t *testing.T, from, to time.Time, name string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: from, NotAfter: to,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	if ip := net.ParseIP(name); ip != nil {
		c.IPAddresses = []net.IP{ip}
	} else {
		c.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

func TestCertificatesAreToldApart(t *testing.T) {
	now := time.Now()
	for _, tc := range []struct {
		name      string
		from, to  time.Time
		host      string
		trusted   bool
		sub, text string
	}{
		{"good", now.Add(-time.Hour), now.Add(time.Hour), "127.0.0.1", true, "", ""},
		{"expired", now.Add(-48 * time.Hour), now.Add(-25 * time.Hour), "127.0.0.1", true, "tls", "certificate expired on " + day(now.Add(-25*time.Hour))},
		{"not yet valid", now.Add(25 * time.Hour), now.Add(48 * time.Hour), "127.0.0.1", true, "tls", "certificate not valid before " + day(now.Add(25*time.Hour))},
		{"of nobody we know", now.Add(-time.Hour), now.Add(time.Hour), "127.0.0.1", false, "tls", "signed by an unknown authority"},
		{"for another name", now.Add(-time.Hour), now.Add(time.Hour), "other.example", true, "tls", "is for another name"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cert, pool := certificate(t, tc.from, tc.to, tc.host)
			n := startNode(t, answerHead, func(s *httptest.Server) {
				s.EnableHTTP2 = true
				s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
				s.StartTLS()
			})
			d := doorTo(t, n.URL)
			if !tc.trusted {
				pool = x509.NewCertPool()
			}
			d.transport.TLSClientConfig = &tls.Config{RootCAs: pool}
			a := do(t, d, call("eth_blockNumber"))
			if tc.sub == "" {
				wantOutcome(t, a, fleet.ClassOK, "", fleet.ChargeSuccess)
				if a.Timing.TLS <= 0 || a.Timing.Connect <= 0 || a.Timing.FirstByte <= 0 || a.Timing.Total < a.Timing.FirstByte || !a.Timing.Cold {
					t.Errorf("phases: %+v", a.Timing)
				}
				return
			}
			if a.Outcome.Class != fleet.ClassTransportFailure || !strings.HasPrefix(a.Outcome.Sub, tc.sub) ||
				!strings.Contains(a.Outcome.Message, tc.text) || a.Sent || n.requests() != 0 {
				t.Errorf("sent %v, %s", a.Sent, a.Outcome.Evidence())
			}
		})
	}
}

// closesKept answers the first request on each connection and closes before an
// answer to the second.
func closesKept(t *testing.T) *node {
	seen := map[string]bool{}
	return newNode(t, func(w http.ResponseWriter, r request) {
		if seen[r.RemoteAddr] {
			raw(t, w, func(*bufio.ReadWriter) {})
			return
		}
		seen[r.RemoteAddr] = true
		answerHead(w, r)
	})
}

func TestADeadKeptConnectionIsTriedAfreshForReads(t *testing.T) {
	n := closesKept(t)
	d := doorTo(t, n.URL)
	do(t, d, call("eth_blockNumber"))
	a := do(t, d, call("eth_blockNumber"))
	wantOutcome(t, a, fleet.ClassOK, "", fleet.ChargeSuccess)
	if n.connections() != 2 || n.requests() != 3 || !a.Timing.Cold {
		t.Errorf("%d connections, %d requests, %+v", n.connections(), n.requests(), a.Timing)
	}
}

func TestADeadKeptConnectionIsNotTriedAfreshForWrites(t *testing.T) {
	for _, method := range []string{"eth_sendRawTransaction", "admin_addPeer"} {
		t.Run(method, func(t *testing.T) {
			n := closesKept(t)
			d := doorTo(t, n.URL)
			do(t, d, call("eth_blockNumber"))
			a := do(t, d, call(method))
			if a.Outcome.Class != fleet.ClassTransportFailure || !a.Sent || n.requests() != 2 {
				t.Errorf("%d requests, sent %v, %s", n.requests(), a.Sent, a.Outcome.Evidence())
			}
		})
	}
}

func TestRedirectsAreNotFollowedAndTheirTargetIsNotShown(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		for location, text := range map[string]string{
			"https://127.0.0.1/" + canary:    "redirects to https",
			"/" + canary:                     "redirects to another path",
			"http://" + canary + ".example/": "redirects to another host",
			"http://%zz" + canary:            "redirects to another host",
		} {
			t.Run(fmt.Sprint(status, " ", text), func(t *testing.T) {
				n := newNode(t, func(w http.ResponseWriter, r request) {
					w.Header().Set("Location", location)
					w.Header().Set("Set-Cookie", canary)
					w.WriteHeader(status)
				})
				d := doorTo(t, n.URL+"/"+canary)
				a := do(t, d, call("eth_blockNumber"))
				wantOutcome(t, a, fleet.ClassTransportFailure, "redirect", fleet.ChargeFailure)
				if n.requests() != 1 || !strings.Contains(a.Outcome.Message, text) {
					t.Errorf("%d requests, %q", n.requests(), a.Outcome.Message)
				}
				wantNoSecret(t, "the attempt", everything(a))
			})
		}
	}
}

func TestAnAnswerOverOurCapIsOursAndChargesNobody(t *testing.T) {
	for name, answer := range map[string]func(w http.ResponseWriter, r request){
		"declared": func(w http.ResponseWriter, r request) { result(w, r, `"`+strings.Repeat("a", 2000)+`"`) },
		"streamed": func(w http.ResponseWriter, r request) {
			for range 100 {
				fmt.Fprint(w, strings.Repeat(" ", 100))
				_ = http.NewResponseController(w).Flush()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := doorTo(t, newNode(t, answer).URL, func(o *Options) { o.MaxBody = 1024 })
			a := do(t, d, call("eth_getLogs"))
			wantOutcome(t, a, fleet.ClassLocalDenial, fleet.SubResponseCap, fleet.ChargeNothing)
			if a.Outcome.Origin != fleet.OriginLocal || !strings.Contains(a.Outcome.Message, "1024 bytes") || a.Body != nil {
				t.Errorf("%+v", a.Outcome)
			}
			b := do(t, d, call("eth_getLogs")) // and it is not remembered against the endpoint
			wantOutcome(t, b, fleet.ClassLocalDenial, fleet.SubResponseCap, fleet.ChargeNothing)
		})
	}
}

func TestAnAnswerOfExactlyOurCapIsRead(t *testing.T) {
	body := `{"jsonrpc":"2.0","id":1,"result":"0x10"}`
	n := newNode(t, func(w http.ResponseWriter, _ request) { fmt.Fprint(w, body) })
	d := doorTo(t, n.URL, func(o *Options) { o.MaxBody = int64(len(body)) })
	wantOutcome(t, do(t, d, call("eth_blockNumber")), fleet.ClassOK, "", fleet.ChargeSuccess)
}
