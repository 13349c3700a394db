package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/story"
)

func (a *app) pauseCommand() *cobra.Command {
	var why string
	var asJSON bool
	cmd := command("pause RUN", "let what runs come to its end, and start nothing new until the run is resumed", 1, 1,
		func(ctx context.Context, _ *cobra.Command, args []string) error {
			return a.pause(ctx, args[0], why, asJSON)
		})
	cmd.Flags().StringVar(&why, "why", "", "the reason, for the record")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what came of it as one JSON object")
	cmd.ValidArgsFunction = a.completeRun
	return cmd
}

// pause writes down that nothing new starts in a run, driven or not.
func (a *app) pause(ctx context.Context, arg, why string, asJSON bool) (err error) {
	ws, err := a.open()
	if err != nil {
		return err
	}
	defer closing(&err, "close state", ws.close)
	id, err := a.find(ws, arg)
	if err != nil {
		return err
	}
	if err := a.person(ws.state, "pause", id); err != nil {
		return err
	}
	if err := a.wholeRun(ws.state, "pause", id); err != nil {
		return err
	}
	req := event.Request{Run: id, By: engine.Person(), Ask: event.RequestPause, Why: why}
	h, err := ask(ctx, ws, req, func(o *engine.Open) error { return a.pauseFree(ws, o, req, asJSON) })
	if err != nil || h.left && h.reply == "" {
		return err
	}
	switch h.reply {
	case refused:
		return a.refuse(req, h.why, asJSON)
	case queued:
		return a.unanswered(ctx, ws, req, asJSON)
	case accepted:
	}
	a.tellRequest(lineOfRequest(req), asJSON, a.pausedNext(id))
	return nil
}

// pausedNext is for who paused a run that goes on with what runs.
func (a *app) pausedNext(id belay.RunID) string {
	return fmt.Sprintf("%s\nnext, when nothing of it runs any more: %s resume %s", pausedText(id), a.name(), id)
}

func pausedText(id belay.RunID) string {
	return fmt.Sprintf("run %s is paused: what runs goes on to its end, and nothing else starts", id)
}

// pauseFree pauses a run that nobody drives: the wish is on record for whoever goes
// on with it without a person.
func (a *app) pauseFree(ws *workshop, o *engine.Open, req event.Request, asJSON bool) (err error) {
	defer closing(&err, "close run", o.Close)
	l, status := lineOfRequest(req), story.Status(o.Tree)
	if status == belay.Stopped || status == belay.Paused {
		if err := o.Note(o.Result()); err != nil { // its driver may have died before it said so
			return err
		}
		l.Status = status
		a.tellRequest(l, asJSON, fmt.Sprintf("run %s is %s already", o.ID, status))
		return nil
	}
	req.ID = freshID(req.Ask)
	recs, err := o.Write(flow.Fact{Run: o.ID, Event: event.RequestReceived{Request: req}})
	if err != nil {
		return err
	}
	for _, n := range story.New(nil).Add(recs...) {
		if n.What == story.RequestRefused && n.Request.ID == req.ID {
			return a.refuse(req, n.Why, asJSON)
		}
	}
	if res := o.Result(); res.Status == belay.Paused {
		l.Status = res.Status
		e, begun := o.Tree.Run(o.ID).Started()
		if err := ws.state.NoteRun(journal.Summary{
			ID: o.ID, Name: e.Name, Dir: e.Dir, Work: e.Work, Status: res.Status, Code: res.Code, Reason: res.Reason, Started: begun, Updated: time.Now(),
		}); err != nil {
			return err
		}
	}
	if ws.local.Elsewhere != nil && o.Result().Status == belay.Running { // it is driven all the same, and not from here
		a.tellRequest(l, asJSON, a.pausedNext(o.ID))
		return nil
	}
	a.tellRequest(l, asJSON, pausedText(o.ID)+a.after(ws.state, o.ID, "\nnext: ", "\nnext: "))
	return nil
}
