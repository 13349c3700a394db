package cli

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/internal/receipt"
	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/story"
)

type historyOptions struct {
	task string
	json bool
}

func (a *app) historyCommand() *cobra.Command {
	var o historyOptions
	cmd := command("history RUN", "list every decision about failures, in order", 1, 1,
		func(_ context.Context, _ *cobra.Command, args []string) error {
			return a.read(args[0], func(s *runView) error { return a.history(s, o) })
		})
	cmd.Flags().StringVar(&o.task, "task", "", "only of this step, as the screen names it (deploy/push)")
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON array")
	cmd.ValidArgsFunction = a.completeRun
	return cmd
}

func (a *app) history(s *runView, o historyOptions) error {
	list := s.decisions()
	if o.task != "" {
		list = s.about(list, o.task)
	}
	switch {
	case o.json:
		a.object(list)
	case len(list) == 0:
		a.say("no decision is on record%s", ofTask(o.task))
	default:
		rows := historyTable(list, a.verbose, tui.NewNames(s.Tree).From(s.id))
		a.table(rows, len(rows[0])-1)
	}
	return nil
}

func ofTask(task string) string {
	if task == "" {
		return ""
	}
	return " about " + readable.Clean(task)
}

// about keeps the decisions about one step: as the screen names it, or by its
// id in the run that was asked for. A step that nobody knows has none.
func (s *runView) about(all []decision, task string) []decision {
	list := []decision{}
	shown, known := s.findShown(belay.Path(task))
	for _, d := range all {
		if d.TaskID == task || d.Run == s.id && string(d.of.Path) == task || known && d.of.Place == shown {
			list = append(list, d)
		}
	}
	return list
}

// reasonWidth is how much of a reason fits in the table; --json has all of it.
const reasonWidth = 160

// historyTable has the class of each failure, and the recoveries that were refused, only
// for those who want everything.
func historyTable(list []decision, all bool, named func(step, text string) string) [][]string {
	row := func(when, step, class, what, why string) []string {
		if all {
			return []string{when, step, class, what, why}
		}
		return []string{when, step, what, why}
	}
	rows := [][]string{row("WHEN", "STEP", "CLASS", "DECISION", "REASON")}
	for i := range list {
		d := &list[i]
		reason := named(d.TaskID, d.Reason)
		if !all {
			reason = belay.Plain(reason)
		}
		rows = append(rows, row(
			d.Timestamp.Local().Format(time.DateTime), readable.Clean(cmp.Or(named("", d.TaskID), "-")), cmp.Or(string(d.Class), "-"),
			readable.Clean(d.words()), readable.Cut(readable.Clean(reason), reasonWidth),
		))
		if !all {
			continue
		}
		for _, r := range d.Refused {
			rows = append(rows, row("", "", "", "not "+r.Act.Row().Words, readable.Cut(readable.Clean(named(d.TaskID, r.Why)), reasonWidth)))
		}
	}
	return rows
}

// words say what was decided, in a few of them.
func (d *decision) words() string {
	switch {
	case d.of.What == story.ItemOpened:
		return "a person is asked"
	case d.of.What == story.AnswerGiven:
		return "wait " + readable.Took(d.of.Wait()) + " for the service"
	case d.of.What == story.ItemAnswered:
		return answeredWords(d.of.Choice) + " by " + d.By
	case d.of.What == story.ItemExpired:
		if d.of.Choice == belay.TimeoutHold {
			return "it stays open"
		}
		return "it counts as " + d.of.Choice
	case d.of.What == story.StepSkipped:
		return "left out by " + d.By
	case d.of.What == story.RunCleared:
		return "cleared " + d.of.Choice + " by " + d.By
	case d.of.What == story.StepReset:
		return "to run again by " + d.By
	case d.of.What == story.RunResumed:
		return "resumed by " + d.By
	case d.of.What == story.RunReopened:
		return "opened again by " + d.By
	}
	return receipt.RecoveryWords(d.of)
}
