package story

import (
	"time"

	"github.com/belay-run/belay"
)

// RunState is the closed list of how a run can stand, for whoever lists runs.
type RunState string

const (
	StateRunning RunState = "running" // somebody drives it, and it works
	StateWaiting RunState = "waiting" // somebody drives it, and nothing of it runs
	StateParked  RunState = "parked"  // nobody drives it before a moment that is on record
	StateHeld    RunState = "held"    // it waits for a person
	StatePaused  RunState = "paused"  // a person wants nothing new to start, and nothing runs
	StateStopped RunState = "stopped" // on request; it can be resumed
	StateLost    RunState = "lost"    // nobody drives it, and nobody said so
	StateEnded   RunState = "ended"   // its status says how
)

// Listed is what is known of a run without its journal.
type Listed struct {
	Status belay.Status
	Owned  bool      // its driver lives, or is about to begin
	Busy   bool      // by its driver's last sign a process of it is open
	Waits  string    // what its driver waits for, by that sign
	Until  time.Time // when it goes on by itself, by that sign
	Parked time.Time // until when nobody needs to drive it; zero = it is not parked
}

// State is how a run stands: it never runs without a driver that lives.
func (l Listed) State(now time.Time) RunState {
	switch l.Status {
	case belay.Achieved, belay.Failed, belay.Partial, belay.Hollow, belay.NotAchieved, belay.Stalemate, belay.Aborted:
		return StateEnded
	case belay.Held:
		return StateHeld
	case belay.Paused:
		return StatePaused
	case belay.Stopped:
		return StateStopped
	case belay.Running, belay.Parked:
	}
	switch {
	case !l.Owned && (!l.Parked.IsZero() || l.Status == belay.Parked):
		return StateParked
	case !l.Owned:
		return StateLost
	case !l.Busy && (l.Waits != "" || l.Until.After(now)):
		return StateWaiting
	}
	return StateRunning
}

// Till is the moment at which a run goes on by itself; zero where that is not known.
func (l Listed) Till(now time.Time) time.Time {
	switch l.State(now) {
	case StateWaiting:
		if l.Until.After(now) {
			return l.Until
		}
	case StateParked:
		return l.Parked
	case StateRunning, StateHeld, StatePaused, StateStopped, StateLost, StateEnded:
	}
	return time.Time{}
}
