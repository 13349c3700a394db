package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/story"
)

// titleWidth is how much of a task names it in a line.
const titleWidth = 72

// Title is a task in one short line.
func Title(text string) string { return readable.Cut(readable.Clean(text), titleWidth) }

// TaskTitle is a task in one line, with the place of the rest of a long one.
func TaskTitle(t *story.Task) string {
	title := Title(t.Title())
	if t.File != "" {
		title += fmt.Sprintf(" (… %s, in %s)", readable.Size(t.Bytes), readable.Clean(t.File))
	}
	return title
}

// TaskSummary says what a task came to: each criterion with the reason where it is not
// met, where the work is, what to type next, and in its last line the verdict. others
// are lines about work that is not part of the result.
func TaskSummary(acc *story.Account, tree *flow.Tree, res belay.RunResult, others []string, belayCmd string) []string {
	id, t := acc.Run, acc.Task
	starts, used := tree.Spent()
	lines := []string{"task: " + TaskTitle(t)}
	for _, w := range t.Warnings {
		lines = append(lines, "warning: "+readable.Clean(w))
	}
	lines = append(lines, Criteria(t)...)
	for i := range t.Findings {
		lines = append(lines, "  review    "+readable.Clean(t.Findings[i].Words()))
	}
	if res.Status != belay.Achieved {
		lines = append(lines, taskReason(acc, res)...)
		lines = append(lines, troubles(tree)...)
	}
	steps := count(tree)
	for _, l := range steps.judging {
		lines = append(lines, l.Format(false))
	}
	if n := steps.Answered - steps.Vouched; n > 0 {
		lines = append(lines, "answered: "+counted(n, "step", "steps")+"; nobody checked what these answers say")
	}
	if text := readable.Used(used); text != "" {
		lines = append(lines, "agents: "+text)
	}
	lines = append(lines, others...)
	for i := range t.Issues {
		lines = append(lines, "issue: "+readable.Clean(t.Issues[i].Words()))
	}
	if res.Code != exit.OK {
		lines = append(lines, "why: "+belayCmd+" why "+string(id))
	}
	if next := Next(acc, NewNames(tree), belayCmd); next != "" {
		lines = append(lines, "next: "+next)
	}
	return append(lines, fmt.Sprintf("run %s %s after %s: %s", id, res.Status, readable.Took(acc.Wall), taskCount(t, starts)))
}

func taskCount(t *story.Task, starts int) string {
	var parts []string
	if t.Rounds > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s met", t.Met, counted(len(t.Criteria), "criterion", "criteria")), counted(t.Rounds, "round", "rounds"))
	}
	return joined(append(parts, counted(starts, "agent start", "agent starts"))...)
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// under is where what belongs to a criterion begins.
const under = "              "

// Criteria are lines about the criteria of a task that was judged: what became of
// each, and why one is not met.
func Criteria(t *story.Task) []string {
	var lines []string
	for i := range t.Criteria {
		c := &t.Criteria[i]
		if c.Verdict == "" {
			continue
		}
		lines = append(lines, fmt.Sprintf("  %-8s  %s  %s", CriterionWord(c), readable.Clean(c.ID), readable.Clean(c.Text)))
		switch {
		case !c.Met():
			lines = append(lines, notMet(c)...)
		case c.Note != "":
			lines = append(lines, under+readable.Clean(c.Note))
		}
	}
	return lines
}

// CriterionWord is what became of a criterion.
func CriterionWord(c *story.TaskCriterion) string {
	switch {
	case c.Met() && c.Trusted:
		return "met (on trust)"
	case c.Met():
		return "met"
	case c.Unproven():
		return "unproven"
	}
	return "not met"
}

// notMet says why a criterion is not met.
func notMet(c *story.TaskCriterion) []string {
	if c.Exit == nil || *c.Exit == 0 {
		return []string{under + readable.Clean(c.Why)}
	}
	text := fmt.Sprintf("exit %d", *c.Exit)
	if last := readable.LastLine(c.Printed); last != "" {
		text += ": " + last
	}
	return []string{under + "check: " + readable.Command(c.Check), under + text}
}

// taskReason says why the result is what it is, where the criteria do not say it.
func taskReason(acc *story.Account, res belay.RunResult) []string {
	if acc.Refused != nil {
		return []string{"  its plan was not approved: " + readable.Clean(acc.Refused.Why)}
	}
	reason := readable.Clean(res.Reason)
	if t := acc.Task; t.Rounds > 0 && res.Status == belay.Partial && len(t.Limits) == 0 && t.Met < len(t.Criteria) {
		return nil // the criteria say it
	}
	within := string(belay.RecipeFailure) + ": " // of each recipe around the one that failed
	if i := strings.LastIndex(reason, within); i >= 0 {
		reason = reason[i+len(within):]
	}
	if reason == "" {
		return nil
	}
	return []string{"  " + belay.Plain(reason)}
}

// mostTroubles is how many failures the end of a task shows.
const mostTroubles = 4

// troubles are the failures below a task that did not end well, each once: not of
// the steps that only contain one, and not those that only report the verdict.
func troubles(tree *flow.Tree) []string {
	var lines, seen []string
	names, more := NewNames(tree), 0
	for _, p := range count(tree).bad {
		if p.Failure == nil && p.Phase != flow.Held || p.Type.Child() && p.Child != "" || p.Path == story.FlagStep {
			continue
		}
		text := story.HeldWords(p.StepView)
		if p.Failure != nil {
			text = readable.Clean(p.Failure.Words())
		}
		if key := string(p.Path) + ": " + text; slices.Contains(seen, key) {
			continue
		} else if seen = append(seen, key); len(seen) > mostTroubles {
			more++
			continue
		}
		lines = append(lines, "  "+pad(string(p.Phase), wordWidth)+" "+names.Of(p.At())+": "+text)
		if f := p.Failure; f != nil && f.Hint != "" && f.Class.Row().Hint == f.Hint { // others are for who writes recipes
			lines = append(lines, "            hint: "+readable.Clean(f.Hint))
		}
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("  … %d more", more))
	}
	return lines
}
