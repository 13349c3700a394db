package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/story"
)

type resumeOptions struct {
	why     string
	json    bool
	secrets []string

	detached  bool   // nobody waits for it: it may park
	from      string // the step to go on from
	agent     string // who does it, or all that are started from now on
	retryHeld bool   // every step that is held is tried again

	unattended bool // a watch started it: nothing is opened again that has ended, or that a person stopped meanwhile
}

func (a *app) resumeCommand() *cobra.Command {
	var o resumeOptions
	cmd := command("resume RUN", "continue a run after a crash, a stop, a pause, an answer or a failure, or carry out a plan", 1, 1,
		func(ctx context.Context, cmd *cobra.Command, args []string) error {
			return a.resume(ctx, cmd, args[0], o)
		})
	cmd.Flags().StringVar(&o.why, "why", "", "why an ended run is opened again, for the record")
	cmd.Flags().BoolVar(&o.json, "json", false, "print every new record as a line of JSON")
	cmd.Flags().BoolVar(&o.detached, "detached", false, "leave the run while its next act is far away and belay watch leads (for belay itself)")
	_ = cmd.Flags().MarkHidden("detached") // it is there: the line above made it
	cmd.Flags().StringVar(&o.from, "from", "", "go on from this step: it failed, is held or waits; one that is held is tried again")
	cmd.Flags().StringVar(&o.agent, "agent", "", "let this agent do the step of --from, or all that are started from now on")
	cmd.Flags().BoolVar(&o.retryHeld, "retry-held", false, "try every step again that is held")
	cmd.Flags().BoolVar(&o.unattended, "unattended", false, "go on only with a run that has neither ended nor been stopped (for belay watch)")
	_ = cmd.Flags().MarkHidden("unattended") // it is there: the line above made it
	secretFlag(cmd, &o.secrets)
	cmd.ValidArgsFunction = a.completeRun
	return cmd
}

func (a *app) resume(ctx context.Context, cmd *cobra.Command, arg string, o resumeOptions) (err error) {
	ws, err := a.open()
	if err != nil {
		return err
	}
	defer closing(&err, "close state", ws.close)
	if err := a.hide(cmd, ws, o.secrets); err != nil {
		return err
	}
	id, err := runID(ws.state, arg)
	if err != nil {
		return err
	}
	id = id.Root()
	if err := a.person(ws.state, "resume", id); err != nil {
		return err
	}
	a.subject = id
	if o.detached {
		ws.local.ParkAfter = ws.cfg.Watch.Park.Value
	}
	open, err := takeRun(ctx, ws, id)
	if err != nil {
		return err
	}
	if status := open.Tree.Status(); o.unattended && (status.Terminal() || status == belay.Paused || status == belay.Stopped) {
		return a.rest(ctx, ws, open, nil, o.json)
	}
	if !o.unattended && onlyPlanned(open) {
		return a.carryOut(ctx, cmd, ws, open, o)
	}
	if usedUp(open) {
		if !o.json {
			a.say("no round of run %s is left: there is nothing to resume", id)
		}
		return a.rest(ctx, ws, open, nil, o.json)
	}
	more, err := a.goOn(ws, open, o)
	if err != nil {
		return errors.Join(err, open.Close())
	}
	facts, drive, err := a.reopening(ctx, ws.state, open, o.why)
	if err != nil || !drive {
		return a.rest(ctx, ws, open, err, o.json)
	}
	facts = append(facts, more...)
	if err := a.equipped("resume", open, a.name()+" resume "+string(id)); err != nil {
		return errors.Join(err, open.Close())
	}
	if changesInPlace(open) {
		release, err := a.alone(ws.state.Dir(), open.Tree.Started().Dir)
		if err != nil {
			return a.rest(ctx, ws, open, err, o.json)
		}
		defer release()
	}
	return a.drive(ctx, ws, open, o.json, facts...)
}

// reopening decides what resume means for a run as it stands: the facts to
// begin with, and whether there is anything to drive.
func (a *app) reopening(ctx context.Context, st *journal.State, o *engine.Open, why string) (facts []flow.Fact, drive bool, err error) {
	switch status := o.Tree.Status(); status {
	case belay.Failed, belay.Partial, belay.Hollow, belay.NotAchieved, belay.Stalemate:
		inside, _, err := a.inside(st)
		if err != nil {
			return nil, false, err
		}
		if inside != "" { // its step started it; to open it again is a person's all the same
			return nil, false, exit.New(exit.Failed, "resume",
				fmt.Errorf("run %s has ended %s, and only a person may open it again; this is a step of run %s", o.ID, status, inside),
				"type it in a terminal of your own")
		}
		if err := a.stands(ctx, o); err != nil {
			a.stuck(o.Tree, belay.Stalemate)
			return nil, false, err
		}
		return o.Tree.Reopen(engine.Person(), why), true, nil
	case belay.Achieved, belay.Aborted:
		return nil, false, nil
	case belay.Held, belay.Stopped, belay.Paused, belay.Parked, belay.Running:
	}
	return nil, true, nil
}

// stands refuses to go on with a run in a stalemate that would only come to the same
// again: rounds while the files are as they left them, and what a recipe said of
// itself until a person says what is different, or runs a step of it again.
func (a *app) stands(ctx context.Context, o *engine.Open) error {
	if steps, said := o.Tree.SaidStalemate(); said {
		return exit.New(exit.Stalemate, "resume",
			fmt.Errorf("STALEMATE: the recipe of run %s says so, and its steps are done: there is nothing to go on with", o.ID),
			"change what they work on, then "+a.againLine(o.ID, steps)+"; a changed recipe or --set needs a new run")
	}
	dir, left, ok := o.Tree.Standstill()
	if !ok {
		return nil
	}
	clears := story.Clear(o.ID, event.CountAttempts).Text(a.name())
	if left.Tree == "" {
		return exit.New(exit.Stalemate, "resume",
			fmt.Errorf("STALEMATE: run %s made no progress, and nobody has said since what is different now", o.ID),
			fmt.Sprintf("change what it works on, then %s, then resume; a changed recipe or --set needs a new run", clears))
	}
	if now := o.LookAt(ctx, dir); now.Error != "" || now.Tree != left.Tree || now.Head != left.Head {
		return nil
	}
	return exit.New(exit.Stalemate, "resume",
		fmt.Errorf("STALEMATE: the rounds of run %s made no progress, and nothing has changed in %s since", o.ID, dir),
		fmt.Sprintf("change something there, or %s, then resume; a changed recipe or --set needs a new run", clears))
}

// againLine is what to type to run steps again, or what to do where there is none.
func (a *app) againLine(id belay.RunID, steps []belay.Path) string {
	if len(steps) == 0 {
		return "start a new run"
	}
	var lines []string
	for _, p := range steps {
		lines = append(lines, story.Rerun(id, p).Text(a.name()))
	}
	return strings.Join(lines, ", or ")
}

// rest shows a run that is not driven any further, and gives it back. Its last
// driver may have died before it could note the result for those who list runs.
func (a *app) rest(ctx context.Context, ws *workshop, o *engine.Open, err error, asJSON bool) error {
	res, at := o.Result(), lastAt(ws.state, o.ID)
	told := story.New(o.Tree)
	if err == nil {
		err = noteEnd(ws.state, o, res, at)
		told = a.keepReceipt(ctx, ws.state, o)
	}
	acc := a.account(o, told)
	if e := o.Close(); err == nil {
		err = e
	}
	if err == nil && res.Code != exit.OK {
		err = &belay.RunError{Run: o.ID, Result: res}
	}
	if asJSON {
		res.Code = exit.Code(err)
		a.ended(o.ID, res)
		return err
	}
	a.summary(ctx, o, acc, res, at, nil)
	if res.Status == belay.Aborted {
		a.say("run %s was cancelled, which is final; start a new one", o.ID)
	}
	return err
}

// noteEnd keeps the result of an ended run for those who list runs, with the
// time at which it ended and not that at which somebody looked.
func noteEnd(st *journal.State, o *engine.Open, res belay.RunResult, at time.Time) error {
	e, begun := o.Tree.Run(o.ID).Started()
	return st.NoteRun(journal.Summary{
		ID: o.ID, Name: e.Name, Dir: e.Dir, Work: e.Work, Status: res.Status, Code: res.Code, Reason: res.Reason,
		Started: begun, Updated: at, Ended: at,
	})
}

// lastAt is the time of a run's last record, or now when it cannot be read.
func lastAt(st *journal.State, id belay.RunID) time.Time {
	s, err := glance(st, id)
	if err != nil || s.Records == 0 {
		return time.Now()
	}
	return s.Last
}
