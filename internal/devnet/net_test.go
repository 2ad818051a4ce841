package devnet

import (
	"log/slog"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"example.com/rpctop/internal/fleet"
)

func TestFollowersHaveTheHashesOfTheLeader(t *testing.T) {
	n := start(t, quick("a", "b", "c"))
	must(t, n.Mine(5))
	want := n.Head()
	if want.Number != DefaultHistory+5 {
		t.Errorf("head is %d, want %d", want.Number, DefaultHistory+5)
	}
	for _, f := range n.Fronts() {
		if h := head(t, f); h.height(t) != want.Number || h.Hash != want.Hash || h.ParentHash != want.Parent {
			t.Errorf("%s: head %s %s, want %d %s", f.Name(), h.Number, h.Hash, want.Number, want.Hash)
		}
		if b := blockAt(t, f, "0x3"); b == nil || b.Hash != n.HashAt(3) {
			t.Errorf("%s: block 3 is %v, want %s", f.Name(), b, n.HashAt(3))
		}
		if b := blockAt(t, f, "0x0"); b == nil || b.Hash != n.Genesis() {
			t.Errorf("%s: block 0 is %v, want %s", f.Name(), b, n.Genesis())
		}
	}
}

func TestANodeCanLagFreezeStepBackAndFork(t *testing.T) {
	n := start(t, quick("a", "b"))
	a, b := n.Front("a"), n.Front("b")
	behind := func(want uint64) {
		t.Helper()
		if got := n.Head().Number - head(t, a).height(t); got != want {
			t.Errorf("a is %d behind, want %d", got, want)
		}
		if h := head(t, a); n.HashAt(h.height(t)) != h.Hash {
			t.Errorf("a has %s at %s, want the leader's %s", h.Hash, h.Number, n.HashAt(h.height(t)))
		}
		if head(t, b).Hash != n.Head().Hash {
			t.Error("b does not follow")
		}
	}
	behind(0)
	must(t, n.SetLag("a", 3))
	behind(3) // at once: the head went back
	must(t, n.Mine(2))
	behind(3)
	must(t, n.SetLag("a", 0))
	behind(0)

	must(t, n.Freeze("a", true))
	must(t, n.Mine(4))
	behind(4)
	must(t, n.Freeze("a", false))
	behind(0)

	must(t, n.StepBack("a", 2))
	behind(2)
	must(t, n.Mine(1))
	behind(0)

	fork := n.Head().Number
	must(t, n.Fork("a", true))
	must(t, n.Mine(3))
	h := head(t, a)
	if h.height(t) != fork+3 || h.Hash == n.Head().Hash {
		t.Errorf("fork: a is at %s %s, the leader at %d %s", h.Number, h.Hash, n.Head().Number, n.Head().Hash)
	}
	if at := blockAt(t, a, hex(fork)); at == nil || at.Hash != n.HashAt(fork) {
		t.Errorf("fork: the common block is %v, want %s", at, n.HashAt(fork))
	}
	must(t, n.Fork("a", false))
	behind(0)
}

func TestAPrunedNodeForgetsOldState(t *testing.T) {
	o := quick("a", "pruned")
	o.Fronts[1].Pruned = true
	n := start(t, o)
	must(t, n.Mine(140))
	balance := func(name, at string) error {
		var s string
		return try(t, n.Front(name), &s, "eth_getBalance", "0x00000000000000000000000000000000000000aa", at)
	}
	if err := balance("pruned", "0x2"); !isRPC(err, -32000) {
		t.Errorf("old state of the pruned node: %v", err)
	}
	must(t, balance("pruned", hex(n.Head().Number-maxLag)))
	must(t, balance("a", "0x2"))
}

func TestANodeCatchesUpFromBeyondTheDepthOfState(t *testing.T) {
	n := start(t, quick("a", "b"))
	must(t, n.Freeze("a", true))
	must(t, n.Fork("b", true))
	must(t, n.Mine(200))
	must(t, n.Freeze("a", false))
	must(t, n.Fork("b", false))
	for _, f := range n.Fronts() {
		if h := head(t, f); h.Hash != n.Head().Hash {
			t.Errorf("%s is at %s, the leader at %d", f.Name(), h.Number, n.Head().Number)
		}
	}
	must(t, n.SetLag("a", maxLag))
	must(t, n.Mine(1))
	if got := n.Head().Number - head(t, n.Front("a")).height(t); got != maxLag {
		t.Errorf("a is %d behind, want %d", got, maxLag)
	}
}

func TestFinalityStaysBelowTheHeadAndNeverGoesBack(t *testing.T) {
	n := start(t, quick("a"))
	must(t, n.Mine(12))
	f := n.Front("a")
	before := blockAt(t, f, "finalized").height(t)
	if want := n.Head().Number - finalDepth; before != want {
		t.Errorf("finalized is %d, want %d", before, want)
	}
	must(t, n.StepBack("a", 3))
	fin, safe, latest := blockAt(t, f, "finalized").height(t), blockAt(t, f, "safe").height(t), head(t, f).height(t)
	if fin < before || fin > safe || safe > latest {
		t.Errorf("after a step back: finalized %d (was %d), safe %d, latest %d", fin, before, safe, latest)
	}
}

func TestWhatANodeCannotDoIsAnError(t *testing.T) {
	n := start(t, quick("a", "elsewhere"))
	for name, err := range map[string]error{
		"unknown node":         n.Freeze("nobody", true),
		"the leader":           n.Freeze(leaderName, true),
		"negative lag":         n.SetLag("a", -1),
		"lag beyond the state": n.SetLag("a", maxLag+1),
		"lag of another chain": n.SetLag("elsewhere", 1),
		"fork of another":      n.Fork("elsewhere", true),
		"back beyond genesis":  n.StepBack("a", DefaultHistory),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestTheOtherChainHasAnotherIDAndGenesisAndMinesAlong(t *testing.T) {
	n := start(t, quick("a", "elsewhere"))
	e := n.Front("elsewhere")
	var id, version string
	ask(t, e, &id, "eth_chainId")
	ask(t, e, &version, "net_version")
	if id != hex(n.ChainID()+1) || version != "1338" {
		t.Errorf("chain id %s, net_version %s", id, version)
	}
	ask(t, n.Front("a"), &id, "eth_chainId")
	if id != hex(n.ChainID()) {
		t.Errorf("a has chain id %s", id)
	}
	if b := blockAt(t, e, "0x0"); b == nil || b.Hash == n.Genesis() {
		t.Errorf("block 0 is %v", b)
	}
	must(t, n.Mine(2))
	if h := head(t, e); h.height(t) != n.Head().Number || h.Hash == n.Head().Hash {
		t.Errorf("head is %s %s, the leader's %d %s", h.Number, h.Hash, n.Head().Number, n.Head().Hash)
	}
}

func TestOneSeedGivesOneChain(t *testing.T) {
	run := func(seed int64) (out []fleet.Hash) {
		o := quick("a", "elsewhere")
		o.Seed = seed
		n := start(t, o)
		send(t, n, n.Front("a"), 0)
		must(t, n.Mine(3))
		e := head(t, n.Front("elsewhere"))
		return []fleet.Hash{n.Genesis(), n.Head().Hash, e.Hash}
	}
	first, again, other := run(1), run(1), run(2)
	for i := range first {
		if first[i] != again[i] {
			t.Errorf("hash %d differs between two runs with one seed: %s, %s", i, first[i], again[i])
		}
		if first[i] == other[i] {
			t.Errorf("hash %d does not depend on the seed", i)
		}
	}
}

func TestHeadTimeIsTheTimestampOfTheFirstHead(t *testing.T) {
	o := quick("a")
	o.HeadTime = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	o.BlockTime = 5 * time.Second
	n := start(t, o)
	first := n.Head()
	if int64(first.Time) != o.HeadTime.Unix() {
		t.Errorf("timestamp %d, want %d", first.Time, o.HeadTime.Unix())
	}
	must(t, n.Mine(1))
	if d := n.Head().Time - first.Time; d != 5 {
		t.Errorf("the next block is %d s later, want 5", d)
	}
}

func TestTheClockMines(t *testing.T) {
	o := quick("a")
	o.Manual, o.BlockTime = false, 10*time.Millisecond
	n := start(t, o)
	from := n.Head().Number
	eventually(t, "three blocks", func() bool { return head(t, n.Front("a")).height(t) >= from+3 })
}

func TestATransactionSentToAnyNodeIsMinedAndSeenByAll(t *testing.T) {
	n := start(t, quick("a", "b"))
	tx := send(t, n, n.Front("a"), 0)
	var known *struct{ BlockNumber *string }
	eventually(t, "the transaction in b's pool", func() bool {
		ask(t, n.Front("b"), &known, "eth_getTransactionByHash", tx)
		return known != nil
	})
	must(t, n.Mine(1))
	if receipt(t, n.Front("a"), tx) == nil {
		t.Error("no receipt after the next block")
	}
	if r := receipt(t, n.Front("b"), tx); r == nil || r.Status != "0x1" {
		t.Errorf("b has the receipt %v", r)
	}
}

func TestTheLoggersOfTheProcessAreLeftAlone(t *testing.T) {
	before := slog.Default()
	start(t, quick("a"))
	if slog.Default() != before {
		t.Error("starting a net replaced slog's default")
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for name, specs := range map[string][]FrontSpec{
		"no name":     {{}},
		"same name":   {{Name: "a"}, {Name: "a"}},
		"leader":      {{Name: leaderName}},
		"lag too big": {{Name: "a", Lag: maxLag + 1}},
	} {
		if n, err := Start(t.Context(), Options{Fronts: specs}); err == nil {
			t.Errorf("%s: started", name)
			must(t, n.Close())
		}
	}
}

// send sends one wei from the faucet through a front, and gives the hash.
func send(t *testing.T, n *Net, f *Front, nonce uint64) string {
	t.Helper()
	raw, hash := signed(t, n, nonce)
	var told string
	ask(t, f, &told, sendRaw, raw)
	if told != hash {
		t.Errorf("%s answers the hash %s, want %s", f.Name(), told, hash)
	}
	return hash
}

func signed(t *testing.T, n *Net, nonce uint64) (raw, hash string) {
	t.Helper()
	id := new(big.Int).SetUint64(n.ChainID())
	to := common.HexToAddress("0x00000000000000000000000000000000000000aa")
	tx, err := types.SignNewTx(n.Faucet(), types.LatestSignerForChainID(id), &types.DynamicFeeTx{
		ChainID: id, Nonce: nonce, To: &to, Value: big.NewInt(1), Gas: 21000,
		GasTipCap: big.NewInt(1e9), GasFeeCap: big.NewInt(50e9),
	})
	must(t, err)
	b, err := tx.MarshalBinary()
	must(t, err)
	return hexutil.Encode(b), tx.Hash().Hex()
}

type receiptOf struct{ Status, BlockNumber string }

func receipt(t *testing.T, f *Front, tx string) *receiptOf {
	t.Helper()
	var r *receiptOf
	ask(t, f, &r, "eth_getTransactionReceipt", tx)
	return r
}
