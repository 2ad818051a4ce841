package proxy

import (
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// BenchmarkAgainstReverseProxy puts the same question through this proxy and
// through net/http/httputil's, both before the same endpoint: the ratio is what
// choosing, classifying and metering cost.
func BenchmarkAgainstReverseProxy(b *testing.B) {
	for _, clients := range []int{1, 32, 256} {
		w := newWorld(b, worldOptions{})
		for _, n := range w.nodes {
			n.quiet = true
		}
		target, err := url.Parse(w.nodes["a"].URL)
		if err != nil {
			b.Fatal(err)
		}
		tr := &http.Transport{MaxIdleConnsPerHost: 256}
		b.Cleanup(tr.CloseIdleConnections)
		reverse := newReverse(b, &httputil.ReverseProxy{Transport: tr, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }})
		for _, way := range []struct{ name, url string }{{"rpctop", w.url}, {"reverse proxy", reverse}, {"no proxy", target.String()}} {
			b.Run(fmt.Sprintf("%d clients/%s", clients, way.name), func(b *testing.B) {
				b.ReportAllocs()
				var left atomic.Int64
				left.Store(int64(b.N))
				var wg sync.WaitGroup
				for range clients {
					wg.Go(func() {
						for left.Add(-1) >= 0 {
							if g, err := post(b.Context(), w.http, way.url, question("eth_getBalance", balance)); err != nil || g.status != 200 {
								b.Errorf("HTTP %d %v", g.status, err)
								return
							}
						}
					})
				}
				wg.Wait()
			})
		}
	}
}
