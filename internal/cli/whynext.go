package cli

import (
	"fmt"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/verdict"
)

// waiting is a question that a person has to answer.
type waiting struct {
	Run      belay.RunID `json:"run"` // that the step belongs to
	Step     string      `json:"step"`
	Name     string      `json:"name"` // as the screen names the step
	Item     string      `json:"item"`
	Question string      `json:"question"`
	Choices  []string    `json:"choices"`
	Since    time.Time   `json:"since"`
	Command  string      `json:"command"` // TEXT, and one of the choices, are the person's
	Then     string      `json:"then"`

	About     string    `json:"about,omitempty"` // approval; nothing for a held step
	Who       []string  `json:"who,omitempty"`
	Until     time.Time `json:"until,omitzero"`
	OnTimeout string    `json:"on_timeout,omitempty"`
	TimedOut  bool      `json:"timed_out,omitempty"` // no answer counts any more: the command lets the run go on

	asked story.Asked
}

// waitings are open questions as --json prints them.
func waitings(asked []story.Asked, name string) []waiting {
	list := []waiting{}
	for _, q := range asked {
		then := ""
		if q.Then != nil {
			then = q.Then.Text(name)
		}
		list = append(list, waiting{
			Run: q.Run, Step: string(q.Path), Name: q.Name(), Item: q.ID, Question: q.Ask, Choices: q.Choices, Since: q.At.UTC(),
			Command: q.Command().Text(name), Then: then,
			About: string(q.About), Who: q.Who, Until: q.Until.UTC(), OnTimeout: q.OnTimeout, TimedOut: q.TimedOut, asked: q,
		})
	}
	return list
}

// timeoutWords say when a question times out, or did, and what that means; "" when it
// never does.
func timeoutWords(until time.Time, then string, late bool, now time.Time) string {
	switch at := until.Local().Format(time.DateTime); {
	case until.IsZero():
		return ""
	case then == belay.TimeoutHold && !until.After(now):
		return "nobody answered until " + at + ": it stays open, and waits for you"
	case late:
		return "it timed out at " + at + ": nobody answered, which counts as " + then + " when the run goes on"
	default:
		return "it times out at " + at + " (" + then + ")"
	}
}

// command is the answer with one choice.
func (w *waiting) command(name, choice string) string {
	return w.asked.With(choice).Text(name)
}

// choiceWords say what an answer does.
func (w *waiting) choiceWords(choice string) string {
	switch choice {
	case belay.ChoiceReject:
		return "no: the step fails"
	case belay.ChoiceApprove:
		return "yes: the step is done"
	case event.ChoiceDone:
		return "the work is there"
	case event.ChoiceAgain:
		if w.asked.OverBudget() {
			return "start this one agent, and ask again before the next"
		}
		return "run it again"
	case event.ChoiceFail:
		return "it failed"
	case event.ChoiceSkip:
		return "leave it out; the run is PARTIAL at best"
	}
	if w.About != "" {
		return "the run goes on with this choice"
	}
	return ""
}

// whyNext is what a person can safely do now.
type whyNext struct {
	Say      string   `json:"say"`
	Commands []string `json:"commands"` // the first is the one to type

	Fix string `json:"fix_in,omitempty"` // the worktree in which a fix must be made, the repository in which it must be committed, or the file with a plan to be edited
}

// next puts what a person can do into words.
func (w *whyFacts) next(n story.Next) whyNext {
	next := whyNext{Say: w.advice(n.Advice), Commands: []string{}}
	if w.fixIn != "" && len(n.Commands) > 0 {
		next.Say += "; make the fix in the worktree that the run works in, because resume continues there:"
		next.Fix = w.fixIn
	} else if w.fixAt != "" && len(n.Commands) > 0 {
		next.Say += "; commit the fix in the repository, because resume makes a new worktree from there:"
		next.Fix = w.fixAt
	}
	if n.Advice == story.EditPlan {
		next.Fix = w.plan
	}
	if n.Advice == story.Nothing && len(w.unmerged) > 0 {
		next.Commands = append(next.Commands, w.unmerged...)
	}
	branch := ""
	if w.Task != nil {
		branch = w.Task.Branch
	}
	switch {
	case branch == "":
	case n.Advice == story.Nothing && w.Task.Merged:
	case n.Advice == story.Nothing:
		next.Commands = append(next.Commands, mergeLine(w.Work.Dir, branch))
	case n.Advice == story.StartAgain, n.Advice == story.AddChecks:
		next.Commands = append(next.Commands, gitAt(w.Work.Dir)+" log -p "+story.Quote(branch))
	}
	for _, c := range n.Commands {
		next.Commands = append(next.Commands, w.typed(c))
	}
	return next
}

func (w *whyFacts) advice(a story.Advice) string {
	switch a {
	case story.Nothing:
		return w.goodEnd()
	case story.StartNew:
		return "nothing: a cancelled run is final; a new one begins with the values that you give it"
	case story.Adopt:
		return "resume it: steps that still run go on, and steps that are done are not run again"
	case story.AnswerNow:
		return "answer when you can: somebody drives it, and it takes the answer at once"
	case story.AnswerWakes:
		return "answer when you can: the answer wakes it"
	case story.WaitService:
		return "nothing: it goes on by itself at " + w.clock(w.Blocked[0].Until) + "; if you know that the service answers again, say so"
	case story.WaitWatch:
		return "nothing: belay watch wakes it when its time comes; to have it driven now, resume it"
	case story.WakeIt:
		return "no watch runs, so nobody wakes it: resume it, or start belay watch --all"
	case story.FreeDisk:
		return "make room on the disk of " + w.disk + ", then resume; steps that are done are not run again"
	case story.StartOver:
		return "resume would run nothing: the run keeps its recipe and the values of --set; fix them, then start a new run"
	case story.Watch:
		if w.silent != "" {
			return "host " + w.silent + ", which has the run, does not answer: start its worker again, or wait until it is given up; then watch what it prints"
		}
		return "nothing yet: somebody drives it; watch what it prints"
	case story.Answered:
		if w.Reason != "" {
			return "resume it when the host is back, or do as is said above"
		}
		return "every question is answered: resume it"
	case story.TimedOut:
		return "nobody answered in time, and no answer counts any more: resume it"
	case story.AnswerFirst:
		return "answer, then resume; nothing else can run before that"
	case story.GoOn:
		return "resume it; steps that are done are not run again"
	case story.LookAtWork:
		return "look at the work: nothing checked a part of it; with a verify on that step Belay checks it the next time"
	case story.Reopen:
		return "when what was left out shall be done after all, open the run again"
	case story.ClearHollow:
		return fmt.Sprintf("find out why %s (%d times); then reset its count of attempts, say with --why what is different now (that goes on record), and resume", w.hollow(), w.Failure.Same)
	case story.LookHollow:
		return "find out why " + w.hollow() + ", then resume; steps that are done are not run again"
	case story.ChangeFirst:
		return "the next try would be the last one again: change what it works on, or say what is different now, then go on; " + sameRecipe
	case story.RunAgain:
		return "its steps are done, so resume would run nothing: change what they work on, then run the step again whose output the recipe reads; it goes on with the recipe and the values as they were: for others start a new run"
	case story.NextReview:
		return "this was one round of a review, and the plan is not approved: review the better plan in a new run"
	case story.ReviewAgain:
		return "the plan is not approved, and the review has ended: have the same plan reviewed again, or start a new run with a better one"
	case story.EditPlan:
		return "the same would be found again: edit the plan in the file below, or have it reviewed from the start, then go on; or start a new run without a review"
	case story.RaiseBudget:
		return "no further agent may start: give the run its budget once more, then go on; belay do and belay run take a larger one with --max-agents N"
	case story.CarryOut:
		return "the plan is made; carry it out"
	case story.CarriedOut:
		return "another run carries out this plan: look at that one"
	case story.StartAgain:
		return "no round of this run is left, so resume would do nothing: look at the work, then start a new run"
	case story.AddChecks:
		return "no round of this run is left, so resume would do nothing: look at the work, then start a new run where " + w.Task.of.ToProve() + ", or with --trust-reflection"
	case story.MendClear:
		return fmt.Sprintf("before resume, allow new attempts of the step, which failed %[2]d times in the same way: --why says what is different now, and is kept on record; %[1]s", w.cure(), w.Failure.Same)
	case story.Mend:
		return w.cure()
	}
	return ""
}

// sameRecipe is said where somebody may want to change the recipe first.
const sameRecipe = "resume goes on with the recipe as it was when the run began; for a changed recipe start a new run"

// newRun is the cure for what no second try of the same recipe mends.
const newRun = "fix what is wrong; if that is the recipe or a value of --set, start a new run: resume uses both as they were"

// cure says what a person does about a failure before the run goes on.
func (w *whyFacts) cure() string {
	const then = ", then resume; steps that are done are not run again"
	if w.Failure == nil {
		return "fix the cause" + then
	}
	row := w.Failure.Class.Row()
	switch {
	case w.Failure.Level == belay.LevelText && !w.Failure.Type.Agent() && row.Passes:
		return "it may go away by itself; otherwise fix the cause" + then
	case w.Failure.Level == belay.LevelText && !w.Failure.Type.Agent():
		return "fix the cause" + then
	case w.Failure.Kind == belay.RoutingGap || w.Failure.Kind == belay.RecursionLimit || row.NewRun:
		return newRun
	case (row.Class == belay.ClassQuota || row.Class == belay.ClassRateLimit) && !w.Failure.Reset.IsZero():
		return "wait until " + w.local(w.Failure.Reset).Format(time.DateTime) + ", when the service opens again" + then
	case row.Cure != "":
		return row.Cure + then
	}
	return "fix the cause" + then + "; " + sameRecipe
}

// hollow is what is to be found out about an agent that claimed success.
func (w *whyFacts) hollow() string {
	if w.Failure != nil && w.Failure.Rule == verdict.RuleUnshown {
		return "its check shows nothing"
	}
	return "the agent did nothing"
}
