package devnet

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

func TestAnApprovalHoldsFromTheNextBlockOnEveryNode(t *testing.T) {
	n := start(t, quick("a", "b"))
	token, err := n.DeployToken()
	must(t, err)
	must(t, n.Mine(1))
	spender := common.HexToAddress("0x00000000000000000000000000000000000000be")
	data := "0xdd62ed3e" + common.BytesToHash(n.Owner().Bytes()).Hex()[2:] + common.BytesToHash(spender.Bytes()).Hex()[2:]
	allowance := func(f *Front) string {
		var out string
		ask(t, f, &out, "eth_call", map[string]string{"to": token.Hex(), "data": data}, map[string]any{"blockHash": n.Head().Hash, "requireCanonical": true})
		return out
	}
	for _, want := range []int64{0, 100, 250} {
		if want > 0 {
			must(t, n.Approve(token, spender, big.NewInt(want)))
			must(t, n.Mine(1))
		}
		for _, f := range n.Fronts() {
			eventually(t, f.Name()+" follows", func() bool { return head(t, f).Hash == n.Head().Hash })
			if got := allowance(f); got != common.BigToHash(big.NewInt(want)).Hex() {
				t.Errorf("%s says %s, want %d", f.Name(), got, want)
			}
		}
	}
}
