package failover

import (
	"testing"
	"time"
)

func TestABlockThatAnEndpointHasShownCountsUntilItsNextSample(t *testing.T) {
	w := newWorld(t, spec(1_000, "a:", "b:x"))
	w.run(5, behaviours{"a": w.honest("a", 1_000), "b": w.honest("b", 1_000)})
	now := w.at + 100
	c := &Caller{State: func() *State { return w.s }, Now: func() time.Time { return now.Time() }}
	seat := func() *seat { return &seat{e: w.chain().Endpoint("a"), hot: c.hotOf(id("a"))} }
	tip := w.chain().Endpoint("a").Head.Number
	if seat().above(tip + 1) {
		t.Fatal("a head that nobody has shown counts")
	}
	c.Saw(id("a"), tip+1)
	c.Saw(id("a"), tip) // an older block in a later answer
	if !seat().above(tip + 1) {
		t.Error("the block that it has just shown does not count")
	}
	w.at += 2_000
	w.put(w.good("a", blockAt(tip, 1_000)))
	if seat().above(tip + 1) {
		t.Error("its newest sample is lower, and the older answer still counts")
	}
}
