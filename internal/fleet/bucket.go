package fleet

import "math/bits"

// Latencies are counted in log-linear buckets: sixteen to each doubling, so
// that a bucket's middle is within 3.2 % of every value in it. The scheme is
// HdrHistogram's with one significant digit; bucket numbers are stored.
const subBuckets = 16

// BucketOf gives the bucket of a latency; negative latencies count as 0.
func BucketOf(v Micros) int {
	if v < 0 {
		v = 0
	}
	if v < subBuckets {
		return int(v)
	}
	shift := bits.Len64(uint64(v)) - 5
	return shift*subBuckets + int(uint64(v)>>shift)
}

// BucketMid gives the middle of a bucket.
func BucketMid(b int) Micros {
	if b < 2*subBuckets {
		return Micros(b)
	}
	shift := b/subBuckets - 1
	low := uint64(b-shift*subBuckets) << shift
	return Micros(low + (uint64(1)<<shift)/2)
}
