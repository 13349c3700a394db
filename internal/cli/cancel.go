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
	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/journal"
)

func (a *app) cancelCommand() *cobra.Command {
	return a.endCommand("cancel RUN", "end a run and all its processes now; it cannot be resumed", event.RequestCancel)
}

func (a *app) stopCommand() *cobra.Command {
	cmd := a.endCommand("stop RUN|--all", "end a run and all its processes now; it can be resumed", event.RequestStop)
	cmd.Args = args(0, 1, "RUN or --all")
	one := cmd.RunE
	var all bool
	cmd.Flags().BoolVar(&all, "all", false, "stop every run that is still running")
	cmd.RunE = func(cmd *cobra.Command, given []string) error {
		switch {
		case all && len(given) > 0:
			return usage(cmd, errors.New("--all and RUN exclude each other"))
		case !all && len(given) == 0:
			return usage(cmd, errors.New("stop needs RUN or --all"))
		case !all:
			return one(cmd, given)
		}
		why, _ := cmd.Flags().GetString("why")   // both are there: endCommand
		asJSON, _ := cmd.Flags().GetBool("json") // made them
		return a.stopAll(cmd.Context(), why, asJSON)
	}
	return cmd
}

func (a *app) endCommand(use, short string, kind event.RequestKind) *cobra.Command {
	var why string
	var asJSON bool
	cmd := command(use, short, 1, 1, func(ctx context.Context, _ *cobra.Command, args []string) error {
		return a.end(ctx, args[0], kind, why, asJSON)
	})
	cmd.Flags().StringVar(&why, "why", "", "the reason, for the record")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what came of it as one JSON object")
	cmd.ValidArgsFunction = a.completeRun
	return cmd
}

// end cancels or stops a run, driven or not.
func (a *app) end(ctx context.Context, arg string, kind event.RequestKind, why string, asJSON bool) (err error) {
	ws, err := a.open()
	if err != nil {
		return err
	}
	defer closing(&err, "close state", ws.close)
	id, err := a.find(ws, arg)
	if err != nil {
		return err
	}
	if err := a.person(ws.state, string(kind), id); err != nil {
		return err
	}
	return a.endRun(ctx, ws, id, kind, why, asJSON)
}

// endRun cancels or stops one run, and the runs that its steps started.
func (a *app) endRun(ctx context.Context, ws *workshop, id belay.RunID, kind event.RequestKind, why string, asJSON bool) error {
	err := a.endOne(ctx, ws, id, kind, why, asJSON, func(l requestLine, text string) { a.tellRequest(l, asJSON, text) })
	if err != nil && exit.Code(err) != exit.Busy { // whose driver does not answer has lost its processes all the same
		return err
	}
	below := a.endBelow(ctx, ws, id, kind, fmt.Sprintf("the same was asked of run %s, in a step of which it was started", id), each)
	if err != nil && below != nil {
		a.complain(below)
		return err
	}
	return errors.Join(err, below)
}

// each and lost choose which of the runs that a step started are ended: all, or those that
// nobody drives.
func each(journal.Summary) bool { return true }

func lost(sum journal.Summary) bool { return lineOf(sum).Crashed }

// endBelow ends the runs that steps of a run started, on every level, as the run itself
// was ended. Their processes went with those of the run; without a record of it they
// would be runs that lost their driver, and a watch would go on with them.
func (a *app) endBelow(ctx context.Context, ws *workshop, id belay.RunID, kind event.RequestKind, why string, which func(journal.Summary) bool) error {
	below, err := ws.state.Ledger().Below(id)
	if err != nil {
		return err
	}
	sums, err := ws.state.RunsNamed(below...)
	errs := []error{err}
	for _, sum := range sums {
		if done, _ := atRest(sum.ID, kind, sum.Status); done || sum.Gone || !which(sum) || !ws.state.Begun(sum.ID) {
			continue
		}
		err := a.endOne(ctx, ws, sum.ID, kind, why, false,
			func(_ requestLine, text string) { a.say("%s", text) })
		if err != nil && !leaving(ws.state, sum.ID) {
			errs = append(errs, fmt.Errorf("run %s: %w", sum.ID, err))
		}
	}
	return errors.Join(errs...)
}

// endOne cancels or stops one run, and no other.
func (a *app) endOne(ctx context.Context, ws *workshop, id belay.RunID, kind event.RequestKind, why string, asJSON bool, tell func(requestLine, string)) error {
	if err := a.wholeRun(ws.state, string(kind), id); err != nil {
		return err
	}
	req := event.Request{Run: id, By: engine.Person(), Ask: kind, Why: why}
	h, err := ask(ctx, ws, req, func(o *engine.Open) error { return a.endFree(ctx, ws, o, req, tell) })
	if err != nil {
		return err
	}
	switch h.reply {
	case accepted:
		if kind == event.RequestStop && h.end != nil {
			awaitLeave(ctx, ws.state, id)
		}
		accept(req, h.end, tell)
	case refused:
		return a.refuse(req, h.why, asJSON)
	case queued:
		return a.unanswered(ctx, ws, req, asJSON)
	}
	return nil
}

// accept says what came of a request that the driver of a run took.
func accept(req event.Request, end *belay.RunResult, tell func(requestLine, string)) {
	l := lineOfRequest(req)
	switch {
	case end != nil:
		l.Status = end.Status
		tell(l, fmt.Sprintf("run %s %s", req.Run, end.Status))
	default:
		tell(l, fmt.Sprintf("run %s: %s is accepted, its processes are being ended", req.Run, req.Ask))
	}
}

// tellRequest prints what came of a request, in the form that was asked for.
func (a *app) tellRequest(l requestLine, asJSON bool, text string) {
	if asJSON {
		a.object(l)
		return
	}
	a.out.line("%s", text)
}

// endFree ends a run that nobody drives: a keeper may still hold processes of
// it, and the request becomes a record like any other.
func (a *app) endFree(ctx context.Context, ws *workshop, o *engine.Open, req event.Request, tell func(requestLine, string)) error {
	l, status := lineOfRequest(req), o.Tree.Status()
	if done, err := atRest(o.ID, req.Ask, status); done {
		// Its driver may have died before it could say so to those who list runs.
		var noted error
		text := fmt.Sprintf("run %s is %s already", o.ID, status)
		if err == nil {
			noted = o.Note(o.Result())
			text += a.nothingEnded(ws, o.ID, status)
		}
		if e := errors.Join(noted, o.Close()); err == nil {
			err = e
		}
		if err == nil {
			l.Status = status
			tell(l, text)
		}
		return err
	}
	req.ID = freshID(req.Ask)
	live, _ := o.Watch()
	screen := tui.NewScreen(a.std.Err, tui.NewBoard(live), a.style(), tailOf(ws.state.Folder(o.ID)))
	ctx, at := attend(ctx, nil)
	res, err := o.Drive(ctx, at.hard, func(recs []event.Record) { screen.Seen(recs) }, flow.Fact{Run: o.ID, Event: event.RequestReceived{Request: req}})
	if live.Rest != nil {
		a.keepReceipt(ctx, ws.state, o)
	}
	e := ending{committed: live.Rest, result: res, err: err, signal: at.stop(), cleanup: o.Close()}
	res, err, aside := e.settle(o.ID)
	if aside != nil {
		a.complain(aside)
	}
	want := belay.Aborted
	if req.Ask == event.RequestStop {
		want = belay.Stopped
	}
	if live.Rest != nil && res.Status == want {
		l.Status = res.Status
		tell(l, fmt.Sprintf("run %s %s", o.ID, res.Status))
		return nil // the act was done
	}
	return err
}

// nothingEnded says of a run that rests why there was nothing to stop, and what to type.
func (a *app) nothingEnded(ws *workshop, id belay.RunID, s belay.Status) string {
	switch s {
	case belay.Held:
		return ": nothing of it runs, it waits for a person" + a.after(ws.state, id, "\nnext: ", "\nnext: ") +
			fmt.Sprintf("; to end it for good: %s cancel %s", a.name(), id)
	case belay.Stopped, belay.Paused:
		return a.after(ws.state, id, "\nnext: ", "\nnext: ")
	case belay.Running, belay.Parked, belay.Aborted, belay.Achieved, belay.Failed, belay.Partial, belay.Hollow, belay.NotAchieved, belay.Stalemate:
	}
	return ""
}

// atRest tells whether there is nothing left to end, and whether that is what
// was wanted.
func atRest(id belay.RunID, kind event.RequestKind, s belay.Status) (bool, error) {
	switch s {
	case belay.Aborted:
		return true, nil
	case belay.Achieved, belay.Failed, belay.Partial, belay.Hollow, belay.NotAchieved, belay.Stalemate:
		return true, exit.New(exit.Invalid, string(kind), fmt.Errorf("run %s has ended: %s", id, s), "")
	case belay.Held, belay.Stopped, belay.Paused:
		return kind == event.RequestStop, nil
	case belay.Running, belay.Parked:
	}
	return false, nil
}
