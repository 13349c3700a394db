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
	Watch       Advice = "watch"        // somebody drives it
	AnswerFirst Advice = "answer_first" // answer, then go on
	GoOn        Advice = "go_on"        // it was stopped
	Answered    Advice = "answered"     // every question is answered: go on
	TimedOut    Advice = "timed_out"    // nobody answered in time: go on
	LookAtWork  Advice = "look_at_work" // nobody could check a part of it
	Reopen      Advice = "reopen"       // when what was left out shall be done after all
	Mend        Advice = "mend"         // mend the cause, then go on
	MendClear   Advice = "mend_clear"   // the same, and say what is different now
	LookHollow  Advice = "look_hollow"  // look at what the agent left, then go on
	ChangeFirst Advice = "change_first" // rounds came to a standstill: change something, or say what is different now
	RunAgain    Advice = "run_again"    // its recipe made a stalemate of what done steps gave: they run again by name only
	EditPlan    Advice = "edit_plan"    // a review ended without an approved plan: edit it, begin the review from nothing, or do without one
	RaiseBudget Advice = "raise_budget" // no further agent may start: give the run its budget once more, then go on
	CarryOut    Advice = "carry_out"    // a task was planned: carry out the plan
	CarriedOut  Advice = "carried_out"  // another run carries out the plan: look at that one
	StartAgain  Advice = "start_again"  // no round of a task is left: a new run
	AddChecks   Advice = "add_checks"   // the same, and only checks are missing
	ClearHollow Advice = "clear_hollow" // the same, and say what is different now
)

// next chooses the advice. file is where the recipe was found.
func (a *Account) next(file string) Next {
	resume := Resume(a.Run)
	open := slices.DeleteFunc(slices.Clone(a.Asked), func(q Asked) bool { return q.TimedOut })
	switch a.Status {
	case belay.Achieved:
		return Next{Nothing, nil}
	case belay.Aborted:
		if file == "" {
			return Next{StartNew, nil}
		}
		return Next{StartNew, []Command{{"run", Quote(file)}}}
	case belay.Running:
		switch {
		case a.Crashed:
			return Next{Adopt, []Command{resume}}
		case len(open) > 0:
			return Next{AnswerNow, []Command{open[0].Command()}}
		case len(a.Blocked) > 0:
			return Next{WaitService, []Command{Clear(a.Run.Root(), event.CountBreakers)}}
		}
		return Next{Watch, []Command{{"logs", string(a.Run.Root()), "-f"}}}
	case belay.Held:
		if len(a.Asked) == 0 {
			return Next{Answered, []Command{resume}}
		}
		if len(open) == 0 {
			return Next{TimedOut, []Command{resume}}
		}
		if open[0].OverBudget() {
			return Next{RaiseBudget, []Command{Clear(a.Run.Root(), event.CountBudget), resume}}
		}
		return Next{AnswerFirst, []Command{open[0].Command(), resume}}
	case belay.Stopped, belay.Paused:
		if len(open) == 0 && len(a.Asked) > 0 {
			return Next{TimedOut, []Command{resume}}
		}
		return Next{GoOn, []Command{resume}}
	case belay.Parked:
		if len(open) > 0 {
			return Next{AnswerWakes, []Command{open[0].Command()}}
		}
		return Next{WaitWatch, []Command{resume}}
	case belay.NotAchieved:
		return Next{LookAtWork, []Command{{"show", string(a.Run.Root())}}}
	case belay.Partial:
		if len(a.Count.LeftOut) == 0 {
			return Next{LookAtWork, []Command{{"show", string(a.Run.Root())}}}
		}
		return Next{Reopen, []Command{append(resume, "--why", "TEXT")}}
	case belay.Stalemate:
		if a.said {
			return a.nextAfterWord(file)
		}
		what := event.CountAttempts
		if a.reviewed {
			what = event.CountReview
		}
		return Next{ChangeFirst, []Command{Clear(a.Run.Root(), what), resume}}
	case belay.Failed, belay.Hollow:
		return a.nextAfterFailure(resume)
	}
	return Next{}
}

// nextOfTask is what to do about a task, where that is another thing than for a run
// of a recipe. A new run of it begins as this one did, from the directory of who reads it.
func (a *Account) nextOfTask(was event.RunStarted, f Facts) (Next, bool) {
	here := f.Here
	switch {
	case a.Status == belay.Achieved && a.Task.Planned && f.Work != "":
		return Next{CarriedOut, []Command{{"why", string(f.Work)}}}, true
	case a.Status == belay.Achieved && a.Task.Planned:
		return Next{CarryOut, []Command{Resume(a.Run)}}, true
	case a.Status == belay.Aborted:
		return Next{StartNew, []Command{a.Task.again(was, here, "")}}, true
	case a.Refused != nil:
		return Next{EditPlan, []Command{Clear(a.Run, event.CountReview), Resume(a.Run), a.Task.again(was, here, "--plan-review", "--no-plan-review")}}, true
	case !a.Task.UsedUp(a.Status):
		return Next{}, false
	case a.Status == belay.Partial && a.Task.onlyUnproven():
		return Next{AddChecks, []Command{a.Task.again(was, here, "", "--criteria", "FILE")}}, true
	}
	return Next{StartAgain, []Command{a.Task.again(was, here, "")}}, true
}

// nextAfterWord is what to do about a stalemate that a recipe made of steps that are done.
func (a *Account) nextAfterWord(file string) Next {
	n := Next{Advice: RunAgain}
	for _, p := range a.sayers {
		n.Commands = append(n.Commands, Rerun(a.Run, p))
	}
	if len(n.Commands) == 0 && file != "" {
		n.Commands = []Command{{"run", Quote(file)}}
	}
	return n
}

func (a *Account) nextAfterFailure(resume Command) Next {
	c, hollow := a.Cause, a.Status == belay.Hollow
	stale := c != nil && c.Same > 1 // the same again would be refused
	var cmds []Command
	if hollow && c != nil && !c.Whole {
		cmds = append(cmds, Show(c.At()))
	}
	if stale {
		cmds = append(cmds, Command{"clear", string(c.Run), string(event.CountAttempts) + ":" + string(c.Path), "--why", "TEXT"})
	}
	cmds = append(cmds, resume)
	switch {
	case hollow && stale:
		return Next{ClearHollow, cmds}
	case hollow:
		return Next{LookHollow, cmds}
	case stale:
		return Next{MendClear, cmds}
	}
	return Next{Mend, cmds}
}

// Command is the words behind the name of the program; TEXT, and one of several
// choices, are the person's.
type Command []string

// Text is the line that is typed. name is how the program is called.
func (c Command) Text(name string) string { return name + " " + strings.Join(c, " ") }

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
func (q Asked) Item() string { return string(q.Run) + ":" + q.ID }

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

// Held is the question about a step that waits for a person.
func Held(p Placed) Asked {
	if q := p.StepView.Question; q != nil {
		return Asked{p.At(), questionOf(*q, p.Since)}
	}
	return Asked{p.At(), Question{ID: p.Item, Choices: []string{event.ChoiceDone, event.ChoiceAgain, event.ChoiceFail, event.ChoiceSkip}}}
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
	return v.Phase == flow.Done && v.Verdict != nil && v.Verdict.OK && v.Verdict.Basis == effect.BasisAnswer
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
