package devnet

import (
	"fmt"
	"testing"
)

func TestAFrozenFrontShowsTheChainAsItWas(t *testing.T) {
	n := start(t, quick("a", "b"))
	f := n.Front("a")
	old := head(t, f)
	h := old.height(t)
	must(t, f.Set(Fault{Kind: Frozen}))
	tx := send(t, n, n.Front("b"), 0)
	must(t, n.Mine(1))
	if receipt(t, n.Front("b"), tx) == nil {
		t.Error("no receipt after the next block")
	}
	must(t, n.Mine(finalDepth+1)) // even the finalized block is younger now
	now := n.Head()

	var number, balance, nonce string
	ask(t, f, &number, "eth_blockNumber")
	if got := head(t, f); got != old || number != old.Number {
		t.Errorf("head %v, number %s, want %v", got, number, old)
	}
	if b := blockAt(t, f, hex(now.Number)); b != nil {
		t.Errorf("has the later block %v", b)
	}
	if b := blockAt(t, f, "finalized"); b == nil || b.height(t) != h-finalDepth {
		t.Errorf("finalized is %v", b)
	}
	var byHash *block
	ask(t, f, &byHash, "eth_getBlockByHash", now.Hash, false)
	if byHash != nil {
		t.Errorf("has the later block %v by its hash", byHash)
	}
	ask(t, f, &byHash, "eth_getBlockByHash", old.Hash, false)
	if byHash == nil || *byHash != old {
		t.Errorf("the old head by hash is %v", byHash)
	}
	if r := receipt(t, f, tx); r != nil {
		t.Errorf("has the later receipt %v", r)
	}
	const to = "0x00000000000000000000000000000000000000aa"
	ask(t, f, &balance, "eth_getBalance", to, "latest")
	ask(t, f, &nonce, "eth_getTransactionCount", to) // no tag means latest
	if balance != "0x0" || nonce != "0x0" {
		t.Errorf("balance %s, nonce %s at the old head", balance, nonce)
	}
	for name, at := range map[string]any{
		"height":       hex(now.Number),
		"hash":         map[string]any{"blockHash": now.Hash, "requireCanonical": true},
		"bare hash":    now.Hash,
		"block number": map[string]any{"blockNumber": hex(now.Number)},
	} {
		if err := try(t, f, &balance, "eth_getBalance", to, at); !isRPC(err, -32000) {
			t.Errorf("state at a later %s: %v, want -32000", name, err)
		}
	}
	ask(t, f, &balance, "eth_getBalance", to, map[string]any{"blockHash": old.Hash, "requireCanonical": true})
	var logs []any
	ask(t, f, &logs, "eth_getLogs", map[string]any{"fromBlock": hex(h), "toBlock": hex(now.Number)})

	must(t, f.Set(Fault{}))
	ask(t, f, &balance, "eth_getBalance", to, "latest")
	if balance != "0x1" || head(t, f).Hash != now.Hash {
		t.Errorf("healed: balance %s, head %s", balance, head(t, f).Number)
	}
}

func TestAFrontBehindFollowsAtItsDistance(t *testing.T) {
	n := start(t, quick("a"))
	must(t, n.Front("a").Set(Fault{Kind: Behind, Blocks: 3}))
	for range 3 {
		must(t, n.Mine(1))
		if got := n.Head().Number - head(t, n.Front("a")).height(t); got != 3 {
			t.Errorf("%d behind, want 3", got)
		}
	}
}

func TestAFrontAheadLiesAboutTheHeightOfItsHeadOnly(t *testing.T) {
	n := start(t, quick("a"))
	f := n.Front("a")
	must(t, f.Set(Fault{Kind: Ahead, Blocks: 1_000_000}))
	if h := head(t, f); h.height(t) != n.Head().Number+1_000_000 || h.Hash != n.Head().Hash {
		t.Errorf("head %s %s", h.Number, h.Hash)
	}
	if b := blockAt(t, f, "0x2"); b == nil || b.Number != "0x2" {
		t.Errorf("block 2 is %v", b)
	}
}

func TestAnotherGenesisIsConsistentInItsLie(t *testing.T) {
	n := start(t, quick("a"))
	f := n.Front("a")
	must(t, f.Set(Fault{Kind: OtherGenesis}))
	zero := blockAt(t, f, "0x0")
	if zero == nil || zero.Hash == n.Genesis() {
		t.Fatalf("block 0 is %v", zero)
	}
	if b := blockAt(t, f, "0x1"); b == nil || b.ParentHash != zero.Hash || b.Hash != n.HashAt(1) {
		t.Errorf("block 1 is %v", b)
	}
	var b *block
	ask(t, f, &b, "eth_getBlockByHash", zero.Hash, false)
	if b == nil || b.Number != "0x0" || b.Hash != zero.Hash {
		t.Errorf("by the false hash: %v", b)
	}
}

func TestAForgedAllowanceSparesOtherCalls(t *testing.T) {
	n := start(t, quick("a"))
	f := n.Front("a")
	zero := `"0x` + fmt.Sprintf("%064d", 0) + `"`
	must(t, f.Set(Fault{Kind: Forged, Selector: "0xdd62ed3e", Body: zero}))
	call := func(key, data string) (out string) {
		ask(t, f, &out, "eth_call", map[string]string{"to": "0x00000000000000000000000000000000000000aa", key: data}, map[string]any{"blockHash": n.Head().Hash})
		return out
	}
	if got := `"` + call("data", "0xDD62ED3E00") + `"`; got != zero {
		t.Errorf("allowance is %s", got)
	}
	if got := call("input", "0x70a08231"); got != "0x" {
		t.Errorf("another call gives %s", got)
	}
}

func TestAPrivateSendShowsNowhereUntilItIsMined(t *testing.T) {
	n := start(t, quick("a", "b"))
	must(t, n.Front("a").Set(Fault{Kind: Private}))
	tx := send(t, n, n.Front("a"), 0)
	for _, f := range n.Fronts() {
		var known *struct{}
		if ask(t, f, &known, "eth_getTransactionByHash", tx); known != nil {
			t.Errorf("%s shows it", f.Name())
		}
	}
	must(t, n.Mine(1))
	if receipt(t, n.Front("b"), tx) == nil {
		t.Error("b has no receipt")
	}
	var none string
	if err := try(t, n.Front("a"), &none, sendRaw, "0x01"); !isRPC(err, -32000) && !isRPC(err, -32602) {
		t.Errorf("what is no transaction: %v", err)
	}
	// The same nonce again cannot be mined; the chain goes on without it.
	send(t, n, n.Front("a"), 0)
	must(t, n.Mine(1))
}

func TestASendThatIsCutHasArrived(t *testing.T) {
	n := start(t, quick("a", "b"))
	f := n.Front("a")
	must(t, f.Set(Fault{Kind: SendCut}))
	raw, tx := signed(t, n, 0)
	var hash string
	if err := try(t, f, &hash, sendRaw, raw); err == nil {
		t.Error("answered")
	}
	if !answers(t, f) {
		t.Error("other methods are cut too")
	}
	must(t, n.Mine(1))
	if receipt(t, n.Front("b"), tx) == nil {
		t.Error("no receipt after the next block")
	}
}
