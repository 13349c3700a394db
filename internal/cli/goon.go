package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/hand"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/story"
)

// goOn is what a person's resume wants: the step to go on from, another agent, and what
// is tried again.
func (a *app) goOn(ws *workshop, open *engine.Open, o resumeOptions) (flow.GoOn, error) {
	g := flow.GoOn{By: engine.Person(), Why: o.why, Agent: o.agent, Held: o.retryHeld, ID: freshID(event.RequestAnswer)}
	if o.from != "" {
		at, ok := story.New(open.Tree).Find(open.ID, belay.Path(o.from))
		if !ok {
			return g, a.noSuchStep("resume", open.ID, belay.Path(o.from))
		}
		g.Run, g.From = at.Run, at.Path
	}
	if o.agent != "" {
		if _, err := ws.local.Host.Find(o.agent); err != nil {
			return g, exit.New(exit.Invalid, "resume", err, "see which agents there are with "+a.name()+" doctor")
		}
	}
	_, g.DiskFree = diskOf(open.Tree, ws.state)
	return g, nil
}

// diskOf is the directory of a step that is held because the disk was full, "" for none,
// and whether there is room again.
func diskOf(tree *flow.Tree, st *journal.State) (dir string, free bool) {
	dir, wants := tree.WantsDisk()
	return dir, wants && !hand.Look(dir, st.Dir(), 0).DiskFull
}

// fullDir is the state directory while its disk has no room, "" otherwise.
func fullDir(st *journal.State) string {
	if st.Full() {
		return st.Dir()
	}
	return ""
}

// cannotGoOn says what to type instead.
func (a *app) cannotGoOn(id belay.RunID, step string, no *flow.CannotGoOn) error {
	hint := ""
	switch no.Why {
	case flow.FromUnknown:
		hint = "see its steps with " + a.name() + " show " + string(id)
	case flow.FromSettled:
		hint = fmt.Sprintf("to run it again, with all that builds on it: %s rerun %s %s --why TEXT", a.name(), id, step)
	case flow.FromBehind:
		hint = fmt.Sprintf("go on from that: %s resume %s --from %s", a.name(), id, story.StepName(no.Run, no.Needs))
	}
	return exit.New(exit.Invalid, "resume", no, hint)
}

func (a *app) noSuchStep(act string, id belay.RunID, p belay.Path) error {
	return exit.New(exit.Invalid, act, fmt.Errorf("run %s has no step %q", id, p), "see its steps with "+a.name()+" show "+string(id))
}

func (a *app) rerunCommand() *cobra.Command {
	var o resumeOptions
	cmd := command("rerun RUN STEP", "run a step again that is done, with all that builds on it", 2, 2,
		func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if o.why == "" {
				return usage(cmd, errors.New("rerun needs --why: the reason becomes part of the record"))
			}
			return a.rerun(ctx, cmd, args[0], belay.Path(args[1]), o)
		})
	cmd.Long = `Runs a step of a run again that has come to an end, and all steps that build on
it, and goes on with the run to its end. It is the only way to run again what is
done, and it is on record. An ended run is opened again; a cancelled one is not.

A step that builds on it, is done and says once: true stays done; it is named. What
the steps wrote before is not taken back. A step of a sub-recipe that has ended runs
again only with the step that calls it.`
	cmd.Flags().StringVar(&o.why, "why", "", "the reason, for the record (required)")
	cmd.Flags().StringVar(&o.agent, "agent", "", "let this agent do the step")
	cmd.Flags().BoolVar(&o.json, "json", false, "print every new record as a line of JSON")
	secretFlag(cmd, &o.secrets)
	cmd.ValidArgsFunction = a.completeStep
	return cmd
}

func (a *app) rerun(ctx context.Context, cmd *cobra.Command, arg string, p belay.Path, o resumeOptions) (err error) {
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
	if err := a.person(ws.state, "rerun", ""); err != nil {
		return err
	}
	a.subject = id
	open, err := takeRun(ctx, ws, id)
	if isBusy(err) {
		return exit.New(exit.Busy, "rerun", err, fmt.Sprintf("pause it first: %s pause %s", a.name(), id))
	}
	if err != nil {
		return err
	}
	if names := a.lacks(open.Tree.Started().Given); len(names) > 0 {
		return errors.Join(a.unequipped("rerun", id, names, story.Rerun(id, p)), open.Close())
	}
	facts, err := a.again(ws, open, p, o)
	if err != nil {
		return errors.Join(err, open.Close())
	}
	a.sayChanged(ws, open)
	if changesInPlace(open) {
		release, err := a.alone(ws.state.Dir(), open.Tree.Started().Dir)
		if err != nil {
			return errors.Join(err, open.Close())
		}
		defer release()
	}
	return a.drive(ctx, ws, open, o.json, facts...)
}

// again are the facts that run a step again, and says which others run with it.
func (a *app) again(ws *workshop, open *engine.Open, p belay.Path, o resumeOptions) ([]flow.Fact, error) {
	at, ok := story.New(open.Tree).Find(open.ID, p)
	if !ok {
		return nil, a.noSuchStep("rerun", open.ID, p)
	}
	facts, err := open.Tree.Rerun(at.Run, at.Path, engine.Person(), o.why)
	var no *flow.CannotRerun
	if errors.As(err, &no) {
		return nil, a.cannotRerun(open.ID, p, no)
	}
	if err != nil {
		return nil, err
	}
	if _, paused := open.Tree.Paused(); paused || o.agent != "" {
		e := event.RunResumed{By: engine.Person(), Why: o.why, Agent: o.agent}
		if o.agent != "" {
			if _, err := ws.local.Host.Find(o.agent); err != nil {
				return nil, exit.New(exit.Invalid, "rerun", err, "see which agents there are with "+a.name()+" doctor")
			}
			if e.From = at.Path; at.Run != open.ID {
				e.Child = at.Run
			}
		}
		facts = append(facts, flow.Fact{Run: open.ID, Event: e})
	}
	if !o.json {
		for _, d := range story.Resets(facts) {
			a.say("%s", d)
		}
	}
	return facts, nil
}

// cannotRerun says what to type instead.
func (a *app) cannotRerun(id belay.RunID, step belay.Path, no *flow.CannotRerun) error {
	hint, name := "", a.name()
	switch no.Why {
	case flow.RerunOpen:
		hint = fmt.Sprintf("stop it first: %s stop %s", name, id)
	case flow.RerunFinal:
		hint = "start a new run"
	case flow.RerunUnknown:
		hint = name + " show " + string(id)
	case flow.RerunInside:
		hint = fmt.Sprintf("%s rerun %s %s --why TEXT", name, id, story.StepName(no.Run, no.Of))
	case flow.RerunUndone:
		hint = fmt.Sprintf("go on from it: %s resume %s --from %s", name, id, step)
	case flow.RerunMidway:
		hint = fmt.Sprintf("go on with %s resume %s", name, id)
		if no.Held {
			hint = fmt.Sprintf("%s answer %s %s again --why TEXT", name, id, no.Of)
		}
	}
	return exit.New(exit.Invalid, "rerun", no, hint)
}
