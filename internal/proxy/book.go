package proxy

import (
	"container/list"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/jsonrpc"
)

// Bounds of the book.
const (
	maxSessions = 10_000
	maxRelays   = 10_000
	perSession  = 64 // relayed transactions that a session looks after
	sessionTTL  = 10 * time.Minute
)

// book keeps the sessions and the relayed transactions of all chains. One lock
// guards it all: each use is a few steps in memory.
type book struct {
	relaying atomic.Int64 // relays; 0 spares requests the search for their session
	mu       sync.Mutex
	floors   map[*chain]uint64 // that all share who have no session
	sessions map[sessionKey]*list.Element
	order    *list.List // of *session, the last used first
	relays   map[relayKey]*relay
}

func newBook() *book {
	return &book{floors: map[*chain]uint64{}, sessions: map[sessionKey]*list.Element{}, order: list.New(), relays: map[relayKey]*relay{}}
}

// sessionKey names a session: the client's own word, or a sender's address.
type sessionKey struct {
	ch     *chain
	named  string
	sender common.Address // of a session without a name
}

// session is what one client has seen and sent.
type session struct {
	key    sessionKey
	used   time.Time
	floor  uint64   // the highest block that it has seen
	relays []*relay // oldest first
}

// relayKey names a relayed transaction.
type relayKey struct {
	ch   *chain
	hash fleet.Hash
}

// relay is a transaction that went out through us.
type relay struct {
	relayKey
	raw      json.RawMessage // the params of the send, verbatim
	sender   common.Address
	nonce    uint64
	signed   bool   // sender and nonce are known
	endpoint string // that took it; "": not known
	at       time.Time
	shown    time.Time // when somebody last showed it, or it was sent again
	block    uint64    // in which it is; 0: not seen in any
	looked   uint64    // the reference height at our last look-up
	resent   bool
	lost     bool // nobody shows it, even after it was sent again
}

// pins reports whether the reads of its session have to go where it was sent.
func (r *relay) pins(ref ref) bool {
	return r.endpoint != "" && !r.lost && (r.block == 0 || !ref.known || r.block > ref.number)
}

// view is what binds one request.
type view struct {
	key    sessionKey // ch nil: none but the chain's floor
	floor  uint64
	only   string // the endpoint that has the session's last write; "": any
	named  bool   // the request names a relayed transaction or its sender
	relays bool   // there are relayed transactions at all
}

// view finds the session of a request: the one that the client names, or that
// of a relayed sender or transaction in its parameters.
func (b *book) view(ch *chain, named string, params json.RawMessage, now time.Time, ref ref) view {
	v := view{relays: b.relaying.Load() > 0}
	var addrs []common.Address
	var hashes []fleet.Hash
	if v.relays {
		addrs, hashes = mentioned(params)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	v.floor = b.floors[ch]
	sender, found := b.mentions(ch, addrs, hashes)
	v.named = found
	switch {
	case named != "":
		v.key, v.floor = sessionKey{ch: ch, named: named}, 0 // its own alone
	case found:
		v.key = sessionKey{ch: ch, sender: sender}
	default:
		return v
	}
	s := b.session(v.key, now, named != "")
	if s == nil {
		return v
	}
	b.settle(s, ref)
	v.floor = max(v.floor, s.floor)
	for _, r := range s.relays {
		v.floor = max(v.floor, r.block) // for the session itself even above the reference head
		if r.pins(ref) {
			v.only = r.endpoint // the newest counts
		}
	}
	return v
}

// mentions finds the sender that a request's addresses and hashes stand for.
func (b *book) mentions(ch *chain, addrs []common.Address, hashes []fleet.Hash) (common.Address, bool) {
	for _, h := range hashes {
		if r := b.relays[relayKey{ch, h}]; r != nil {
			return r.sender, true
		}
	}
	for _, a := range addrs {
		if b.sessions[sessionKey{ch: ch, sender: a}] != nil {
			return a, true
		}
	}
	return common.Address{}, false
}

// session finds a session and marks it as used; make adds it where it is not.
func (b *book) session(k sessionKey, now time.Time, add bool) *session {
	for e := b.order.Back(); e != nil; e = b.order.Back() {
		if s := e.Value.(*session); now.Sub(s.used) < sessionTTL && b.order.Len() <= maxSessions {
			break
		}
		b.drop(e)
	}
	if e := b.sessions[k]; e != nil {
		s := e.Value.(*session)
		s.used = now
		b.order.MoveToFront(e)
		return s
	}
	if !add {
		return nil
	}
	s := &session{key: k, used: now}
	b.sessions[k] = b.order.PushFront(s)
	return s
}

func (b *book) drop(e *list.Element) {
	delete(b.sessions, e.Value.(*session).key)
	b.order.Remove(e)
}

// settle turns what has been mined at a height that everybody may have into
// the session's floor.
func (b *book) settle(s *session, ref ref) {
	s.relays = slices.DeleteFunc(s.relays, func(r *relay) bool {
		if r.block != 0 && ref.known && r.block <= ref.number {
			s.floor = max(s.floor, r.block)
			return true
		}
		return r.lost
	})
}

// served raises the floor of a request's session, and of the chain, to the
// block that it was shown. A floor never rises above the reference head.
func (b *book) served(ch *chain, v view, n uint64, ref ref) {
	if !ref.known {
		return
	}
	n = min(n, ref.number)
	b.mu.Lock()
	defer b.mu.Unlock()
	if v.key.named == "" && n > b.floors[ch] {
		b.floors[ch] = n
	}
	if e := b.sessions[v.key]; v.key.ch != nil && e != nil {
		s := e.Value.(*session)
		s.floor = max(s.floor, n)
	}
}

// seen notes in which block a relayed transaction is.
func (b *book) seen(ch *chain, h fleet.Hash, block uint64) {
	if b.relaying.Load() == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := b.relays[relayKey{ch, h}]; r != nil {
		r.block, r.lost = block, false
	}
}

// nextNonce is the nonce after the highest relayed one that is pending.
func (b *book) nextNonce(ch *chain, sender common.Address, now time.Time) (next uint64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.session(sessionKey{ch: ch, sender: sender}, now, false)
	if s == nil {
		return 0, false
	}
	for _, r := range s.relays {
		if r.signed && r.endpoint != "" && r.block == 0 && !r.lost {
			next, ok = max(next, r.nonce+1), true
		}
	}
	return next, ok
}

// relayed enters a transaction that went out. It belongs to its sender's
// session and to the client's own, if it has one.
func (b *book) relayed(r *relay, named string, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if old := b.relays[r.relayKey]; old != nil { // sent again by the client
		if old.endpoint == "" {
			old.endpoint = r.endpoint
		}
		old.lost, old.shown = false, now
		r = old
	} else {
		if len(b.relays) >= maxRelays {
			b.forget(now)
		}
		b.relays[r.relayKey] = r
		b.relaying.Store(int64(len(b.relays)))
	}
	keys := make([]sessionKey, 0, 2)
	if r.signed {
		keys = append(keys, sessionKey{ch: r.ch, sender: r.sender})
	}
	if named != "" {
		keys = append(keys, sessionKey{ch: r.ch, named: named})
	}
	for _, k := range keys {
		s := b.session(k, now, true)
		if !slices.Contains(s.relays, r) {
			s.relays = append(s.relays[max(0, len(s.relays)-perSession+1):], r)
		}
	}
}

// forget drops relays that are old, and if there are too many the oldest. The
// caller holds the lock.
func (b *book) forget(now time.Time) {
	var oldest *relay
	for k, r := range b.relays {
		if now.Sub(r.at) > sessionTTL {
			delete(b.relays, k)
			continue
		}
		if oldest == nil || r.at.Before(oldest.at) {
			oldest = r
		}
	}
	if len(b.relays) >= maxRelays {
		delete(b.relays, oldest.relayKey)
	}
	b.relaying.Store(int64(len(b.relays)))
}

// mentioned lists the addresses and hashes in a request's parameters: strings
// of their length at the top, and `from` in an object.
func mentioned(params json.RawMessage) (addrs []common.Address, hashes []fleet.Hash) {
	for _, p := range jsonrpc.Elements(params, 4) {
		if p[0] == '{' {
			p = jsonrpc.Member(p, "from")
		}
		switch s, _ := jsonrpc.Text(p); len(s) {
		case 2 + 2*common.AddressLength:
			if common.IsHexAddress(s) {
				addrs = append(addrs, common.HexToAddress(s))
			}
		case 2 + 2*common.HashLength:
			if h, err := fleet.ParseHash(s); err == nil {
				hashes = append(hashes, h)
			}
		}
	}
	return addrs, hashes
}
