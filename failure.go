package belay

import (
	"fmt"
	"time"
)

// FailureKind is the closed list of ways in which a step or a run fails.
type FailureKind string

const (
	RoutingGap     FailureKind = "routing_gap"     // every condition came out false, nothing ran
	AgentTimeout   FailureKind = "agent_timeout"   // an agent passed its timeout
	BashFailure    FailureKind = "bash_failure"    // a shell step or an agent did not end well, or a check did not
	RecipeFailure  FailureKind = "recipe_failure"  // a nested recipe failed
	HollowSuccess  FailureKind = "hollow_success"  // success was claimed, nothing was done
	RecursionLimit FailureKind = "recursion_limit" // sessions or nesting are at their limit
	Infrastructure FailureKind = "infrastructure"  // a tool, login, disk, network or memory is missing
)

// FailureKinds is the whole list, in the order of the reference page.
func FailureKinds() []FailureKind {
	return []FailureKind{
		RoutingGap, AgentTimeout, BashFailure, RecipeFailure, HollowSuccess, RecursionLimit, Infrastructure,
	}
}

// Failure says what failed, why, and what a person can do now.
type Failure struct {
	Kind  FailureKind `json:"kind"`
	Class Class       `json:"class,omitempty"`
	Op    string      `json:"op,omitempty"` // "step build", "recipe deploy"
	Cause string      `json:"cause"`
	Hint  string      `json:"hint,omitempty"`
	At    *Place      `json:"at,omitempty"` // what is to be mended, when it is in the recipe
}

// Place is a place in a recipe, counted from 1.
type Place struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Col  int    `json:"col"`
}

func (p Place) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col) }

func (f *Failure) Error() string {
	what := string(f.Kind)
	if f.Class != ClassNone {
		what += " (" + string(f.Class) + ")"
	}
	if f.Op == "" {
		return fmt.Sprintf("%s: %s", what, f.Cause)
	}
	return fmt.Sprintf("%s: %s: %s", f.Op, what, f.Cause)
}

// Verdict is what an attempt amounts to. Exactly one of OK, Unknown, GivenBack
// and Failure holds.
type Verdict struct {
	OK        bool     `json:"ok"`
	Unknown   bool     `json:"unknown,omitempty"`    // nobody can tell whether the work was done
	GivenBack bool     `json:"given_back,omitempty"` // ended by a stop; counts as nothing
	Partial   bool     `json:"partial,omitempty"`    // with OK: a person left out a part of it
	Failure   *Failure `json:"failure,omitempty"`
	For       []string `json:"for,omitempty"`        // the evidence that speaks for it
	Against   []string `json:"against,omitempty"`    // and against
	Sure      int      `json:"confidence,omitempty"` // of an agent's attempt: 1 to 100
}

// Act is the closed list of ways out of a failure.
type Act string

const (
	ActRetry  Act = "retry"   // the same step again, when Due has come
	ActGiveUp Act = "give_up" // no way out is left: the step stays failed
	ActHold   Act = "hold"    // a person is asked
)

// Plan is a chosen way out. It is self-contained: whoever carries it out does
// not decide again.
type Plan struct {
	Act    Act       `json:"act"`
	Rule   string    `json:"rule"` // the rule that chose it
	Reason string    `json:"reason"`
	Due    time.Time `json:"due,omitzero"`
}

// Wish is what another process may ask of a run.
type Wish string

const (
	WishCancel Wish = "cancel" // end everything, terminal
	WishStop   Wish = "stop"   // end everything, can be resumed
	WishAnswer Wish = "answer" // a person's answer for a held step
)

// Request is a wish from outside: a file in the run's mailbox, then a record.
type Request struct {
	ID     string `json:"id"`
	Run    RunID  `json:"run"`
	By     string `json:"by"`
	Ask    Wish   `json:"ask"`
	Step   Path   `json:"step,omitempty"`
	Choice string `json:"choice,omitempty"`
	Why    string `json:"why,omitempty"`
}

// The choices of an answer to a held step.
const (
	ChoiceDone  = "done"  // the work is there: the step counts as done
	ChoiceAgain = "again" // run it again
	ChoiceFail  = "fail"  // it failed
	ChoiceSkip  = "skip"  // leave it out; the run can at best be PARTIAL
)
