package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/proc"
	"github.com/belay-run/belay/story"
)

// haltWithin is how long a keeper may take to hear that all must end.
const haltWithin = 5 * time.Second

// requestLine is what came of a cancel, a stop, an answer or a clear, as --json
// prints it.
type requestLine struct {
	Run    belay.RunID       `json:"run"`
	Ask    event.RequestKind `json:"ask"`
	Step   belay.Path        `json:"step,omitempty"`
	Item   string            `json:"item,omitempty"`
	Choice string            `json:"choice,omitempty"`
	What   event.Count       `json:"what,omitempty"` // that was cleared
	Reply  reply             `json:"reply"`
	Status belay.Status      `json:"status,omitempty"` // how the run stands, where that is known
	Reason string            `json:"reason,omitempty"`
	Ended  *int              `json:"ended,omitempty"` // processes that were told to end without the driver

	Services []string `json:"services,omitempty"` // whose counts were cleared
}

func lineOfRequest(req event.Request) requestLine {
	return requestLine{Run: req.Run, Ask: req.Ask, Step: req.Step, Item: req.Item, Choice: req.Choice, What: req.What, Reply: accepted}
}

// grant puts a request to a run, driven or not; every reply but a good one is an
// error.
func (a *app) grant(ctx context.Context, ws *workshop, req event.Request, asJSON bool) (heard, error) {
	check, parked := false, false
	h, err := ask(ctx, ws, req, func(o *engine.Open) (err error) {
		parked = o.Tree.Status() == belay.Parked && len(a.lacks(o.Tree.Started().Given)) == 0
		check, err = a.grantFree(o, req, asJSON)
		return err
	})
	if err != nil {
		return h, err
	}
	switch h.reply {
	case refused:
		return h, a.refuse(req, h.why, asJSON)
	case queued:
		return h, a.unanswered(ctx, ws, req, asJSON)
	case accepted:
	}
	h.check, h.parked = h.check || check, parked
	return h, nil
}

// grantFree writes the request to a run that nobody drives; check tells that the
// check of a step has the last word.
func (a *app) grantFree(o *engine.Open, req event.Request, asJSON bool) (check bool, err error) {
	defer closing(&err, "close run", o.Close)
	if err := inRun(o.Tree.Run(req.Run) != nil, req.Run); err != nil {
		return false, err
	}
	req.ID = freshID(req.Ask)
	held := o.Tree.Status() == belay.Held
	recs, err := o.Write(flow.Fact{Run: req.Run, Event: event.RequestReceived{Request: req}})
	if err != nil {
		return false, err
	}
	if res := o.Result(); res.Status == belay.Paused { // also when an answer came too late
		if err := o.Note(res); err != nil {
			return false, err
		}
	}
	for _, n := range story.New(nil).Add(recs...) {
		if n.What == story.RequestRefused && n.Request.ID == req.ID {
			return false, a.refuse(req, n.Why, asJSON)
		}
		check = check || n.Decision != nil && n.Decision.Check
	}
	if held && o.Tree.Status() == belay.Running {
		err = o.Note(belay.RunResult{Status: belay.Held, Code: exit.Held, Reason: story.DecidedReason})
	}
	return check, err
}

// after is what to type next about a run that a request changed and that nobody drives,
// behind a word for a resume, or for all else.
func (a *app) after(st *journal.State, id belay.RunID, resume, other string) string {
	s, err := tell(st, string(id))
	if err != nil {
		return "" // what was asked is done
	}
	defer func() { _ = s.close() }() // read only: nothing to lose
	s.lacks = a.lacks(s.Tree.Started().Given)
	next := s.Account(id, s.facts(time.Now())).Next
	switch {
	case len(next.Commands) == 0:
		return ""
	case next.Goes():
		return resume + next.Line(a.name())
	}
	return other + next.Line(a.name())
}

// refuse is a request that the run did not grant.
func (a *app) refuse(req event.Request, why string, asJSON bool) error {
	if asJSON {
		l := lineOfRequest(req)
		l.Reply, l.Reason = refused, why
		a.object(l)
	}
	hint := ""
	if req.Ask == event.RequestAnswer {
		hint = "see how it stands, and what it waits for, with " + a.name() + " why " + string(req.Run.Root())
	}
	return exit.New(exit.Invalid, string(req.Ask)+" run "+string(req.Run), errors.New(why), hint)
}

// unanswered is a request to a driver that does not answer: the letter stays for
// it. What must end is ended through the keeper, which needs no driver.
func (a *app) unanswered(ctx context.Context, ws *workshop, req event.Request, asJSON bool) error {
	l := lineOfRequest(req)
	l.Reply, l.Reason = queued, "the driver does not answer (is it suspended?); the request waits in its mailbox"
	cure := "let the driver go on, or end it and type the same again"
	away := a.far != nil && engine.IsElsewhere(ws.state.Folder(req.Run.Root()))
	if away {
		l.Reason = "no worker has taken the request; it is kept, and the client that follows the run hands it on when a worker comes"
		cure = "start a worker that can have the run, with the command worker of " + a.name()
	}
	if !away && (req.Ask == event.RequestCancel || req.Ask == event.RequestStop) {
		n, err := halt(ctx, ws, req)
		if err != nil {
			a.complain(fmt.Errorf("end the processes of run %s: %w", req.Run.Root(), err))
		} else {
			l.Ended = &n
			l.Reason += fmt.Sprintf("; %d of its processes were told to end, and no other will be started", n)
		}
	}
	if asJSON {
		a.object(l)
	}
	return exit.New(exit.Busy, string(req.Ask)+" run "+string(req.Run), errors.New(l.Reason), cure)
}

func halt(ctx context.Context, ws *workshop, req event.Request) (int, error) {
	why := fault.KilledCancel
	if req.Ask == event.RequestStop {
		why = fault.KilledStop
	}
	ctx, cancel := context.WithTimeout(ctx, haltWithin)
	defer cancel()
	root := req.Run.Root()
	return proc.Halt(ctx, proc.Options{
		Dir: string(ws.state.Folder(root)), Socket: ws.state.Socket(root), Run: root,
	}, why, ws.cfg.KillGrace.Value)
}
