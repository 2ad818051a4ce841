package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/rpctop/internal/jsonrpc"
)

// pair is a request of the conformance suite of execution-apis, and its answer.
type pair struct {
	file, method, params string
	ask, answer          []byte
}

// suite reads the pairs of the folder that RPC_COMPAT_DIR names.
func suite(t *testing.T) (pairs []pair) {
	t.Helper()
	dir := os.Getenv("RPC_COMPAT_DIR")
	if dir == "" {
		t.Skip("RPC_COMPAT_DIR is not set: it names a folder with the tests of ethereum/execution-apis")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.io"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no .io files in RPC_COMPAT_DIR (%v)", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var open *pair
		for line := range bytes.Lines(b) {
			line = bytes.TrimSpace(line)
			switch {
			case bytes.HasPrefix(line, []byte(">> ")):
				in, _, err := jsonrpc.ReadIncoming(line[3:], 64, 1)
				if err != nil || in[0].Problem != "" {
					t.Fatalf("%s: %v %s", f, err, in[0].Problem)
				}
				open = &pair{file: filepath.Base(filepath.Dir(f)) + "/" + filepath.Base(f), method: in[0].Method, params: compact(in[0].Params), ask: line[3:]}
			case bytes.HasPrefix(line, []byte("<< ")) && open != nil:
				open.answer = line[3:]
				pairs, open = append(pairs, *open), nil
			}
		}
	}
	return pairs
}

func compact(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "[]"
	}
	var b bytes.Buffer
	_ = json.Compact(&b, raw) // valid: it was scanned
	return b.String()
}

// knows answers as the suite does; what is not in it is null.
func knows(pairs []pair) func(http.ResponseWriter, asked) {
	at := map[string][]byte{}
	for _, p := range pairs {
		if k := p.method + p.params; at[k] == nil {
			at[k] = p.answer
		}
	}
	return func(w http.ResponseWriter, r asked) {
		res, fail := jsonrpc.Outer(at[r.Method+compact(r.Params)])
		switch {
		case fail != nil:
			say(w, r, `"error":`+string(fail))
		case res != nil:
			say(w, r, `"result":`+string(res))
		default:
			say(w, r, `"result":null`)
		}
	}
}

func compatWorld(t *testing.T, pairs []pair) *world {
	t.Helper()
	number := func(method string) uint64 {
		i := slices.IndexFunc(pairs, func(p pair) bool { return p.method == method })
		if i < 0 {
			t.Fatalf("the suite has no %s", method)
		}
		res, _ := jsonrpc.Outer(pairs[i].answer)
		n, err := jsonrpc.ParseUint64(res)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	var extra []string
	for _, p := range pairs {
		if _, ok := known[p.method]; !ok && !slices.Contains(extra, p.method) {
			extra = append(extra, p.method)
		}
	}
	w := newWorld(t, worldOptions{names: []string{"a", "b", "c"}, id: number("eth_chainId"), height: number("eth_blockNumber"),
		proxy: func(o *Options) { o.Allow = extra }, chain: func(c *fleetChain) { c.Endpoints[0].Timeout = 200 }})
	for _, n := range w.nodes {
		n.set(knows(pairs))
	}
	return w
}

// check puts every pair through the proxy and compares byte for byte but for
// the id. vague: one endpoint answers, but not the question.
func (w *world) check(t *testing.T, pairs []pair, vague bool) {
	t.Helper()
	bad := 0
	for _, p := range pairs {
		g := w.post(string(p.ask))
		res, fail := jsonrpc.Outer([]byte(g.body))
		wantRes, wantFail := jsonrpc.Outer(p.answer)
		once := p.method == "eth_capabilities" || strings.HasPrefix(p.method, "testing_") // not known as reads
		if vague && fail != nil && (wantFail != nil || string(wantRes) == "null" || once) {
			continue // "missing" needs everybody's word, and one has said something else
		}
		if !bytes.Equal(res, wantRes) || !bytes.Equal(fail, wantFail) {
			if bad++; bad <= 10 {
				t.Errorf("%s: HTTP %d %.300s\nwant %.300s", p.file, g.status, g.body, p.answer)
			}
		}
	}
	if bad > 10 {
		t.Errorf("%d of %d pairs differ", bad, len(pairs))
	}
}

func TestConformance(t *testing.T) {
	pairs := suite(t)
	compatWorld(t, pairs).check(t, pairs, false)
	t.Logf("%d pairs", len(pairs))
}

func TestConformanceWithAFaultOnTheFirstEndpoint(t *testing.T) {
	pairs := suite(t)
	well := knows(pairs)
	body := func(bend func(string) string) func(http.ResponseWriter, asked) {
		return func(w http.ResponseWriter, r asked) {
			var b buffered
			well(&b, r)
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, bend(b.String()))
		}
	}
	for name, fault := range map[string]func(http.ResponseWriter, asked){
		"503":          status(503),
		"502 and HTML": func(w http.ResponseWriter, _ asked) { http.Error(w, "<html>", http.StatusBadGateway) },
		"a page":       func(w http.ResponseWriter, _ asked) { fmt.Fprint(w, "<!DOCTYPE html><h1>Just a moment...") },
		"empty":        func(http.ResponseWriter, asked) {},
		"refused": func(w http.ResponseWriter, _ asked) {
			c, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				c.Close()
			}
		},
		"reset in the answer": func(w http.ResponseWriter, r asked) {
			c, buf, err := w.(http.Hijacker).Hijack()
			if err != nil {
				return
			}
			fmt.Fprintf(buf, "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":%s,", r.ID)
			_ = buf.Flush()
			_ = c.(*net.TCPConn).SetLinger(0)
			c.Close()
		},
		"hang":       func(_ http.ResponseWriter, r asked) { <-r.ctx.Done() },
		"truncated":  body(func(s string) string { return s[:len(s)/2] }),
		"another id": body(func(s string) string { return strings.Replace(s, `"id":`, `"id":9`, 1) }),
		"no id":      body(func(s string) string { return strings.Replace(s, `"id":`, `"ID":`, 1) }),
		"429":        status(429),
		"429 for 1 s": func(w http.ResponseWriter, _ asked) {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "slow down", http.StatusTooManyRequests)
		},
		"a rate limit inside 200": fails(`{"code":-32005,"message":"rate limit exceeded"}`),
		"401":                     status(401),
		"redirect": func(w http.ResponseWriter, _ asked) {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(307)
		},
		"escapes":        fails(`{"code":-32000,"message":"\u001b[2J\u001b]0;title\u0007"}`),
		"no such method": fails(`{"code":-32601,"message":"the method does not exist/is not available"}`),
	} {
		t.Run(name, func(t *testing.T) {
			w := compatWorld(t, pairs)
			w.nodes["a"].set(fault)
			w.check(t, pairs, slices.Contains([]string{"429", "429 for 1 s", "a rate limit inside 200", "escapes", "no such method"}, name))
			if len(w.nodes["a"].requests()) == 0 {
				t.Error("the fault met nobody")
			}
		})
	}
}

// buffered is a writer that keeps what is written.
type buffered struct {
	bytes.Buffer
	h http.Header
}

func (b *buffered) Header() http.Header {
	if b.h == nil {
		b.h = http.Header{}
	}
	return b.h
}
func (b *buffered) WriteHeader(int) {}
