package story

import (
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
)

// Next is what a person can safely do about a run now.
type Next struct {
	Advice   Advice
	Commands []Command // the first is the one to type
}

// Goes tells whether to go on with the run is all there is to type.
func (n Next) Goes() bool { return len(n.Commands) == 1 && slices.Contains(n.Commands[0], "resume") }

// Line is what to type, on a line: one command after the other, or one of several.
func (n Next) Line(name string) string {
	var typed []string
	for _, c := range n.Commands {
		typed = append(typed, c.Text(name))
	}
	if n.Advice == RunAgain {
		return strings.Join(typed, ", or ")
	}
	return strings.Join(typed, ", then ")
}

// Advice is the closed list of what there is to do.
type Advice string

const (
	Nothing     Advice = "nothing"      // it ended well
	StartNew    Advice = "start_new"    // it was cancelled, which is final
	Adopt       Advice = "adopt"        // its driver died: go on with what still runs
	AnswerNow   Advice = "answer_now"   // somebody drives it, and takes the answer at once
	AnswerWakes Advice = "answer_wakes" // it is parked, and the answer wakes it
	WaitService Advice = "wait_service" // it goes on by itself when the service may be called
	WaitWatch   Advice = "wait_watch"   // it is parked: the watch wakes it
	WakeIt      Advice = "wake_it"      // it is parked, and no watch is there to wake it
	Watch       Advice = "watch"        // somebody drives it
	AnswerFirst Advice = "answer_first" // answer, then go on
	GoOn        Advice = "go_on"        // it was stopped
	FreeDisk    Advice = "free_disk"    // make room on the disk, then go on
	Answered    Advice = "answered"     // every question is answered: go on
	TimedOut    Advice = "timed_out"    // nobody answered in time: go on
	LookAtWork  Advice = "look_at_work" // nobody could check a part of it
	Reopen      Advice = "reopen"       // when what was left out shall be done after all
	Mend        Advice = "mend"         // mend the cause, then go on
	MendClear   Advice = "mend_clear"   // the same, and say what is different now
	LookHollow  Advice = "look_hollow"  // look at what the agent left, then go on
	ChangeFirst Advice = "change_first" // rounds came to a standstill: change something, or say what is different now
	RunAgain    Advice = "run_again"    // its recipe made less of what done steps gave: they run again by name only
	StartOver   Advice = "start_over"   // nothing of it would run again: a new run
	EditPlan    Advice = "edit_plan"    // a review ended without an approved plan: edit it, begin the review from nothing, or do without one
	NextReview  Advice = "next_review"  // a round of the review of a plan is over: the better plan is reviewed in a new run
	ReviewAgain Advice = "review_again" // the same, and it was the last: have the same plan reviewed again
	RaiseBudget Advice = "raise_budget" // no further agent may start: give the run its budget once more, then go on
	CarryOut    Advice = "carry_out"    // a task was planned: carry out the plan
	CarriedOut  Advice = "carried_out"  // another run carries out the plan: look at that one
	StartAgain  Advice = "start_again"  // no round of a task is left: a new run
	AddChecks   Advice = "add_checks"   // the same, and only checks are missing
	ClearHollow Advice = "clear_hollow" // the same, and say what is different now
)

// Command is the words behind the name of the program; TEXT, and one of several
// choices, are the person's.
type Command []string

// Text is the line that is typed. name is how the program is called.
func (c Command) Text(name string) string {
	n := 0
	for n < len(c) && strings.HasSuffix(c[n], givenValue) {
		n++
	}
	return strings.Join(slices.Concat(c[:n], []string{name}, c[n:]), " ")
}

// givenValue ends a word that sets a variable; the value is the person's.
const givenValue = "=VALUE"

// Given is the command with variables set for it.
func (c Command) Given(names ...string) Command {
	var words Command
	for _, n := range names {
		words = append(words, n+givenValue)
	}
	return append(words, c...)
}

// Clear takes back what is counted against a run.
func Clear(run belay.RunID, what event.Count) Command {
	return Command{"clear", string(run), string(what), "--why", "TEXT"}
}

// Resume goes on with the tree that a run belongs to.
func Resume(run belay.RunID) Command { return Command{"resume", string(run.Root())} }

// Rerun runs a step of the root again that is done.
func Rerun(run belay.RunID, p belay.Path) Command {
	return Command{"rerun", string(run.Root()), string(p), "--why", "TEXT"}
}

// Show looks at a step.
func Show(at Place) Command { return Command{"show", string(at.Run), string(at.Path)} }

// Logs prints what a step printed.
func Logs(at Place) Command { return Command{"logs", string(at.Run), string(at.Path)} }

// AnswerFor answers the question about a step with one of the choices.
func AnswerFor(at Place, choices ...string) Command {
	return Command{"answer", string(at.Run), string(at.Path), strings.Join(choices, "|"), "--why", "TEXT"}
}

// OverBudget tells whether an agent may not start for want of a budget.
func (q Asked) OverBudget() bool { return strings.HasSuffix(q.ID, budgetItem) }

// Item names the item of the question in the whole state.
func (q Asked) Item() string { return q.Run.Of(q.ID) }

// Command answers the question: the first one to type.
func (q Asked) Command() Command {
	if q.TimedOut {
		return Resume(q.Run)
	}
	if q.About == event.ItemHeld {
		return AnswerFor(q.Place, q.Choices...)
	}
	if q.About == event.ItemInput {
		return Command{"answer", q.Item(), "TEXT"}
	}
	if slices.Equal(q.Choices, []string{belay.ChoiceApprove, belay.ChoiceReject}) {
		return q.With(belay.ChoiceApprove)
	}
	return Command{"answer", q.Item(), strings.Join(q.Choices, "|")}
}

// With answers the question with one choice.
func (q Asked) With(choice string) Command {
	switch {
	case q.About == event.ItemHeld:
		return AnswerFor(q.Place, choice)
	case choice == belay.ChoiceApprove:
		return Command{"approve", q.Item()}
	case choice == belay.ChoiceReject:
		return Command{"reject", q.Item(), "--why", "TEXT"}
	}
	return Command{"answer", q.Item(), choice}
}

func questionOf(e event.ItemOpened, at time.Time) Question {
	return Question{ID: e.ID, Ask: e.Ask, Choices: e.Choices, At: at, About: e.About, Who: e.Who, Until: e.Until, OnTimeout: e.OnTimeout}
}

// Quote makes one word of a shell out of a text.
func Quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// AnswerOnly tells whether a step is done by the answer of its agent alone.
func AnswerOnly(v flow.StepView) bool {
	return v.Phase == flow.Done && !Recovered(v) && v.Verdict != nil && v.Verdict.OK && v.Verdict.Basis == effect.BasisAnswer
}

// Checked tells whether Belay itself ran a check of a step that is done: its verify, tests,
// or a question to the forge. Of any other done step nothing was checked, and the check of
// one that was rolled back passed on files without its work.
func Checked(v flow.StepView) bool {
	return v.Phase == flow.Done && !RolledBack(v) && v.Verdict != nil && v.Verdict.OK && (ByCheck(v.Verdict.Basis) || v.Verify != nil && v.Verify.Exit == 0)
}

// ByCheck tells whether a verdict rests on a check that Belay ran.
func ByCheck(b effect.Basis) bool {
	switch b {
	case effect.BasisTests, effect.BasisPR, effect.BasisVerify:
		return true
	case effect.BasisExit, effect.BasisAnswer, effect.BasisChange, effect.BasisPerson:
	}
	return false
}

// OnWord tells whether a step is done because a person said so.
func OnWord(v flow.StepView) bool {
	return v.Phase == flow.Done && (v.Verdict == nil || !v.Verdict.OK)
}

// Stale tells whether a step is held because it would only fail in the same way
// again.
func Stale(v flow.StepView) bool { return strings.HasSuffix(v.Item, ".stale") }

// OverBudget tells whether a step is held because no further agent may start.
func OverBudget(v flow.StepView) bool { return strings.HasSuffix(v.Item, budgetItem) }

// budgetItem is how the item of such a step ends.
const budgetItem = ".budget"
