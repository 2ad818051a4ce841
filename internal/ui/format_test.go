package ui

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"pgregory.net/rapid"

	"example.com/rpctop/internal/fleet"
)

func TestIntegersAreReadBackAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64().Draw(t, "n")
		s := integer(n)
		if strings.ReplaceAll(s, ",", "") != fmt.Sprint(n) {
			t.Fatalf("%d is shown as %s", n, s)
		}
		for i, g := range strings.Split(s, ",") {
			if i > 0 && len(g) != 3 || len(g) > 3 {
				t.Fatalf("%d is grouped as %s", n, s)
			}
		}
	})
}

func TestMillisecondsAreWithinHalfOfTheirLastDigit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.Float64Range(0, 60_000).Draw(t, "ms")
		var back float64
		if _, err := fmt.Sscan(strings.ReplaceAll(millis(ms), ",", ""), &back); err != nil {
			t.Fatal(err)
		}
		slack := 0.5
		if ms < 9.95 {
			slack = 0.05
		}
		if math.Abs(back-ms) > slack+1e-9 {
			t.Fatalf("%v is shown as %s", ms, millis(ms))
		}
	})
}

func TestCountsFitFiveCellsAndAreWithinFivePerCent(t *testing.T) {
	units := map[byte]float64{'k': 1e3, 'M': 1e6, 'G': 1e9, 'T': 1e12, 'P': 1e15, 'E': 1e18}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, math.MaxInt64).Draw(t, "n")
		s := count(n)
		unit, ok := units[s[len(s)-1]]
		digits := s
		if ok {
			digits = s[:len(s)-1]
		} else {
			unit = 1
		}
		var v float64
		if _, err := fmt.Sscan(digits, &v); err != nil || len(s) > 5 {
			t.Fatalf("%d is shown as %q: %v", n, s, err)
		}
		if math.Abs(v*unit-float64(n)) > 0.051*float64(n) {
			t.Fatalf("%d is shown as %q", n, s)
		}
	})
}

func TestSharesAgesAndLagsAreNaivelyRight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.Float64Range(0.001, 1).Draw(t, "share")
		var back float64
		if _, err := fmt.Sscanf(percent(p), "%f%%", &back); err != nil || math.Abs(back-p*100) > 0.5+1e-9 {
			t.Fatalf("%v is shown as %s: %v", p, percent(p), err)
		}
		d := fleet.Millis(rapid.Int64Range(0, 1e10).Draw(t, "age"))
		want := ""
		switch s := int64(d) / 1000; {
		case s < 60:
			want = fmt.Sprintf("%ds", s)
		case s < 3600:
			want = fmt.Sprintf("%dm", s/60)
		case s < 172_800:
			want = fmt.Sprintf("%dh", s/3600)
		default:
			want = fmt.Sprintf("%dd", s/86_400)
		}
		if age(d) != want {
			t.Fatalf("%d ms is %s, want %s", d, age(d), want)
		}
		if d > 0 && d < 9_950 && span(d) != fmt.Sprintf("%.1fs", float64(d)/1000) {
			t.Fatalf("%d ms is %s", d, span(d))
		}
	})
}

func TestFormatsAtTheirEdges(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{integer(0), "0"}, {integer(999), "999"}, {integer(1000), "1,000"}, {integer(38_211_904), "38,211,904"},
		{count(999), "999"}, {count(1000), "1k"}, {count(1203), "1.2k"}, {count(999_999), "1M"}, {count(-5), "-5"},
		{millis(0), "0.0"}, {millis(9.94), "9.9"}, {millis(9.96), "10"}, {millis(60_000), "60,000"}, {millis(math.NaN()), unknown},
		{latency(41_000), "41"}, {latency(400), "0.4"},
		{percent(0), "0%"}, {percent(0.0001), "<0.1%"}, {percent(0.125), "12%"}, {percent(1), "100%"}, {percent(math.Inf(1)), unknown},
		{span(0), "0s"}, {span(6000), "6.0s"}, {span(31_200), "31s"}, {age(-5), "0s"},
		{remaining(28_680_000), "7h58m"}, {remaining(250_000), "4m10s"}, {remaining(8_001), "9s"}, {remaining(-1), "0s"},
		{blocksBehind(nil), unknown}, {blocksBehind(ptr(int64(0))), "0"}, {blocksBehind(ptr(int64(-2))), "+2"},
		{until(0, 5), "for ever"}, {plural(1, "chain"), "1 chain"}, {plural(1200, "event"), "1,200 events"},
		{clock(fixtureAt, fixtureAt), "23:00:00"}, {clock(fixtureAt-86_400_000, fixtureAt), "Nov 29 23:00"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestASparklineShowsTheSlowestProbeOfEachCell(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.IntRange(1, 40).Draw(t, "w")
		var points []fleet.SparkPoint
		for range rapid.IntRange(0, 30).Draw(t, "n") {
			points = append(points, fleet.SparkPoint{At: fixtureAt - fleet.Millis(rapid.Int64Range(-1000, 70_000).Draw(t, "back")),
				Total: fleet.Micros(rapid.Int64Range(0, 2e6).Draw(t, "total")), OK: rapid.Bool().Draw(t, "ok")})
		}
		now := fixtureAt - fleet.Millis(rapid.Int64Range(0, 10_000).Draw(t, "before"))
		slice := 60_000 / fleet.Millis(w)
		got := []rune(sparkline(points, now, w))
		if len(got) != w {
			t.Fatalf("%d cells, want %d", len(got), w)
		}
		for i, r := range got {
			begin := now - now%slice - fleet.Millis(w-1-i)*slice // slices of the clock; the last one holds now
			slowest, failed, any := fleet.Micros(-1), false, false
			for _, p := range points {
				if p.At < begin || p.At >= begin+slice || p.At > now {
					continue
				}
				any = true
				failed = failed || !p.OK
				if p.OK {
					slowest = max(slowest, p.Total)
				}
			}
			want := ' '
			switch {
			case failed:
				want = failMark
			case any:
				step := 0
				for b := fleet.Micros(10_000); b <= slowest && step < 7; b *= 2 {
					step++
				}
				want = sparkSteps[step]
			}
			if r != want {
				t.Fatalf("cell %d is %c, want %c", i, r, want)
			}
		}
	})
}

func TestTextsAreCutToExactlyTheirCells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := clean(rapid.String().Draw(t, "s"))
		w := rapid.IntRange(0, 40).Draw(t, "w")
		if cells(s) != lipgloss.Width(s) {
			t.Fatalf("%q: %d cells, lipgloss says %d", s, cells(s), lipgloss.Width(s))
		}
		for name, got := range map[string]string{"fit": fit(s, w), "fitRight": fitRight(s, w), "fitName": fitName(s, w)} {
			if lipgloss.Width(got) != w {
				t.Fatalf("%s(%q, %d) = %q, %d cells", name, s, w, got, lipgloss.Width(got))
			}
		}
		for _, l := range wrap(s, max(w, 2)) {
			if cells(l) > max(w, 2) {
				t.Fatalf("wrap gives %q for %d cells", l, w)
			}
		}
		if lipgloss.Width("| "+s+" |") != 4+lipgloss.Width(s) {
			t.Fatalf("%q joins what stands beside it", s)
		}
	})
}

func TestEveryNumberOfARowIsThatOfTheEndpoint(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		src := newFake()
		e := &src.snap.Chains[0].Endpoints[1]
		e.Head.Number = rapid.Uint64Range(1, 1e10).Draw(rt, "head")
		e.P50 = fleet.Micros(rapid.Int64Range(10_000, 5e6).Draw(rt, "p50"))
		e.P95 = fleet.Micros(rapid.Int64Range(10_000, 5e6).Draw(rt, "p95"))
		e.LagBlocks = ptr(rapid.Int64Range(0, 90_000).Draw(rt, "blocks"))
		e.LagMS = ptr(fleet.Millis(rapid.Int64Range(10_000, 3e6).Draw(rt, "lag")))
		e.ErrorRate = float64(rapid.IntRange(10, 100).Draw(rt, "errors")) / 100
		e.Cost.Total = float64(rapid.IntRange(10, 60_000).Draw(rt, "cost"))
		e.Denials = rapid.Uint64Range(0, 999).Draw(rt, "denials")
		d := drive(t, src, 200, 50, nil)
		row := ""
		for _, l := range d.screen() {
			if strings.Contains(l, "● ok          official") {
				row = l
			}
		}
		comma := func(n int64) string {
			s := fmt.Sprint(n)
			for i := len(s) - 3; i > 0; i -= 3 {
				s = s[:i] + "," + s[i:]
			}
			return s
		}
		lag := fmt.Sprintf("%ds", *e.LagMS/1000)
		if *e.LagMS >= 60_000 {
			lag = fmt.Sprintf("%dm", *e.LagMS/60_000)
		}
		round := func(v fleet.Micros) string { return comma(int64(math.Round(float64(v) / 1000))) }
		want := []string{comma(int64(e.Cost.Total)), round(e.P50), round(e.P95), fmt.Sprintf("%.0f%%", e.ErrorRate*100),
			comma(int64(e.Head.Number)), comma(*e.LagBlocks), lag, "1s", fmt.Sprint(e.Denials), "9.6k", "10k"}
		f := strings.Fields(row)
		if len(f) < 5+len(want) || strings.Join(f[5:5+len(want)], " ") != strings.Join(want, " ") {
			rt.Fatalf("row %q\nwant %v", row, want)
		}
	})
}
