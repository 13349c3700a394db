package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/journal"
)

const (
	replyWithin = 10 * time.Second
	mailEvery   = 50 * time.Millisecond
	maxAsks     = 5 // how often a driver may leave while it is being asked
)

// reply is what came of a request to a run that another process drives.
type reply string

const (
	accepted reply = "accepted" // it is a record, and was not refused
	refused  reply = "refused"  // it is a record, and so is the refusal
	queued   reply = "queued"   // the driver did not answer in time; the request stays
	unheard  reply = "unheard"  // the driver left without reading it
)

// heard is a reply with its reason, and how the run ended when it did.
type heard struct {
	reply
	why string
	end *belay.RunResult
}

// ask puts a wish to a run. If nobody drives the run, free does it with the
// run's lock in hand; otherwise the wish goes through the mailbox.
func (a *app) ask(ctx context.Context, ws *workshop, req belay.Request, free func(*engine.Open) error) (heard, error) {
	for range maxAsks {
		open, err := ws.local.Resume(req.Run.Root())
		var busy *journal.Busy
		if err == nil {
			return heard{}, free(open)
		}
		if !errors.As(err, &busy) {
			return heard{}, err
		}
		h, err := write(ctx, ws.state, req)
		if err != nil || h.reply != unheard {
			return h, err
		}
	}
	return heard{}, belay.Exit(belay.ExitBusy, "ask", fmt.Errorf("run %s changes its driver all the time", req.Run.Root()), "try again")
}

// write leaves a letter and waits for what the journal says to it.
func write(ctx context.Context, st *journal.State, req belay.Request) (heard, error) {
	view, err := st.View(req.Run)
	if err != nil {
		return heard{}, err
	}
	defer func() { _ = view.Close() }() // read only: nothing to lose
	recs, err := view.Load()
	if err != nil {
		return heard{}, err
	}
	if req, err = st.Put(req); err != nil {
		return heard{}, err
	}
	w := &listener{req: req}
	ctx, cancel := context.WithTimeoutCause(ctx, replyWithin, errNoReply)
	defer cancel()
	err = view.Follow(ctx, int64(len(recs)), mailEvery, w.listen)
	switch {
	case errors.Is(err, errHeard):
	case errors.Is(err, errNoReply):
		if w.reply == "" {
			w.reply = queued
		}
	default:
		return w.heard, err
	}
	if w.reply == unheard { // it must not be found by a later driver
		return w.heard, view.Remove(req.ID)
	}
	return w.heard, nil
}

var (
	errHeard   = errors.New("heard")
	errNoReply = errors.New("no reply in time")
)

// listener reads the journal for the reply to one request.
type listener struct {
	req belay.Request
	heard
}

// listen takes a batch of records; one turn of the driver is never split.
func (l *listener) listen(recs []belay.Record) error {
	for _, r := range recs {
		switch e := r.Event.(type) {
		case belay.RequestReceived:
			if e.Request.ID == l.req.ID {
				l.reply = accepted
			}
		case belay.RequestRefused:
			if e.ID == l.req.ID {
				l.reply, l.why = refused, e.Why
			}
		case belay.RunEnded:
			if r.Run == l.req.Run.Root() {
				l.end = &e.RunResult
			}
		}
	}
	switch {
	case l.reply == accepted && l.req.Ask == belay.WishCancel && l.end == nil:
		return nil // worth waiting for the end
	case l.reply != "":
		return errHeard
	case l.end != nil || slices.ContainsFunc(recs, restsAt(l.req.Run.Root())):
		l.reply = unheard
		return errHeard
	}
	return nil
}

// restsAt tells records with which a driver lays the run down.
func restsAt(root belay.RunID) func(belay.Record) bool {
	return func(r belay.Record) bool {
		switch r.Event.(type) {
		case belay.RunHeld, belay.RunStopped:
			return r.Run == root
		}
		return false
	}
}
