package ui

import (
	"context"
	"io"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/rpctop/internal/fleet"
)

// BenchmarkFirstFrame is from nothing to the first frame, with pictures there
// and without one.
func BenchmarkFirstFrame(b *testing.B) {
	for name, s := range map[string]*fleet.Snapshot{"before the first probe": nil, "300 endpoints on 20 chains": manyChains(20, 300)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				o := fixtureOptions(&fakeSource{snap: s})
				o.Colour = ColourAlways
				c := newConsole(context.Background(), o)
				c.Update(tea.WindowSizeMsg{Width: 200, Height: 50})
				if c.View() == "" {
					b.Fatal("no frame")
				}
			}
		})
	}
}

// BenchmarkFrame is a tick and a frame, each with a picture that is new.
func BenchmarkFrame(b *testing.B) {
	for _, run := range []struct {
		name              string
		chains, endpoints int
		colour            ColourMode
		filter, sort      string
	}{
		{"200 endpoints at 200x50 colour never", 4, 200, ColourNever, "", ""},
		{"200 endpoints at 200x50 colour always", 4, 200, ColourAlways, "", ""},
		{"300 endpoints on 20 chains", 20, 300, ColourAlways, "", ""},
		{"300 endpoints on 20 chains filtered and sorted", 20, 300, ColourAlways, "p50>30 !state:down", "cost"},
	} {
		b.Run(run.name, func(b *testing.B) {
			src := newBusy(run.chains, run.endpoints)
			o := fixtureOptions(src)
			o.Colour, o.State = run.colour, State{Filter: run.filter, Sort: run.sort}
			c := newConsole(context.Background(), o)
			c.Update(tea.WindowSizeMsg{Width: 200, Height: 50})
			at := o.Start
			for b.Loop() {
				at = at.Add(tickFocused)
				c.Update(tickMsg{c.tickGen, at})
				if c.View() == "" {
					b.Fatal("no frame")
				}
			}
		})
	}
}

// BenchmarkTerminal runs the whole program for some seconds and reports what
// the terminal is sent and what of a core is used. -benchtime=1x is enough.
func BenchmarkTerminal(b *testing.B) {
	const span = 5 * time.Second
	for _, run := range []struct {
		name string
		src  Source
	}{
		{"10 % of 200 rows change at 10 Hz", newBusy(4, 200)},
		{"10 % of 300 rows on 20 chains change at 10 Hz", newBusy(20, 300)},
		{"idle", &fakeSource{snap: manyChains(20, 300)}},
	} {
		b.Run(run.name, func(b *testing.B) {
			for b.Loop() {
				o := fixtureOptions(run.src)
				o.Colour, o.Start = ColourAlways, time.Time{}
				c := newConsole(context.Background(), o)
				out := &counter{}
				p := tea.NewProgram(c, tea.WithInput(nil), tea.WithOutput(out), tea.WithoutSignalHandler(), tea.WithFPS(30))
				ended := make(chan error, 1)
				go func() {
					_, err := p.Run()
					ended <- err
				}()
				p.Send(tea.WindowSizeMsg{Width: 200, Height: 50})
				<-time.After(time.Second) // the first frame is not counted
				bytes, cpu, begun := out.n.Load(), processor(), time.Now()
				<-time.After(span)
				took := time.Since(begun).Seconds()
				b.ReportMetric(float64(out.n.Load()-bytes)/1000/took, "kB/s")
				b.ReportMetric(100*(processor()-cpu).Seconds()/took, "%core")
				p.Quit()
				if err := <-ended; err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// busy is a source whose every picture differs from the last in a tenth of the
// rows.
type busy struct {
	fakeSource
	pictures []*fleet.Snapshot
	n        atomic.Int64
}

func newBusy(chains, endpoints int) *busy {
	const kinds = 20
	b := &busy{fakeSource: fakeSource{events: fixtureEvents()}}
	last := manyChains(chains, endpoints)
	for i := range kinds {
		s := *last
		s.Version, s.At = uint64(i+1), fixtureAt
		s.Chains = append([]fleet.ChainView(nil), last.Chains...)
		for k := range s.Chains {
			ch := &s.Chains[k]
			ch.Endpoints = append([]fleet.EndpointView(nil), ch.Endpoints...)
			for j := range ch.Endpoints {
				if (j*7+k)%10 == i%10 {
					e := &ch.Endpoints[j]
					e.P50, e.P95 = e.P50+fleet.Micros(1000*(1+i%3)), e.P95+2000
					e.Cost.Total += 3
				}
			}
		}
		b.pictures = append(b.pictures, &s)
		last = &s
	}
	return b
}

func (b *busy) Snapshot() *fleet.Snapshot {
	return b.pictures[int(b.n.Add(1))%len(b.pictures)]
}

type counter struct{ n atomic.Int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return len(p), nil
}

var _ io.Writer = (*counter)(nil)

// processor is the time that this process has used.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
