package devnet

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/ethereum/go-ethereum/beacon/engine"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/txpool"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/miner"
)

// mineByClock mines until Close. A block that fails ends it, and Close tells.
func (n *Net) mineByClock() {
	defer n.wg.Done()
	tick := time.NewTicker(n.opts.BlockTime)
	defer tick.Stop()
	for {
		select {
		case <-n.ctx.Done():
			return
		case <-tick.C:
			if err := n.Mine(1); err != nil {
				n.chain.Lock()
				n.mineErr = err
				n.chain.Unlock()
				return
			}
		}
	}
}

// Mine adds k blocks to every chain of the net, with what is in the pools: a
// transaction whose send was answered before is in. When Mine returns, the
// followers have followed.
func (n *Net) Mine(k int) error {
	n.chain.Lock()
	defer n.chain.Unlock()
	for range k {
		if err := n.gather(); err != nil {
			return err
		}
		private := n.private
		n.private = nil
		if err := n.mineOn(n.leader, private); err != nil {
			return err
		}
		for _, nd := range n.nodes {
			if err := n.advance(nd); err != nil {
				return err
			}
		}
	}
	return nil
}

// advance brings a node to where it belongs after a new block of the leader.
func (n *Net) advance(nd *node) error {
	switch {
	case nd.frozen:
		return nil
	case nd.solo:
		return n.mineOn(nd, nil)
	default:
		return nd.follow(n.leader)
	}
}

// mineOn adds one block to a node's own head: private transactions if there are
// any, else what its pool has. Everything in the header follows from the parent,
// the seed and the transactions.
func (n *Net) mineOn(nd *node, private []*types.Transaction) error {
	bc, pool := nd.eth.BlockChain(), nd.eth.TxPool()
	if err := pool.Sync(); err != nil { // else it may still be at the block before
		return fmt.Errorf("mine on %s: %w", nd.name, err)
	}
	parent := bc.CurrentBlock()
	args := &miner.BuildPayloadArgs{
		Parent:       parent.Hash(),
		Timestamp:    parent.Time + n.opts.step(),
		FeeRecipient: common.BytesToAddress(seeded(n.opts.Seed, "fees "+nd.salt).Bytes()),
		Random:       crypto.Keccak256Hash(seeded(n.opts.Seed, "random").Bytes(), binary.BigEndian.AppendUint64(nil, parent.Number.Uint64()+1)),
		Withdrawals:  types.Withdrawals{},
		BeaconRoot:   &common.Hash{},
		Version:      engine.PayloadV3,
	}
	extra := n.opts.extra(nd.salt)
	block, _, err := nd.eth.Miner().BuildTestingPayload(args, private, false, extra)
	if err != nil && len(private) > 0 { // one that does not fit any more is lost, as with a private relay
		block, _, err = nd.eth.Miner().BuildTestingPayload(args, nil, false, extra)
	}
	if err != nil {
		return fmt.Errorf("mine on %s: build block %d: %w", nd.name, parent.Number.Uint64()+1, err)
	}
	if _, err := bc.InsertBlockWithoutSetHead(context.Background(), block, false); err != nil {
		return fmt.Errorf("mine on %s: insert block %d: %w", nd.name, block.NumberU64(), err)
	}
	return nd.setHead(block)
}

// gather brings what the nodes of the shared chain have in their pools to the
// leader's. The relays do so too, but in their own time, and the content of a
// block must not depend on that.
func (n *Net) gather() error {
	for _, nd := range n.nodes {
		if nd.elsewhere {
			continue
		}
		pool := nd.eth.TxPool()
		if err := pool.Sync(); err != nil {
			return fmt.Errorf("gather from %s: %w", nd.name, err)
		}
		var txs []*types.Transaction
		pending, _ := pool.Pending(txpool.PendingFilter{})
		for _, list := range pending {
			for _, lazy := range list {
				if tx := lazy.Resolve(); tx != nil {
					txs = append(txs, tx)
				}
			}
		}
		if len(txs) > 0 {
			n.leader.eth.TxPool().Add(txs, true) // what it knows or has mined is an error, and none of ours
		}
	}
	return nil
}

// relay passes new transactions of a node's pool on to all other nodes of the
// shared chain, as gossip would.
func (n *Net) relay(from *node) {
	// Unbuffered: the pool waits until the relay has the transactions.
	ch := make(chan core.NewTxsEvent)
	sub := from.eth.TxPool().SubscribeTransactions(ch, false)
	n.wg.Add(1)
	go func() {
		defer n.wg.Done()
		defer sub.Unsubscribe()
		for {
			select {
			case <-n.ctx.Done():
				return
			case <-sub.Err(): //nolint:errcheck // it ends with the pool, and is nil then
				return
			case ev := <-ch:
				for _, to := range append([]*node{n.leader}, n.nodes...) {
					if to != from && !to.elsewhere {
						to.eth.TxPool().Add(ev.Txs, false) // one it knows already is an error, and none of ours
					}
				}
			}
		}
	}()
}

// minePrivately keeps a transaction out of every pool until the leader puts it
// into its next block.
func (n *Net) minePrivately(tx *types.Transaction) {
	n.chain.Lock()
	defer n.chain.Unlock()
	n.private = append(n.private, tx)
}
