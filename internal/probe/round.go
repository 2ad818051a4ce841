package probe

import (
	"context"
	"sync"
	"time"

	"example.com/rpctop/internal/fleet"
)

// wants is the set of questions that a round puts besides the head.
type wants uint8

const (
	wantChainID wants = 1 << iota
	wantGenesis
	wantSafe
	wantFinalized
	wantClient
	wantSyncing

	wantTenth = wantChainID | wantSafe | wantFinalized | wantClient | wantSyncing
	wantAll   = wantTenth | wantGenesis
)

// extra is a question whose answer becomes a reading of its own.
type extra struct {
	want wants
	question
	read func(*fleet.Attempt) fleet.Reading
}

var extras = [...]extra{
	{wantGenesis, askGenesis, func(a *fleet.Attempt) fleet.Reading {
		return blockReading(fleet.ReadGenesis, a, new(uint64), fleet.ClassStateUnavailable)
	}},
	{wantFinalized, askFinalized, func(a *fleet.Attempt) fleet.Reading {
		return blockReading(fleet.ReadFinalized, a, nil, fleet.ClassNotYetVisible)
	}},
	{wantSafe, askSafe, func(a *fleet.Attempt) fleet.Reading {
		return blockReading(fleet.ReadSafe, a, nil, fleet.ClassNotYetVisible)
	}},
	{wantClient, askClient, clientReading},
	{wantSyncing, askSyncing, syncingReading},
}

// round is one probe round against one endpoint.
type round struct {
	*line
	want wants
	// wary: the last answer was none, so nothing but the head is asked until
	// the endpoint has answered that.
	wary bool
	// together: all questions at once, so that a hanging endpoint costs one
	// time-out and a slow one is read completely. Else at most two are in
	// flight, as befits somebody else's endpoint.
	together  bool
	deep      bool // one call at the head's hash too
	suspicion bool // out of turn
	sink      func(fleet.Input)
}

// result is what the clock of an endpoint needs to know of a round.
type result struct {
	answered wants         // need not be asked again before their turn
	genesis  bool          // block 0 was read
	cold     bool          // the head or the chain id came over a new connection
	due      wants         // of a connection that was made after them
	held     bool          // the head was asked
	outcome  fleet.Outcome // of the head's answer
	hold     time.Duration // how long the endpoint asked to be left alone
	head     *fleet.Head
}

// run puts the questions and emits the sample, then the readings. It ends
// within twice the endpoint's time-out, and within one if nothing answers.
func (r *round) run(ctx context.Context) result {
	ctx, cancel := context.WithTimeout(ctx, 2*r.timeout)
	defer cancel()
	start := time.Now()
	v := r.fire(ctx)

	res := result{cold: isCold(v.block) || isCold(v.chain)}
	if v.block != nil {
		r.sample(ctx, v, &res)
	}
	want := r.want
	if res.cold {
		want |= wantGenesis
	}
	if r.together {
		want = r.tellExtras(v, &res)
	}
	if res.head == nil {
		return res
	}
	if r.deep && time.Since(start) < r.timeout {
		r.callAt(ctx, *res.head)
	}
	r.oneByOne(ctx, start, want, &res)
	return res
}

// volley is what the questions that were put at once ended as: an attempt, or
// why there is none.
type volley struct {
	block, chain               *fleet.Attempt
	blockRefused, chainRefused *fleet.Denial
	chainAsked                 bool
	extras                     [len(extras)]*fleet.Attempt
	extrasRefused              [len(extras)]*fleet.Denial
}

// fire asks for the head, and for what may be asked at the same time.
func (r *round) fire(ctx context.Context) *volley {
	var v volley
	var wg sync.WaitGroup
	if v.chainAsked = r.want&wantChainID != 0 && !r.wary; v.chainAsked {
		wg.Go(func() { v.chain, v.chainRefused = r.ask(ctx, askChainID) })
	}
	if r.together {
		for i, e := range extras {
			if r.want&e.want != 0 {
				wg.Go(func() { v.extras[i], v.extrasRefused[i] = r.ask(ctx, e.question) })
			}
		}
	}
	v.block, v.blockRefused = r.ask(ctx, askLatest)
	wg.Wait()
	if crowded(v.blockRefused) {
		v.block, v.blockRefused = r.ask(ctx, askLatest)
	}
	return &v
}

// sample emits the head with the chain id, which it asks for if that is due:
// identity follows each new connection, since another backend may answer there.
func (r *round) sample(ctx context.Context, v *volley, res *result) {
	s := sampleOf(v.block)
	s.Suspicion = r.suspicion
	res.held, res.outcome, res.hold, res.head = true, s.Outcome, v.block.RetryAfter, s.Head

	due := !v.chainAsked && (res.cold || r.want&wantChainID != 0)
	if s.Head != nil && (due || crowded(v.chainRefused)) {
		v.chain, _ = r.ask(ctx, askChainID)
	}
	if v.chain != nil {
		s.ChainID, s.ChainIDClass = chainIDOf(v.chain)
		if s.ChainID != "" {
			res.answered |= wantChainID
		}
	}
	r.sink(s)
}

// tellExtras emits the readings of a volley, and gives what was refused for
// want of a slot.
func (r *round) tellExtras(v *volley, res *result) (left wants) {
	for i, e := range extras {
		if v.extras[i] != nil {
			r.tell(e, v.extras[i], res)
		} else if crowded(v.extrasRefused[i]) {
			left |= e.want
		}
	}
	return left
}

// crowded reports a refusal for want of a free slot: the same question may be
// put once the other questions of the round have ended.
func crowded(d *fleet.Denial) bool { return d != nil && d.Kind == fleet.DenyInFlight }

// oneByOne puts the extra questions after each other, and leaves off as soon
// as one fails or is refused: the rest stays due.
func (r *round) oneByOne(ctx context.Context, start time.Time, want wants, res *result) {
	for _, e := range extras {
		if want&e.want == 0 {
			continue
		}
		if time.Since(start) >= r.timeout {
			return
		}
		a, _ := r.ask(ctx, e.question)
		if a == nil {
			return
		}
		if isCold(a) {
			res.due |= (wantChainID | wantGenesis) &^ e.want
		}
		r.tell(e, a, res)
		if !settled(a) {
			return
		}
	}
}

func (r *round) tell(e extra, a *fleet.Attempt, res *result) {
	v := e.read(a)
	r.sink(v)
	if e.want == wantGenesis {
		res.genesis = v.Outcome.OK()
		if !settled(a) {
			return // block 0 is part of the identity: asked until there is an answer
		}
	}
	res.answered |= e.want
}

// settled reports an answer that the endpoint would give again.
func settled(a *fleet.Attempt) bool {
	c := a.Charge()
	return c == fleet.ChargeSuccess || c == fleet.ChargeNothing
}

// callAt reads state at the head that the endpoint has just stated. Where the
// form by hash is refused, the number has to do.
func (r *round) callAt(ctx context.Context, head fleet.Head) {
	a, _ := r.ask(ctx, askCallAtHash(head.Hash))
	if a == nil {
		return
	}
	switch a.Outcome.Class {
	case fleet.ClassBadRequest, fleet.ClassUnsupported:
		if b, _ := r.ask(ctx, askCallAtNumber(head.Number)); b != nil {
			r.sink(callReading(b, head.Number, fleet.Hash{}))
			return
		}
	}
	r.sink(callReading(a, head.Number, head.Hash))
}

func isCold(a *fleet.Attempt) bool { return a != nil && a.Timing.Cold }
