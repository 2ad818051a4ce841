package ui

import (
	"math"
	"strconv"
	"time"

	"example.com/rpctop/internal/fleet"
)

// unknown stands where nothing could be read. It is never a number.
const unknown = "–"

// integer writes a number with a comma between groups of three digits.
func integer(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// count writes a count in at most five cells: 999, 1.2k, 10k, 3.4M.
func count(n int64) string {
	if n < 0 {
		return "-" + count(-n)
	}
	units := []string{"", "k", "M", "G", "T", "P", "E"}
	v, u := float64(n), 0
	for v >= 999.5 && u < len(units)-1 {
		v /= 1000
		u++
	}
	switch {
	case u == 0:
		return strconv.FormatInt(n, 10)
	case v < 9.95:
		s := strconv.FormatFloat(v, 'f', 1, 64)
		if s[len(s)-1] == '0' {
			s = s[:len(s)-2]
		}
		return s + units[u]
	default:
		return strconv.FormatFloat(v, 'f', 0, 64) + units[u]
	}
}

// millis writes milliseconds: one decimal below ten, none above.
func millis(ms float64) string {
	switch {
	case math.IsNaN(ms) || math.IsInf(ms, 0):
		return unknown
	case ms < 0:
		return "-" + millis(-ms)
	case ms < 9.95:
		return strconv.FormatFloat(ms, 'f', 1, 64)
	default:
		return integer(uint64(math.Round(min(ms, 1e15))))
	}
}

// latency writes a latency as milliseconds, without the unit.
func latency(v fleet.Micros) string { return millis(float64(v) / 1000) }

// percent writes a share of 0 to 1: one decimal below ten per cent.
func percent(share float64) string {
	switch p := share * 100; {
	case math.IsNaN(p) || math.IsInf(p, 0):
		return unknown
	case p <= 0:
		return "0%"
	case p < 0.1:
		return "<0.1%"
	case p < 9.95:
		return strconv.FormatFloat(p, 'f', 1, 64) + "%"
	default:
		return strconv.FormatFloat(p, 'f', 0, 64) + "%"
	}
}

// span writes a duration as lags are read: a decimal below ten seconds.
func span(d fleet.Millis) string {
	switch {
	case d < 0:
		return "-" + span(-d)
	case d == 0:
		return "0s"
	case d < 9_950:
		return strconv.FormatFloat(float64(d)/1000, 'f', 1, 64) + "s"
	default:
		return age(d)
	}
}

// age writes how long ago something was, in the coarsest unit that still tells:
// 0s, 59s, 4m, 3h, 2d. A moment in the future is now.
func age(d fleet.Millis) string {
	s := int64(max(d, 0)) / 1000
	switch {
	case s < 60:
		return strconv.FormatInt(s, 10) + "s"
	case s < 3600:
		return strconv.FormatInt(s/60, 10) + "m"
	case s < 48*3600:
		return strconv.FormatInt(s/3600, 10) + "h"
	default:
		return strconv.FormatInt(s/86400, 10) + "d"
	}
}

// remaining writes a time to come in two units: 7h58m, 4m10s, 9s.
func remaining(d fleet.Millis) string {
	s := int64(max(d, 0)+999) / 1000
	n := func(v int64) string { return strconv.FormatInt(v, 10) }
	two := func(v int64) string {
		if v < 10 {
			return "0" + n(v)
		}
		return n(v)
	}
	switch {
	case s < 60:
		return n(s) + "s"
	case s < 3600:
		return n(s/60) + "m" + two(s%60) + "s"
	case s < 48*3600:
		return n(s/3600) + "h" + two(s/60%60) + "m"
	default:
		return n(s/86400) + "d" + two(s/3600%24) + "h"
	}
}

// clock writes a moment as a time of day in UTC, with the date if it is not of
// the same day as now.
func clock(at, now fleet.Millis) string {
	t, n := at.Time(), now.Time()
	if t.YearDay() == n.YearDay() && t.Year() == n.Year() {
		return t.Format("15:04:05")
	}
	return t.Format("Jan 02 15:04")
}

// until writes when an override ends.
func until(end, wall fleet.Millis) string {
	if end == 0 {
		return "for ever"
	}
	return "until " + end.Time().Format("15:04") + "Z (" + remaining(end-wall) + ")"
}

// blocksBehind writes a lag in blocks; ahead of the reference is a plus.
func blocksBehind(n *int64) string {
	switch {
	case n == nil:
		return unknown
	case *n < 0:
		return "+" + integer(uint64(-*n))
	default:
		return integer(uint64(*n))
	}
}

// millisOf is the moment of a tick; the zero time is 0.
func millisOf(t time.Time) fleet.Millis {
	if t.IsZero() {
		return 0
	}
	return fleet.MillisOf(t)
}
