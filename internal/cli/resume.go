package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/journal"
)

type resumeOptions struct {
	why     string
	json    bool
	secrets []string
}

func (a *app) resumeCommand() *cobra.Command {
	var o resumeOptions
	cmd := command("resume RUN", "go on with a run: after a crash, a stop, an answer, a failure", 1, 1,
		func(ctx context.Context, cmd *cobra.Command, args []string) error {
			return a.resume(ctx, cmd, args[0], o)
		})
	cmd.Flags().StringVar(&o.why, "why", "", "why an ended run is opened again, for the record")
	cmd.Flags().BoolVar(&o.json, "json", false, "print every new record as a line of JSON")
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
	open, err := takeRun(ctx, ws, id)
	if err != nil {
		return err
	}
	facts, more, err := a.reopening(ws.state, open, o.why)
	if err != nil || !more {
		return a.rest(ws, open, err, o.json)
	}
	return a.drive(ctx, ws, open, o.json, facts...)
}

// reopening decides what resume means for a run as it stands: the facts to
// begin with, and whether there is anything to drive.
func (a *app) reopening(st *journal.State, o *engine.Open, why string) (facts []flow.Fact, drive bool, err error) {
	switch status := o.Tree.Status(); status {
	case belay.Failed, belay.Partial, belay.Hollow:
		inside, _, err := a.inside(st)
		if err != nil {
			return nil, false, err
		}
		if inside != "" { // its step started it; to open it again is a person's all the same
			return nil, false, belay.Exit(belay.ExitFailed, "resume",
				fmt.Errorf("run %s has ended %s, and only a person may open it again; this is a step of run %s", o.ID, status, inside),
				"type it in a terminal of your own")
		}
		return o.Tree.Reopen(engine.Person(), why), true, nil
	case belay.Achieved, belay.Aborted:
		return nil, false, nil
	case belay.Held, belay.Stopped, belay.Running:
	}
	return nil, true, nil
}

// rest shows a run that is not driven any further, and gives it back. Its last
// driver may have died before it could note the result for those who list runs.
func (a *app) rest(ws *workshop, o *engine.Open, err error, asJSON bool) error {
	res, at := o.Result(), lastAt(ws.state, o.ID)
	if err == nil {
		err = noteEnd(ws.state, o, res, at)
	}
	if e := o.Close(); err == nil {
		err = e
	}
	if err == nil && res.Code != belay.ExitOK {
		err = &belay.RunError{Run: o.ID, Result: res}
	}
	if asJSON {
		res.Code = belay.ExitCode(err)
		a.ended(o.ID, res)
		return err
	}
	a.summary(o.ID, o.Tree, res, at)
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
		ID: o.ID, Name: e.Name, Dir: e.Dir, Status: res.Status, Code: res.Code, Reason: res.Reason,
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
