package proxy

import (
	"crypto/ecdsa"
	"encoding/hex"
	"math/big"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

func testKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	k, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// sign makes the params of a send, and the transaction's hash.
func sign(t testing.TB, k *ecdsa.PrivateKey, chainID, nonce uint64) (params, hash string) {
	t.Helper()
	to := common.HexToAddress("0xaa")
	id := new(big.Int).SetUint64(chainID)
	tx, err := types.SignNewTx(k, types.LatestSignerForChainID(id), &types.DynamicFeeTx{ChainID: id, Nonce: nonce, To: &to,
		Value: big.NewInt(1), Gas: 21_000, GasFeeCap: big.NewInt(100_000_000_000), GasTipCap: big.NewInt(1_000_000_000)})
	if err != nil {
		t.Fatal(err)
	}
	b, err := tx.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return `["0x` + hex.EncodeToString(b) + `"]`, tx.Hash().Hex()
}

// pool is the memory of an endpoint that takes transactions.
type pool struct {
	mu    sync.Mutex
	has   map[string]bool
	block map[string]string // of mined ones, by hash
	cut   bool              // takes a transaction and does not answer
	drop  bool              // neither takes nor answers
}

func (p *pool) set(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

func (p *pool) answer(hashOf map[string]string) func(http.ResponseWriter, asked) {
	return func(w http.ResponseWriter, r asked) {
		p.mu.Lock()
		defer p.mu.Unlock()
		params := string(r.Params)
		switch r.Method {
		case sendMethod:
			h := hashOf[params]
			if p.drop {
				panic(http.ErrAbortHandler)
			}
			known := p.has[h]
			p.has[h] = true
			switch {
			case p.cut:
				panic(http.ErrAbortHandler)
			case known:
				say(w, r, `"error":{"code":-32000,"message":"already known"}`)
			default:
				say(w, r, `"result":"`+h+`"`)
			}
		case "eth_getTransactionByHash", "eth_getTransactionReceipt":
			h := strings.Trim(params, `[]"`)
			switch n := p.block[h]; {
			case n != "":
				say(w, r, `"result":{"hash":"`+h+`","transactionHash":"`+h+`","blockNumber":"`+n+`"}`)
			case p.has[h] && r.Method == "eth_getTransactionByHash":
				say(w, r, `"result":{"hash":"`+h+`","blockNumber":null}`)
			default:
				say(w, r, `"result":null`)
			}
		case "eth_call":
			say(w, r, `"result":"0x00"`)
		default:
			say(w, r, `"result":"0x0"`)
		}
	}
}

// pooled gives a world of endpoints with pools.
func pooled(t testing.TB, names ...string) (*world, map[string]*pool, map[string]string) {
	return pooledWith(t, nil, names...)
}

func pooledWith(t testing.TB, o func(*Options), names ...string) (*world, map[string]*pool, map[string]string) {
	w := newWorld(t, worldOptions{names: names, proxy: o})
	hashOf, pools := map[string]string{}, map[string]*pool{}
	for _, n := range names {
		pools[n] = &pool{has: map[string]bool{}, block: map[string]string{}}
		w.nodes[n].set(pools[n].answer(hashOf))
	}
	return w, pools, hashOf
}

func TestASessionReadsItsOwnWrites(t *testing.T) {
	for _, c := range []struct {
		name   string
		header []string
	}{
		{"known by its sender", nil},
		{"of the client's own", []string{headerSession, "mine"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, pools, hashOf := pooled(t, "a", "b", "c")
			k := testKey(t)
			params, hash := sign(t, k, testChain, 7)
			hashOf[params] = hash
			sender := crypto.PubkeyToAddress(k.PublicKey).Hex()
			w.fold(overrideCmd("a")) // so that the write goes to b
			if g := w.post(question(sendMethod, params), c.header...); g.result(t) != `"`+hash+`"` || g.header.Get(headerEndpoint) != "b" {
				t.Fatalf("%v %s", g.header, g.body)
			}
			w.fold(clearCmd())
			await(t, "a serves again", func() bool {
				return w.post(question("eth_getBalance", balance)).header.Get(headerEndpoint) == "a"
			})
			at := func(method, params string) string {
				t.Helper()
				return w.post(question(method, params), c.header...).header.Get(headerEndpoint)
			}
			for _, q := range [][2]string{
				{"eth_getBalance", `["` + sender + `","latest"]`},
				{"eth_call", `[{"from":"` + strings.ToLower(sender) + `","to":"0x00000000000000000000000000000000000000aa"}]`},
				{"eth_getTransactionByHash", `["` + hash + `"]`},
			} {
				if got := at(q[0], q[1]); got != "b" {
					t.Errorf("%s went to %s", q[0], got)
				}
			}
			if got := w.post(question("eth_getBalance", balance)).header.Get(headerEndpoint); got != "a" {
				t.Errorf("a stranger's read went to %s", got)
			}
			if g := w.post(question("eth_getTransactionCount", `["`+sender+`","pending"]`), c.header...); g.result(t) != `"0x8"` {
				t.Errorf("pending nonce %s", g.body)
			}
			if g := w.post(question("eth_getTransactionCount", `["`+sender+`","latest"]`), c.header...); g.result(t) != `"0x0"` {
				t.Errorf("latest nonce %s", g.body)
			}
			// It is mined; our own look-up, once a block, finds it.
			pools["b"].set(func() { pools["b"].block[hash] = "0x65" })
			w.heads(101)
			read := func() string { return at("eth_getBalance", `["`+sender+`","latest"]`) }
			await(t, "the session is free again", func() bool { return read() == "a" })
			if n := w.nodes["b"].count("eth_getTransactionReceipt"); n != 1 {
				t.Errorf("looked %d times in one block", n)
			}
			w.head("a", 100) // a is behind the block of the write
			if got := read(); got == "a" {
				t.Error("a read behind the session's own write")
			}
		})
	}
}

func TestTheFateOfAWriteIsLookedUp(t *testing.T) {
	for _, c := range []struct {
		name  string
		names []string
		set   func(p map[string]*pool, hash string)
		sends map[string]int
		end   string // "": the hash
	}{
		{"taken, and the answer cut off; another shows it", []string{"a", "b", "c"}, func(p map[string]*pool, h string) {
			p["a"].cut, p["c"].has[h] = true, true
		}, map[string]int{"a": 1, "b": 0, "c": 0}, ""},
		{"lost; nobody shows it: the same bytes elsewhere", []string{"a", "b"}, func(p map[string]*pool, _ string) {
			p["a"].drop = true
		}, map[string]int{"a": 1, "b": 1}, ""},
		{"taken by the only endpoint, and the answer cut off", []string{"a"}, func(p map[string]*pool, _ string) {
			p["a"].cut = true
		}, map[string]int{"a": 2}, "may have been sent"},
		{"known already", []string{"a", "b"}, func(p map[string]*pool, h string) { p["a"].has[h] = true }, map[string]int{"a": 1, "b": 0}, ""},
		{"lost everywhere", []string{"a", "b"}, func(p map[string]*pool, _ string) {
			p["a"].drop, p["b"].drop = true, true
		}, map[string]int{"a": 2, "b": 1}, "may have been sent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, pools, hashOf := pooled(t, c.names...)
			params, hash := sign(t, testKey(t), testChain, 0)
			hashOf[params] = hash
			c.set(pools, hash)
			g := w.post(question(sendMethod, params))
			if c.end == "" {
				if g.result(t) != `"`+hash+`"` {
					t.Errorf("HTTP %d %s", g.status, g.body)
				}
			} else if e := g.failure(t); g.status != 503 || !e.Data.Retryable || !strings.Contains(e.Message, c.end) || !strings.Contains(e.Message, hash) {
				t.Errorf("HTTP %d %s", g.status, g.body)
			}
			for name, n := range c.sends {
				if got := w.nodes[name].count(sendMethod); got != n {
					t.Errorf("%s got the transaction %d times, want %d", name, got, n)
				}
				for _, r := range w.nodes[name].requests() {
					if r.Method == sendMethod && string(r.Params) != params {
						t.Errorf("%s got other bytes", name)
					}
				}
			}
		})
	}
}

func TestAUsedNonceMayBeOurOwnTransaction(t *testing.T) {
	const low = `{"code":-32000,"message":"nonce too low: next nonce 8, tx nonce 7"}`
	for _, mined := range []bool{true, false} {
		w, pools, hashOf := pooled(t, "a", "b", "c")
		params, hash := sign(t, testKey(t), testChain, 7)
		hashOf[params] = hash
		if mined {
			pools["b"].block[hash] = "0x60"
		}
		rest := pools["a"].answer(hashOf)
		w.nodes["a"].set(func(rw http.ResponseWriter, r asked) {
			if r.Method == sendMethod {
				say(rw, r, `"error":`+low)
				return
			}
			rest(rw, r)
		})
		g := w.post(question(sendMethod, params))
		if want := `{"jsonrpc":"2.0","id":1,"result":"` + hash + `"}`; mined && g.body != want {
			t.Errorf("it is mined: %s", g.body)
		}
		if want := `{"jsonrpc":"2.0","id":1,"error":` + low + `}`; !mined && g.body != want {
			t.Errorf("it is not there: %s", g.body)
		}
		looked := 0
		for _, n := range w.nodes {
			looked += n.count("eth_getTransactionByHash")
		}
		if looked != 2 {
			t.Errorf("looked it up %d times", looked)
		}
	}
}

func TestAnotherHashIsNoAnswer(t *testing.T) {
	w, pools, hashOf := pooled(t, "a", "b")
	params, hash := sign(t, testKey(t), testChain, 0)
	hashOf[params] = hash
	rest := pools["a"].answer(hashOf)
	w.nodes["a"].set(func(rw http.ResponseWriter, r asked) {
		if r.Method == sendMethod {
			say(rw, r, `"result":"0x`+strings.Repeat("cd", 32)+`"`)
			return
		}
		rest(rw, r)
	})
	if g := w.post(question(sendMethod, params)); g.result(t) != `"`+hash+`"` || g.header.Get(headerEndpoint) != "b" {
		t.Errorf("%v %s", g.header, g.body)
	}
}

func TestWhatNobodyShowsIsSentOnceMoreToAll(t *testing.T) {
	var mu sync.Mutex
	ahead := time.Duration(0)
	w, pools, hashOf := pooledWith(t, func(o *Options) {
		o.Now = func() time.Time { mu.Lock(); defer mu.Unlock(); return time.Now().Add(ahead) }
	}, "a", "b")
	params, hash := sign(t, testKey(t), testChain, 0)
	hashOf[params] = hash
	w.post(question(sendMethod, params))
	pools["a"].set(func() { delete(pools["a"].has, hash) })
	later := func(block uint64) {
		mu.Lock()
		ahead += 61 * time.Second
		mu.Unlock()
		w.heads(block)
	}
	later(101)
	await(t, "it is sent again", func() bool { return w.nodes["b"].count(sendMethod) == 1 && w.nodes["a"].count(sendMethod) == 2 })
	for _, p := range pools {
		p.set(func() { delete(p.has, hash) })
	}
	later(102)
	key := relayKey{w.server.def, mustHash(t, hash)}
	await(t, "it is given up", func() bool {
		w.server.book.mu.Lock()
		defer w.server.book.mu.Unlock()
		return w.server.book.relays[key].lost
	})
	if a, b := w.nodes["a"].count(sendMethod), w.nodes["b"].count(sendMethod); a != 2 || b != 1 {
		t.Errorf("sent %d and %d times", a, b)
	}
}
