package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"example.com/rpctop/internal/fleet"
)

// filtered names the endpoints of the fixture that a filter admits.
func filtered(text string) string {
	var out []string
	for _, id := range arrange(fixtureSnapshot(), parseFilter(text), ordering{}, fleet.EndpointID{}) {
		out = append(out, id.Name)
	}
	return strings.Join(out, " ")
}

func TestFilterTermsAdmitWhatTheySay(t *testing.T) {
	for text, want := range map[string]string{
		"state:down":             "own-node",
		"state=ok chain:gnosis":  "official drpc",
		"!state:ok chain:gnosis": "own-node ankr",
		"lag>2":                  "ankr publicnode",
		"lag>2 chain:base":       "publicnode",
		"lag>7s":                 "ankr",
		"lag>6100ms":             "ankr",
		"lag>=6.1":               "ankr publicnode",
		"blocks=3":               "publicnode",
		"errors>50%":             "own-node",
		"p50<3":                  "own-node",
		"denied>0":               "quicknode",
		"tier=2":                 "quicknode cheap-rpc",
		"gate:refused":           "alchemy",
		"flag:multi":             "publicnode",
		"role:pinned":            "coinbase",
		"operator:consensys":     "infura",
		"must be authenticated":  "alchemy",
		"FLASH":                  "flashbots",
		"!lag>=0 chain:ethereum": "llama", // what is not known is not at least 0
		"lag<1 chain:ethereum":   "flashbots infura",
		"nothing-has-this":       "",
	} {
		if got := filtered(text); got != want {
			t.Errorf("%q shows %q, want %q", text, got, want)
		}
	}
}

func TestABadTermSaysWhatIsWrongAndIsLeftOut(t *testing.T) {
	for text, want := range map[string]string{
		"lag>x":         "lag>x: x is no number",
		"lag>":          "lag>: a value is missing",
		"colour:blue":   "colour:blue: there is no field colour",
		"state>down":    "state>down: state is a word: compare it with :",
		"!":             "!: what should not be there?",
		"errors>NaN":    "NaN is no number",
		"chain:base :x": ":x: there is no field ",
	} {
		f := parseFilter(text)
		if !strings.Contains(f.wrong, want) {
			t.Errorf("%q: %q, want %q", text, f.wrong, want)
		}
	}
	if got := filtered("lag>x state:down"); got != "own-node" {
		t.Errorf("the good term is not used: %q", got)
	}
}

func TestAFilterShowsWhatANaiveLoopFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawFleet(t)
		bound := rapid.IntRange(0, 40).Draw(t, "bound")
		op := rapid.SampledFrom([]string{">", "<", ">=", "<=", "="}).Draw(t, "op")
		state := rapid.SampledFrom([]string{"ok", "down", "stale"}).Draw(t, "state")
		not := rapid.Bool().Draw(t, "not")
		text := fmt.Sprintf("blocks%s%d state:%s", op, bound, state)
		if not {
			text = fmt.Sprintf("blocks%s%d !state:%s", op, bound, state)
		}
		var want []fleet.EndpointID
		for _, ch := range s.Chains {
			for _, e := range ch.Endpoints {
				if e.LagBlocks == nil || (e.State == state) == not {
					continue
				}
				n := int(*e.LagBlocks)
				ok := map[string]bool{">": n > bound, "<": n < bound, ">=": n >= bound, "<=": n <= bound, "=": n == bound}[op]
				if ok {
					want = append(want, fleet.EndpointID{Chain: ch.Name, Name: e.Name})
				}
			}
		}
		if got := arrange(s, parseFilter(text), ordering{}, fleet.EndpointID{}); !slices.Equal(got, want) {
			t.Fatalf("%s shows %v, want %v", text, got, want)
		}
	})
}

func TestSortingMovesNothingInOrOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawFleet(t)
		o := drawOrdering(t)
		all := arrange(s, filter{}, ordering{}, fleet.EndpointID{})
		got := arrange(s, filter{}, o, fleet.EndpointID{})
		count := map[fleet.EndpointID]int{}
		for _, id := range all {
			count[id]++
		}
		for i, id := range got {
			count[id]--
			if id.Chain != all[i].Chain {
				t.Fatalf("chains are mixed: %v", got)
			}
		}
		for id, n := range count {
			if n != 0 {
				t.Fatalf("%v is there %d times too few", id, n)
			}
		}
		find := func(id fleet.EndpointID) *fleet.EndpointView {
			for i := range s.Chains {
				if s.Chains[i].Name == id.Chain {
					return endpointOf(&s.Chains[i], id.Name)
				}
			}
			return nil
		}
		for i := 1; i < len(got); i++ {
			a, b := find(got[i-1]), find(got[i])
			if got[i-1].Chain != got[i].Chain {
				continue
			}
			av, aok := figure(o.by, a, s.At)
			bv, bok := figure(o.by, b, s.At)
			k, _ := sortKeyOf(o.by)
			switch {
			case o.by == "name" && (a.Name > b.Name) != o.back && a.Name != b.Name:
				t.Fatalf("%s stands before %s (%v)", a.Name, b.Name, o)
			case o.by == "name" || o.by == "state":
			case bok && !aok:
				t.Fatalf("what is not known stands before %v", bv)
			case aok && bok && av != bv && (av > bv) != (k.big != o.back):
				t.Fatalf("%v stands before %v by %v", av, bv, o)
			}
		}
	})
}

func TestTheSameKeyAgainReverses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawOrdering(t)
		if twice := o.pick(o.by).pick(o.by); twice != o {
			t.Fatalf("%v, twice reversed, is %v", o, twice)
		}
		if o.pick(o.by).falling() == o.falling() {
			t.Fatalf("%v is not reversed", o)
		}
	})
	letters := map[string]bool{"o": true}
	for _, k := range sortKeys() {
		if letters[k.letter] {
			t.Errorf("%s sorts by two things", k.letter)
		}
		letters[k.letter] = true
	}
	for state := range map[string]bool{"ok": true, "lagging": true, "ejected": true} {
		if !slices.Contains(severity[:], state) {
			t.Errorf("%s has no place in the order of states", state)
		}
	}
}

func drawOrdering(t *rapid.T) ordering {
	return ordering{by: rapid.SampledFrom(sortKeys()).Draw(t, "by").name, back: rapid.Bool().Draw(t, "back")}
}

// drawFleet makes up to three chains of a few endpoints with numbers that
// often are equal or unknown.
func drawFleet(t *rapid.T) *fleet.Snapshot {
	s := &fleet.Snapshot{At: fixtureAt}
	for i := range rapid.IntRange(0, 3).Draw(t, "chains") {
		ch := fleet.ChainView{Name: fmt.Sprintf("chain-%d", i)}
		for j := range rapid.IntRange(0, 8).Draw(t, "endpoints") {
			e := fleet.EndpointView{Name: fmt.Sprintf("%c%d", 'a'+rapid.IntRange(0, 25).Draw(t, "letter"), j),
				State: rapid.SampledFrom([]string{"ok", "down", "stale"}).Draw(t, "state")}
			if rapid.Bool().Draw(t, "known") {
				e.LagBlocks = ptr(rapid.Int64Range(-3, 40).Draw(t, "blocks"))
				e.LagMS = ptr(fleet.Millis(*e.LagBlocks * 700))
				e.Head, e.HeadAt = &fleet.Head{Number: uint64(50 - *e.LagBlocks)}, fixtureAt-fleet.Millis(*e.LagBlocks+3)*100
				e.Samples, e.Successes = 4, 3
				e.P50, e.P95 = fleet.Micros(*e.LagBlocks+3)*500, fleet.Micros(*e.LagBlocks+3)*900
				e.ErrorRate = float64(*e.LagBlocks+3) / 50
				e.Cost = fleet.CostTerms{Known: true, Total: float64(*e.LagBlocks + 9)}
			}
			ch.Endpoints = append(ch.Endpoints, e)
		}
		s.Chains = append(s.Chains, ch)
	}
	return s
}
