package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/proc"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/verdict"
)

type showOptions struct {
	json    bool
	records bool
	output  string
}

func (a *app) showCommand() *cobra.Command {
	var o showOptions
	cmd := command("show RUN [STEP]", "show what happened in a run, or in one of its steps", 1, 2,
		func(_ context.Context, cmd *cobra.Command, args []string) error {
			if o.records && len(args) > 1 {
				return usage(cmd, fmt.Errorf("--records is for a whole run"))
			}
			if err := onlyOutput(cmd, "json", "records"); err != nil {
				return err
			}
			if o.output != "" && len(args) > 1 {
				return usage(cmd, fmt.Errorf("--output is for a whole run"))
			}
			return a.read(args[0], func(s *runView) error { return a.show(s, args[1:], o) })
		})
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON object per step")
	cmd.Flags().BoolVar(&o.records, "records", false, "print the records of the journal, one JSON object per line")
	outputFlag(cmd, &o.output)
	cmd.ValidArgsFunction = a.completeStep
	return cmd
}

func (a *app) show(s *runView, step []string, o showOptions) error {
	switch {
	case o.output != "":
		return a.printOutput(gave(s.Tree, s.id, s.view.ReadBlob, o.output), o.output)
	case o.records:
		a.records(s.recs)
	case len(step) > 0:
		return a.showStep(s, belay.Path(step[0]), o.json)
	case o.json:
		for _, p := range s.steps() {
			a.object(stepObject(s, p))
		}
	default:
		a.showRun(s)
	}
	return nil
}

// showRun prints a header, a table of steps and what to type next.
func (a *app) showRun(s *runView) {
	run := s.Tree.Run(s.id)
	started, begun := run.Started()
	status := s.standing()
	if res := run.Result(); s.id != s.id.Root() && res != nil {
		status = string(res.Status)
	}
	head := [][]string{
		{"run", string(s.id)},
		{"recipe", readable.Clean(started.Name) + "  " + readable.Clean(started.File)},
		{"task", ""},
		{"status", status},
		{"started", begun.Local().Format(time.DateTime)},
		{"elapsed", readable.Took(s.Account(s.id, s.facts(time.Now())).Wall)},
		{"dir", readable.Clean(started.Dir)},
	}
	acc := s.Account(s.id.Root(), s.facts(time.Now()))
	if t := acc.Task; t != nil {
		head[2][1] = tui.TaskTitle(t)
	} else {
		head = slices.Delete(head, 2, 3)
	}
	if died := s.Takeovers(); len(died) > 0 {
		head = append(head, []string{"crashes", fmt.Sprintf("%d: the driver died; the last time another went on at %s",
			len(died), died[len(died)-1].At.Local().Format(time.DateTime))})
	}
	if a.verbose {
		head = append(head, []string{"containment", proc.Level(s.Driver().Containment).String()})
	}
	if why := s.Tree.HeldFor(); why != "" {
		head = append(head, []string{"held", readable.Clean(why)})
	}
	head = append(head, s.hostRows()...)
	if starts, used := s.Tree.Spent(); starts > 0 {
		head = append(head, []string{"agents", strings.TrimSuffix(fmt.Sprintf("%s, %s", readable.Many(starts, "start"), readable.Used(used)), ", ")})
	}
	if b := story.UserCheckoutOf(s.Tree, acc.Task); b != nil && s.id == s.id.Root() {
		words := readable.Clean(b.Words(shownBeside))
		if b.Warns() {
			words = "warning: " + words
		}
		head = append(head, []string{"checkout", words})
		for _, words := range b.Taken() {
			head = append(head, []string{"", readable.Clean(words)})
		}
	}
	a.facts(head)
	a.out.line("")
	rows := [][]string{{"STEP", "STATUS", "ATTEMPTS", "TOOK", "RESULT"}}
	names := tui.NewNames(s.Tree)
	about := names.From(s.id)
	for _, p := range s.steps() {
		row := stepRow(p, names.Own(p.At()), s.Over(p.Run), s.agentOf(p), s.Sum(p.At()))
		if was := row[1]; was == notFinished {
			if row[1] = s.phaseOf(p); row[1] != was {
				row[len(row)-1] = story.EndedBy(p.Verdict)
			}
		}
		if t, ok := s.takenFor(p); ok {
			row[len(row)-1] = readable.Cut(readable.Clean(t.words()), resultWidth)
		}
		if hooks := hookTroubles(s.Hooks(p.At())); hooks != "" {
			row[len(row)-1] = strings.TrimPrefix(row[len(row)-1]+"; "+readable.Clean(hooks), "; ")
		}
		row[len(row)-1] = about(p.At().Name(), row[len(row)-1])
		rows = append(rows, row)
	}
	a.table(rows, len(rows[0])-1)
	if list := a.nextLines(s, acc); len(list) > 0 {
		a.out.line("")
		a.out.lines(list)
	}
}

// phaseOf is how a step stands, in the words of the table of steps.
func (s *runView) phaseOf(p story.Placed) string {
	word := phaseText(p, s.Over(p.Run))
	if res := s.Tree.Run(p.Run).Result(); word == notFinished && res != nil && res.Status == belay.Aborted {
		return cancelled
	}
	return word
}

// phaseText is how a step of a run stands that is over or not, however that ended.
func phaseText(p story.Placed, over bool) string {
	switch {
	case !over || p.Phase != flow.Waiting: // of a run that is over nothing waits
		return strings.ReplaceAll(story.PhaseWord(p.StepView), "_", " ")
	case p.Attempt == 0:
		return "not reached"
	case p.Main != nil && p.Main.KilledBy == fault.KilledCancel:
		return cancelled
	}
	return notFinished
}

// cancelled is how a step stands that ran when a person ended its run.
const cancelled = "cancelled"

// notFinished is how a step stands that ran when its run ended.
const notFinished = "not finished"

// resultWidth is how much of a result is shown in the table.
const resultWidth = 100

// hostRows say on what host the files of the run are, where that is not the one that
// shows it.
func (s *runView) hostRows() (rows [][]string) {
	if moved := s.Moved(); moved != nil {
		rows = append(rows, []string{"moved", readable.Clean(moved.Words()) + " at " + moved.At.Local().Format(time.DateTime)})
	}
	if d := s.Housed(); d != nil {
		rows = append(rows, []string{"files", readable.Clean(d.Dir + " on host " + d.Host)})
	}
	if from := s.Cloned(); from != "" {
		rows = append(rows, []string{"cloned", readable.Clean(from)})
	}
	return rows
}

func stepRow(p story.Placed, name string, over bool, agent string, sum story.Sum) []string {
	attempts := fmt.Sprint(p.Attempt)
	switch {
	case p.Attempt == 0:
		attempts = "-"
	case p.Attempts > p.Attempt: // its retry allows more
		attempts += fmt.Sprintf(" of %d", p.Attempts)
	}
	if p.Lost > 0 {
		attempts += fmt.Sprintf(" (%d lost)", p.Lost)
	}
	result := stepResult(p, over, sum)
	if p.Phase == flow.Running && agent != "" {
		result = "agent " + agent + " works"
	}
	return []string{
		strings.Repeat("  ", p.Depth) + name, phaseText(p, over), attempts, stepTook(p, sum), readable.Cut(readable.Clean(result), resultWidth),
	}
}

// stepTook is how long all attempts of a step took together.
func stepTook(p story.Placed, sum story.Sum) string {
	if p.Main == nil || p.Main.Started.IsZero() {
		return "-"
	}
	return readable.Took(max(sum.Took, p.Main.Ended.Sub(p.Main.Started)))
}

// stepWork is who did a step, what all attempts used together, and what the last one left
// behind.
func stepWork(r *effect.AgentReport, sum story.Sum) string {
	if sum.Own < 2 {
		return tui.AgentWork(r)
	}
	words := []string{strings.Join(sum.Agents, ", "), readable.Used(sum.Usage), leftInAll(r.Evidence)}
	return joined(words, ", ")
}

// leftInAll is what a step of several attempts left behind: they are all held against the
// state before the first.
func leftInAll(e belay.Evidence) string {
	left := tui.Left(e)
	if left == "" || left == tui.NoChange {
		return left
	}
	return left + " in all"
}

// result is the outcome of a step in a few words. Of a run that is over nothing
// waits any more.
func stepResult(p story.Placed, over bool, sum story.Sum) string {
	var words []string
	if p.Optional && p.Phase == flow.Failed {
		words = append(words, "optional")
	}
	switch {
	case p.Phase == flow.Failed && p.Failure != nil, p.Phase == flow.Held && p.Failure != nil:
		words = append(words, p.Failure.Words())
		if story.RolledBack(p.StepView) {
			words[len(words)-1] += "; " + verdict.BackWords
		}
	case p.Phase == flow.Held && over:
		words = append(words, "was not answered")
	case p.Phase == flow.Held && story.OverBudget(p.StepView):
		words = append(words, "waits for an answer: the budget of agents is used up")
	case p.Phase == flow.Held:
		words = append(words, "waits for an answer")
	case p.Phase == flow.Waiting && over && p.Attempt > 0 && p.Main != nil:
		words = append(words, exitText(p.Main))
	case p.Phase == flow.Waiting && over && p.Attempt > 0:
		words = append(words, notFinished)
	case p.Phase == flow.Waiting && over:
	case p.Phase == flow.Waiting && !p.Due.IsZero() && !p.Due.After(time.Now()):
		words = append(words, "again as soon as the run goes on")
	case p.Phase == flow.Waiting && !p.Due.IsZero():
		words = append(words, "again at "+p.Due.Local().Format(time.TimeOnly))
	case p.Phase == flow.NotTaken && p.InPlace != "":
		words = append(words, "it ran in place of "+string(p.InPlace))
	case p.Phase == flow.NotTaken && p.Fallback:
		words = append(words, "a fallback that was not needed")
	case p.Phase == flow.NotTaken && p.Main != nil:
		words = append(words, flow.NothingRan)
	case p.Phase == flow.Done && story.RolledBack(p.StepView):
		words = append(words, strings.TrimPrefix(verdict.BackWords, story.BackWord+": "))
	case p.Main != nil && p.Main.Child != nil:
		words = append(words, "child run "+string(p.Child)+" "+string(p.Main.Child.Status))
	case p.Phase == flow.Done && p.Main != nil && p.Main.Agent != nil:
		words = append(words, stepWork(p.Main.Agent, sum))
	case p.Main != nil:
		words = append(words, exitText(p.Main))
	case p.Child != "":
		words = append(words, "child run "+string(p.Child))
	}
	if story.Unverified(p.StepView) {
		words = append(words, "unverified")
		return strings.Join(words, ", ")
	}
	if story.Checked(p.StepView) {
		return strings.TrimPrefix(strings.Join(words, ": ")+", "+tui.CheckedWords(p.StepView), ", ")
	}
	return strings.Join(words, ": ")
}

// agentOf is the name of the agent that does a step, "" for none.
func (s *runView) agentOf(p story.Placed) string {
	tries := s.Step(p.At()).Attempts
	if !p.Type.Agent() || len(tries) == 0 {
		return ""
	}
	return story.AgentName(tries[len(tries)-1].Agent)
}

// exitText is how a process ended, in words.
func exitText(o *effect.Observation) string {
	switch {
	case o.Fault != fault.None:
		return string(o.Fault) + ": " + o.Detail
	case o.KilledBy != fault.KilledNot:
		return "ended by " + string(o.KilledBy)
	case o.Signal != 0:
		return fmt.Sprintf("signal %d", o.Signal)
	}
	return fmt.Sprintf("exit %d", o.Exit)
}
