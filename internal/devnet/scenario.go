package devnet

import (
	"context"
	"fmt"
	"time"
)

// Scenario is a cast of endpoints and a script of what goes wrong with them.
type Scenario struct {
	Name    string
	Summary string // one line

	Fronts    []FrontSpec
	BlockTime time.Duration

	// LagSoft and LagHard are the lag settings with which the script fits on a
	// screen: the defaults of a configuration would gate a stale endpoint after
	// half a minute.
	LagSoft, LagHard time.Duration

	Steps  []Step        // in the order of After
	Repeat time.Duration // length of a round, after which the script starts again; 0: once
}

// Step is one thing that happens in a scenario.
type Step struct {
	After time.Duration // since the round began
	Front string
	Do    Action
	Note  string // what an onlooker is told
}

// Action is what happens to a front or to the node behind it: a Fault, NodeLag,
// NodeFreeze, NodeStepBack or NodeFork.
type Action interface {
	// Check reports whether the action is well-formed.
	Check() error
	act(n *Net, front string) error
}

// NodeLag keeps the node so many blocks behind.
type NodeLag int

// NodeFreeze stops the node at its head, or lets it catch up.
type NodeFreeze bool

// NodeStepBack takes the node so many blocks back.
type NodeStepBack int

// NodeFork lets the node mine on its own, or return.
type NodeFork bool

func (f Fault) act(n *Net, front string) error {
	fr := n.Front(front)
	if fr == nil {
		return fmt.Errorf("set %s: no such front", front)
	}
	return fr.Set(f)
}

func (k NodeLag) act(n *Net, front string) error      { return n.SetLag(front, int(k)) }
func (on NodeFreeze) act(n *Net, front string) error  { return n.Freeze(front, bool(on)) }
func (k NodeStepBack) act(n *Net, front string) error { return n.StepBack(front, int(k)) }
func (on NodeFork) act(n *Net, front string) error    { return n.Fork(front, bool(on)) }

// Check reports whether the lag is one that a node can have.
func (k NodeLag) Check() error { return depth(int(k)) }

// Check reports whether a node can go back that far.
func (k NodeStepBack) Check() error { return depth(int(k)) }

// Check has nothing to object to.
func (on NodeFreeze) Check() error { return nil }

// Check has nothing to object to.
func (on NodeFork) Check() error { return nil }

func depth(k int) error {
	if k < 0 || k > maxLag {
		return fmt.Errorf("%d blocks are not within 0..%d", k, maxLag)
	}
	return nil
}

// Options gives what to start for the scenario.
func (s Scenario) Options(seed int64) Options {
	return Options{Seed: seed, BlockTime: s.BlockTime, Fronts: s.Fronts}
}

// Check reports what is wrong with a scenario: a front that it does not have,
// steps out of order or past the end of a round, a malformed action.
func (s Scenario) Check() error {
	known := map[string]bool{}
	for _, f := range s.Fronts {
		known[f.Name] = true
	}
	last := time.Duration(0)
	for i, st := range s.Steps {
		switch {
		case !known[st.Front]:
			return fmt.Errorf("scenario %s: step %d: no front %q", s.Name, i+1, st.Front)
		case st.After < last || s.Repeat > 0 && st.After >= s.Repeat:
			return fmt.Errorf("scenario %s: step %d: %v is out of order or past the round", s.Name, i+1, st.After)
		case st.Do == nil:
			return fmt.Errorf("scenario %s: step %d: nothing to do", s.Name, i+1)
		}
		if err := st.Do.Check(); err != nil {
			return fmt.Errorf("scenario %s: step %d: %w", s.Name, i+1, err)
		}
		last = st.After
	}
	return nil
}

// Play runs a scenario's script by the clock until it ends or ctx does; with
// Repeat, only ctx ends it. note is told each step as it happens and may be
// nil. What the script did stays in force afterwards.
func (n *Net) Play(ctx context.Context, s Scenario, note func(string)) error {
	if err := s.Check(); err != nil {
		return err
	}
	for start := time.Now(); ; start = start.Add(s.Repeat) {
		for _, st := range s.Steps {
			if !pause(ctx, time.Until(start.Add(st.After))) {
				return nil
			}
			if err := st.Do.act(n, st.Front); err != nil {
				return fmt.Errorf("play %s: %w", s.Name, err)
			}
			if note != nil {
				note(st.Front + ": " + st.Note)
			}
		}
		if s.Repeat <= 0 || !pause(ctx, time.Until(start.Add(s.Repeat))) {
			return nil
		}
	}
}
