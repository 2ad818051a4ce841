package devnet

import (
	"context"
	"crypto/ecdsa"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"os"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/eth"
	"github.com/ethereum/go-ethereum/eth/ethconfig"
	"github.com/ethereum/go-ethereum/eth/filters"
	gethnode "github.com/ethereum/go-ethereum/node"
	"github.com/ethereum/go-ethereum/p2p"
	"github.com/ethereum/go-ethereum/params"
	"github.com/ethereum/go-ethereum/rpc"

	"example.com/rpctop/internal/fleet"
)

const leaderName = "leader" // of the node that mines and has no front

// node is one go-ethereum node with its HTTP server. The fields below the line
// are guarded by Net.chain.
type node struct {
	name      string
	elsewhere bool
	stack     *gethnode.Node
	eth       *eth.Ethereum
	url       string

	lag       uint64 // blocks behind the leader
	frozen    bool
	solo      bool   // mines on its own head instead of following
	salt      string // tells the blocks of solo nodes apart
	finalized uint64
}

// newNode starts a node that has no peers and keeps everything in memory.
func newNode(name string, genesis *core.Genesis, lag int, pruned bool) (*node, error) {
	nc := gethnode.DefaultConfig
	nc.Name = "rpctop-devnet"
	nc.DataDir = ""
	nc.KeyStoreDir = os.TempDir() // exists, and nothing is written: else each node makes a folder
	nc.P2P = p2p.Config{NoDiscovery: true, NoDial: true}
	nc.HTTPHost, nc.HTTPPort = "127.0.0.1", 0
	nc.HTTPModules = []string{"eth", "net", "web3", "txpool"}

	ec := ethconfig.Defaults
	ec.Genesis = genesis
	ec.SyncMode = ethconfig.FullSync
	if !pruned { // the default scheme keeps 128 blocks: no return from a longer fork
		ec.StateScheme, ec.NoPruning = rawdb.HashScheme, true
	}
	ec.DatabaseCache, ec.TrieCleanCache, ec.TrieDirtyCache, ec.SnapshotCache = 16, 16, 16, 0
	ec.TxPool.NoLocals = true
	ec.TxPool.Journal = ""
	ec.LogNoHistory = true

	stack, err := gethnode.New(&nc)
	if err != nil {
		return nil, fmt.Errorf("start node %s: %w", name, err)
	}
	backend, err := eth.New(stack, &ec)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start node %s: %w", name, err), stack.Close())
	}
	stack.RegisterAPIs([]rpc.API{{
		Namespace: "eth",
		Service:   filters.NewFilterAPI(filters.NewFilterSystem(backend.APIBackend, filters.Config{})),
	}})
	if err := stack.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start node %s: %w", name, err), stack.Close())
	}
	backend.SetSynced() // else transactions are not taken
	return &node{name: name, stack: stack, eth: backend, url: stack.HTTPEndpoint(), lag: uint64(lag)}, nil
}

func (nd *node) close() error {
	if err := nd.stack.Close(); err != nil {
		return fmt.Errorf("close node %s: %w", nd.name, err)
	}
	return nil
}

// head is the node's present height.
func (nd *node) head() uint64 { return nd.eth.BlockChain().CurrentBlock().Number.Uint64() }

// awaitIndex waits until the node answers for transactions: before that it says
// "transaction indexing is in progress".
func (nd *node) awaitIndex(ctx context.Context) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !nd.eth.BlockChain().TxIndexDone() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("start node %s: transaction index: %w", nd.name, ctx.Err())
		case <-tick.C:
		}
	}
	return nil
}

// genesis makes block 0. The chain id is no part of its hash, so the other
// chain differs in the extra data as well.
func (o Options) genesis(elsewhere bool, faucet *ecdsa.PrivateKey) *core.Genesis {
	cfg := *params.AllDevChainProtocolChanges
	cfg.BogotaTime, cfg.AmsterdamTime = nil, nil // gas as on today's chains
	id, salt := o.ChainID, ""
	if elsewhere {
		id, salt = id+1, "elsewhere"
	}
	cfg.ChainID = new(big.Int).SetUint64(id)
	alloc := core.SystemContractAllocs()
	rich := new(big.Int).Mul(big.NewInt(1_000_000), big.NewInt(params.Ether))
	alloc[crypto.PubkeyToAddress(faucet.PublicKey)] = types.Account{Balance: rich}
	return &core.Genesis{
		Config:     &cfg,
		ExtraData:  o.extra(salt),
		Timestamp:  uint64(o.HeadTime.Unix()) - uint64(o.History)*o.step(),
		GasLimit:   ethconfig.Defaults.Miner.GasCeil,
		BaseFee:    big.NewInt(params.InitialBaseFee),
		Difficulty: new(big.Int),
		Alloc:      alloc,
	}
}

// extra is the extra data of blocks: at most 32 bytes, told apart by seed and
// salt.
func (o Options) extra(salt string) []byte {
	return append([]byte("rpctop devnet "), seeded(o.Seed, "extra "+salt).Bytes()[:8]...)
}

// seeded derives 32 bytes from the seed for one purpose.
func seeded(seed int64, purpose string) common.Hash {
	return crypto.Keccak256Hash(binary.BigEndian.AppendUint64(nil, uint64(seed)), []byte(purpose))
}

func seededKey(seed int64) (*ecdsa.PrivateKey, error) {
	return crypto.ToECDSA(seeded(seed, "faucet").Bytes())
}

func headOf(h *types.Header) fleet.Head {
	return fleet.Head{Number: h.Number.Uint64(), Hash: fleet.Hash(h.Hash()), Parent: fleet.Hash(h.ParentHash), Time: h.Time}
}
