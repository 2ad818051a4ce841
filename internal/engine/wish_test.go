package engine

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"example.com/rpctop/internal/fleet"
)

// asked records the questions that the prober is told to put.
type asked struct{ wishes []fleet.Wish }

func (a *asked) Suspect(fleet.EndpointID)                   {}
func (a *asked) Confirm(fleet.EndpointID, uint64)           {}
func (a *asked) SetBackoff(fleet.EndpointID, time.Duration) {}
func (a *asked) Identify(fleet.EndpointID)                  {}
func (a *asked) Ask(_ fleet.EndpointID, w fleet.Wish)       { a.wishes = append(a.wishes, w) }

func TestEachQuestionOfTheFoldIsPassedOnOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &asked{}
		e := run(t, Options{Prober: func() Prober { return p }})
		for n := range uint64(12) {
			e.Offer(sample("a", 100+n))
			e.Offer(sample("b", 100+n))
			time.Sleep(time.Second)
			synctest.Wait()
		}
		if len(p.wishes) < 2 || p.wishes[0].What != fleet.ReadCommon || p.wishes[0].Endpoint == p.wishes[1].Endpoint {
			t.Fatalf("asked %+v", p.wishes)
		}
		ids := []uint64{}
		for _, w := range p.wishes {
			if slices.Contains(ids, w.ID) {
				t.Errorf("wish %d was passed on twice", w.ID)
			}
			ids = append(ids, w.ID)
		}
	})
}
