package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/tui"
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
	outputFlag(cmd, &a.wants)
	cmd.ValidArgsFunction = a.completeRun
	return cmd
}

func (a *app) resume(ctx context.Context, cmd *cobra.Command, arg string, o resumeOptions) (err error) {
	if err := onlyOutput(cmd, "json"); err != nil {
		return err
	}
	ws, err := a.open()
	if err != nil {
		return err
	}
	defer closing(&err, "close state", ws.close)
	if err := a.hide(cmd, ws, o.secrets); err != nil {
		return err
	}
	id, err := a.find(ws, arg)
	if err == nil {
		err = hasPart(ws.state, id)
	}
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
	r, err := a.wishes(ctx, ws, open, o)
	if root := open.Tree.Run(open.ID); err == nil && root != nil {
		err = givesOutput(open.Tree.Library(), root.Recipe(), a.wants)
	}
	if err == nil && !o.unattended {
		a.sayChanged(ws, open)
	}
	switch {
	case err != nil:
		return errors.Join(err, open.Close())
	case r.CarryOut:
		return a.carryOut(ctx, cmd, ws, open, o)
	case r.No != story.GoesOn:
		if r.No == story.NoRound && !o.json {
			a.say("no round of run %s is left: there is nothing to resume", id)
		}
		if status := open.Tree.Status(); status == belay.Achieved && !o.json {
			a.say("nothing to resume: run %s is %s", id, status)
		}
		err := a.refusal(ws, open, r)
		if r.No == story.NoVariables {
			return errors.Join(err, open.Close())
		}
		return a.rest(ctx, ws, open, err, o.json)
	}
	if err := a.stillThere(open); err != nil && !o.unattended { // a watch lets the run say so
		return errors.Join(err, open.Close())
	}
	if changesInPlace(open) {
		release, err := a.alone(ws.state.Dir(), open.Tree.Started().Dir)
		if err != nil {
			return a.rest(ctx, ws, open, err, o.json)
		}
		defer release()
	}
	if !o.json && !a.named {
		root := open.Tree.Run(id).Recipe()
		open.WhenTaken(func() { a.say("run %s of %s goes on", id, recipeWords(root)) })
	}
	return a.drive(ctx, ws, open, o.json, r.Facts...)
}

// stillThere is the error of a run whose directory is gone: it would fail there, and agents
// might be started for nothing before that.
func (a *app) stillThere(o *engine.Open) error {
	dir := o.Tree.Started().Dir
	info, err := os.Stat(dir)
	if err == nil && info.IsDir() {
		return nil
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("the directory of run %s is not there any more: %s", o.ID, dir)
	}
	return exit.New(exit.Invalid, "find directory", err, "bring it back to that place, then "+story.Resume(o.ID).Text(a.name()))
}

// wishes asks what resume means for a run as it stands.
func (a *app) wishes(ctx context.Context, ws *workshop, open *engine.Open, o resumeOptions) (story.Resumption, error) {
	w := story.ResumeRequest{Unattended: o.unattended, Lacks: a.lacks(open.Tree.Started().Given)}
	w.Changed = func(dir string, left belay.TreeState) bool {
		now := open.LookAt(ctx, dir)
		return now.Error != "" || now.Tree != left.Tree || now.Head != left.Head
	}
	var err error
	if w.GoOn, err = a.goOn(ws, open, o); err == nil && story.Reopens(open.Tree.Status()) {
		w.Inside, _, err = a.inside(ws.state)
	}
	if err != nil {
		return story.Resumption{}, err
	}
	r, err := story.Resumes(open.Tree, taskIn(open), w)
	var no *flow.CannotGoOn
	if errors.As(err, &no) {
		err = a.cannotGoOn(open.ID, o.from, no)
	}
	return r, err
}

// sayChanged tells a person whose recipe is another one now that the run keeps the old one.
func (a *app) sayChanged(ws *workshop, o *engine.Open) {
	s, root := o.Tree.Started(), o.Tree.Run(o.ID)
	if s.File == "" || root == nil || root.Recipe() == nil || root.Recipe().IsShipped() {
		return
	}
	for _, file := range a.shelf(s.Shelves, s.Dir, ws.cfg.RecipeBytes.Value).Changed(s.File, s.Recipe, s.Frozen) {
		a.say("%s has changed since run %s began; the run keeps the recipe as it was, only a new run takes the changed one", file, o.ID)
	}
}

// refusal is the error of a run that resume does not go on with; nil where its result
// says it. What helps is what the run itself names as the next thing to type.
func (a *app) refusal(ws *workshop, o *engine.Open, r story.Resumption) error {
	status := o.Tree.Status()
	switch r.No {
	case story.NoPerson:
		return exit.New(exit.Failed, "resume",
			fmt.Errorf("run %s has ended %s, and only a person may open it again; this is a step of run %s", o.ID, status, r.Above),
			"type it in a terminal of your own")
	case story.NoVariables:
		names := a.lacks(o.Tree.Started().Given)
		return a.unequipped("resume", o.ID, names, story.Resume(o.ID))
	case story.NoStep, story.NoChange:
		err := fmt.Errorf("%s: the recipe of run %s says so, and its steps are done: there is nothing to go on with", status, o.ID)
		if r.No == story.NoChange {
			err = fmt.Errorf("STALEMATE: run %s made no progress, and nobody has said since what is different now", o.ID)
		}
		if r.Seen {
			err = fmt.Errorf("STALEMATE: the rounds of run %s made no progress, and nothing has changed in %s since", o.ID, r.Dir)
		}
		if status == belay.Stalemate {
			a.stuck(o.Tree, status)
		}
		acc := a.account(ws.state, o, story.New(o.Tree))
		next := cmp.Or(tui.Next(acc, tui.NewNames(o.Tree), a.name()), "start a new run")
		cure := "change what it works on, then " + next + "; a changed recipe or --set needs a new run"
		if acc.Next.Advice == story.NextReview {
			cure = next
		}
		if r.Seen {
			cure = "change something there, then " + story.Resume(o.ID).Text(a.name()) + "; or, when something else is different, " + next
		}
		return exit.New(o.Result().Code, "resume", err, cure)
	case story.GoesOn, story.NoNeed, story.NoMore, story.NoFinal, story.NoRound:
	}
	return nil
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
	acc := a.account(ws.state, o, told)
	a.keepOutputs(o)
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
	a.summary(ctx, o, acc, res, nil, nil)
	if res.Status == belay.Aborted {
		a.say("run %s was cancelled, which is final; start a new one", o.ID)
	}
	return a.printWanted(res.Status, err)
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
