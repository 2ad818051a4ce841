package devnet

import (
	"slices"
	"sync"
	"time"
)

const (
	logSize    = 4096 // requests kept per front
	logMethods = 256  // names counted per front; those after it share one count
)

// Request is what a front remembers of an HTTP request.
type Request struct {
	At      time.Time
	Method  string   // of JSON-RPC; "batch" for a batch, "" for what is no JSON-RPC
	Members []string // the methods of a batch
	Path    string   // of the URL
	Bytes   int      // size of the body
}

// requestLog is a bounded ring with counters beside it. The zero value is ready.
type requestLog struct {
	mu     sync.Mutex
	ring   []Request
	next   int // where the ring is written once it is full
	counts map[string]int
}

func (l *requestLog) add(r Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ring) < logSize {
		l.ring = append(l.ring, r)
	} else {
		l.ring[l.next] = r
		l.next = (l.next + 1) % logSize
	}
	l.bump("")
	if r.Method != "" {
		l.bump(r.Method)
	}
	for _, m := range r.Members {
		l.bump(m)
	}
}

func (l *requestLog) bump(method string) {
	if l.counts == nil {
		l.counts = map[string]int{}
	}
	if _, known := l.counts[method]; !known && len(l.counts) >= logMethods {
		method = "other"
	}
	l.counts[method]++
}

func (l *requestLog) last() []Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Concat(l.ring[l.next:], l.ring[:l.next])
}

func (l *requestLog) count(method string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts[method]
}
