package config

import (
	"strings"
	"testing"
	"time"
)

func TestAmountsAreExactOrRefused(t *testing.T) {
	const top = "115792089237316195423570985008687907853269984665640564039457584007913129639935"
	tests := []struct {
		text, want, problem string
	}{
		{"0", "0", ""},
		{"0e77", "0", ""},
		{"100e18", "100000000000000000000", ""},
		{"1.5e18", "1500000000000000000", ""},
		{"0.02E18", "20000000000000000", ""},
		{"1.50e1", "15", ""},
		{"007", "7", ""},
		{"9007199254740993", "9007199254740993", ""}, // not a float64
		{"1e77", "1" + strings.Repeat("0", 77), ""},
		{top, top, ""},
		{"115792089237316195423570985008687907853269984665640564039457584007913129639936", "", "is above 2^256-1"},
		{"2e77", "", "is above 2^256-1"},
		{"1e78", "", "is above 2^256-1"},
		{"1e99999", "", "is not an amount"},
		{"-1", "", "is negative"},
		{"1.5", "", "is not a whole number"},
		{"1.23e1", "", "is not a whole number"},
		{"", "", "is not an amount"},
		{".5e18", "", "is not an amount"},
		{"5.", "", "is not an amount"},
		{"1e", "", "is not an amount"},
		{"1e-3", "", "is not an amount"},
		{"1e+3", "", "is not an amount"},
		{"+1", "", "is not an amount"},
		{"1_000", "", "is not an amount"},
		{"0x10", "", "is not an amount"},
		{"1 ", "", "is not an amount"},
		{"NaN", "", "is not an amount"},
		{"١", "", "is not an amount"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			v, problem := parseAmount(tt.text)
			got := ""
			if v != nil {
				got = v.String()
			}
			if got != tt.want || problem != tt.problem {
				t.Errorf("got %q, %q; want %q, %q", got, problem, tt.want, tt.problem)
			}
		})
	}
}

func TestFeesTakeGweiAndWei(t *testing.T) {
	tests := []struct{ text, want string }{
		{"5gwei", "5000000000"},
		{"1.5 gwei", "1500000000"},
		{"0.000000001gwei", "1"},
		{"7wei", "7"},
		{"5e9", "5000000000"},
		{"0.0000000001gwei", ""},
		{"1e3gwei", ""},
		{"5 ether", ""},
		{"gwei", ""},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			p := &reader{lines: []string{tt.text}, told: map[telling]bool{}, shown: map[pos]bool{}}
			got := ""
			if v := p.fee(&node{pos: pos{1, 1}, text: tt.text}, "`fee`"); v != nil {
				got = v.String()
			}
			if got != tt.want || (tt.want == "") != (len(p.problems) == 1) {
				t.Errorf("got %q, %v; want %q", got, p.problems, tt.want)
			}
		})
	}
}

func TestAnUnknownWordIsComparedWithTheKnownOnes(t *testing.T) {
	tests := []struct {
		word, want string
		known      []string
	}{
		{"timeot", "timeout", endpointKeys},
		{"tiemout", "timeout", endpointKeys}, // two neighbours swapped
		{"URL", "url", endpointKeys},
		{"blocktime", "block_time", chainKeys},
		{"chainid", "chain_id", chainKeys},
		{"x", "", chainKeys},
		{"zz", "", lagKeys},
		{"priority", "", endpointKeys},
		{"", "", endpointKeys},
	}
	for _, tt := range tests {
		t.Run(tt.word, func(t *testing.T) {
			if got := nearest(tt.word, tt.known); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestThePlanKeepsTheBudgetAndTheChainsPace(t *testing.T) {
	tests := []struct {
		name      string
		e         Endpoint
		blockTime time.Duration
		every     time.Duration
		calls     int64
	}{
		{"the default budget of somebody else's endpoint", Endpoint{Probe: Probe{PerDay: 10_000}}, 5 * time.Second, 14_400 * time.Millisecond, 9_000},
		{"a small budget is spread over the day", Endpoint{Probe: Probe{PerDay: 100}}, 12 * time.Second, 1440 * time.Second, 90},
		{"a large budget is not used up", Endpoint{Probe: Probe{PerDay: 10_000_000}}, 12 * time.Second, 6 * time.Second, 21_600},
		{"an endpoint of one's own follows the chain", Endpoint{Local: true}, 5 * time.Second, 2500 * time.Millisecond, 82_944},
		{"but at most once a second", Endpoint{Local: true}, 250 * time.Millisecond, time.Second, 207_360},
		{"a pace set by hand is taken as it is", Endpoint{Probe: Probe{Every: 2 * time.Second}}, 12 * time.Second, 2 * time.Second, 64_800},
		{"a budget binds one's own as well", Endpoint{Local: true, Probe: Probe{PerDay: 2_400}}, time.Second, 96 * time.Second, 2_160},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			every, calls := tt.e.ProbePlan(tt.blockTime)
			if every != tt.every || calls != tt.calls {
				t.Errorf("got %s, %d; want %s, %d", every, calls, tt.every, tt.calls)
			}
			if budget := tt.e.Probe.PerDay; budget > 0 && calls > budget*9/10 {
				t.Errorf("%d calls leave less than a tenth of %d", calls, budget)
			}
		})
	}
}
