package upstream

import (
	"bytes"
	"container/list"
	"encoding/json"
	"sync"

	"example.com/rpctop/internal/fleet"
)

// cacheBytes bounds the immutable cache: results and keys together.
const cacheBytes = 64 << 20

// cacheKey names an answer that can never change: who gave it, and the question
// byte for byte.
type cacheKey struct {
	endpoint fleet.EndpointID
	method   string
	params   string
}

// cache keeps immutable answers, the least recently used out first.
type cache struct {
	mu    sync.Mutex
	limit int
	size  int
	order *list.List // of *cacheItem, most recently used first
	items map[cacheKey]*list.Element
}

type cacheItem struct {
	key    cacheKey
	result []byte
	start  fleet.Millis // when it was asked for
}

func (i *cacheItem) size() int { return len(i.result) + len(i.key.params) + 256 }

func newCache(limit int) *cache {
	return &cache{limit: limit, order: list.New(), items: map[cacheKey]*list.Element{}}
}

// get gives a copy of a result, and when it was asked for.
func (c *cache) get(k cacheKey) ([]byte, fleet.Millis, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.items[k]
	if !ok {
		return nil, 0, false
	}
	c.order.MoveToFront(e)
	i := e.Value.(*cacheItem)
	return bytes.Clone(i.result), i.start, true
}

func (c *cache) put(k cacheKey, result []byte, start fleet.Millis) {
	i := &cacheItem{key: k, result: bytes.Clone(result), start: start}
	if i.size() > c.limit/8 { // one answer must not empty the cache
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.items[k]; ok {
		c.remove(e)
	}
	c.items[k] = c.order.PushFront(i)
	c.size += i.size()
	for c.size > c.limit {
		c.remove(c.order.Back())
	}
}

func (c *cache) remove(e *list.Element) {
	i := c.order.Remove(e).(*cacheItem)
	delete(c.items, i.key)
	c.size -= i.size()
}

func (c *cache) purge(id fleet.EndpointID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, e := range c.items {
		if k.endpoint == id {
			c.remove(e)
		}
	}
}

// cached answers a call from the cache; nil: it cannot. The attempt's Start is
// that of the request which brought the answer: its age.
func (d *Door) cached(c Call, k cacheKey) *fleet.Attempt {
	result, start, ok := d.cache.get(k)
	if !ok {
		return nil
	}
	return &fleet.Attempt{
		Endpoint: c.Endpoint, Method: c.Method, Start: start, Cached: true, Result: result,
		Outcome: fleet.Outcome{Class: fleet.ClassOK, Origin: fleet.OriginNode},
	}
}

// keep stores a right answer; null means "not there yet", and that can change.
func (d *Door) keep(k cacheKey, a *fleet.Attempt) {
	if a.Outcome.OK() && len(a.Result) > 0 && !bytes.Equal(a.Result, []byte("null")) {
		d.cache.put(k, a.Result, a.Start)
	}
}

// blockArgument is where each state read has its block.
var blockArgument = map[string]int{
	"eth_call": 1, "eth_getBalance": 1, "eth_getCode": 1, "eth_getTransactionCount": 1,
	"eth_getStorageAt": 2, "eth_getProof": 2,
}

// immutableKey recognises the questions whose answer cannot change: a block by
// its hash, state at a block's hash, and the genesis block. Probes are there to
// see what an endpoint says now.
func immutableKey(c Call) (cacheKey, bool) {
	if c.NoCache || c.Caller == fleet.CallerProbe {
		return cacheKey{}, false
	}
	at, state := blockArgument[c.Method]
	if !state && c.Method != "eth_getBlockByHash" && c.Method != "eth_getBlockByNumber" {
		return cacheKey{}, false
	}
	var params []json.RawMessage
	if json.Unmarshal(c.Params, &params) != nil || len(params) <= at {
		return cacheKey{}, false
	}
	switch c.Method {
	case "eth_getBlockByHash":
	case "eth_getBlockByNumber":
		if string(params[0]) != `"0x0"` && string(params[0]) != `"earliest"` {
			return cacheKey{}, false
		}
	default:
		var block struct{ BlockHash fleet.Hash }
		if json.Unmarshal(params[at], &block) != nil || block.BlockHash.IsZero() {
			return cacheKey{}, false
		}
	}
	return cacheKey{c.Endpoint, c.Method, string(c.Params)}, true
}
