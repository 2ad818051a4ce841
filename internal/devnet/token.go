package devnet

import (
	_ "embed"
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// tokenCode creates the contract of contracts/Token.sol: `make contracts`.
//
//go:embed contracts/Token.bin
var tokenCode string

// tokenGas is enough for the token's creation, and for each call of it.
const tokenGas = 2_000_000

// Owner is the faucet's address, to which everything on the chain belongs.
func (n *Net) Owner() common.Address { return crypto.PubkeyToAddress(n.faucet.PublicKey) }

// DeployToken puts the creation of an ERC-20 into the leader's pool and gives
// the address that it will have once a block is mined. The owner has all of it.
func (n *Net) DeployToken() (common.Address, error) {
	code, err := hexutil.Decode("0x" + strings.TrimSpace(tokenCode))
	if err != nil {
		return common.Address{}, fmt.Errorf("deploy the token: %w", err)
	}
	nonce, err := n.submit(nil, code)
	if err != nil {
		return common.Address{}, fmt.Errorf("deploy the token: %w", err)
	}
	return crypto.CreateAddress(n.Owner(), nonce), nil
}

// Approve puts the owner's approval of an amount for a spender into the
// leader's pool; it holds from the next block on.
func (n *Net) Approve(token, spender common.Address, amount *big.Int) error {
	data := crypto.Keccak256([]byte("approve(address,uint256)"))[:4]
	data = append(data, common.LeftPadBytes(spender.Bytes(), 32)...)
	data = append(data, common.LeftPadBytes(amount.Bytes(), 32)...)
	if _, err := n.submit(&token, data); err != nil {
		return fmt.Errorf("approve %s: %w", amount, err)
	}
	return nil
}

// submit signs a call as the owner and puts it into the leader's pool.
func (n *Net) submit(to *common.Address, data []byte) (nonce uint64, err error) {
	pool := n.leader.eth.TxPool()
	if err := pool.Sync(); err != nil {
		return 0, err
	}
	nonce = pool.Nonce(n.Owner())
	id := new(big.Int).SetUint64(n.ChainID())
	tx, err := types.SignNewTx(n.faucet, types.LatestSignerForChainID(id), &types.DynamicFeeTx{
		ChainID: id, Nonce: nonce, To: to, Gas: tokenGas, Data: data, GasTipCap: big.NewInt(1e9), GasFeeCap: big.NewInt(50e9),
	})
	if err != nil {
		return 0, err
	}
	return nonce, pool.Add([]*types.Transaction{tx}, true)[0]
}
