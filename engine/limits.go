package engine

import (
	"cmp"
	"container/heap"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/proc"
)

// lateEnd is how long after its own limit an attempt may still be on its way out.
const lateEnd = 2 * time.Minute

// limit is the moment until which an attempt may take.
type limit struct {
	key belay.Key
	at  time.Time
}

// limits is a heap with the latest at its top; those of attempts that have ended
// are left in it until they come up.
type limits []limit

func (h limits) Len() int           { return len(h) }
func (h limits) Less(i, j int) bool { return h[i].at.After(h[j].at) }
func (h limits) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *limits) Push(x any)        { *h = append(*h, x.(limit)) }
func (h *limits) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// begins takes in attempts that are about to begin, or that another driver
// started: those may take as long as if they began now.
func (w *drive) begins(jobs ...effect.Job) {
	for _, j := range jobs {
		heap.Push(&w.limits, limit{j.Key, w.now().Add(cmp.Or(j.Timeout, proc.DefaultKeeperGrace) + lateEnd)})
	}
}

// allowed is the latest moment at which an open attempt may still be at work by
// its own limits; zero when none is open.
func (w *drive) allowed() time.Time {
	for _, e := range w.turn.Effects {
		if do, ok := e.(effect.Do); ok {
			w.begins(do.Job)
		}
	}
	for len(w.limits) > 0 && !w.Tree.IsOpen(w.limits[0].key) {
		heap.Pop(&w.limits)
	}
	if len(w.limits) == 0 {
		return time.Time{}
	}
	return w.limits[0].at
}
