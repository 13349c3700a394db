package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/story"
)

const (
	replyWithin = 10 * time.Second
	mailEvery   = 50 * time.Millisecond
	lockEvery   = 200 * time.Millisecond
	asleepLooks = 10 // in a row at which a driver is stopped by a signal: it will not answer
)

// reply is what came of a request to a run that another process drives.
type reply string

const (
	accepted reply = "accepted" // it is a record, and was not refused
	refused  reply = "refused"  // it is a record, and so is the refusal
	queued   reply = "queued"   // the driver did not answer in time; the request stays
)

// heard is a reply with its reason, and how the run ended when it did.
type heard struct {
	reply
	why  string
	end  *belay.RunResult
	left bool // nobody drives the run any more

	parked bool // the run was parked, and nobody drives it: nothing else wakes it at once

	check bool // a step's own check has the last word about the answer
}

// ask puts a request to a run. If nobody drives the run, free does it with the
// run's lock in hand; otherwise the request goes through the mailbox, once. A
// driver may leave or die while it is being asked: then the run is free after
// all, and the letter is taken back.
func ask(ctx context.Context, ws *workshop, req event.Request, free func(*engine.Open) error) (heard, error) {
	open, err := ws.local.Resume(req.Run.Root())
	if err == nil {
		return heard{left: true}, free(open)
	}
	if !isBusy(err) {
		return heard{}, err
	}
	req.Choice = ws.local.Hide(req.Choice) // it may be any text
	req.Why = ws.local.Hide(req.Why)       // the letter lies in a file, and its driver may not know the sender's secrets
	l, err := post(ws.state, req)
	if err != nil {
		return heard{}, err
	}
	defer func() { _ = l.view.Close() }() // read only: nothing to lose
	asleep := 0
	for end := time.Now().Add(replyWithin); time.Now().Before(end) && asleep < asleepLooks; {
		if err := l.wait(ctx, lockEvery); err != nil || l.settled() {
			return l.heard, err
		}
		open, err := ws.local.Resume(req.Run.Root())
		if err == nil {
			return l.relieve(ctx, open, free)
		}
		if !isBusy(err) {
			return l.heard, errors.Join(err, l.view.Remove(l.req.ID))
		}
		if asleep++; !l.view.Beat().Driver().Frozen() {
			asleep = 0
		}
	}
	if l.reply == "" {
		l.reply = queued
	}
	return l.heard, nil
}

func isBusy(err error) bool {
	var busy *journal.Busy
	return errors.As(err, &busy)
}

// post leaves a letter and begins to read the journal for the reply.
func post(st *journal.State, req event.Request) (*listener, error) {
	view, err := st.View(req.Run)
	if err != nil {
		return nil, err
	}
	recs, err := view.Load()
	if err == nil {
		req, err = st.Put(req)
	}
	if err != nil {
		_ = view.Close() // read only: nothing to lose
		return nil, err
	}
	return &listener{req: req, view: view, heardOf: story.New(nil), last: int64(len(recs))}, nil
}

var (
	errHeard   = errors.New("heard")
	errNoReply = errors.New("no reply in time")
)

// listener reads the journal for the reply to one request.
type listener struct {
	req     event.Request
	view    *journal.View
	heardOf *story.Story // what was written since the letter
	last    int64        // the record up to which it has read
	heard
}

// wait reads what is written within a time, or until there is a reply.
func (l *listener) wait(ctx context.Context, d time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, d, errNoReply)
	defer cancel()
	err := l.view.Follow(ctx, l.last, mailEvery, func(recs []event.Record) error {
		if l.listen(recs); l.settled() {
			return errHeard
		}
		return nil
	})
	if errors.Is(err, errHeard) || errors.Is(err, errNoReply) {
		return nil
	}
	return err
}

// listen takes a batch of records; one turn of the driver is never split.
func (l *listener) listen(recs []event.Record) {
	for _, n := range l.heardOf.Add(recs...) {
		mine := n.Request != nil && n.Request.ID == l.req.ID
		switch d := n.Decision; {
		case mine && n.What == story.RequestReceived:
			l.reply = accepted
		case mine:
			l.reply, l.why = refused, n.Why
		case d != nil && d.Check:
			l.check = l.check || d.Run == l.req.Run && d.By == l.req.By && (d.Path == l.req.Step || l.req.Step == "")
		case n.What == story.RunEnded && n.Run == l.req.Run.Root():
			l.end = n.Result
		case n.What == story.RunStopped:
			l.end = l.heardOf.Rest
		}
	}
	l.last = l.heardOf.Seq
}

// settled tells whether there is nothing more to wait for. The end of a run
// that is cancelled or stopped is worth waiting for.
func (l *listener) settled() bool {
	ends := l.req.Ask == event.RequestCancel || l.req.Ask == event.RequestStop
	return l.reply == refused || l.reply == accepted && (!ends || l.end != nil)
}

// relieve goes on with the lock of the run in hand. What the last driver wrote
// before it left counts; a letter that it did not take in is taken back, so
// that no later driver finds it, and the request is done here.
func (l *listener) relieve(ctx context.Context, open *engine.Open, free func(*engine.Open) error) (heard, error) {
	l.left = true
	err := l.wait(ctx, mailEvery)
	if err == nil && !l.settled() {
		err = l.view.Remove(l.req.ID)
	}
	if err != nil || l.settled() {
		return l.heard, errors.Join(err, open.Close())
	}
	return heard{left: true}, free(open)
}

// freshID is a name that no request of any run has had: of one process only one
// request is made at a time.
func freshID(kind event.RequestKind) string {
	return fmt.Sprintf("free-%s-%x-%d", kind, time.Now().UnixNano(), os.Getpid())
}
