package fleet

import "testing"

func TestTheMiddleOfABucketIsWithinThreePercentOfItsValues(t *testing.T) {
	last := -1
	for v := Micros(0); v < 200_000_000; v += 1 + v/97 {
		b := BucketOf(v)
		if b < last {
			t.Fatalf("bucket of %d is %d, below the one before, %d", v, b, last)
		}
		last = b
		mid := BucketMid(b)
		if BucketOf(mid) != b {
			t.Fatalf("the middle %d of bucket %d lies in bucket %d", mid, b, BucketOf(mid))
		}
		diff := float64(mid - v)
		if diff < 0 {
			diff = -diff
		}
		if diff > 0.032*float64(v)+0.5 {
			t.Fatalf("value %d: middle %d is %.1f %% off", v, mid, 100*diff/float64(v))
		}
	}
}
