package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/story"
)

// tally is how the steps of a tree stand.
type tally struct {
	done, answered, failed, optional, notTaken, skipped, held, open, waiting int

	bad       []belay.RunID // of the steps below
	badSteps  []flow.StepView
	recovered []Line
	taken     []Line
	judging   []Line // files that judge the work were changed
	unsure    bool   // one of those was not verified
}

func count(tree *flow.Tree) tally {
	var t tally
	settled := map[belay.RunID]bool{} // child runs whose step is done in spite of them
	story.Walk(tree, "", func(run belay.RunID, _ int, v flow.StepView) {
		if child := tree.Run(v.Child); settled[run] || v.Phase == flow.Done && child != nil && failedRun(child.Result()) {
			settled[v.Child] = true
		}
		if settled[run] && v.Phase != flow.Done {
			return // what it left is done otherwise
		}
		switch v.Phase {
		case flow.Done:
			if text := Judging(v); text != "" {
				t.judging = append(t.judging, Line{Word: "note", Step: story.StepName(run, v.Path), Text: text})
			}
			if story.Recovered(v) {
				t.recovered = append(t.recovered, recoveredLine(run, v))
				t.unsure = t.unsure || v.Verdict != nil && v.Verdict.Partial
				break
			}
			if story.OnWord(v) {
				t.taken = append(t.taken, Line{Word: "done", Step: story.StepName(run, v.Path), Text: TakenWords})
			}
			if story.AnswerOnly(v) {
				t.answered++
			} else {
				t.done++
			}
		case flow.NotTaken:
			t.notTaken++
		case flow.Skipped:
			t.skipped++
		case flow.Held:
			t.held++
		case flow.Failed:
			if v.Optional {
				t.optional++
			} else {
				t.failed++
			}
		case flow.Waiting:
			if v.Attempt == 0 {
				t.waiting++
			} else { // it ran, and was given back or will be tried again
				t.open++
			}
		case flow.Running, flow.Ended, flow.Checking, flow.Broken, flow.Aided, flow.Merging:
			t.open++
		}
		if v.Phase == flow.Failed || v.Phase == flow.Held {
			t.bad = append(t.bad, run)
			t.badSteps = append(t.badSteps, v)
		}
	})
	return t
}

func failedRun(r *belay.RunResult) bool {
	return r != nil && r.Status != belay.Achieved && r.Status != belay.Partial
}

func (t tally) String() string {
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{
		{t.done, "done"},
		{t.answered, Answered},
		{len(t.recovered), "recovered"},
		{t.failed, "failed"},
		{t.optional, "optional failed"},
		{t.held, "held"},
		{t.skipped, "skipped"},
		{t.notTaken, "not taken"},
		{t.open, "not finished"},
		{t.waiting, "not reached"},
	} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.word))
		}
	}
	if len(parts) == 0 {
		return "nothing ran"
	}
	return strings.Join(parts, ", ")
}

// Summary says how a run stands, what went wrong, and what to type next. belay
// is how the program is called.
func Summary(id belay.RunID, tree *flow.Tree, res belay.RunResult, took time.Duration, belayCmd string) []string {
	t := count(tree)
	lines := []string{fmt.Sprintf("run %s %s after %s: %s", id, res.Status, Took(took), t)}
	for i, v := range t.badSteps {
		lines = append(lines, badLine(t.bad[i], v).Format(false))
		if v.Failure != nil && v.Failure.Hint != "" && v.Phase == flow.Failed {
			lines = append(lines, "  hint: "+Clean(v.Failure.Hint))
		}
	}
	for _, l := range slices.Concat(t.recovered, t.taken, t.judging) {
		lines = append(lines, l.Format(false))
	}
	if len(t.badSteps) == 0 && !t.unsure && res.Status != belay.Achieved && res.Reason != "" {
		lines = append(lines, "  "+Clean(res.Reason))
		if res.Failure != nil && res.Failure.Hint != "" {
			lines = append(lines, "  hint: "+Clean(res.Failure.Hint))
		}
	}
	if starts, used := tree.Spent(); starts > 0 {
		lines = append(lines, strings.TrimSuffix("agents: "+plural(starts, "start")+", "+Used(used), ", "))
	}
	if res.Code != belay.ExitOK {
		lines = append(lines, "why: "+belayCmd+" why "+string(id))
	}
	if next := Next(id, tree, res.Status, belayCmd); next != "" {
		lines = append(lines, "next: "+next)
	}
	return lines
}

func badLine(run belay.RunID, v flow.StepView) Line {
	l := Line{Word: string(v.Phase), Step: story.StepName(run, v.Path)}
	switch {
	case v.Failure != nil:
		l.Text = Reason(v.Failure)
	case v.Phase == flow.Held:
		l.Text = HeldWords(v)
	}
	if v.Optional && v.Phase == flow.Failed {
		l.Text = "optional: " + l.Text
	}
	return l
}

// HeldWords say why a step is held that did not fail.
func HeldWords(v flow.StepView) string {
	switch {
	case story.Stale(v):
		return fmt.Sprintf("it failed %d times in the same way, and nothing has changed since", v.Same)
	case story.OverBudget(v):
		return "no further agent may start: the budget is used up"
	}
	return "nobody can tell whether its work was done"
}

// Answered is the word for a step that is done because its agent gave an answer:
// nobody checked what it says.
const Answered = "answered"

// PhaseWord is how a step stands, as every screen says it.
func PhaseWord(v flow.StepView) string {
	if story.AnswerOnly(v) {
		return Answered
	}
	return string(v.Phase)
}

// Decided is the word for what a person answered about a held step.
const Decided = "decided"

// TakenWords say of a step that nobody saw it pass.
const TakenWords = "taken on a person's word, not checked"

// Next is what a person may type now, "" when there is nothing left to do.
func Next(id belay.RunID, tree *flow.Tree, s belay.Status, belayCmd string) string {
	t, resume, show := count(tree), story.Resume(id), story.Command{"show", string(id)}
	const or = "  |  "
	switch s {
	case belay.Held:
		for i, v := range t.badSteps {
			if v.Phase == flow.Held {
				return Answer(story.Place{Run: t.bad[i], Path: v.Path}, belayCmd) + ", then " + resume.Text(belayCmd)
			}
		}
		return resume.Text(belayCmd)
	case belay.Failed, belay.Hollow:
		text := resume.Text(belayCmd)
		for i, v := range t.badSteps {
			if v.Type != belay.TypeRecipe && v.Phase == flow.Failed && !v.Optional {
				at := story.Place{Run: t.bad[i], Path: v.Path}
				return story.Show(at).Text(belayCmd) + or + story.Logs(at).Text(belayCmd) + or + text
			}
		}
		return text
	case belay.Partial, belay.Stopped, belay.Running:
		return show.Text(belayCmd) + or + resume.Text(belayCmd)
	case belay.Achieved, belay.Aborted:
	}
	return ""
}

// Answer is the command that answers for a held step.
func Answer(at story.Place, belayCmd string) string {
	return story.AnswerFor(at, belay.ChoiceDone, belay.ChoiceAgain, belay.ChoiceFail, belay.ChoiceSkip).Text(belayCmd)
}
