package flow

import (
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
)

// command is what the brain of one run wants next: an effect (effect.Do, effect.Ask
// or effect.Kill), or one of those below, which a turn carries out by itself.
type command any

// note is a decision: write it down.
type note struct{ Event event.Event }

// startRun is an attempt that is a child run.
type startRun struct {
	Started event.AttemptStarted
	Child   event.RunStarted
	Reopen  bool // the child exists and goes on from its first unfinished step
}

// wait says that nothing is to be done before Until, or before a new fact.
type wait struct {
	Until time.Time // zero: no timer
	For   waitFor
}

// runEnd says that the run is over.
type runEnd struct{ Result belay.RunResult }

// waitFor says what would move a waiting run.
type waitFor string

const (
	waitAttempt waitFor = "attempt" // an open attempt or question
	waitTimer   waitFor = "timer"   // the time
	waitRoom    waitFor = "room"    // a free slot
	waitPerson  waitFor = "person"  // an answer
	waitNobody  waitFor = "nobody"  // the run is over
)
