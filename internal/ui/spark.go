package ui

import (
	"strings"

	"example.com/rpctop/internal/fleet"
)

// sparkSpan is how much of the past a sparkline shows.
const sparkSpan fleet.Millis = 60_000

// failMark stands in a sparkline where a probe failed.
const failMark = '✕'

var sparkSteps = [...]rune{'▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'}

// sparkLevel gives the step of a latency, 0 to 7. Each step doubles, from under
// 10 ms to 640 ms and more: absolute, so that rows can be compared.
func sparkLevel(v fleet.Micros) int {
	level := 0
	for bound := fleet.Micros(10_000); level < len(sparkSteps)-1 && v >= bound; bound *= 2 {
		level++
	}
	return level
}

// sparkline draws the last minute before now in w cells: the slowest probe of
// each cell, a mark where one failed, a blank where none was. Cells are
// slices of the clock, not of now: all rows move on together, once a slice, and
// the terminal is sent nothing in between.
func sparkline(points []fleet.SparkPoint, now fleet.Millis, w int) string {
	if w <= 0 {
		return ""
	}
	out := make([]rune, w)
	worst := make([]int, w) // 0: none, 1..8: level, 9: failed
	slice := max(sparkSpan/fleet.Millis(w), 1)
	for _, p := range points {
		i := w - 1 - int(now/slice-p.At/slice)
		if p.At > now || i < 0 {
			continue
		}
		level := len(sparkSteps) + 1
		if p.OK {
			level = sparkLevel(p.Total) + 1
		}
		worst[i] = max(worst[i], level)
	}
	for i, level := range worst {
		switch {
		case level == 0:
			out[i] = ' '
		case level > len(sparkSteps):
			out[i] = failMark
		default:
			out[i] = sparkSteps[level-1]
		}
	}
	return string(out)
}

// bar draws a share of 0 to 1 in at most w cells.
func bar(share float64, w int) string {
	n := int(share*float64(w) + 0.5)
	return strings.Repeat("█", max(0, min(n, w)))
}
