package failover

import (
	"strconv"
	"strings"
	"time"

	"example.com/rpctop/internal/fleet"
)

func itoa(n int64) string   { return strconv.FormatInt(n, 10) }
func utoa(n uint64) string  { return strconv.FormatUint(n, 10) }
func ftoa(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }

// span writes a duration in milliseconds as an operator reads it.
func span(ms fleet.Millis) string {
	const century = 100 * 365 * 24 * time.Hour
	if ms > fleet.Millis(century/time.Millisecond) {
		return "over 100 years"
	}
	d := time.Duration(ms) * time.Millisecond
	switch a := max(d, -d); {
	case a < time.Second:
		return itoa(int64(ms)) + " ms"
	case a < 2*time.Minute:
		return strings.TrimSuffix(strconv.FormatFloat(float64(ms)/1000, 'f', 1, 64), ".0") + " s"
	default:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
}

// join puts the parts that are not empty together with blanks.
func join(parts ...string) string {
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
}

// clock writes a moment as hh:mm:ss UTC.
func clock(at fleet.Millis) string { return at.Time().Format("15:04:05") + " UTC" }

func blocks(n int64) string {
	if n == 1 {
		return "1 block"
	}
	return itoa(n) + " blocks"
}

func gapText(g fleet.Gap) string {
	return "rows " + utoa(g.From) + " to " + utoa(g.To) + " were lost: " + g.Cause
}
