package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/upstream"
)

// question is one call of a round.
type question struct {
	method string
	params string // a JSON array; "" for none
}

var (
	askLatest    = question{"eth_getBlockByNumber", `["latest",false]`}
	askSafe      = question{"eth_getBlockByNumber", `["safe",false]`}
	askFinalized = question{"eth_getBlockByNumber", `["finalized",false]`}
	askGenesis   = question{"eth_getBlockByNumber", `["0x0",false]`}
	askChainID   = question{"eth_chainId", ""}
	askClient    = question{"web3_clientVersion", ""}
	askSyncing   = question{"eth_syncing", ""}
)

func askBlock(number uint64) question {
	return question{"eth_getBlockByNumber", fmt.Sprintf(`["0x%x",false]`, number)}
}

// harmless is a call to an address without code and without data: it needs the
// state of the block, and nothing else.
const harmless = `{"to":"0x0000000000000000000000000000000000000000","data":"0x"}`

func askCallAtHash(h fleet.Hash) question {
	return question{"eth_call", fmt.Sprintf(`[%s,{"blockHash":"%s","requireCanonical":true}]`, harmless, h)}
}

func askCallAtNumber(number uint64) question {
	return question{"eth_call", fmt.Sprintf(`[%s,"0x%x"]`, harmless, number)}
}

// line is the way to one endpoint for the length of one round.
type line struct {
	asker   Asker
	id      fleet.EndpointID
	timeout time.Duration
	hooks   Hooks
	purse   purse
	calls   atomic.Int64 // handed over
}

// purse pays for calls: pay takes one out of the budget of the day that it
// names, or says why not; refund returns one that was not handed over.
type purse interface {
	pay() (day int64, d *fleet.Denial)
	refund(day int64)
}

// free is the purse of a check, which an operator asked for.
type free struct{}

func (free) pay() (int64, *fleet.Denial) { return 0, nil }
func (free) refund(int64)                {}

// ask puts one question. The attempt is nil if nothing may be concluded: a
// rule of ours refused (then the denial is given), the caller went away, or
// our own code failed.
func (l *line) ask(ctx context.Context, q question) (a *fleet.Attempt, denial *fleet.Denial) {
	if ctx.Err() != nil {
		return nil, nil
	}
	// A bug of ours says nothing about the endpoint.
	defer func() {
		if v := recover(); v != nil {
			a, denial = nil, nil
			l.hooks.fault(l.id, fmt.Errorf("ask %s: panic: %v\n%s", q.method, v, debug.Stack()))
		}
	}()
	day, d := l.purse.pay()
	if d != nil {
		l.hooks.denied(l.id, d)
		return nil, d
	}
	var params json.RawMessage
	if q.params != "" {
		params = json.RawMessage(q.params)
	}
	a, err := l.asker.Do(ctx, upstream.Call{
		Endpoint: l.id, Method: q.method, Params: params,
		Caller: fleet.CallerProbe, Timeout: l.timeout,
		NoCache: true, // what our cache knows says nothing about the endpoint
	})
	switch {
	case errors.As(err, &denial):
		l.purse.refund(day)
		l.hooks.denied(l.id, denial)
		return nil, denial
	case err != nil:
		l.hooks.fault(l.id, fmt.Errorf("ask %s: %w", q.method, err))
		return nil, nil
	case a == nil:
		l.hooks.fault(l.id, fmt.Errorf("ask %s: neither attempt nor denial", q.method))
		return nil, nil
	}
	if a.Censored && !a.Sent {
		l.purse.refund(day)
		return nil, nil
	}
	l.calls.Add(1)
	if a.Censored {
		return nil, nil
	}
	return a, nil
}

// askAllowance calls allowance(owner, spender) of a watch's token at a block,
// which is given as JSON.
func askAllowance(w fleet.WatchSpec, block string) question {
	return question{"eth_call", fmt.Sprintf(`[{"to":"%s","data":"0xdd62ed3e%s%s"},%s]`, w.Token, word(w.Owner), word(w.Spender), block)}
}

// word is an address as an argument of a call: 64 hex digits.
func word(address string) string {
	digits := strings.ToLower(strings.TrimPrefix(address, "0x"))
	return strings.Repeat("0", max(0, 64-len(digits))) + digits
}
