package probe

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/jsonrpc"
)

// mostWishes bounds the questions that wait for one endpoint.
const mostWishes = 64

// wish is a question that was asked for from outside, and when it is due.
type wish struct {
	fleet.Wish
	due, until time.Time
}

// Ask puts a question of the fold to an endpoint, as soon as its round in
// flight has ended, out of the budget of regular rounds. The answers come as
// readings of the wish's kind. What cannot be put in time is left out.
func (p *Prober) Ask(id fleet.EndpointID, w fleet.Wish) {
	now := time.Now()
	p.change(id, func(r *runner) {
		if len(r.wishes) >= mostWishes {
			return
		}
		r.wishes = append(r.wishes, wish{w, now.Add(millis(w.Delay)), now.Add(millis(w.Until - w.At))})
	})
}

func millis(m fleet.Millis) time.Duration { return time.Duration(m) * time.Millisecond }

// nextWish takes the first wish that is due, or says when one will be; the
// caller holds mu.
func (r *runner) nextWish(now time.Time) (w *fleet.Wish, wait time.Duration) {
	wait = time.Minute
	for i := 0; i < len(r.wishes); i++ {
		x := r.wishes[i]
		if now.Before(x.due) {
			wait = min(wait, x.due.Sub(now))
			continue
		}
		r.wishes = append(r.wishes[:i:i], r.wishes[i+1:]...)
		i--
		if now.Before(x.until) {
			return &x.Wish, 0
		}
	}
	return nil, wait
}

// grant puts a wish's questions, and counts them to the rounds' cost.
func (r *runner) grant(ctx context.Context, w fleet.Wish) {
	l := r.lineFor(false)
	g := granting{line: l, watches: r.chain.Watches, byNumber: &r.byNumber, sink: r.sink}
	g.run(ctx, w)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spent += l.calls.Load()
}

// Ask puts a question of the fold to an endpoint, outside any budget of the
// day; the answers go to Sink.
func (c Check) Ask(ctx context.Context, id fleet.EndpointID, timeout time.Duration, w fleet.Wish) {
	if !sleep(ctx, millis(w.Delay)) {
		return
	}
	g := granting{line: &line{asker: c.Asker, id: id, timeout: timeout, hooks: c.Hooks, purse: free{}}, byNumber: new(bool), sink: c.Sink}
	for _, ch := range c.Chains {
		if ch.Name == id.Chain {
			g.watches = ch.Watches
		}
	}
	g.run(ctx, w)
}

// granting is the work on one wish.
type granting struct {
	*line
	watches  []fleet.WatchSpec
	byNumber *bool // the endpoint has refused reads by block hash
	sink     func(fleet.Input)
}

func (g *granting) run(ctx context.Context, w fleet.Wish) {
	ctx, cancel := context.WithTimeout(ctx, 2*g.timeout)
	defer cancel()
	switch w.What {
	case fleet.ReadCommon:
		a, denial := g.ask(ctx, askBlock(w.Number))
		v := fleet.Reading{Endpoint: g.id, What: w.What, Number: w.Number}
		if a == nil {
			g.denied(v, "", denial)
			return
		}
		v = blockReading(w.What, a, &w.Number, fleet.ClassNotYetVisible)
		v.Number = w.Number
		g.sink(v)
	case fleet.ReadBeyond:
		a, denial := g.ask(ctx, askCallAtNumber(w.Number))
		v := fleet.Reading{Endpoint: g.id, What: w.What, Number: w.Number}
		if a == nil {
			g.denied(v, "", denial)
			return
		}
		v = callReading(a, w.Number, fleet.Hash{})
		v.What = w.What
		g.sink(v)
	case fleet.ReadWatch:
		g.watch(ctx, w)
	}
}

// watch reads one watch at a block, or all there and at latest.
func (g *granting) watch(ctx context.Context, w fleet.Wish) {
	for _, s := range g.watches {
		if w.Watch == "" || w.Watch == s.Name {
			g.atBlock(ctx, s, w)
		}
	}
	if w.Watch != "" || len(g.watches) == 0 {
		return
	}
	var head fleet.Head
	a, denial := g.ask(ctx, askLatest)
	if a != nil {
		s := sampleOf(a)
		if a.Outcome = s.Outcome; s.Head != nil {
			head = *s.Head
		}
	}
	for _, s := range g.watches {
		v := fleet.Reading{Endpoint: g.id, What: fleet.ReadWatchHead, Number: head.Number, Hash: head.Hash}
		switch {
		case a == nil:
			g.denied(v, s.Name, denial)
		case !a.Outcome.OK():
			v.Watch, v.Outcome, v.Total = s.Name, a.Outcome, a.Timing.Total
			g.sink(v)
		default:
			b, denial := g.ask(ctx, askAllowance(s, `"latest"`))
			g.tellValue(b, denial, v, s)
		}
	}
}

// atBlock reads a watch at a block by its hash. Where that form is refused the
// number has to do, with the block's hash read before and after: if it is
// another one then, the value belongs to nobody knows what, and is discarded.
func (g *granting) atBlock(ctx context.Context, s fleet.WatchSpec, w fleet.Wish) {
	v := fleet.Reading{Endpoint: g.id, What: fleet.ReadWatch, Number: w.Number, Hash: w.Hash}
	if !*g.byNumber {
		a, denial := g.ask(ctx, askAllowance(s, fmt.Sprintf(`{"blockHash":"%s","requireCanonical":true}`, w.Hash)))
		if a == nil || a.Outcome.Class != fleet.ClassBadRequest && a.Outcome.Class != fleet.ClassUnsupported {
			g.tellValue(a, denial, v, s)
			return
		}
	}
	if !g.stands(ctx, s, v) {
		return
	}
	a, denial := g.ask(ctx, askAllowance(s, fmt.Sprintf(`"0x%x"`, w.Number)))
	if a == nil || !a.Outcome.OK() {
		g.tellValue(a, denial, v, s)
		return
	}
	*g.byNumber = true
	if g.stands(ctx, s, v) {
		g.tellValue(a, nil, v, s)
	}
}

// stands reports whether the endpoint has the block at its height; if not, it
// tells so in the place of a value.
func (g *granting) stands(ctx context.Context, s fleet.WatchSpec, v fleet.Reading) bool {
	a, denial := g.ask(ctx, askBlock(v.Number))
	if a == nil {
		g.denied(v, s.Name, denial)
		return false
	}
	b := blockReading(v.What, a, &v.Number, fleet.ClassNotYetVisible)
	if b.Outcome.OK() && b.Hash == v.Hash {
		return true
	}
	v.Watch, v.Outcome, v.Total = s.Name, b.Outcome, b.Total
	if b.Outcome.OK() {
		v.Outcome = fleet.Outcome{Class: fleet.ClassNotYetVisible, Origin: fleet.OriginNode, Status: a.Outcome.Status,
			Message: "has block " + b.Hash.Short() + " at that height"}
	}
	g.sink(v)
	return false
}

// denied tells that a rule of ours kept an answer from us. It says nothing about
// the endpoint, and stands where the answer would, so that nobody waits for it.
func (g *granting) denied(v fleet.Reading, watch string, d *fleet.Denial) {
	if d == nil {
		return // cancelled, or a bug of ours
	}
	v.Watch = watch
	v.Outcome = fleet.Outcome{Class: fleet.ClassLocalDenial, Sub: string(d.Kind), Origin: fleet.OriginLocal, Message: fleet.Sanitize(d.Error())}
	g.sink(v)
}

func (g *granting) tellValue(a *fleet.Attempt, d *fleet.Denial, v fleet.Reading, s fleet.WatchSpec) {
	if a == nil {
		g.denied(v, s.Name, d)
		return
	}
	v.Watch, v.Outcome, v.Total = s.Name, a.Outcome, a.Timing.Total
	if a.Outcome.OK() {
		n, err := parseWord(a.Result)
		if err != nil {
			v.Outcome = misread(a.Outcome, err)
		} else {
			v.Value = n.String()
		}
	}
	g.sink(v)
}

// parseWord reads one EVM word. Nothing else is a number: an address without
// code answers 0x, and another contract what it likes.
func parseWord(raw []byte) (*big.Int, error) {
	data, err := jsonrpc.ParseData(raw)
	switch {
	case err != nil:
		return nil, err
	case len(data) == 0:
		return nil, errors.New("0x: no code at the token's address, or no allowance in it")
	case len(data) != 32:
		return nil, fmt.Errorf("%d bytes where a number has 32", len(data))
	}
	return new(big.Int).SetBytes(data), nil
}
