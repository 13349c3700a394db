package story

import (
	"fmt"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
)

// What is the kind of a record, by the same words.
type What string

const (
	RunStarted      What = "run.started"
	RunAttached     What = "run.attached"
	RunReopened     What = "run.reopened"
	RunHeld         What = "run.held"
	RunStopped      What = "run.stopped"
	RunParked       What = "run.parked"
	RunPaused       What = "run.paused"
	RunResumed      What = "run.resumed"
	RunEnded        What = "run.ended"
	RunCleared      What = "run.cleared"
	AttemptStarted  What = "attempt.started"
	AttemptNoted    What = "attempt.noted"
	AttemptFound    What = "attempt.found"
	AttemptStopping What = "attempt.stopping"
	AttemptEnded    What = "attempt.ended"
	AttemptJudged   What = "attempt.judged"
	StepNotTaken    What = "step.not_taken"
	StepSkipped     What = "step.skipped"
	StepRefused     What = "step.refused"
	StepReset       What = "step.reset"
	RecoveryChosen  What = "recovery.chosen"
	AnswerGiven     What = "answer.given"
	ItemOpened      What = "item.opened"
	ItemAnswered    What = "item.answered"
	ItemExpired     What = "item.expired"
	RequestReceived What = "request.received"
	RequestRefused  What = "request.refused"
)

// News is what one record says, with what it is about as it stood then. Only
// what belongs to its kind is set.
type News struct {
	What What
	At   time.Time
	Place
	Attempt  *Attempt         // that it is about; it goes on to change
	Decision *Decision        // of what was decided about a step or the run
	Arrival  Arrival          // of a driver
	Driver   int64            // its number
	Note     effect.AgentNote // of a running agent
	How      fault.Found      // an open attempt was found
	Answer   effect.Answer    // to a question of the brain
	Blocks   bool             // the answer keeps an agent from starting for a while
	Repeated bool             // the same was told before, and still stands
	Failure  *belay.Failure   // of a step that failed before it started
	Result   *belay.RunResult // of a run that ended
	Until    time.Time        // of a run that is parked
	Request  *event.Request   // that was received; of one that was refused its id
	By       string           // who did it
	Why      string
}

// Decision is what was decided about a failure, or about what a failure left:
// by the rules, by a person, or by a service that is down.
type Decision struct {
	What What
	At   time.Time
	Place
	Why  string
	By   string // the person
	Plan *belay.Plan

	Choice  string         // of an answer; of a clearing: what
	Check   bool           // of an answer: the step's own check has the last word
	Item    string         // of a question and its answer
	About   event.ItemKind // the same
	Choices []string       // of a question
	Until   time.Time
	Also    []belay.Path // of a step that runs again: those that run again with it
	Kept    []belay.Path // and those that stay done

	// What was known then about the step.
	Agent   string         // who had failed; of a resume: who is to do it
	Role    string         // its role
	N       int            // the number of its last own attempt
	Failure *belay.Failure // what was judged last
	Broken  Broken         // how its last attempt went wrong
}

// Due is when the step goes on; zero for at once.
func (d *Decision) Due() time.Time {
	if d.Plan != nil {
		return d.Plan.Due
	}
	return d.Until
}

// Wait is how long what was decided is put off.
func (d *Decision) Wait() time.Duration {
	if d.Due().IsZero() {
		return 0
	}
	return max(0, d.Due().Sub(d.At))
}

// Act is the recovery that was chosen; "" for any other decision.
func (d *Decision) Act() belay.Act {
	if d.Plan == nil {
		return ""
	}
	return d.Plan.Act
}

// Decisions are those about a run and all runs below it, in their order. A
// service is asked for again and again: the same wait is one decision.
func (s *Story) Decisions(top belay.RunID) []*Decision {
	var list []*Decision
	for i := range s.News {
		d := s.News[i].Decision
		if d == nil || !d.Run.Under(top) {
			continue
		}
		if n := len(list); n > 0 && d.What == AnswerGiven && list[n-1].What == AnswerGiven && list[n-1].Place == d.Place && list[n-1].Why == d.Why {
			continue
		}
		list = append(list, d)
	}
	return list
}

// Question is one for a person.
type Question struct {
	ID      string
	Ask     string
	Choices []string
	At      time.Time

	About     event.ItemKind
	Who       []string  // may answer; empty = any person
	Until     time.Time // when it times out; zero = never
	OnTimeout string
	TimedOut  bool // nobody answered in time, and whoever drives the run next says so: see Questions
}

// late tells whether an answer comes too late; one that stays open has no such time.
func (q Question) late(now time.Time) bool {
	return !q.Until.IsZero() && !q.Until.After(now) && q.OnTimeout != belay.TimeoutHold
}

// Answer is a person's.
type Answer struct {
	By  string
	Why string
}

// Driver is a process that drove the run.
type Driver struct {
	event.RunAttached
	At      time.Time
	Arrival Arrival
}

// Arrival says how a driver came to the run.
type Arrival string

const (
	Came     Arrival = ""         // as the first, or after one that had nothing left to do
	TookOver Arrival = "takeover" // the one before it had died
	WentOn   Arrival = "go_on"    // the run had been stopped
)

// Driver is the last one that took the run.
func (s *Story) Driver() Driver {
	if len(s.Drivers) == 0 {
		return Driver{}
	}
	return s.Drivers[len(s.Drivers)-1]
}

// Moved is the last driver that went on where the host before it was lost; nil = none did.
func (s *Story) Moved() *Driver {
	for i := len(s.Drivers) - 1; i >= 0; i-- {
		if s.Drivers[i].Lost != "" {
			return &s.Drivers[i]
		}
	}
	return nil
}

// Words say from where and to where the run moved.
func (d Driver) Words() string {
	text := "host " + d.Lost + " was lost; it went on on " + d.Host
	switch {
	case d.Clone != "":
		text += ", in a new clone: what its steps had done to files is not there"
	case d.From != "":
		text += ", from snapshot " + d.From[:min(12, len(d.From))]
	}
	return text
}

// Housed is the last driver whose host has a checkout of its own for the run; nil = the
// run is where it was started.
func (s *Story) Housed() *Driver {
	for i := len(s.Drivers) - 1; i >= 0; i-- {
		if s.Drivers[i].Dir != "" {
			return &s.Drivers[i]
		}
	}
	return nil
}

// Cloned says what the checkout of the run was made of; "" = it was not cloned.
func (s *Story) Cloned() string {
	for i := len(s.Drivers) - 1; i >= 0; i-- {
		if d := s.Drivers[i]; d.Clone != "" {
			return fmt.Sprintf("commit %s of %s; nothing of it is pushed unless a step does", d.From[:min(12, len(d.From))], d.Clone)
		}
	}
	return ""
}

// Takeovers are the drivers that went on after another had died.
func (s *Story) Takeovers() []Driver {
	var list []Driver
	for _, d := range s.Drivers {
		if d.Arrival == TookOver {
			list = append(list, d)
		}
	}
	return list
}

// driverWatch tells of each driver that comes whether the one before it left in
// order: then it said so in its last record.
type driverWatch struct {
	attached, inOrder, stopped bool
}

// take reads one record; what comes to a run without a driver says nothing
// about the last one.
func (w *driverWatch) take(what What, ofRoot bool) Arrival {
	switch what {
	case RunAttached:
		how := Came
		switch {
		case w.attached && !w.inOrder:
			how = TookOver
		case w.stopped:
			how = WentOn
		}
		w.attached, w.inOrder, w.stopped = true, false, false
		return how
	case RunStopped:
		w.inOrder, w.stopped = true, true
	case RunPaused:
		w.inOrder, w.stopped = true, true
	case RunEnded, RunHeld, RunParked:
		w.inOrder = ofRoot
	case ItemAnswered, ItemExpired, StepSkipped, StepReset, RequestReceived, RequestRefused, RunReopened, RunResumed, RunCleared:
	case RunStarted, AttemptStarted, AttemptNoted, AttemptFound, AttemptStopping, AttemptEnded, AttemptJudged,
		StepNotTaken, StepRefused, RecoveryChosen, AnswerGiven, ItemOpened:
		w.inOrder = false
	}
	return Came
}
