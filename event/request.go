package event

import "github.com/belay-run/belay"

// RequestKind is what another process may ask of a run.
type RequestKind string

const (
	RequestCancel RequestKind = "cancel" // end everything, terminal
	RequestStop   RequestKind = "stop"   // end everything, can be resumed
	RequestPause  RequestKind = "pause"  // start nothing new; what runs goes on to its end
	RequestAnswer RequestKind = "answer" // a person's answer for a held step
	RequestClear  RequestKind = "clear"  // a person takes a count back
)

// Request is what somebody asks of a run: a file in the run's mailbox, then a record.
type Request struct {
	ID     string      `json:"id"`
	Run    belay.RunID `json:"run"`
	By     string      `json:"by"`
	Ask    RequestKind `json:"ask"`
	Step   belay.Path  `json:"step,omitempty"`
	Item   string      `json:"item,omitempty"` // of an answer: the item, or its step
	Choice string      `json:"choice,omitempty"`
	Why    string      `json:"why,omitempty"`
	What   Count       `json:"what,omitempty"` // of a clear
}

// Count is the closed list of what a person may take back.
type Count string

const (
	CountAttempts Count = "attempts" // failures of a step, or of all
	CountBreakers Count = "breakers" // of the services that agents call
	CountBudget   Count = "budget"   // what the run may use, and its recoveries
	CountRestarts Count = "restarts" // how often the watch started a driver
	CountReview   Count = "review"   // what rounds came to: new ones begin from nothing
	CountInbox    Count = "inbox"    // nothing: a person has seen how the run stands, and wants to hear no more of it
)

// The choices of an answer to a held step.
const (
	ChoiceDone  = "done"  // the work is there: the step counts as done
	ChoiceAgain = "again" // run it again
	ChoiceFail  = "fail"  // it failed
	ChoiceSkip  = "skip"  // leave it out; the run can at best be PARTIAL
)
