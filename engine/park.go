package engine

import (
	"time"

	"github.com/belay-run/belay/flow"
)

// ledEvery is how often it is asked whether a watch leads.
const ledEvery = time.Second

// Park is when a driver may leave a run that waits. The zero value never does.
type Park struct {
	After time.Duration // the next act must be further away than this
	Led   func() bool   // whether a watch leads that starts a driver again
}

// parking is the fact that this driver leaves, when it may: nothing of the run
// is at work, nobody asked anything, and its next act is far away.
func (w *drive) parking() (flow.Fact, bool) {
	if w.Park.Led == nil || w.Park.After <= 0 || !w.turn.Idle || w.turn.Until.IsZero() || w.Clock.Until(w.turn.Until) <= w.Park.After {
		return flow.Fact{}, false
	}
	if time.Since(w.ledAt) < ledEvery {
		return flow.Fact{}, false
	}
	w.ledAt = time.Now()
	if !w.Park.Led() {
		return flow.Fact{}, false
	}
	return w.Tree.Parking()
}
