package failover

import (
	"math"
	"slices"

	"example.com/rpctop/internal/fleet"
)

// halfLife is the time in seconds after which an observation counts half.
const halfLife = 300

// rootOfHalf is 2^(-1/300).
const rootOfHalf = 0.99769217652702635

// decayTable[i] is 2^(-i/300). Repeated products of one constant, each rounded
// once, are the same on every machine.
var decayTable = func() (t [halfLife]float64) {
	t[0] = 1
	for i := 1; i < halfLife; i++ {
		t[i] = float64(t[i-1] * rootOfHalf)
	}
	return t
}()

// decay is the factor that sec seconds leave of a weight.
func decay(sec int64) float64 {
	if sec <= 0 {
		return 1
	}
	halvings := sec / halfLife
	if halvings > 60 {
		return 0
	}
	return math.Ldexp(decayTable[sec%halfLife], -int(halvings))
}

func second(at fleet.Millis) int64 { return int64(at) / 1000 }

// Weight is a decaying sum.
type Weight struct {
	Sec int64   `json:"s"`
	Sum float64 `json:"w"`
}

func (w Weight) add(at fleet.Millis, v float64) Weight {
	return Weight{max(w.Sec, second(at)), w.at(at) + v}
}

func (w Weight) at(at fleet.Millis) float64 {
	return float64(w.Sum * decay(second(at)-w.Sec))
}

// Cell is one bucket of a decaying histogram (see fleet.BucketOf).
type Cell struct {
	B int     `json:"b"`
	W float64 `json:"w"`
}

// Decayed is a histogram whose counts decay; it is sparse, since latencies of
// one endpoint lie close together. Its quantiles are within 3.2 % of the value.
type Decayed struct {
	Sec   int64  `json:"s"`
	Cells []Cell `json:"c,omitempty"` // ascending by bucket
}

// forgotten is the weight below which a cell is dropped.
const forgotten = 1e-3

func (d Decayed) add(at fleet.Millis, v fleet.Micros, n float64) Decayed {
	return d.addBucket(at, fleet.BucketOf(v), n)
}

func (d Decayed) addBucket(at fleet.Millis, bucket int, n float64) Decayed {
	k := decay(second(at) - d.Sec)
	next := Decayed{Sec: max(d.Sec, second(at)), Cells: make([]Cell, 0, len(d.Cells)+1)}
	for _, c := range d.Cells {
		if c.W = float64(c.W * k); c.W >= forgotten || c.B == bucket {
			next.Cells = append(next.Cells, c)
		}
	}
	i, found := slices.BinarySearchFunc(next.Cells, bucket, func(c Cell, b int) int { return c.B - b })
	if found {
		next.Cells[i].W += n
	} else {
		next.Cells = slices.Insert(next.Cells, i, Cell{bucket, n})
	}
	return next
}

// weight is the sum of all counts; old counts weigh less.
func (d Decayed) weight(at fleet.Millis) float64 {
	sum := 0.0
	for _, c := range d.Cells {
		sum += c.W
	}
	return float64(sum * decay(second(at)-d.Sec))
}

// quantile gives the q-quantile (nearest rank), in the histogram's unit; false
// if nothing was counted. All counts decay alike, so time does not matter.
func (d Decayed) quantile(q float64) (fleet.Micros, bool) {
	sum := 0.0
	for _, c := range d.Cells {
		sum += c.W
	}
	if sum <= 0 {
		return 0, false
	}
	rank, seen := float64(sum*q), 0.0
	for _, c := range d.Cells {
		if seen += c.W; seen >= rank {
			return fleet.BucketMid(c.B), true
		}
	}
	return fleet.BucketMid(d.Cells[len(d.Cells)-1].B), true
}
