package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/failpoint"
	"github.com/belay-run/belay/internal/hand"
	"github.com/belay-run/belay/internal/step"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/proc"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/story"
)

// Local runs recipes on this machine, out of one state directory.
type Local struct {
	State   *journal.State
	Keeper  []string // argv that starts a keeper; the run's folder and socket follow
	Version string
	Env     []string // the environment of all steps
	Secrets []string // names of variables whose values are hidden
	Alone   bool     // this process drives one run and has no other children
	Limits  step.Limits
	Host    step.Host                 // for agent steps; Persona and Secrets are the run's own
	Include []string                  // ignored files that a worktree shall have, too; see worktree.Include
	Service func(agent string) string // the service that an agent calls; nil = named as the agent is

	Accounts Accounts // who counts what services do; nil = this state directory

	ParkAfter time.Duration // leave a run whose next act is further away, while a watch leads; 0 = never

	// Of a rehearsal: how fast the run's clock is (0 = 1), and what changes a
	// job on its way to its process (nil = nothing does).
	Speed int
	Stage func(effect.Job) effect.Job

	Elsewhere Elsewhere // what drives runs instead of this machine; nil = this machine does
}

// Open is a run whose lock this process holds.
type Open struct {
	ID   belay.RunID
	Tree *flow.Tree

	local   *Local
	run     *journal.Run
	epoch   int64
	first   []flow.Fact
	self    proc.Identity
	session belay.Session
	books   books
	hand    *hand.Hand
	last    time.Time    // of the records that were there
	tail    event.Record // of a copy: its last one
	driven  bool         // by this process, or on its behalf
	reached bool         // had a keeper before: what that one left behind came to this process

	live    *story.Story // of the records that were there; nil = there were none, or who wanted it has it
	recent  []story.News // the last of its news
	taken   func()       // called when it is driven elsewhere; nil = nobody wants to know
	refused bool         // it is not: nothing is left of it when it is closed

	asker Asker // who is asked while it is driven; nil = nobody

	early *proc.Early // the process of its first keeper, while nobody drives the run; nil = there is none

	told int       // the agent starts that all sessions of the tree know of; 0 = they know nothing yet
	anew time.Time // when a person took back what was used; zero = nobody did
}

// Begun tells whether a record of the run was written.
func (o *Open) Begun() bool { return o.run.Seq() > 0 }

// Create makes the folder of a new run and freezes its recipes. The run has no
// record yet; the first one is written by Drive or Write.
func (l *Local) Create(spec Spec) (*Open, error) {
	if err := Precheck(spec); err != nil {
		return nil, err
	}
	self, err := proc.Self()
	if err != nil {
		return nil, fmt.Errorf("identify this process: %w", err)
	}
	run, err := l.State.Create(spec.ID)
	if err != nil {
		return nil, err
	}
	o := &Open{ID: run.ID, local: l, run: run, self: self, books: books{state: l.State, name: run.ID}}
	if spec.Drives && l.Elsewhere == nil {
		o.early, _ = proc.StartEarly(o.keeper()) // why it cannot be started is said where it is reached
	}
	failpoint.Hit("create.begun")
	started, err := o.freeze(spec)
	failpoint.Hit("create.frozen")
	if err == nil {
		o.session, err = o.enter()
		started.Session = &o.session
	}
	if err == nil {
		err = o.announce(started.Limits)
	}
	if err == nil {
		err = o.note(started, belay.RunResult{Status: belay.Running})
	}
	if err != nil {
		o.early.Drop()
		_ = errors.Join(run.Discard(), o.books.close()) // nothing is recorded in it; the error that is returned matters more
		return nil, err
	}
	failpoint.Hit("create.noted")
	o.Tree = flow.NewTree(o.ID, spec.Set.Library)
	o.first = []flow.Fact{{Run: o.ID, Event: started}}
	return o, nil
}

// Resume takes the lock of a run and folds its journal.
func (l *Local) Resume(id belay.RunID) (*Open, error) {
	o, err := l.resume(id, l.Elsewhere != nil)
	var none *journal.Unbegun
	if l.Elsewhere != nil && errors.As(err, &none) {
		o, err = l.found(id, err)
	}
	if err != nil {
		return nil, err
	}
	if err := o.home(); err != nil {
		return nil, errors.Join(err, o.run.Close())
	}
	if l.Elsewhere == nil {
		return o, nil
	}
	c := Copy{open: o, seen: o.tell}
	if err := l.Elsewhere.Fetch(c); err != nil {
		return nil, errors.Join(err, o.run.Close())
	}
	return o, nil
}

// resume opens a run. Of a copy whose records do not fit together only the first one is
// left, if who opens it brings the others.
func (l *Local) resume(id belay.RunID, brings bool) (*Open, error) {
	self, err := proc.Self()
	if err != nil {
		return nil, fmt.Errorf("identify this process: %w", err)
	}
	run, err := l.State.Open(id)
	if err != nil {
		return nil, err
	}
	o := &Open{ID: id, local: l, run: run, self: self, books: books{state: l.State, name: id}}
	err = o.load()
	var bad unfit
	if errors.As(err, &bad) && brings && IsElsewhere(run.Folder) && o.Copy().Cut(1) == nil {
		err = nil
	}
	if err != nil {
		_ = run.Close() // nothing was written; the error that is returned matters more
		return nil, err
	}
	return o, nil
}

// Write appends facts without driving the run, and starts nothing.
func (o *Open) Write(facts ...flow.Fact) ([]event.Record, error) {
	facts = unsecret(facts, func(text string) string { return o.hands().Clean(text) })
	if o.local.Elsewhere != nil {
		return o.writeAway(facts)
	}
	facts = append(o.first, facts...)
	o.first = nil
	turn, err := o.Tree.Settle(time.Now(), facts...)
	if err != nil {
		return nil, err
	}
	recs, err := o.run.Append(turn.Records)
	if err != nil {
		return nil, err
	}
	if len(recs) > 0 {
		o.tail = recs[len(recs)-1]
	}
	return recs, indexLedger{o}.Clear(recs)
}

// Retract takes back a run that was written down and that nobody has ever driven.
func (o *Open) Retract() error {
	o.early.Drop()
	return errors.Join(o.local.State.Ledger().Leave(o.ID, o.driven), o.books.close(), o.local.State.Retract(o.run))
}

// Drive drives the run until it ends, is held, parked or stopped, and says how
// it stands.
func (o *Open) Drive(ctx context.Context, hard <-chan struct{}, seen func([]event.Record), first ...flow.Fact) (belay.RunResult, error) {
	o.driven = true
	o.live, o.recent = nil, nil // who wanted them has them
	if o.local.Elsewhere != nil {
		return o.driveAway(ctx, hard, seen, first)
	}
	if err := proc.BecomeSubreaper(); err != nil {
		return belay.RunResult{}, fmt.Errorf("become subreaper: %w", err)
	}
	if len(o.first) == 0 { // taken over: the index still has its last end
		if err := o.reenter(first); err != nil {
			return belay.RunResult{}, err
		}
		if err := o.note(o.Tree.Started(), belay.RunResult{Status: belay.Running}); err != nil {
			return belay.RunResult{}, err
		}
	}
	first = append(o.first, first...)
	o.first = nil
	o.hand = nil // its place among the sessions may be another
	d := &Driver{
		Root: o.ID, Tree: o.Tree, Epoch: o.epoch, Log: mailLog{o.run}, Hand: o.hands(),
		Attach: o.attach, Ledger: indexLedger{o},
		Self: o.self, Version: o.local.Version,
		Seen: func(recs []event.Record) {
			o.tail = recs[len(recs)-1]
			if seen != nil {
				seen(recs)
			}
		},
		Clock: NewClock(o.local.Speed, o.last), Asker: o.asker,
		Park: Park{After: o.local.ParkAfter, Led: o.local.State.WatchLeads},
	}
	status, err := d.Drive(ctx, hard, first...)
	o.epoch = d.Epoch
	if err != nil {
		return belay.RunResult{Status: status}, o.keepStart(first, err)
	}
	r := o.Result()
	var coded interface{ ExitCode() int }
	if r.Status == belay.Stopped && errors.As(context.Cause(ctx), &coded) {
		r.Code = coded.ExitCode()
	}
	return r, o.note(o.Tree.Started(), r)
}

// reenter takes a place among the sessions again, unless the run is only driven
// to be ended.
func (o *Open) reenter(first []flow.Fact) error {
	for _, f := range first {
		r, ok := f.Event.(event.RequestReceived)
		if ok && (r.Request.Ask == event.RequestCancel || r.Request.Ask == event.RequestStop) {
			return nil
		}
	}
	s, err := o.enter()
	if err == nil {
		o.session = s
	}
	return err
}

// keepStart writes down that the run began when its driver did not come so
// far, so that it can be resumed once the cause is mended.
func (o *Open) keepStart(first []flow.Fact, err error) error {
	if o.Tree.Run(o.ID) != nil || o.run.Seq() > 0 || len(first) == 0 {
		return err
	}
	_, _ = o.Write(first[0]) // if this fails too, the first error says why
	return err
}

// Result is how the run stands, with the exit code that goes with it.
func (o *Open) Result() belay.RunResult { return ResultOf(o.Tree) }

// ResultOf is how a tree stands, with the exit code that goes with it.
func ResultOf(t *flow.Tree) belay.RunResult {
	status := story.Status(t)
	switch status {
	case belay.Held:
		return belay.RunResult{Status: status, Code: exit.Held, Reason: cmp.Or(t.HeldFor(), "a person must act")}
	case belay.Stopped:
		return belay.RunResult{Status: status, Code: exit.Terminated, Reason: "stopped, can be resumed"}
	case belay.Parked:
		p, _ := t.Parked()
		return story.ParkedResult(p)
	case belay.Paused:
		by, _ := t.Paused()
		return belay.RunResult{Status: status, Code: exit.Held, Reason: "paused by " + by}
	case belay.Running:
		return belay.RunResult{Status: status, Code: exit.Failed, Reason: "not finished"}
	case belay.Achieved, belay.Failed, belay.Partial, belay.Hollow, belay.NotAchieved, belay.Stalemate, belay.Aborted:
	}
	return *t.Run(t.Runs()[0]).Result()
}

// attach reaches the run's keeper, or starts one.
func (o *Open) attach(ctx context.Context, epoch int64, open []belay.Key) (Keeper, map[belay.Key]proc.State, error) {
	opts := o.keeper()
	opts.Epoch, opts.Env, opts.Orphans = epoch, o.environment(), o.reached && o.local.Alone
	opts.Early, o.early = o.early, nil
	k, states, err := proc.Attach(ctx, opts, open)
	opts.Early.Drop() // unless it is the keeper now
	if err != nil {
		return nil, nil, exit.New(exit.Infra, "reach keeper", err, "see "+filepath.Join(opts.Dir, "keeper.log")+", then resume the run")
	}
	o.reached = true
	failpoint.Hit("create.greeted")
	keeper, err := k.Identity()
	if err == nil {
		err = o.local.State.Ledger().SetKeeper(o.ID, keeper)
	}
	if err == nil && o.books.other {
		err = o.books.state.Ledger().SetKeeper(o.books.name, keeper)
	}
	if err != nil {
		_ = k.Close(ctx) // the error that is returned matters more
		return nil, nil, err
	}
	return k, states, nil
}

// keeper is how the run's keeper is started and found.
func (o *Open) keeper() proc.Options {
	dir, sock := string(o.run.Folder), o.local.State.Socket(o.ID)
	return proc.Options{Dir: dir, Socket: sock, Exe: append(slices.Clone(o.local.Keeper), dir, sock), Run: o.ID}
}

// Records are all records of the run, as they are on disk.
func (o *Open) Records() ([]event.Record, error) { return o.run.Load() }

// Blob reads what was kept beside the records.
func (o *Open) Blob(sha string, most int64) ([]byte, error) { return o.run.ReadBlob(sha, most) }

// Source is a recipe as it was frozen at the start.
func (o *Open) Source(digest string) ([]byte, error) { return o.run.ReadBlob(digest, recipe.MaxBytes) }

// Close gives the run back.
func (o *Open) Close() error {
	if o.refused {
		return o.Retract()
	}
	o.early.Drop()
	return errors.Join(o.local.State.Ledger().Leave(o.ID, o.driven), o.books.close(), o.run.Close())
}

// Note keeps how a run stands that is not driven, for whoever lists runs.
func (o *Open) Note(r belay.RunResult) error { return o.note(o.Tree.Started(), r) }

// note keeps the run's line in the index, for whoever lists runs. A run came to rest when its
// last record was written.
func (o *Open) note(e event.RunStarted, r belay.RunResult) error {
	now := time.Now()
	sum := journal.Summary{
		ID: o.ID, Name: e.Name, Dir: e.Dir, Work: e.Work, Status: r.Status, Code: r.Code, Reason: r.Reason,
		Started: now, Updated: now, Driver: o.self,
	}
	if o.Tree != nil {
		_, sum.Started = o.Tree.Run(o.ID).Started()
	}
	if r.Status.Terminal() {
		sum.Ended = o.tail.At
	}
	if r.Status == belay.Held || r.Status == belay.Parked {
		sum.Updated = o.tail.At
	}
	return o.local.State.NoteRun(sum)
}

// mailLog is a journal whose bad mail is left aside.
type mailLog struct{ *journal.Run }

func (m mailLog) Inbox() ([]event.Request, error) {
	reqs, _, err := m.Run.Inbox() // bad files were moved aside; there is nobody to answer
	return reqs, err
}

// Person names the user for the record of an act.
func Person() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return fmt.Sprintf("uid %d", os.Getuid())
}
