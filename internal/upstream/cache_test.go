package upstream

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/rpctop/internal/fleet"
)

var blockHash = `"0x` + strings.Repeat("ab", 32) + `"`

func TestOnlyWhatNeverChangesIsCached(t *testing.T) {
	for _, tc := range []struct {
		name, method, params string
		caller               fleet.Caller
		noCache              bool
		result               string
		cached               bool
	}{
		{name: "a block by its hash", method: "eth_getBlockByHash", params: `[` + blockHash + `,false]`, cached: true},
		{name: "an unknown block", method: "eth_getBlockByHash", params: `[` + blockHash + `,false]`, result: "null"},
		{name: "the genesis block", method: "eth_getBlockByNumber", params: `["0x0",false]`, cached: true},
		{name: "the latest block", method: "eth_getBlockByNumber", params: `["latest",false]`},
		{name: "a block by its number", method: "eth_getBlockByNumber", params: `["0x10",false]`},
		{name: "a call at a hash", method: "eth_call", params: `[{},{"blockHash":` + blockHash + `}]`, result: `"0x01"`, cached: true},
		{name: "a call at latest", method: "eth_call", params: `[{},"latest"]`, result: `"0x01"`},
		{name: "a call at no block", method: "eth_call", params: `[{}]`, result: `"0x01"`},
		{name: "storage at a hash", method: "eth_getStorageAt", params: `["0x0","0x0",{"blockHash":` + blockHash + `}]`, result: `"0x01"`, cached: true},
		{name: "a probe", method: "eth_getBlockByHash", params: `[` + blockHash + `,false]`, caller: fleet.CallerProbe},
		{name: "a watch", method: "eth_call", params: `[{},{"blockHash":` + blockHash + `}]`, result: `"0x01"`, noCache: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.result == "" {
				tc.result = `{"number":"0x0","hash":` + blockHash + `,"parentHash":` + blockHash + `,"timestamp":"0x1"}`
			}
			n := newNode(t, func(w http.ResponseWriter, r request) { result(w, r, tc.result) })
			now := time.UnixMilli(1_000_000)
			d := doorTo(t, n.URL, func(o *Options) {
				o.Now = func() time.Time { return now }
				o.Targets[0].Limits.PerDay = 2
			})
			c := Call{Endpoint: idA, Method: tc.method, Params: json.RawMessage(tc.params), Caller: fleet.CallerProxy, NoCache: tc.noCache}
			if tc.caller == fleet.CallerProbe && tc.name == "a probe" {
				c.Caller = fleet.CallerProbe
			}
			first := do(t, d, c)
			now = now.Add(time.Minute)
			second := do(t, d, c)
			if second.Cached != tc.cached || (n.requests() == 1) != tc.cached {
				t.Fatalf("cached %v, %d requests: %s", second.Cached, n.requests(), second.Outcome.Evidence())
			}
			if !tc.cached {
				return
			}
			if string(second.Result) != string(first.Result) || second.Start != first.Start || second.Sent || second.Charge() != fleet.ChargeNothing {
				t.Errorf("%+v", second)
			}
			second.Result[0] = 'X' // nobody else's copy
			for range 3 {
				if third := do(t, d, c); string(third.Result) != string(first.Result) {
					t.Errorf("have %s", third.Result)
				}
			}
			d.Purge(idA)
			if fresh := do(t, d, c); fresh.Cached || n.requests() != 2 {
				t.Errorf("after a purge: %+v", fresh)
			}
		})
	}
}

func TestTheCacheForgetsTheLeastRecentlyUsed(t *testing.T) {
	c := newCache(8 * 1000)
	key := func(i int) cacheKey { return cacheKey{idA, "eth_getBlockByHash", fmt.Sprintf("%04d", i)} }
	value := make([]byte, 1000-256-4)
	for i := range 8 {
		c.put(key(i), value, 0)
	}
	c.get(key(0))
	c.put(key(8), value, 0)
	for i, want := range map[int]bool{0: true, 1: false, 2: true, 8: true} {
		if _, _, ok := c.get(key(i)); ok != want {
			t.Errorf("entry %d is there: %v", i, ok)
		}
	}
	c.put(key(8), value[:10], 0)
	c.put(key(9), make([]byte, 1001), 0) // larger than an eighth
	if _, _, ok := c.get(key(9)); ok || c.size > c.limit || c.size != 7*1000+10+256+4 {
		t.Errorf("size %d", c.size)
	}
	c.purge(fleet.EndpointID{Chain: "other"})
	if len(c.items) != 8 {
		t.Errorf("%d entries", len(c.items))
	}
	c.purge(idA)
	if c.size != 0 || c.order.Len() != 0 {
		t.Errorf("size %d after a purge", c.size)
	}
}
