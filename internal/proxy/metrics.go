package proxy

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"example.com/rpctop/internal/failover"
	"example.com/rpctop/internal/fleet"
)

// metrics counts for /metrics. Every label has few values: names of the
// configuration, and words of the vocabulary; a method shows as its kind.
type metrics struct {
	handler   http.Handler
	requests  *prometheus.CounterVec
	seconds   *prometheus.HistogramVec
	attempts  *prometheus.CounterVec
	failovers *prometheus.CounterVec
	denials   *prometheus.CounterVec
	refusals  *prometheus.CounterVec
}

func newMetrics(snapshot func() *fleet.Snapshot) *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "rpctop", Name: name, Help: help}, labels)
	}
	m := &metrics{
		requests: counter("requests_total", "JSON-RPC requests of clients, by what they ended as.", "chain", "kind", "class"),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "rpctop", Name: "request_seconds",
			Help: "Time from a JSON-RPC request to its answer.", Buckets: prometheus.ExponentialBuckets(0.001, 2, 15)}, []string{"chain", "kind"}),
		attempts:  counter("attempts_total", "Requests handed to endpoints, by what they ended as.", "chain", "endpoint", "class"),
		failovers: counter("failovers_total", "Calls that another endpoint answered than the one first asked.", "chain", "from", "to", "class"),
		denials:   counter("denials_total", "Requests to endpoints that our own limits refused.", "chain", "endpoint", "kind"),
		refusals:  counter("http_refused_total", "HTTP requests that were refused before they were read as JSON-RPC.", "status"),
	}
	r := prometheus.NewRegistry()
	r.MustRegister(m.requests, m.seconds, m.attempts, m.failovers, m.denials, m.refusals, standingCollector{snapshot})
	m.handler = promhttp.HandlerFor(r, promhttp.HandlerOpts{})
	return m
}

func (m *metrics) serve(w http.ResponseWriter, r *http.Request) { m.handler.ServeHTTP(w, r) }

func (m *metrics) refused(status int) { m.refusals.WithLabelValues(strconv.Itoa(status)).Inc() }

func (m *metrics) request(ch *chain, name string, methods map[string]method, class string, took time.Duration) {
	kind := fleet.KindOther.String()
	if _, ok := methods[name]; ok {
		kind = fleet.KindOf(name).String()
	}
	m.requests.WithLabelValues(ch.Name, kind, class).Inc()
	m.seconds.WithLabelValues(ch.Name, kind).Observe(took.Seconds())
}

// call counts the hops of a call.
func (m *metrics) call(ch *chain, res failover.CallResult) {
	for _, h := range res.Trace {
		if h.Denial != nil {
			m.denials.WithLabelValues(ch.Name, h.Endpoint, string(h.Denial.Kind)).Inc()
		} else {
			m.attempts.WithLabelValues(ch.Name, h.Endpoint, h.Outcome.Class.String()).Inc()
		}
	}
	if n := len(res.Trace); res.Answered && n > 1 && res.Trace[0].Endpoint != res.Trace[n-1].Endpoint {
		first, last := res.Trace[0], res.Trace[n-1]
		m.failovers.WithLabelValues(ch.Name, first.Endpoint, last.Endpoint, first.Outcome.Class.String()).Inc()
	}
}

// standingCollector reads the endpoints' standing when it is asked for.
type standingCollector struct{ snapshot func() *fleet.Snapshot }

// desc describes one gauge.
func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("rpctop_"+name, help, labels, nil)
}

// Describe sends nothing: which series there are depends on the configuration.
func (standingCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c standingCollector) Collect(out chan<- prometheus.Metric) {
	v := c.snapshot()
	if v == nil {
		return
	}
	state := desc("endpoint_state", "1 for the state that an endpoint is in.", "chain", "endpoint", "state")
	serving := desc("endpoint_serving", "1 if the endpoint serves its chain.", "chain", "endpoint")
	head := desc("endpoint_head", "Last seen block number.", "chain", "endpoint")
	refHead := desc("reference_head", "Block number of the chain's reference head.", "chain")
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for _, ch := range v.Chains {
		if ch.Reference != nil {
			gauge(refHead, float64(ch.Reference.Number), ch.Name)
		}
		for _, e := range ch.Endpoints {
			gauge(state, 1, ch.Name, e.Name, e.State)
			on := 0.0
			if e.Name == ch.Incumbent {
				on = 1
			}
			gauge(serving, on, ch.Name, e.Name)
			if e.Head != nil {
				gauge(head, float64(e.Head.Number), ch.Name, e.Name)
			}
		}
	}
}
