package devnet

import (
	"context"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/core/types"
)

const (
	safeDepth  = 4 // blocks behind a node's head
	finalDepth = 8
	maxLag     = 100 // a pruned node keeps the state of 128 blocks
)

// follow brings the node to the leader's block that its lag allows, forwards or
// back, and never to block 0.
func (nd *node) follow(leader *node) error {
	head := leader.head()
	if head == 0 {
		return nil
	}
	target := uint64(1)
	if head > nd.lag {
		target = head - nd.lag
	}
	src, dst := leader.eth.BlockChain(), nd.eth.BlockChain()
	block := src.GetBlockByNumber(target)
	if block == nil {
		return fmt.Errorf("follow on %s: the leader has no block %d", nd.name, target)
	}
	if block.Hash() == dst.CurrentBlock().Hash() {
		return nil
	}
	var missing []*types.Block
	for b := block; !dst.HasBlockAndState(b.Hash(), b.NumberU64()); {
		missing = append(missing, b)
		parent := src.GetBlock(b.ParentHash(), b.NumberU64()-1)
		if parent == nil {
			return fmt.Errorf("follow on %s: no parent of block %d", nd.name, b.NumberU64())
		}
		b = parent
	}
	for i := len(missing) - 1; i >= 0; i-- {
		if _, err := dst.InsertBlockWithoutSetHead(context.Background(), missing[i], false); err != nil {
			return fmt.Errorf("follow on %s: insert block %d: %w", nd.name, missing[i].NumberU64(), err)
		}
	}
	return nd.setHead(block)
}

// setHead makes a block that the node has its head. Finality does not go back
// with the head, as on a real chain, but never lies above it.
func (nd *node) setHead(block *types.Block) error {
	bc := nd.eth.BlockChain()
	if _, err := bc.SetCanonical(block); err != nil {
		return fmt.Errorf("set head of %s to block %d: %w", nd.name, block.NumberU64(), err)
	}
	head := block.NumberU64()
	nd.finalized = min(max(nd.finalized, below(head, finalDepth)), head)
	bc.SetFinalized(bc.GetHeaderByNumber(nd.finalized))
	bc.SetSafe(bc.GetHeaderByNumber(max(nd.finalized, below(head, safeDepth))))
	return nil
}

func below(height, n uint64) uint64 {
	if height < n {
		return 0
	}
	return height - n
}

// change finds the node of a front and changes it under the chain's lock.
func (n *Net) change(name, what string, do func(*node) error) error {
	n.chain.Lock()
	defer n.chain.Unlock()
	for _, nd := range n.nodes {
		if nd.name == name {
			if err := do(nd); err != nil {
				return fmt.Errorf("%s %s: %w", what, name, err)
			}
			return nil
		}
	}
	return fmt.Errorf("%s %s: no such node", what, name)
}

// SetLag keeps a node k blocks behind the leader, at once: with a larger lag
// than before its head goes back. 0 <= k <= 100.
func (n *Net) SetLag(name string, k int) error {
	return n.change(name, "set lag of", func(nd *node) error {
		if k < 0 || k > maxLag {
			return fmt.Errorf("lag %d is not within 0..%d", k, maxLag)
		}
		if nd.solo {
			return errSolo
		}
		nd.lag = uint64(k)
		return n.settle(nd)
	})
}

// Freeze stops a node at its present head, or lets it catch up.
func (n *Net) Freeze(name string, on bool) error {
	return n.change(name, "freeze", func(nd *node) error {
		nd.frozen = on
		return n.settle(nd)
	})
}

// StepBack takes a node k blocks back at once. It goes on with the next block,
// unless it is frozen.
func (n *Net) StepBack(name string, k int) error {
	return n.change(name, "step back", func(nd *node) error {
		head := nd.head()
		if k < 0 || k > maxLag || uint64(k) >= head {
			return fmt.Errorf("%d blocks from height %d", k, head)
		}
		block := nd.eth.BlockChain().GetBlockByNumber(head - uint64(k))
		if block == nil {
			return fmt.Errorf("no block %d", head-uint64(k))
		}
		return nd.setHead(block)
	})
}

// Fork lets a node mine a chain of its own on top of its present head, one
// block for each of the leader's; off, it returns to the leader's chain: a
// reorganisation as deep as the fork was long.
func (n *Net) Fork(name string, on bool) error {
	return n.change(name, "fork", func(nd *node) error {
		if nd.elsewhere {
			return errSolo
		}
		nd.solo, nd.salt = on, ""
		if on {
			nd.salt = "fork " + name
		}
		return n.settle(nd)
	})
}

// settle applies a changed setting now instead of with the next block.
func (n *Net) settle(nd *node) error {
	if nd.frozen || nd.solo {
		return nil
	}
	return nd.follow(n.leader)
}

var errSolo = errors.New("the node mines on its own")
