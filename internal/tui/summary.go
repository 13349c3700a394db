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

// tally is how the steps of a tree stand.
type tally struct {
	story.Count
	bad       []story.Placed
	recovered []Line
	taken     []Line
	judging   []Line // files that judge the work were changed
	unsure    bool   // one of those was not verified
}

func count(tree *flow.Tree) tally {
	steps := story.Steps(tree, "")
	t := tally{Count: story.CountSteps(steps)}
	names := NewNames(tree)
	for _, p := range steps {
		if p.Settled {
			continue
		}
		name := names.Of(p.At())
		if text := Judging(p.StepView); text != "" {
			t.judging = append(t.judging, Line{Word: "note", Step: name, Text: text})
		}
		switch {
		case p.Phase == flow.Failed || p.Phase == flow.Held:
			t.bad = append(t.bad, p)
		case story.Recovered(p.StepView):
			t.recovered = append(t.recovered, recoveredLine(name, p.StepView))
			t.unsure = t.unsure || p.Verdict != nil && p.Verdict.Partial
		case story.OnWord(p.StepView):
			t.taken = append(t.taken, Line{Word: "done", Step: name, Text: story.TakenWords})
		}
	}
	return t
}

func (t tally) String() string {
	parts := Good(t.Count)
	for _, p := range []struct {
		n    int
		word string
	}{
		{len(t.Failed), "failed"},
		{len(t.Optional), "optional failed"},
		{len(t.Held), "held"},
		{len(t.LeftOut), "skipped"},
		{t.NotTaken - t.Spare, "not taken"},
		{len(t.Open), "not finished"},
		{t.Spare, "fallback not needed"},
		{len(t.Waiting) + len(t.Unborn), "not reached"},
		{len(t.Back), story.BackWord},
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

// Good says how many steps ended well, in which way, and what of it was checked.
func Good(c story.Count) []string {
	var parts []string
	add := func(n int, word string, of ...string) {
		if n == 0 {
			return
		}
		text := fmt.Sprintf("%d %s", n, word)
		if of = slices.DeleteFunc(of, func(s string) bool { return s == "" }); len(of) > 0 {
			text += " (" + strings.Join(of, ", ") + ")"
		}
		parts = append(parts, text)
	}
	some := func(n int, word string) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprintf("%d %s", n, word)
	}
	add(c.Done-c.Recovered-c.Answered-len(c.Back), "done", some(c.Checked, CheckedWord))
	unchecked := ""
	switch n := c.Answered - c.Vouched; {
	case n > 0 && c.Vouched == 0:
		unchecked = "not checked"
	case n > 0:
		unchecked = fmt.Sprintf("%d not checked", n)
	}
	add(c.Answered, story.AnsweredWord, unchecked)
	add(c.Recovered, story.RecoveredWord, some(c.Mended, CheckedWord), some(c.Unproven, "unverified"))
	return parts
}

// Summary says what went wrong, what to type next, and in its last line how the run
// stands. belay is how the program is called; told tells of which failed steps the same
// reader was told why, nil for none, and whether that is the last line: a hint that does not
// stand below its failure names the step.
func Summary(acc *story.Account, tree *flow.Tree, res belay.RunResult, belayCmd string, told func(story.Place) (told, last bool)) []string {
	id := acc.Run
	t := count(tree)
	names := NewNames(tree)
	var lines []string
	for _, v := range t.bad {
		hinted := v.Failure != nil && v.Failure.Hint != "" && !hintedInside(tree, v)
		said, last := false, false
		if told != nil {
			said, last = told(v.At())
		}
		if !said {
			lines = append(lines, badLine(tree, names, v).Format(false))
		}
		if hinted {
			head := "  hint: "
			if said && !last { // it stands below the line of another step
				head = "hint: " + readable.Clean(names.Of(v.At())) + ": "
			}
			lines = append(lines, head+readable.Clean(v.Failure.Hint))
		}
	}
	for _, l := range slices.Concat(t.recovered, t.taken, t.judging) {
		lines = append(lines, l.Format(false))
	}
	if len(t.bad) == 0 && !t.unsure && res.Status != belay.Achieved && res.Reason != "" {
		lines = append(lines, "  "+readable.Clean(belay.Plain(res.Reason)))
		if res.Failure != nil && res.Failure.Hint != "" {
			lines = append(lines, "  hint: "+readable.Clean(res.Failure.Hint))
		}
	}
	if starts, used := tree.Spent(); starts > 0 {
		all := ""
		if tree.Resumed() { // not of what was driven now alone
			all = " in all"
		}
		lines = append(lines, strings.TrimSuffix("agents: "+readable.Many(starts, "start")+all+", "+readable.Used(used), ", "))
	}
	if res.Code != exit.OK {
		lines = append(lines, "why: "+belayCmd+" why "+string(id))
	}
	if fix := FixLine(acc); fix != "" {
		lines = append(lines, fix)
	}
	if next := Next(acc, names, belayCmd); next != "" {
		lines = append(lines, "next: "+next)
	}
	return append(lines, fmt.Sprintf("run %s %s after %s%s: %s", id, stands(acc, res), readable.Took(acc.Wall), gloss(acc, res.Status), t))
}

// gloss says what a status means whose word does not say it.
func gloss(acc *story.Account, s belay.Status) string {
	switch s {
	case belay.Hollow:
		if acc.Unshown() {
			return " (success was claimed, and the check of it shows nothing)"
		}
		return " (success was claimed, and nothing was done)"
	case belay.Held:
		return " (it waits for a person)"
	case belay.Partial:
		return " (not everything is done or proven)"
	case belay.Running, belay.Achieved, belay.Failed, belay.NotAchieved, belay.Stalemate, belay.Aborted, belay.Stopped, belay.Parked, belay.Paused:
	}
	return ""
}

// signals is where exit codes begin that say by which signal a process was ended.
const signals = 128

// stands is how a run stands after its driver: a driver that could not write down that the
// run is stopped leaves it as it was.
func stands(acc *story.Account, res belay.RunResult) string {
	switch {
	case res.Status != belay.Stopped || acc.Status == belay.Stopped || res.Code >= signals:
		return string(res.Status)
	case acc.Crashed:
		return "LOST"
	}
	return string(acc.Status)
}

// FixLine says where a fix must be made for a run that works in a worktree; "" for any other.
func FixLine(acc *story.Account) string {
	switch {
	case acc.FixIn != "":
		return "fix: make it in " + readable.Clean(acc.FixIn) + ", the worktree that the run works in; resume continues there"
	case acc.FixAt != "":
		return "fix: commit it in " + readable.Clean(acc.FixAt) + "; resume makes a new worktree from there"
	}
	return ""
}

// hintedInside tells whether a step failed because of one inside of it, which has the same hint.
func hintedInside(tree *flow.Tree, v story.Placed) bool {
	inside, _ := story.Inside(tree, v.At(), v.Failure)
	return slices.ContainsFunc(inside, func(at story.Place) bool {
		in, ok := tree.Run(at.Run).Step(at.Path)
		return ok && in.Failure != nil && in.Failure.Hint == v.Failure.Hint
	})
}

func badLine(tree *flow.Tree, names *Names, v story.Placed) Line {
	l := Line{Word: string(v.Phase), Step: names.Of(v.At())}
	inside := []story.Place(nil)
	if v.Failure != nil {
		inside, _ = story.Inside(tree, v.At(), v.Failure)
	}
	switch {
	case len(inside) > 0: // it has a line of its own
		l.Text = "step " + names.Own(inside[0]) + " failed"
	case v.Failure != nil:
		l.Text = v.Failure.Words()
	case v.Phase == flow.Held:
		l.Text = story.HeldWords(v.StepView)
	}
	if v.Optional && v.Phase == flow.Failed {
		l.Text = "optional: " + l.Text
	}
	return l
}

// mend says to look at a failure first, to do something about it, and only then to go on:
// what was not mended fails again.
func mend(acc *story.Account, names *Names, typed []string, belayCmd string) string {
	const then = ", then "
	do, about := "fix the cause"+then, ""
	if a := acc.Next.Advice; a == story.LookHollow || a == story.ClearHollow {
		do = "find out why the agent did nothing" + then
		if acc.Unshown() {
			do = "find out why its check shows nothing" + then
		}
	}
	if a := acc.Next.Advice; a == story.MendClear || a == story.ClearHollow {
		do += "allow new attempts: "
		about = "   # TEXT: what is different now"
	}
	c := acc.Cause
	if c == nil || c.Whole || c.Type.Child() || c.Type.Asks() || c.Phase != flow.Failed || c.Optional {
		return do + strings.Join(typed, then) + about
	}
	shown := names.Typed(story.Show(c.At())).Text(belayCmd)
	look := shown
	if c.Printed != nil && strings.TrimSpace(c.Printed.Said()) != "" {
		look = names.Typed(story.Logs(c.At())).Text(belayCmd)
	}
	return "look at " + look + ", " + do + strings.TrimPrefix(strings.Join(typed, then), shown+then) + about
}

// Next is what a person may type now, in a line; "" when there is nothing left to do.
func Next(acc *story.Account, names *Names, belayCmd string) string {
	var typed []string
	for _, c := range acc.Next.Commands {
		typed = append(typed, names.Typed(c).Text(belayCmd))
	}
	const or, then = ", or ", ", then "
	show := story.Command{"show", string(acc.Run)}.Text(belayCmd)
	switch acc.Next.Advice {
	case story.GoOn, story.WaitWatch, story.WakeIt, story.Adopt:
		return show + or + typed[0]
	case story.Mend, story.MendClear, story.LookHollow, story.ClearHollow:
		return mend(acc, names, typed, belayCmd)
	case story.EditPlan:
		return "edit " + acc.Plan + then + typed[1] + or + strings.Join(typed[:2], then) + strings.Join(append([]string{""}, typed[2:]...), or)
	case story.FreeDisk:
		return "free space on " + acc.Disk + then + acc.Next.Line(belayCmd)
	case story.CarryOut:
		return typed[0] + "   # carries out this plan"
	case story.CarriedOut:
		return typed[0] + "   # the run that carries out this plan"
	case story.StartAgain:
		return typed[0] + "   # a new run; no round of this one is left"
	case story.NextReview:
		return typed[0] + "   # a new run, which reviews the better plan"
	case story.AddChecks:
		if !slices.Contains(acc.Next.Commands[0], "FILE") {
			return typed[0] + "   # a new run, once in that file " + readable.Harmless(acc.Task.ToProve()) + "; or --trust-reflection"
		}
		return typed[0] + "   # a new run, where in FILE " + readable.Harmless(acc.Task.ToProve()) + "; or --trust-reflection"
	case story.AnswerFirst, story.RaiseBudget, story.ChangeFirst, story.AnswerNow, story.WaitService, story.Watch, story.Answered, story.LookAtWork,
		story.Reopen, story.StartNew, story.RunAgain, story.AnswerWakes, story.TimedOut, story.StartOver, story.ReviewAgain:
		return acc.Next.Line(belayCmd)
	case story.Nothing:
	}
	return ""
}
