package story

import (
	"fmt"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/flow"
)

// What a command would do with a run as it stands is decided here and in flow (Rerun,
// GoOn, and the answers to requests), once: the command asks before it acts, and whoever
// names a command as the next one to type asks the same.

// No is the closed list of reasons why resume does not go on with a run.
type No string

const (
	GoesOn      No = ""          // it does
	NoNeed      No = "attend"    // it has ended, or a person let it rest, and no person asks
	NoPerson    No = "person"    // it has ended, and only a person may open it again
	NoMore      No = "more"      // it reached its goal
	NoFinal     No = "final"     // it was cancelled
	NoRound     No = "round"     // no round of its task is left
	NoStep      No = "step"      // its recipe made less of steps that are done: they run again by name only
	NoChange    No = "change"    // nothing has changed since it came to a standstill
	NoVariables No = "variables" // some that its steps were given are not set
)

// ResumeRequest is what is known when somebody wants a run to go on, beside its records.
type ResumeRequest struct {
	flow.GoOn
	Unattended bool                                        // no person asks
	Inside     belay.RunID                                 // the run whose step asks; "" = none does
	Lacks      []string                                    // variables that its steps were given and that are not set
	Changed    func(dir string, left belay.TreeState) bool // whether files are others than they were; nil = they are the same
}

// Resumption is what resume does with a run.
type Resumption struct {
	No       No
	CarryOut bool         // a run of its own carries out its plan
	Facts    []flow.Fact  // that the driver begins with
	Steps    []belay.Path // of NoStep: those that run again by name
	Dir      string       // of NoChange: where nothing has changed
	Seen     bool         // of NoChange: the files there were looked at
	Above    belay.RunID  // of NoPerson: the run whose step asks
}

// Resumes decides what resume does with a run that nobody drives. task is what it is
// about, for one of belay do. The error is that of a request which cannot be.
func Resumes(tree *flow.Tree, task *Task, w ResumeRequest) (Resumption, error) {
	status := tree.Status()
	switch {
	case w.Unattended && (status.Terminal() || status == belay.Paused || status == belay.Stopped):
		return Resumption{No: NoNeed}, nil
	case status == belay.Achieved && task != nil && task.Planned && !w.Unattended:
		return Resumption{CarryOut: true}, nil
	case task != nil && task.UsedUp(status):
		return Resumption{No: NoRound}, nil
	}
	var r Resumption
	var err error
	if !w.Unattended {
		if r.Facts, err = tree.GoOn(w.GoOn); err != nil {
			return r, err
		}
	}
	switch {
	case status == belay.Achieved:
		return Resumption{No: NoMore}, nil
	case status == belay.Aborted:
		return Resumption{No: NoFinal}, nil
	case Reopens(status) && w.Inside != "":
		return Resumption{No: NoPerson, Above: w.Inside}, nil
	case Reopens(status):
		if no := stands(tree, task, w); no.No != GoesOn {
			return no, nil
		}
		r.Facts = append(tree.Reopen(w.By, w.Why), r.Facts...)
	}
	if len(w.Lacks) > 0 {
		return Resumption{No: NoVariables}, nil
	}
	return r, nil
}

// Reopens tells whether a run that stands so can only go on when it is opened again.
func Reopens(s belay.Status) bool {
	return s.Terminal() && s != belay.Achieved && s != belay.Aborted
}

// stands tells whether an ended run would only come to the same again: rounds while the
// files are as they left them, and what a recipe said of itself until a person runs a
// step of it again.
func stands(tree *flow.Tree, task *Task, w ResumeRequest) Resumption {
	if steps, said := tree.EndedByWord(); said && (task == nil || tree.Status() == belay.Stalemate) {
		return Resumption{No: NoStep, Steps: steps}
	}
	dir, left, ok := tree.Standstill()
	if !ok || left.Tree != "" && w.Changed != nil && w.Changed(dir, left) {
		return Resumption{}
	}
	return Resumption{No: NoChange, Dir: dir, Seen: left.Tree != ""}
}

// KeepsInInbox says why a run cannot be taken out of the inbox; "" when it can.
func KeepsInInbox(status belay.Status) string {
	switch status {
	case belay.Running, belay.Held, belay.Parked, belay.Paused:
		return fmt.Sprintf("it is %s: it stays in the inbox until it has ended", status)
	case belay.Achieved, belay.Partial, belay.NotAchieved, belay.Hollow, belay.Failed, belay.Stalemate, belay.Aborted, belay.Stopped:
	}
	return ""
}
