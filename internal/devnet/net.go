package devnet

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/core/types"
	"golang.org/x/sync/errgroup"

	"example.com/rpctop/internal/fleet"
)

// Defaults of Options.
const (
	DefaultChainID   = 1337 // a recovery takes a raw key only on dev chains
	DefaultBlockTime = time.Second
	DefaultHistory   = 8 // so that a lag of a few blocks shows at once
)

// Options says what to start. The zero value is the default net: the fronts of
// DefaultFronts and a block a second.
type Options struct {
	Seed    int64  // goes into genesis, payloads, jitter and keys
	ChainID uint64 // 0: DefaultChainID; the other chain has ChainID+1

	// BlockTime is the pace of mining on the wall clock; 0: DefaultBlockTime.
	// Header timestamps advance by BlockTime in whole seconds, at least one, so
	// below a second they run ahead of the wall clock.
	BlockTime time.Duration
	Manual    bool // no mining by the clock: only Mine does

	// HeadTime is the timestamp of the head when Start returns. The zero value
	// is a fixed date, which makes the hashes repeatable; the demo gives the
	// present time, so that ages look right.
	HeadTime time.Time
	History  int // blocks mined before Start returns; 0: DefaultHistory

	Fronts []FrontSpec // nil: DefaultFronts
}

// FrontSpec describes one front and the node behind it. The node has the name
// of its front.
type FrontSpec struct {
	Name      string
	Operator  string // who is said to run it
	Tier      int
	Latency   time.Duration // added to each answer
	Jitter    time.Duration // at most so much more, seeded
	Lag       int           // blocks behind the leader
	Elsewhere bool          // its node has another chain id and another genesis
	Pruned    bool          // its node keeps the state of 128 blocks; others keep all
}

// DefaultFronts is the cast of the tour.
func DefaultFronts() []FrontSpec {
	return []FrontSpec{
		{Name: "own", Operator: "own", Tier: 0, Latency: 8 * time.Millisecond, Jitter: 3 * time.Millisecond},
		{Name: "backup", Operator: "acme", Tier: 1, Latency: 45 * time.Millisecond, Jitter: 10 * time.Millisecond},
		{Name: "throttled", Operator: "globex", Tier: 1, Latency: 60 * time.Millisecond, Jitter: 15 * time.Millisecond},
		{Name: "laggard", Operator: "umbrella", Tier: 1, Latency: 30 * time.Millisecond, Jitter: 8 * time.Millisecond, Lag: 5},
		{Name: "elsewhere", Operator: "initech", Tier: 1, Latency: 20 * time.Millisecond, Jitter: 5 * time.Millisecond, Elsewhere: true},
	}
}

func (o Options) withDefaults() Options {
	if o.ChainID == 0 {
		o.ChainID = DefaultChainID
	}
	if o.BlockTime <= 0 {
		o.BlockTime = DefaultBlockTime
	}
	if o.History <= 0 {
		o.History = DefaultHistory
	}
	if o.HeadTime.IsZero() {
		o.HeadTime = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	if o.Fronts == nil {
		o.Fronts = DefaultFronts()
	}
	return o
}

func (o Options) check() error {
	names := map[string]bool{leaderName: true}
	for _, s := range o.Fronts {
		if s.Name == "" || names[s.Name] {
			return fmt.Errorf("devnet options: front name %q is empty, taken or %q", s.Name, leaderName)
		}
		names[s.Name] = true
		if s.Lag < 0 || s.Lag > maxLag {
			return fmt.Errorf("devnet options: front %q: lag %d is not within 0..%d", s.Name, s.Lag, maxLag)
		}
	}
	return nil
}

// step is the distance of two header timestamps, in seconds.
func (o Options) step() uint64 {
	return max(1, uint64(math.Round(o.BlockTime.Seconds())))
}

// Net is a running chain with its fronts. All methods are safe for concurrent
// use.
type Net struct {
	opts   Options
	faucet *ecdsa.PrivateKey
	ctx    context.Context // ends with Close; fronts and relays watch it
	cancel context.CancelFunc
	wg     sync.WaitGroup
	dial   *http.Transport // from fronts to nodes

	// chain guards every change of any node's chain, so that a block reaches
	// all followers before the next one is mined. Never held while waiting for
	// the network.
	chain   sync.Mutex
	leader  *node
	nodes   []*node // in the order of the fronts, without the leader
	private []*types.Transaction
	mineErr error

	fronts []*Front
	once   sync.Once
	closed error
}

// Start brings the nodes and fronts up, mines Options.History blocks on every
// chain and returns when each node answers. ctx bounds the start only; the net
// runs until Close.
func Start(ctx context.Context, o Options) (*Net, error) {
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return nil, err
	}
	key, err := seededKey(o.Seed)
	if err != nil {
		return nil, fmt.Errorf("devnet faucet: %w", err)
	}
	n := &Net{opts: o, faucet: key, dial: &http.Transport{MaxIdleConnsPerHost: 64}}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	if err := n.start(ctx); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

func (n *Net) start(ctx context.Context) error {
	if err := n.startNodes(); err != nil {
		return err
	}
	for _, nd := range n.nodes {
		if !nd.elsewhere {
			n.relay(nd)
		}
	}
	n.relay(n.leader)
	if err := n.Mine(n.opts.History); err != nil {
		return err
	}
	for _, nd := range append([]*node{n.leader}, n.nodes...) {
		if err := nd.awaitIndex(ctx); err != nil {
			return err
		}
	}
	for i, s := range n.opts.Fronts {
		f, err := newFront(n, n.nodes[i], s)
		if err != nil {
			return err
		}
		n.fronts = append(n.fronts, f)
	}
	if !n.opts.Manual {
		n.wg.Add(1)
		go n.mineByClock()
	}
	return nil
}

// startNodes starts all nodes side by side. Those that came up are kept even if
// another failed, for Close.
func (n *Net) startNodes() error {
	main := n.opts.genesis(false, n.faucet)
	other := n.opts.genesis(true, n.faucet)
	nodes := make([]*node, len(n.opts.Fronts)+1)
	var g errgroup.Group
	g.Go(func() (err error) {
		nodes[0], err = newNode(leaderName, main, 0, false)
		return err
	})
	for i, s := range n.opts.Fronts {
		g.Go(func() (err error) {
			gen := main
			if s.Elsewhere {
				gen = other
			}
			nodes[i+1], err = newNode(s.Name, gen, s.Lag, s.Pruned)
			if err == nil && s.Elsewhere {
				nodes[i+1].elsewhere, nodes[i+1].solo, nodes[i+1].salt = true, true, "elsewhere"
			}
			return err
		})
	}
	err := g.Wait()
	n.leader = nodes[0]
	for _, nd := range nodes[1:] {
		if nd != nil {
			n.nodes = append(n.nodes, nd)
		}
	}
	return err
}

// Close stops fronts and nodes and waits for their goroutines. It returns what
// went wrong while the net ran, too: a block that could not be mined, a port
// that was lost. Only the first call does anything.
func (n *Net) Close() error {
	n.once.Do(func() {
		n.cancel()
		var errs []error
		for _, f := range n.fronts {
			errs = append(errs, f.close())
		}
		n.wg.Wait()
		n.dial.CloseIdleConnections()
		for _, nd := range append([]*node{n.leader}, n.nodes...) {
			if nd != nil {
				errs = append(errs, nd.close())
			}
		}
		n.chain.Lock()
		defer n.chain.Unlock()
		n.closed = errors.Join(append(errs, n.mineErr)...)
	})
	return n.closed
}

// Fronts gives the fronts in the order of Options.Fronts.
func (n *Net) Fronts() []*Front { return n.fronts }

// Front gives a front by its name, nil if there is none.
func (n *Net) Front(name string) *Front {
	for _, f := range n.fronts {
		if f.spec.Name == name {
			return f
		}
	}
	return nil
}

// ChainID is the id of the shared chain.
func (n *Net) ChainID() uint64 { return n.opts.ChainID }

// BlockTime is the pace of mining on the wall clock.
func (n *Net) BlockTime() time.Duration { return n.opts.BlockTime }

// Genesis is the hash of block 0 of the shared chain.
func (n *Net) Genesis() fleet.Hash { return fleet.Hash(n.leader.eth.BlockChain().Genesis().Hash()) }

// Head is the leader's head, which every follower without a lag has too.
func (n *Net) Head() fleet.Head { return headOf(n.leader.eth.BlockChain().CurrentBlock()) }

// HashAt is the hash of the leader's block at a height, zero if it has none.
func (n *Net) HashAt(number uint64) fleet.Hash {
	return fleet.Hash(n.leader.eth.BlockChain().GetCanonicalHash(number))
}

// Faucet is the key of an account with a million ether on every chain of the
// net. It follows from the seed and is worth nothing.
func (n *Net) Faucet() *ecdsa.PrivateKey { return n.faucet }
