package temporal

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
)

// Engine lets runs be driven on Temporal, for who starts them and looks at them.
type Engine struct {
	Client    client.Client
	Queue     string        // of the workflows
	Host      string        // where new runs have their files; "" = on any worker that can
	Labels    []string      // what that worker has to be good for, beside what the recipe says
	Lost      time.Duration // of new runs: a host that says nothing for so long is given up; 0 = it is waited for
	Snapshots string        // of new runs: a remote of git, to which their files are pushed; "" = none
	CloneFrom string        // of new runs: a remote of git, from which they are cloned; "" = origin, by hosts that do not have the directory; none = by nobody
	Near      string        // of new runs: the worker of this machine, if it has one
	Say       func(string)  // tells something to who starts a run; nil = nobody is told
	Moves     bool          // runs that go on do so on another host than the one that was given up
	Every     int           // of tests: see Start
}

// How often a run is looked at: soon after something happened, and less and less often
// while nothing does, as each look is a query of the server. What people want of it here is
// looked for all the time.
const (
	lookSoon = 20 * time.Millisecond
	LookLate = 5 * time.Second
	mailTime = 100 * time.Millisecond

	quiet      = 500 * time.Millisecond // the pause from which a run is a quiet one
	ProveEvery = 10 * time.Second       // how often it is asked whether the workflow of such a one still works
)

// Name says what drives the runs.
func (e *Engine) Name() string { return DrivenBy }

// labels are those that the worker of a new run must have.
func (e *Engine) labels(c engine.Copy) []string {
	all := append(c.Labels(), e.Labels...)
	slices.Sort(all)
	return slices.Compact(all)
}

// Drive lets a run begin or go on, and follows it to its rest.
func (e *Engine) Drive(ctx context.Context, hard <-chan struct{}, c engine.Copy, facts []flow.Fact) error {
	page, err, old := Page{Asleep: true}, error(nil), c.Seq() > 0
	if old && len(facts) == 0 {
		if page, err = e.firstLook(ctx, c); err != nil {
			return err
		}
	}
	if !page.Asleep && !page.Status.Terminal() && e.broken(ctx, c.ID()) != nil { // a person wants it to go on all the same
		if err := e.reopen(ctx, c, facts); err != nil {
			return err
		}
	} else if page.Asleep || page.Status.Terminal() || e.Moves { // else it is driven already
		asked, done := outlasting(ctx, askWithin)
		err := e.push(asked, c, updateDrive, facts)
		if done(); err != nil {
			return err
		}
	}
	if old {
		c.Taken()
	}
	return e.follow(ctx, hard, c)
}

// How long something may still take that was asked of the server when a person lets the
// command end, or is asked because of that: no worker may be there that would answer.
const (
	lookWithin = 10 * time.Second
	askWithin  = 20 * time.Second
)

// outlasting is a context that ends some time after another one.
func outlasting(ctx context.Context, most time.Duration) (context.Context, func()) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(most, cancel) // who is done by then does not hear it
	})
	return longer, func() { stop(); cancel() }
}

// Settle puts facts on record and starts nothing. A run that is new begins all the
// same: its start is a record.
func (e *Engine) Settle(c engine.Copy, facts []flow.Fact) error {
	ctx, done := context.WithTimeout(context.Background(), askLimit)
	defer done()
	if err := e.push(ctx, c, updateSettle, facts); err != nil {
		return err
	}
	_, err := e.fetch(ctx, c)
	return err
}

// push starts the workflow of a run, or tells it something.
func (e *Engine) push(ctx context.Context, c engine.Copy, what string, facts []flow.Fact) error {
	if c.Seq() == 0 {
		return e.begin(ctx, c, Start{Run: c.ID(), Host: e.Host, Near: e.Near, Labels: e.labels(c), Lost: e.Lost, First: pack(facts), Every: e.Every})
	}
	opts := e.update(c, what, facts)
	wait := taken(ctx)
	if what == updateDrive { // it may wait for a host, and who follows it sees what comes of it
		opts.WaitForStage = client.WorkflowUpdateStageAccepted
		wait = refused(ctx)
	}
	err := wait(e.Client.UpdateWorkflow(ctx, opts))
	if none := (*serviceerror.NotFound)(nil); errors.As(err, &none) && what == updateSettle {
		err = e.settleEnded(ctx, c, facts)
	} else if errors.As(err, &none) {
		return e.reopen(ctx, c, facts)
	}
	var app *temporal.ApplicationError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &app) && app.Type() == errStale:
		return exit.New(exit.Held, "tell the run", err, "it went on meanwhile: look at it, and say it again")
	case errors.As(err, &app) && app.Type() == errThere:
		return exit.New(exit.Invalid, "move the run", err, "let it go on where it is, without --elsewhere")
	case errors.As(err, new(*exit.Error)):
		return err
	}
	return unreachable("tell the run", err)
}

// update tells the workflow of a run something that was made of the records of the copy.
func (e *Engine) update(c engine.Copy, what string, facts []flow.Fact) client.UpdateWorkflowOptions {
	return client.UpdateWorkflowOptions{
		WorkflowID: workflowID(c.ID()), UpdateName: what, Args: []any{Push{Seq: c.Seq(), Last: stamp(c.Last()), Facts: pack(facts), Elsewhere: e.Moves && what == updateDrive}},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	}
}

// taken waits until the workflow has taken an update.
func taken(ctx context.Context) func(client.WorkflowUpdateHandle, error) error {
	return func(h client.WorkflowUpdateHandle, err error) error {
		if err != nil {
			return err
		}
		return h.Get(ctx, nil)
	}
}

// refused gives the error of an update that the workflow did not accept. A handle has that
// by itself; of one that was accepted nothing is waited for.
func refused(ctx context.Context) func(client.WorkflowUpdateHandle, error) error {
	return func(h client.WorkflowUpdateHandle, err error) error {
		if err != nil {
			return err
		}
		now, done := context.WithCancel(ctx)
		done()
		if err := h.Get(now, nil); errors.As(err, new(*temporal.ApplicationError)) {
			return err
		}
		return nil
	}
}

// reopen begins a new workflow for a run that has ended.
func (e *Engine) reopen(ctx context.Context, c engine.Copy, facts []flow.Fact) error {
	s, err := e.goesOn(ctx, c, facts)
	if err != nil {
		return err
	}
	s.Drives, s.First = s.Drives+1, pack(facts)
	return e.start(ctx, c, s)
}

// settleEnded puts facts on record of a run that has ended: a new workflow takes them,
// and it drives nothing.
func (e *Engine) settleEnded(ctx context.Context, c engine.Copy, facts []flow.Fact) error {
	s, err := e.goesOn(ctx, c, facts)
	if err != nil {
		return err
	}
	s.Rests = true
	p, err := c.Parcel()
	if err != nil {
		return err
	}
	opts := e.workflow(p, s)
	opts.WorkflowIDConflictPolicy = enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING // somebody else may settle something, too
	return taken(ctx)(e.Client.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: e.Client.NewWithStartWorkflowOperation(opts, TreeWorkflow, p, s),
		UpdateOptions:          e.update(c, updateSettle, facts),
	}))
}

// goesOn is the start of a new workflow for a run that has ended.
func (e *Engine) goesOn(ctx context.Context, c engine.Copy, facts []flow.Fact) (Start, error) {
	seen := stamp(c.Last())
	page, err := e.fetch(ctx, c) // what it goes on with are the records of the new workflow
	if err != nil {
		return Start{}, err
	}
	if seen != stamp(c.Last()) && len(facts) > 0 {
		return Start{}, exit.New(exit.Held, "tell the run", errors.New("it went on meanwhile"), "look at it, and say it again")
	}
	recs, err := c.Records()
	if err != nil {
		return Start{}, err
	}
	var carry *Carry
	if err := query(ctx, e.Client, c.ID(), &carry, queryCarry); err != nil {
		return Start{}, unreachable("look at the run", err)
	}
	return Start{Run: c.ID(), Host: page.Host, Labels: e.labels(c), Carry: carry, Lost: e.Lost, Records: recs, Drives: page.Drives, Every: e.Every}, nil
}

// begin starts the workflow of a new run.
func (e *Engine) begin(ctx context.Context, c engine.Copy, s Start) error {
	p, err := c.Parcel()
	if err == nil {
		s.Carry, s.Stays, err = e.carried(ctx, c, p.Started.Dir)
	}
	if err != nil {
		return &engine.Refused{Err: err}
	}
	err = e.start(ctx, c, s)
	switch {
	case err == nil:
		c.Taken()
		return nil
	case refuses(err), errors.As(err, new(*TooBig)):
		return &engine.Refused{Err: err}
	}
	return exit.New(exit.Code(err), "", err, "it may have begun all the same: when the server answers, look with "+Program+" show "+string(s.Run))
}

// refuses tells whether the server surely started nothing.
func refuses(err error) bool {
	return errors.As(err, new(*serviceerror.WorkflowExecutionAlreadyStarted)) || errors.As(err, new(*serviceerror.NamespaceNotFound)) ||
		errors.As(err, new(*serviceerror.NamespaceInvalidState)) || errors.As(err, new(*serviceerror.NotFound)) ||
		errors.As(err, new(*serviceerror.InvalidArgument)) || errors.As(err, new(*serviceerror.PermissionDenied))
}

func (e *Engine) start(ctx context.Context, c engine.Copy, s Start) error {
	p, err := c.Parcel()
	if err != nil {
		return err
	}
	opts := e.workflow(p, s)
	opts.WorkflowIDConflictPolicy, opts.WorkflowExecutionErrorWhenAlreadyStarted = enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL, true
	if _, err = e.Client.ExecuteWorkflow(ctx, opts, TreeWorkflow, p, s); err != nil {
		return unreachable("start the run", err)
	}
	return nil
}

// workflow is how the workflow of a run is started.
func (e *Engine) workflow(p parcel, s Start) client.StartWorkflowOptions {
	reuse := enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE // one that goes on
	if len(s.Records) == 0 {
		reuse = enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE
	}
	return client.StartWorkflowOptions{
		ID: workflowID(s.Run), TaskQueue: e.Queue, WorkflowIDReusePolicy: reuse, WorkflowTaskTimeout: 30 * time.Second,
		Memo: map[string]any{"recipe": p.Started.Name, "dir": p.Started.Dir},
	}
}

// Fetch brings the records that the copy lacks.
func (e *Engine) Fetch(c engine.Copy) error {
	ctx, done := context.WithTimeout(context.Background(), askLimit)
	defer done()
	_, err := e.fetch(ctx, c)
	return err
}

// askLimit bounds what is asked of a run that is driven elsewhere.
const askLimit = 2 * time.Minute

func (e *Engine) fetch(ctx context.Context, c engine.Copy) (Page, error) {
	page, err := bring(c, func(after int64) (Page, error) { return e.page(ctx, c.ID(), after) })
	if err == nil && page.Waits != "" {
		c.Waits(page.Waits)
	}
	return page, err
}

// firstLook waits a while for a worker that is being started, as one is that had died.
func (e *Engine) firstLook(ctx context.Context, c engine.Copy) (page Page, err error) {
	for until := time.Now().Add(lookPatience); ; {
		page, err = e.fetch(ctx, c)
		if !errors.Is(err, errSilent) || time.Now().After(until) || ctx.Err() != nil {
			return page, err
		}
	}
}

const lookPatience = 15 * time.Second

// page gives the records after a number.
func (e *Engine) page(ctx context.Context, id belay.RunID, after int64) (page Page, err error) {
	if err := query(ctx, e.Client, id, &page, queryPage, after); err != nil {
		return Page{}, unreachable("look at the run", err)
	}
	return page, nil
}

// unreachable is an error of the way to the server, or of the server.
func unreachable(op string, err error) error {
	var failed *serviceerror.QueryFailed
	var none *serviceerror.NotFound
	var twice *serviceerror.WorkflowExecutionAlreadyStarted
	switch {
	case errors.As(err, new(*TooBig)):
		return unsent(op, err)
	case errors.As(err, &twice):
		return exit.New(exit.Invalid, op, err, "the namespace has a run with this id: give another one with --id")
	case errors.As(err, &none):
		return exit.New(exit.Invalid, op, err, "Temporal has no such run in this namespace")
	case errors.As(err, &failed):
		return exit.New(exit.Infra, op, err, "see the workflow of the run in Temporal")
	}
	return exit.New(exit.Infra, op, err, "check --address, --namespace and that a worker runs; the run itself is not touched by this")
}

// follow brings the records of a run into its copy until it rests, and hands on what
// other processes ask of it here.
func (e *Engine) follow(ctx context.Context, hard <-chan struct{}, c engine.Copy) error {
	look := context.WithoutCancel(ctx)
	stop, pause, late, proved := ctx.Done(), lookSoon, 0, time.Now()
	for {
		before := c.Seq()
		asked, done := outlasting(ctx, lookWithin)
		page, err := e.fetch(asked, c)
		done()
		switch {
		case err != nil && late > 40:
			return err
		case err != nil:
			pause, late = quiet, late+1
		case c.Seq() > before:
			pause, late = lookSoon, 0
		case page.Seq > 0 && c.Seq() == page.Seq && (page.Asleep || page.Status.Terminal()) && !page.Busy:
			return nil
		default:
			pause, late = min(pause*5/4, LookLate), 0
		}
		if err == nil && pause >= quiet && time.Since(proved) > ProveEvery {
			proved = time.Now()
			if err := e.broken(look, c.ID()); err != nil {
				return err
			}
		}
		for until := time.Now().Add(pause); time.Now().Before(until); {
			select {
			case <-time.After(min(time.Until(until), mailTime)):
				sent, err := e.mail(look, c)
				if err != nil {
					return err
				}
				if sent {
					pause, until = lookSoon, time.Time{}
				}
			case <-stop:
				stop = nil
				asked, done := outlasting(ctx, askWithin)
				err := e.ask(asked, stopping(c.ID(), context.Cause(ctx)))
				if done(); err != nil {
					return err
				}
				pause, until = lookSoon, time.Time{}
			case <-hard:
				return &engine.Interrupted{}
			}
		}
	}
}

// broken is why the workflow of a run that has not ended is over; nil = it is not, or
// nobody can say.
func (e *Engine) broken(ctx context.Context, id belay.RunID) error {
	d, err := e.Client.DescribeWorkflowExecution(ctx, workflowID(id), "")
	if err != nil {
		return nil //nolint:nilerr // the next look says so
	}
	switch s := d.GetWorkflowExecutionInfo().GetStatus(); s {
	case enumspb.WORKFLOW_EXECUTION_STATUS_FAILED, enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED,
		enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT, enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED:
		why := e.Client.GetWorkflow(ctx, workflowID(id), "").Get(ctx, nil)
		return exit.New(exit.Failed, "drive the run", fmt.Errorf("its workflow is %s: %w", s, why),
			"the records are as they were; resume begins a new workflow with them")
	case enumspb.WORKFLOW_EXECUTION_STATUS_UNSPECIFIED, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED,
		enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW, enumspb.WORKFLOW_EXECUTION_STATUS_PAUSED:
	}
	return nil
}

// Tidied waits a while until the host of an ended run has taken away what is not needed.
func (e *Engine) Tidied(ctx context.Context, id belay.RunID) {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), tidiedWithin)
	defer done()
	_ = e.Client.GetWorkflow(ctx, workflowID(id), "").Get(ctx, nil) // how it ended is on record
}

const tidiedWithin = 20 * time.Second

// mail hands on the requests that lie in the mailbox of the copy, and tells whether there were any.
func (e *Engine) mail(ctx context.Context, c engine.Copy) (sent bool, err error) {
	reqs, err := c.Inbox()
	if err != nil {
		return false, err
	}
	for _, r := range reqs {
		if err := e.ask(ctx, r); err != nil {
			return sent, err
		}
		sent = true
		if err := c.Remove(r.ID); err != nil {
			return sent, err
		}
	}
	return sent, nil
}

// ask asks something of a run. One that has ended since takes nothing in.
func (e *Engine) ask(ctx context.Context, r event.Request) error {
	err := taken(ctx)(e.Client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: workflowID(r.Run.Root()), UpdateName: updateAsk, UpdateID: "ask " + r.ID, Args: []any{r},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	}))
	var none *serviceerror.NotFound
	if err == nil || errors.As(err, &none) {
		return nil
	}
	return unreachable("ask "+string(r.Ask), err)
}

func stopping(id belay.RunID, cause error) event.Request {
	by := "stop"
	if cause != nil {
		by = cause.Error()
	}
	b := make([]byte, 4)
	_, _ = rand.Read(b) // never fails: it ends the process instead
	return event.Request{ID: fmt.Sprintf("stop.%s", hex.EncodeToString(b)), Run: id, By: by, Ask: event.RequestStop}
}

// Begun is what a run began with, and its records.
func (e *Engine) Begun(id belay.RunID) (p engine.Parcel, recs []event.Record, err error) {
	ctx, done := context.WithTimeout(context.Background(), askLimit)
	defer done()
	if err := query(ctx, e.Client, id, &p, queryParcel); err != nil {
		return p, nil, unreachable("look for the run", err)
	}
	var all list
	_, err = bring(&all, func(after int64) (Page, error) { return e.page(ctx, id, after) })
	return p, all, err
}
