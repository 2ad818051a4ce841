package upstream

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"example.com/rpctop/internal/fleet"
)

// Where the canary may stand in an endpoint's configuration.
var hidingPlaces = map[string]func(t *Target){
	"path":          func(t *Target) { t.URL += "/v3/" + canary },
	"query":         func(t *Target) { t.URL += "/?api-key=" + canary },
	"bare query":    func(t *Target) { t.URL += "/?" + canary },
	"user name":     func(t *Target) { t.URL = strings.Replace(t.URL, "://", "://"+canary+":@", 1) },
	"password":      func(t *Target) { t.URL = strings.Replace(t.URL, "://", "://user:"+canary+"@", 1) },
	"header":        func(t *Target) { t.Header = map[string]string{"X-Api-Key": canary} },
	"bearer":        func(t *Target) { t.Header = map[string]string{"Authorization": "Bearer " + canary} },
	"cookie":        func(t *Target) { t.Header = map[string]string{"Cookie": "sid=" + canary + "; a=b"} },
	"escaped path":  func(t *Target) { t.URL += "/%43" + canary[1:] },
	"escaped query": func(t *Target) { t.URL += "/?key=%43" + canary[1:] },
}

// reflections are what an endpoint may do with a key that it was sent.
var reflections = map[string]func(w http.ResponseWriter, r request, seen string){
	"error message": func(w http.ResponseWriter, r request, seen string) {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":%q}}`, r.id, "no plan for key "+seen)
	},
	"error message, split by escapes": func(w http.ResponseWriter, r request, seen string) {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"key %s\u0007%s"}}`, r.id, canary[:11], canary[11:])
	},
	"error message, cut within": func(w http.ResponseWriter, r request, seen string) {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":%q}}`, r.id, strings.Repeat("x", fleet.MaxText-20)+seen)
	},
	"error message, cut by them": func(w http.ResponseWriter, r request, seen string) {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":%q}}`, r.id, "key "+canary[:20])
	},
	"error data": func(w http.ResponseWriter, r request, seen string) {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"no","data":{"key":%q}}}`, r.id, seen)
	},
	"revert reason": func(w http.ResponseWriter, r request, seen string) {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":3,"message":%q,"data":"0x"}}`, r.id, "execution reverted: "+seen)
	},
	"result": func(w http.ResponseWriter, r request, seen string) {
		q, _ := json.Marshal("Geth/" + seen)
		result(w, r, string(q))
	},
	"text": func(w http.ResponseWriter, _ request, seen string) { fmt.Fprint(w, "bad key "+seen) },
	"page": func(w http.ResponseWriter, _ request, seen string) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, "<html><title>%s</title><body>%s</body></html>", seen, seen)
	},
	"redirect": func(w http.ResponseWriter, _ request, seen string) {
		w.Header().Set("Location", "https://other.example/"+url.PathEscape(seen))
		w.WriteHeader(http.StatusMovedPermanently)
	},
	"headers": func(w http.ResponseWriter, _ request, seen string) {
		w.Header().Set("X-Key", seen)
		w.Header().Set("Server", seen)
		w.Header().Set("Retry-After", seen)
		w.WriteHeader(http.StatusTooManyRequests)
	},
	"status line": func(w http.ResponseWriter, _ request, seen string) {
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		fmt.Fprintf(rw, "HTTP/1.1 500 %s\r\nContent-Length: 0\r\n\r\n", seen)
		_ = rw.Flush()
	},
}

func TestAKeyComesBackFromNowhere(t *testing.T) {
	for place, hide := range hidingPlaces {
		for way, reflect := range reflections {
			t.Run(place+" in "+way, func(t *testing.T) {
				t.Parallel()
				n := newNode(t, func(w http.ResponseWriter, r request) {
					reflect(w, r, whatWasSent(r))
				})
				target := Target{ID: idA, URL: n.URL}
				hide(&target)
				o := Options{Targets: []Target{target}}
				d := newDoor(t, o)
				for _, method := range []string{"web3_clientVersion", "eth_call"} {
					a, err := d.Do(t.Context(), call(method))
					if err != nil {
						wantNoSecret(t, "the error", fmt.Sprintf("%v %+v %#v", err, err, err))
						var denial *fleet.Denial
						if errors.As(err, &denial) && denial.Recorded != nil {
							wantNoSecret(t, "the recorded outcome", fmt.Sprintf("%+v", *denial.Recorded))
						}
						continue
					}
					wantNoSecret(t, "the attempt", everything(a))
					if j, err := json.Marshal(a); err != nil {
						t.Error(err)
					} else {
						wantNoSecret(t, "its JSON", string(j))
					}
				}
				if n.requests() == 0 {
					t.Error("nothing was asked")
				}
				j, err := json.Marshal(o.Targets)
				if err != nil {
					t.Error(err)
				}
				wantNoSecret(t, "the door", fmt.Sprintf("%v %+v %#v %s", d, d, d, d))
				wantNoSecret(t, "the options", fmt.Sprintf("%v %+v %#v", o, o, target)+string(j))
				wantNoSecret(t, "the status", fmt.Sprintf("%+v", d.Status(idA)))
			})
		}
	}
}

// whatWasSent is the canary as the endpoint has got it, in several forms: the
// key was there, or the test would prove nothing.
func whatWasSent(r request) string {
	sent := r.RequestURI + " " + r.Header.Get("X-Api-Key") + " " + r.Header.Get("Cookie") + " " + r.Header.Get("Authorization")
	if name, pass, ok := r.BasicAuth(); ok {
		sent += " " + name + ":" + pass
	}
	if plain, err := url.PathUnescape(sent); err == nil {
		sent += " " + plain
	}
	if !strings.Contains(sent, canary) {
		panic("the endpoint did not get the key: " + sent)
	}
	return sent
}

func TestRedactKnowsEveryForm(t *testing.T) {
	secret := "k3y/with+odd chars&more"
	d := doorTo(t, "http://us3r:p%40ss%2Fword@127.0.0.1:1/short/"+url.PathEscape(secret)+"?q="+url.QueryEscape("query+value/1"), func(o *Options) {
		o.Targets[0].Header = map[string]string{"X-Token": "head/er+value 99", "X-Mode": "on"}
		o.Targets[0].Secrets = []string{"subst1"}
	})
	quoted, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{
		secret, url.PathEscape(secret), url.QueryEscape(secret), strings.ToLower(url.QueryEscape("/")) + "x" + url.PathEscape(secret),
		string(quoted[1 : len(quoted)-1]), strings.ReplaceAll(secret, "/", `\/`),
		"us3r", "p@ss/word", "p%40ss%2Fword", "p%40ss%2fword", "us3r:p@ss/word",
		base64.StdEncoding.EncodeToString([]byte("us3r:p@ss/word")), base64.RawURLEncoding.EncodeToString([]byte("us3r:p@ss/word")),
		"query+value/1", url.QueryEscape("query+value/1"), "head/er+value 99", "head%2Fer%2Bvalue+99",
		"subst1",
	} {
		got := d.Redact("before " + form + " after")
		for _, piece := range []string{"k3y", "odd", "p@ss", "word", "us3r", "query", "head", "dXMzc", "subst"} {
			if strings.Contains(got, piece) {
				t.Errorf("%q became %q", form, got)
			}
		}
		if !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") || !strings.Contains(got, mark) {
			t.Errorf("%q became %q", form, got)
		}
	}
	if plain := "the short path is on, at 127.0.0.1:1"; d.Redact(plain) != plain {
		t.Errorf("what is no secret became %q", d.Redact(plain))
	}
}

func TestAWordInThePathDoesNotSpoilResults(t *testing.T) {
	n := newNode(t, func(w http.ResponseWriter, r request) { result(w, r, `"go-ethereum/v1"`) })
	d := doorTo(t, n.URL+"/ethereum")
	a := do(t, d, call("web3_clientVersion"))
	if string(a.Result) != `"go-ethereum/v1"` {
		t.Errorf("have %s", a.Result)
	}
}

func TestHostileTextIsSanitised(t *testing.T) {
	n := newNode(t, func(w http.ResponseWriter, r request) {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"bad\u001b]52;c;ZQ==\u0007\u001b[2J\u202etxet\u2028next %s"}}`, r.id, strings.Repeat("long ", 1000))
	})
	a := do(t, doorTo(t, n.URL), call("web3_clientVersion"))
	if m := a.Outcome.Message; m != fleet.Sanitize(m) || strings.ContainsAny(m, "\x1b\x07\u202e\u2028") || len(m) > fleet.MaxText {
		t.Errorf("have %q", m)
	}
}

func TestNewNeverRepeatsAURL(t *testing.T) {
	for name, tc := range map[string]struct {
		target Target
		want   string
	}{
		"no URL":           {Target{URL: "://" + canary}, "cannot be read"},
		"a bad escape":     {Target{URL: "http://127.0.0.1/%zz" + canary}, "cannot be read"},
		"a blank":          {Target{URL: "http://127.0.0.1:80 80/" + canary}, "cannot be read"},
		"a bad port":       {Target{URL: "http://127.0.0.1:" + canary}, "cannot be read"},
		"a WebSocket":      {Target{URL: "wss://127.0.0.1/" + canary}, "ws:// and wss:// endpoints are not supported"},
		"an IPC path":      {Target{URL: "/run/" + canary + ".ipc"}, "must begin with http"},
		"another scheme":   {Target{URL: canary + "://127.0.0.1"}, "must begin with http"},
		"no host":          {Target{URL: "http:///" + canary}, "no host"},
		"a broken header":  {Target{URL: "http://127.0.0.1", Header: map[string]string{"X-Key": canary + "\n"}}, `header "X-Key" has a line break`},
		"the same twice":   {Target{ID: idA, URL: "http://127.0.0.1/" + canary}, "configured twice"},
		"a control letter": {Target{URL: "http://127.0.0.1/\x1b" + canary}, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			tc.target.ID = idA
			targets := []Target{tc.target}
			if name == "the same twice" {
				targets = append(targets, tc.target)
			}
			d, err := New(Options{Targets: targets})
			if err == nil || d != nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), idA.String()) {
				t.Fatalf("have %v", err)
			}
			wantNoSecret(t, "the error", fmt.Sprintf("%v %+v %#v", err, err, err))
		})
	}
}
