package engine

import (
	"context"
	"errors"
	"time"

	"example.com/rpctop/internal/failover"
	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/store"
)

// keptVerdicts bounds the memory of commands that were carried out.
const keptVerdicts = 1_000

// journalWait bounds the commit of one command; a journal that takes longer is
// a journal that cannot record.
const journalWait = 2 * time.Second

// ask is a command that waits for its verdict.
type ask struct {
	cmd   fleet.Command
	reply chan<- fleet.Verdict // buffered
}

// saved is what became of a judged command at the journal.
type saved struct {
	ask
	verdict fleet.Verdict
}

// Do carries out an operator's command: judged on the state of now, recorded,
// folded, and only then acknowledged. Commands run one at a time. An error
// means that there is no verdict; a refusal is a verdict.
func (e *Engine) Do(ctx context.Context, cmd fleet.Command) (fleet.Verdict, error) {
	reply := make(chan fleet.Verdict, 1)
	select {
	case e.asks <- ask{cmd, reply}:
	case <-ctx.Done():
		return fleet.Verdict{}, ctx.Err()
	}
	select {
	case v, ok := <-reply:
		if !ok {
			return fleet.Verdict{}, errStopped
		}
		return v, nil
	case <-ctx.Done():
		return fleet.Verdict{}, ctx.Err()
	}
}

// nextCommand judges the next waiting command and sends it to the journal;
// that is I/O, so it happens beside the loop.
func (e *Engine) nextCommand(ctx context.Context) {
	if e.busy || len(e.waiting) == 0 {
		return
	}
	a := e.waiting[0]
	e.waiting = e.waiting[1:]
	e.busy = true
	s := e.state.Load()
	v := failover.Judge(s, a.cmd)
	v.Recorded = e.o.Journal != nil
	overrides := s.Overrides
	if v.Accepted {
		overrides = failover.Apply(s.Overrides, a.cmd, s.Wall())
	}
	e.writers.Go(func() {
		if e.o.Journal != nil {
			// The command is accepted by now: a caller that leaves does not undo it.
			c, cancel := context.WithTimeout(context.WithoutCancel(ctx), journalWait)
			err := e.o.Journal.SaveVerdict(c, a.cmd, v, overrides)
			cancel()
			if errors.Is(err, store.ErrAnswered) {
				v = fleet.Verdict{ID: a.cmd.ID, Code: "expired", Message: "it was answered or had expired before it could be recorded; nothing was done"}
			} else if err != nil {
				v.Recorded = false
				e.o.Log.Error("journal: record a command", "err", err)
			}
		}
		e.saved <- saved{a, v}
	})
}

// finish folds an accepted command and acknowledges it.
func (e *Engine) finish(s saved) {
	e.busy = false
	if s.verdict.Accepted {
		if !s.verdict.Recorded {
			s.verdict.Message += "; in force, not recorded"
			s.cmd.Unrecorded = true
		}
		s.cmd.Expect = nil // what was shown is no part of the decision
		e.fold(s.cmd, true)
	}
	s.reply <- s.verdict
	close(s.reply)
}

// refuseWaiting ends the commands that have no verdict when the engine stops;
// one that is at the journal is finished, since it may be recorded.
func (e *Engine) refuseWaiting() {
	if e.busy {
		e.finish(<-e.saved)
	}
	for _, a := range e.waiting {
		close(a.reply)
	}
	e.waiting = nil
}

// pollInbox carries out what other processes ask through the journal.
func (e *Engine) pollInbox(ctx context.Context) {
	poll := time.NewTicker(inboxEvery)
	defer poll.Stop()
	failing := false
	done := map[string]fleet.Verdict{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
		}
		cmds, err := e.o.Journal.PendingCommands(ctx, fleet.MillisOf(e.o.Now()))
		if err != nil {
			if !failing && ctx.Err() == nil {
				e.o.Log.Error("journal: read the inbox", "err", err)
			}
			failing = true
			continue
		}
		failing = false
		for _, cmd := range cmds {
			if v, ok := done[cmd.ID]; ok {
				// Carried out, but its verdict could not be stored: only that is tried again.
				_ = e.o.Journal.SaveVerdict(ctx, cmd, v, e.state.Load().Overrides)
				continue
			}
			v, err := e.Do(ctx, cmd)
			if err != nil {
				return // the engine stops; the asker times out, and nothing was done
			}
			if len(done) >= keptVerdicts {
				clear(done) // their commands have expired long ago
			}
			done[cmd.ID] = v
		}
	}
}
