// Package engine is the local driver: it asks the brain, writes down what it
// says, does it, and writes down what came of it. It owns the timers, the
// keeper's events and the mailbox of one run while it drives it. It decides
// nothing by itself and never acts on what is not on disk.
package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/failpoint"
	"github.com/belay-run/belay/internal/hand"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/proc"
)

const (
	mailEvery   = 100 * time.Millisecond
	maxReattach = 20               // keepers that may die under one driver
	maxStarts   = 3                // tries to start one
	maxExits    = 200              // ends of attempts in one turn
	closeWithin = 20 * time.Second // for the keeper to leave at the end: longer than it is patient with what it killed
	atOnce      = time.Nanosecond  // between TERM and KILL; 0 would mean the step's own grace
	hurryWithin = 2 * time.Second  // for the ends of what was ended at once to come in
)

// Log is the part of a journal that a driver needs.
type Log interface {
	SetEpoch(int64) error
	Append([]event.Record) ([]event.Record, error)
	Beat(journal.Sign)
	Inbox() ([]event.Request, error)
	Remove(ids ...string) error
}

// Keeper is the part of a keeper that a driver needs.
type Keeper interface {
	Spawn(proc.Spawn) error
	Signal(key belay.Key, why fault.KilledBy, grace time.Duration) error
	Stop(why fault.KilledBy, grace time.Duration) error
	Events() <-chan proc.Event
	Close(context.Context) error
}

// Driver drives one root run. Its fields are set by Local.
type Driver struct {
	Root    belay.RunID
	Tree    *flow.Tree // folded from what the journal holds
	Epoch   int64      // the highest that the journal holds
	Log     Log
	Ledger  Ledger
	Hand    *hand.Hand
	Attach  func(ctx context.Context, epoch int64, open []belay.Key) (Keeper, map[belay.Key]proc.State, error)
	Self    proc.Identity
	Version string
	Seen    func([]event.Record) // called with every batch of records once it is on disk
	Clock   Clock
	Asker   Asker // who is asked beside the inbox; nil = nobody
	Park    Park
}

// drive is one drive of a run: a driver at work.
type drive struct {
	*Driver
	keeper  Keeper
	facts   []flow.Fact // learned, not yet in a turn
	turn    flow.Turn
	mail    []string // requests to be taken out of the mailbox after the commit
	attachs int
	trees   map[belay.Key]treeWait // trees that others have
	treesAt time.Time              // when they were asked for
	limits  limits                 // until when open attempts may take
	tried   int                    // attempts that ended since work was finished last
	worked  int64                  // work that was finished then
	redone  int64                  // of that, what counts no further step, when it was counted last
	counted bool                   // it was
	ledAt   time.Time              // when it was asked whether a watch leads
	needed  map[string][]string    // trees that the run has; nil = not looked at yet
	heard   int                    // answers of the asker
	heeded  bool                   // the stop of this drive is among the facts
}

// Drive attaches to the run and drives it until it ends, is held, parked or
// stopped. Cancelling ctx stops it in order; closing hard after it ends
// everything at once, and that is written down if it is heard of soon. first are facts that belong into the first turn.
func (d *Driver) Drive(ctx context.Context, hard <-chan struct{}, first ...flow.Fact) (belay.Status, error) {
	if d.Clock == (Clock{}) {
		d.Clock = NewClock(1, time.Time{})
	}
	w := &drive{Driver: d, trees: map[belay.Key]treeWait{}}
	d.Tree.Attend(d.Asker != nil)
	if err := w.attach(ctx, first); err != nil {
		return belay.Running, err
	}
	err := w.loop(ctx, hard)
	// A keeper that still holds attempts stays; the driver's end of the
	// connection is closed in every case.
	if closeErr := w.leave(ctx); err == nil && closeErr != nil {
		err = fmt.Errorf("close keeper: %w", closeErr)
	}
	return w.Tree.Status(), err
}

// leave says goodbye to the keeper.
func (w *drive) leave(ctx context.Context) error {
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWithin)
	defer cancel()
	return w.keeper.Close(end)
}

// now is the run's clock; it does not jump while the driver lives and never
// goes below what the journal holds.
func (w *drive) now() time.Time { return w.Clock.Now() }

// attach takes the run: finds out what became of every open attempt, and
// writes it down together with the first turn.
func (w *drive) attach(ctx context.Context, first []flow.Fact) error {
	if w.attachs++; w.attachs > maxReattach {
		return exit.New(exit.Infra, "attach", fmt.Errorf("the keeper died %d times", maxReattach),
			"find out what ends it (out of memory?), then resume the run")
	}
	w.Epoch++
	reach := ctx
	if w.attachs > 1 { // a stop that is under way needs a keeper too
		reach = context.WithoutCancel(ctx)
	}
	keeper, states, err := w.reach(reach)
	if err != nil {
		return err
	}
	w.keeper = keeper
	for k, wait := range w.trees { // who has them is asked, and written down, anew
		wait.by = ""
		w.trees[k] = wait
	}
	err = w.Log.SetEpoch(w.Epoch)
	var facts []flow.Fact
	if err == nil {
		facts, err = w.attached(first, states)
	}
	if err == nil && w.Tree.Run(w.Root) != nil {
		err = w.readMail() // what was asked meanwhile comes before anything is started
	}
	if err == nil {
		facts = append(facts, w.facts...)
		w.facts = nil
		err = w.take(ctx, facts)
	}
	if err != nil {
		_ = w.leave(ctx) // the error that is returned matters more
	}
	return err
}

// reach attaches to the keeper; one that dies while it starts is started again.
func (w *drive) reach(ctx context.Context) (k Keeper, states map[belay.Key]proc.State, err error) {
	for range maxStarts {
		k, states, err = w.Attach(ctx, w.Epoch, w.Tree.Open())
		if err == nil || ctx.Err() != nil || errors.Is(err, proc.ErrKeeperSilent) || errors.Is(err, proc.ErrStale) {
			break
		}
	}
	return k, states, err
}

// attached are the facts of an attach: the start of a new run first, then the
// driver, then one fact for each attempt that was open, then what was asked.
func (w *drive) attached(first []flow.Fact, states map[belay.Key]proc.State) ([]flow.Fact, error) {
	var facts []flow.Fact
	if len(first) > 0 {
		if _, fresh := first[0].Event.(event.RunStarted); fresh {
			facts, first = append(facts, first[0]), first[1:]
		}
	}
	facts = append(facts, flow.Fact{Run: w.Root, Event: event.RunAttached{
		Epoch: w.Epoch, Version: w.Version, Pid: w.Self.Pid, Start: w.Self.Start, Boot: w.Self.Boot,
		Containment: int(proc.Containment()),
	}})
	for _, key := range w.Tree.Open() {
		found, err := w.found(key, states[key])
		if err != nil {
			return nil, err
		}
		facts = append(facts, found...)
	}
	return append(facts, first...), nil
}

func (w *drive) found(key belay.Key, st proc.State) ([]flow.Fact, error) {
	job, ok := w.Tree.Job(key)
	if !ok {
		return nil, fmt.Errorf("attempt %s is open but unknown", key)
	}
	w.begins(job)
	view, _ := w.Tree.Run(job.Run).Step(job.Path)
	if st.Found == fault.Harvested {
		w.tried++
	}
	return w.site().Found(job, view.Lost, st)
}

// site is where this driver makes attempts: here.
func (w *drive) site() Site { return Site{Hand: w.Hand, Ledger: w.Ledger, Now: w.now} }

// loop turns until the tree rests.
func (w *drive) loop(ctx context.Context, hard <-chan struct{}) error {
	mail := time.NewTicker(mailEvery)
	defer mail.Stop()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	stop := ctx.Done()
	var late <-chan time.Time
	for {
		if len(w.facts) > 0 || w.turn.More {
			facts := w.facts
			w.facts = nil
			if err := w.take(ctx, facts); err != nil {
				return err
			}
			continue
		}
		if w.turn.Status != belay.Running {
			if err := w.lastMail(); err != nil || len(w.facts) == 0 {
				return err
			}
			continue
		}
		if leave, ok := w.parking(); ok {
			if err := w.readMail(); err != nil { // what was asked comes first
				return err
			}
			if len(w.facts) == 0 {
				w.facts = append(w.facts, leave)
			}
			continue
		}
		wake := timer.C
		if w.turn.Until.IsZero() {
			wake = nil
		} else {
			timer.Reset(w.Clock.Until(w.turn.Until))
		}
		select {
		case e, ok := <-w.keeper.Events():
			if err := w.kept(ctx, e, ok); err != nil {
				return err
			}
		case <-mail.C:
			if err := errors.Join(w.readMail(), w.readNotes()); err != nil {
				return err
			}
			if err := w.hearAnswers(ctx); err != nil {
				return err
			}
			w.askTrees()
		case <-wake:
			if err := w.take(ctx, nil); err != nil {
				return err
			}
		case <-stop:
			stop = nil
			w.heed(ctx)
		case <-hard:
			hard, late = nil, time.After(hurryWithin)
			stop = nil
			w.heed(ctx)                                 // both came: that they end is no failure of theirs
			_ = w.keeper.Stop(fault.KilledStop, atOnce) // their ends come, or it is late
		case <-late:
			return &Interrupted{}
		}
	}
}

// Interrupted says that everything was ended at once and not all of it was heard
// of in time: the journal was left as it was, and what became of the open
// attempts is found at the next resume.
type Interrupted struct{}

func (*Interrupted) Error() string { return "ended at once" }

// kept takes in what the keeper says: all that is there, for one turn, up to a
// bound.
func (w *drive) kept(ctx context.Context, e proc.Event, ok bool) error {
	for {
		if !ok || e.Gone != nil {
			return w.keeperDied(ctx)
		}
		if job, known := w.Tree.Job(e.Exit.Key); known {
			notes, err := w.Hand.Notes(job)
			if err != nil {
				return err
			}
			if w.together(ctx, e.Exit) {
				w.heed(ctx)
				e.Exit.KilledBy = fault.KilledStop
			}
			w.tried++
			end, err := w.site().Ended(job, *e.Exit)
			if err != nil {
				return err
			}
			w.facts = append(append(w.facts, notes...), end)
		}
		if len(w.facts) >= maxExits {
			return nil
		}
		select {
		case e, ok = <-w.keeper.Events():
		default:
			return nil
		}
	}
}

// keeperDied goes on after the keeper died: what it left is swept and counted,
// and a new keeper takes over.
func (w *drive) keeperDied(ctx context.Context) error {
	for len(w.facts) > 0 { // exits that came before its death are facts, and so is what follows from them
		facts := w.facts
		w.facts = nil
		if err := w.take(ctx, facts); err != nil {
			return err
		}
	}
	_ = w.leave(ctx) // it is dead; this only reaps it
	return w.attach(ctx, nil)
}

// readMail copies requests from other processes in as facts, once per id.
func (w *drive) readMail() error {
	reqs, err := w.Log.Inbox()
	if err != nil {
		return fmt.Errorf("read mailbox: %w", err)
	}
	for _, r := range reqs {
		w.mail = append(w.mail, r.ID)
		s := w.Tree.Run(r.Run)
		switch {
		case s == nil && w.Tree.Run(w.Root).Seen(r.ID): // taken in before a crash
		case s == nil:
			w.facts = append(w.facts,
				flow.Fact{Run: w.Root, Event: event.RequestReceived{Request: r}},
				flow.Fact{Run: w.Root, Event: event.RequestRefused{ID: r.ID, Why: fmt.Sprintf("no run %s in this tree", r.Run)}})
		case !s.Seen(r.ID):
			w.facts = append(w.facts, flow.Fact{Run: r.Run, Event: event.RequestReceived{Request: r}})
		}
	}
	if len(reqs) > 0 && len(w.facts) == 0 {
		return w.clearMail()
	}
	return nil
}

// lastMail looks into the mailbox before a run is given up that is held or
// parked: an answer may lie there already.
func (w *drive) lastMail() error {
	if w.turn.Status != belay.Held && w.turn.Status != belay.Parked {
		return nil
	}
	return w.readMail()
}

func (w *drive) clearMail() error {
	ids := w.mail
	w.mail = nil
	if len(ids) == 0 {
		return nil
	}
	if err := w.Log.Remove(ids...); err != nil {
		return fmt.Errorf("clear mailbox: %w", err)
	}
	return nil
}

// take is one turn: think, write everything down at once, then act.
func (w *drive) take(ctx context.Context, facts []flow.Fact) error {
	facts = unsecret(facts, w.Hand.Clean)
	turn, err := w.Tree.Turn(w.now(), facts...)
	if err != nil {
		return exit.New(exit.Failed, "fold", err,
			"what happened does not fit what is on record: this is a bug in belay; the journal is as it was")
	}
	w.turn = turn
	if len(turn.Records) > 0 {
		recs, err := w.Log.Append(turn.Records)
		if err != nil {
			return err // not written down, so not done
		}
		if w.Seen != nil {
			w.Seen(recs)
		}
		if err := w.Ledger.Clear(recs); err != nil {
			return err
		}
		w.beat()
		w.merged(ctx, recs)
	}
	if err := errors.Join(w.clearMail(), w.giveTrees()); err != nil {
		return err
	}
	return w.release(ctx, turn.Effects)
}

// release does what was written down.
func (w *drive) release(ctx context.Context, effects []effect.Effect) error {
	for _, c := range effects {
		switch c := c.(type) {
		case effect.Do:
			failpoint.Hit("engine.before_spawn")
			ends, err := w.site().Start(ctx, w.keeper, c.Job)
			w.facts = append(w.facts, ends...)
			if err != nil {
				return err
			}
			failpoint.Hit("engine.after_spawn")
		case effect.Kill:
			_ = w.keeper.Signal(c.Key, c.Why, w.graceOf(c.Key)) // a broken connection shows as Gone
		case effect.Ask:
			if fact, ok := w.answer(ctx, c); ok {
				w.facts = append(w.facts, fact)
			}
		default:
			return fmt.Errorf("no effect of kind %T", c)
		}
	}
	return nil
}
