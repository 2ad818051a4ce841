package store

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"testing"

	"example.com/rpctop/internal/fleet"
)

// sampleOfDay makes the samples of an ordinary day: 20 endpoints on three
// chains (8 with a block each 12 s, 6 with 5 s, 6 with 2 s), each probed every
// 5 s, one answer in a hundred a failure.
func sampleOfDay(r *rand.Rand, seq uint64) fleet.Row {
	names := [...]string{"infura", "alchemy", "quicknode", "ankr", "publicnode", "own-1", "own-2", "drpc"}
	chain, id, blockTime, n := "ethereum", "1", uint64(12), seq%20
	switch {
	case n >= 14:
		chain, id, blockTime, n = "base", "8453", 2, n-14
	case n >= 8:
		chain, id, blockTime, n = "gnosis", "100", 5, n-8
	}
	at := day + fleet.Millis(seq*250)
	total := fleet.Micros(30_000 + r.Int64N(220_000))
	s := fleet.Sample{
		Endpoint: fleet.EndpointID{Chain: chain, Name: names[n]},
		Start:    at - fleet.Millis(total/1000) - fleet.Millis(r.Int64N(3)),
		Outcome:  fleet.Outcome{Class: fleet.ClassOK, Origin: fleet.OriginNode, Status: 200},
		Timing:   fleet.Timing{FirstByte: total - fleet.Micros(r.Int64N(900)), Total: total},
	}
	if r.IntN(60) == 0 {
		s.Timing.Cold, s.Timing.Connect, s.Timing.TLS = true, total/5, total/3
	}
	if r.IntN(12) == 0 {
		s.ChainID, s.ChainIDClass = id, fleet.ClassOK
	}
	if r.IntN(100) == 0 {
		s.Outcome = fleet.Outcome{Class: fleet.ClassServerError, Origin: fleet.OriginNode, Status: 503, Code: ptr(int64(-32000)), Message: "no backend is currently healthy to serve traffic"}
		return fleet.Row{Seq: seq, At: at, Input: s}
	}
	number := uint64(at)/1000/blockTime - uint64(r.IntN(2))
	s.Head = &fleet.Head{Number: number, Hash: hashOf(id, number), Parent: hashOf(id, number-1), Time: number * blockTime}
	return fleet.Row{Seq: seq, At: at, Input: s}
}

func hashOf(chain string, number uint64) (h fleet.Hash) {
	seed := [32]byte{}
	copy(seed[:], chain)
	binary.LittleEndian.PutUint64(seed[24:], number)
	r := rand.NewChaCha8(seed)
	_, _ = r.Read(h[:])
	return h
}

// sizeOf is the size of a closed history in bytes.
func sizeOf(t testing.TB, h *History) int64 {
	t.Helper()
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(h.Path())
	if err != nil {
		t.Fatal(err)
	}
	return fi.Size()
}

func TestASampleTakesAtMost96BytesOnDisk(t *testing.T) {
	const n = 40_000
	h := openHistory(t, t.TempDir(), Options{})
	r := rand.New(rand.NewPCG(1, 2))
	for seq := uint64(1); seq <= n; seq++ {
		h.Enqueue(sampleOfDay(r, seq), nil, false)
	}
	flush(t, h)
	each := float64(sizeOf(t, h)) / n
	t.Logf("%.1f bytes a sample, all tables and indexes", each)
	if each > 96 {
		t.Errorf("%.1f bytes a sample, want at most 96", each)
	}
}

// trafficOfSecond is a second of a busy endpoint: some 50 requests.
func trafficOfSecond(r *rand.Rand, seq uint64) fleet.Row {
	counts := map[int]int64{}
	for range 50 {
		counts[fleet.BucketOf(fleet.Micros(30_000+r.ExpFloat64()*30_000))]++
	}
	tr := fleet.Traffic{
		Endpoint: fleet.EndpointID{Chain: "base", Name: "own-1"}, Kind: fleet.KindState,
		Counts: []fleet.ClassCount{{Class: fleet.ClassOK, N: 50}},
	}
	for b := range 1000 {
		if counts[b] > 0 {
			tr.Latency = append(tr.Latency, fleet.BucketCount{Bucket: b, N: counts[b]})
		}
	}
	return fleet.Row{Seq: seq, At: day + fleet.Millis(seq*250), Input: tr}
}

// The day's budget is 64 MB in all. 20 endpoints every 5 s are 345 600
// samples; ticks are one a second; of four serving endpoints each tells one
// second of traffic.
func TestADayOf20EndpointsUnderTrafficFitsIn64MB(t *testing.T) {
	const scale = 40
	r := rand.New(rand.NewPCG(1, 2))
	empty := sizeOf(t, openHistory(t, t.TempDir(), Options{}))
	size := func(n int, row func(seq uint64) fleet.Row) float64 {
		h := openHistory(t, t.TempDir(), Options{})
		for seq := uint64(1); seq <= uint64(n/scale); seq++ {
			h.Enqueue(row(seq), nil, false)
		}
		return float64(sizeOf(t, h)-empty) * scale
	}
	samples := size(345_600, func(seq uint64) fleet.Row { return sampleOfDay(r, seq) })
	ticks := size(86_400, tick)
	traffic := size(4*86_400, func(seq uint64) fleet.Row { return trafficOfSecond(r, seq) })
	t.Logf("MB a day: samples %.1f, ticks %.1f, traffic %.1f", samples/1e6, ticks/1e6, traffic/1e6)
	if sum := samples + ticks + traffic; sum > 64e6 {
		t.Errorf("%.1f MB a day, want at most 64", sum/1e6)
	}
}

func BenchmarkIngest(b *testing.B) {
	h := openHistory(b, b.TempDir(), Options{})
	r := rand.New(rand.NewPCG(1, 2))
	rows := make([]fleet.Row, b.N)
	for i := range rows {
		rows[i] = sampleOfDay(r, uint64(i+1))
	}
	b.ResetTimer()
	for i, row := range rows {
		h.Enqueue(row, nil, false)
		if i%50_000 == 49_999 {
			flush(b, h)
		}
	}
	flush(b, h)
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "samples/s")
	b.ReportMetric(float64(sizeOf(b, h))/float64(b.N), "bytes/sample")
}

func BenchmarkReading(b *testing.B) {
	h := openHistory(b, b.TempDir(), Options{})
	r := rand.New(rand.NewPCG(1, 2))
	const n = 86_400 // six hours of 20 endpoints
	for seq := uint64(1); seq <= n; seq++ {
		h.Enqueue(sampleOfDay(r, seq), nil, false)
	}
	flush(b, h)
	for range b.N {
		for _, err := range h.Rows(b.Context(), 0) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
