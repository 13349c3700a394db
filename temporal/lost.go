package temporal

import (
	"errors"
	"fmt"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
)

// LostAfter is for how long a host may say nothing before it is given up.
const LostAfter = 3 * time.Minute

// LeastLost is the shortest such time: it has to hold several beats.
const LeastLost = 4 * time.Second

// A host that is given up may be at work behind a broken network. So it holds attempts
// only as long as the last proof of contact that the server gave it allows, and that is
// strictly less than it takes to give it up: who starts an attempt elsewhere knows that
// the old one has ended.
//
//   - The proof is the answer to the heartbeat of an attempt, or of an attach, that the
//     server has open. All attempts of a driver are closed before the next attach begins.
//   - An attach that no worker of the host takes within Start.Lost gives the host up. The
//     last proof is older than that, and its lease is three quarters of it.

// lease is for how long a proof of contact lets attempts go on.
func (s Start) lease() time.Duration { return s.Lost / 4 * 3 }

// beat is how long a host may say nothing of an attempt.
func (s Start) beat() time.Duration {
	if s.Lost <= 0 {
		return beat
	}
	return min(beat, s.Lost/4)
}

// tries are those of the server with one attempt. Where a host can be given up there is
// one: what failed is found again by an attach, and that finds out whether the host is there.
func (s Start) tries() *temporal.RetryPolicy {
	if s.Lost > 0 {
		return &temporal.RetryPolicy{MaximumAttempts: 1}
	}
	return &temporal.RetryPolicy{InitialInterval: 200 * time.Millisecond, BackoffCoefficient: 1.5, MaximumInterval: 5 * time.Second, NonRetryableErrorTypes: []string{tooBigType}}
}

// away is what a workflow knows of a host that it does not reach.
type away struct {
	quit    workflow.CancelFunc // closes the attempts that this driver gave to its host
	dos     workflow.Context    // of these attempts
	missing bool                // the host was given up, and a person is asked
	hush    workflow.CancelFunc // ends the question whether it is there again
	move    bool                // the run goes on elsewhere
	lost    string              // the host that it had before
	waits   string              // for what host; "" = it has one
}

// unpolled tells whether nobody took an activity off its queue in time.
func unpolled(err error) bool {
	var late *temporal.TimeoutError
	return errors.As(err, &late) && late.TimeoutType() == enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START
}

// given is the context of attempts that are given to the host: they end with this driver.
func (w *drive) given(ctx workflow.Context) workflow.Context {
	if w.in.Lost <= 0 {
		return ctx
	}
	if w.dos == nil {
		w.dos, w.quit = workflow.WithCancel(ctx)
	}
	return w.dos
}

// leave closes the attempts of the last driver: no host proves by them any more that it
// is there.
func (w *drive) leave() {
	if w.quit != nil {
		w.quit()
	}
	if w.hush != nil {
		w.hush()
	}
	w.quit, w.dos, w.hush = nil, nil, nil
}

// there asks whether the host takes anything at all.
func (w *drive) there(ctx workflow.Context) bool {
	return workflow.ExecuteActivity(w.control(ctx, time.Minute), "Here").Get(ctx, nil) == nil
}

// missed is what follows when nobody takes an attach: the host is lost. Where all that is
// on record is on a remote, too, the run goes on elsewhere; else a person is asked.
func (w *drive) missed(ctx workflow.Context) error {
	if c := w.in.Carry; c.pushes() && c.Behind == "" {
		w.move, w.goes = true, true
		return nil
	}
	w.missing = true
	if err := w.take(ctx, []flow.Fact{{Run: w.in.Run, Event: event.RunHeld{Why: w.sentence()}}}, true); err != nil {
		return err
	}
	var asks workflow.Context
	asks, w.hush = workflow.WithCancel(ctx)
	opts := workflow.GetActivityOptions(w.control(asks, time.Minute))
	opts.ScheduleToStartTimeout = 0
	f := workflow.ExecuteActivity(workflow.WithActivityOptions(asks, opts), "Here")
	workflow.Go(asks, func(ctx workflow.Context) {
		if f.Get(ctx, nil) == nil {
			w.inbox = append(w.inbox, input{back: true})
		}
	})
	return nil
}

// sentence says to a person what is wrong, and what to type.
func (w *drive) sentence() string {
	why, from := "and what it did is nowhere else, as the run was started without --snapshots-to", "on another host that has its directory"
	switch c := w.in.Carry; {
	case c == nil:
	case c.Clone != "":
		why, from = "and what it did is nowhere else, as nothing of it was pushed", fmt.Sprintf("on another host and from commit %.12s, without what its steps did to files", c.Snap.Commit)
	default:
		why, from = "and its last work is nowhere else, as it could not be pushed ("+c.Behind+")", "on another host and from what was pushed before"
	}
	return fmt.Sprintf("host %s has not answered for %s, %s. The run goes on by itself when the host is there again. "+
		"To go on without it, %s: %s resume %s --elsewhere", w.in.Host, w.in.Lost, why, from, Program, w.in.Run)
}

// pushed is what a host says of the files of the run.
type pushed struct {
	snap   *Snap
	behind string
}

// carried takes in what is on the remote. What comes late is of an earlier time.
func (w *drive) carried(p pushed) {
	if !w.in.Carry.pushes() || p.snap == nil && p.behind == "" {
		return
	}
	c := *w.in.Carry // the one that was given to activities stays as it was
	if c.Behind = p.behind; p.snap != nil && c.Snap.before(*p.snap) {
		c.Snap = *p.snap
	}
	w.in.Carry = &c
}

// from is the snapshot that a run goes on from whose host was lost.
func (w *drive) from() string {
	if w.lost == "" || w.in.Carry == nil {
		return ""
	}
	return w.in.Carry.Snap.Commit
}

// dir is the directory that the host of the run has to have; "" = any will do.
func (w *drive) dir() string {
	if w.in.Carry.housed() {
		return ""
	}
	return w.parcel.Started.Dir
}

// elsewhere finds another host for a run whose host is lost, or tells that it ended
// without one.
func (w *drive) elsewhere(ctx workflow.Context, first []flow.Fact) (ended bool, err error) {
	if !w.move {
		return false, nil
	}
	was := w.in.Host
	if ended, err := w.place(ctx, first); err != nil || ended {
		return ended, err
	}
	w.move = false
	if w.in.Host != was {
		w.lost = was
	}
	return false, nil
}

// cancels tells whether a person wants the end of the run: that needs a host, and any
// will do.
func cancels(facts []flow.Fact) bool {
	for _, f := range facts {
		if r, ok := f.Event.(event.RequestReceived); ok && r.Request.Ask == event.RequestCancel {
			return true
		}
	}
	return false
}

// reached waits for the next attach after an epoch: what the host of that one did not
// take is asked again of the host that has the run then.
func (w *drive) reached(ctx workflow.Context, epoch int64) int64 {
	if w.epoch == epoch {
		w.inbox = append(w.inbox, input{epoch: epoch, detached: true})
	}
	_ = workflow.Await(ctx, func() bool { return w.held && w.epoch > epoch }) // fails only with the workflow
	return w.epoch
}

// wanting says what host a run waits for.
func (w *drive) wanting() string {
	labels := ""
	if len(w.in.Labels) > 0 {
		labels = " with the labels " + strings.Join(w.in.Labels, ", ")
	}
	switch c := w.in.Carry; { // it is cut where a beat has no room for more
	case c.pushes():
		return "a worker" + labels
	case c != nil && c.Clone == CloneAlways:
		return "a worker" + labels + " that can clone " + c.Remote
	case c != nil:
		return "a worker" + labels + " that has its directory, or can clone it"
	case w.in.Stays != "":
		return "a worker that has its directory, as " + w.in.Stays + labels
	}
	return "a worker" + labels + " that has " + w.dir()
}
