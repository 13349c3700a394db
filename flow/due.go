package flow

import (
	"time"

	"github.com/belay-run/belay"
)

// Awaited is the step that lets a tree go on by itself at a moment.
type Awaited struct {
	Run     belay.RunID
	Path    belay.Path
	Service string    // the agent whose service is to be up by then; "" = it is only tried again
	Until   time.Time // that moment
}

// NextDue is what a tree waits for in which nothing runs and nobody is asked
// anything: the first step whose time comes. It is false when something runs, or
// when nothing has a time.
func (t *Tree) NextDue() (Awaited, bool) {
	if len(t.open) > 0 || t.asked() {
		return Awaited{}, false
	}
	until := t.until()
	if until.IsZero() {
		return Awaited{}, false
	}
	for _, b := range t.live.list {
		s := t.born[b]
		for _, at := range s.timers.list {
			if at.key != "" || !at.at.Equal(until) {
				continue
			}
			a := Awaited{Run: s.id, Path: s.prog.Steps[at.step].ID, Until: until}
			if own := &s.steps[at.step].agent; own.blocked || own.patient {
				a.Service = s.agentName(at.step)
			}
			return a, true
		}
	}
	return Awaited{}, false
}
