package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/hand"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/proc"
	"github.com/belay-run/belay/worktree"
)

// Elsewhere is a driver whose runs are driven, and whose records are kept, on other
// machines. The folder of such a run is a copy: every command that looks at a run
// can read it, and none writes into it.
type Elsewhere interface {
	// Drive lets a run begin, or go on with these facts, and brings its records into
	// the copy until it rests. Cancelling ctx stops the run in order; hard ends it at once.
	// It and Settle give Refused when a run does not begin, and call Taken when it has.
	Drive(ctx context.Context, hard <-chan struct{}, c Copy, facts []flow.Fact) error
	// Settle puts facts on record and starts nothing. It, Fetch and Begun bound their own time.
	Settle(c Copy, facts []flow.Fact) error
	// Fetch brings what the copy lacks.
	Fetch(c Copy) error
	// Begun is what a run began with, and its records; of one that is not known there
	// are none.
	Begun(id belay.RunID) (Parcel, []event.Record, error)
	// Name says what drives it, for people.
	Name() string
}

// Refused says that a run did not begin and never will: the other engine has not taken it.
type Refused struct{ Err error }

func (e *Refused) Error() string { return e.Err.Error() }
func (e *Refused) Unwrap() error { return e.Err }

// Silent says that a host does not answer, which alone has the logs and big values of a run.
type Silent struct{ Host string }

func (e *Silent) Error() string { return "host " + e.Host + " does not answer" }

// Taken is called when the other engine has taken the run, before its first record is here.
func (c Copy) Taken() {
	if c.open.taken != nil {
		c.open.taken()
	}
}

// WhenTaken has f called when the run is surely driven elsewhere; where this machine
// drives, at once.
func (o *Open) WhenTaken(f func()) {
	if o.local.Elsewhere == nil {
		f()
		return
	}
	o.taken = f
}

// found opens a run that has an empty folder here, by what began elsewhere; why is the
// error of the folder.
func (l *Local) found(id belay.RunID, why error) (*Open, error) {
	p, recs, err := l.Elsewhere.Begun(id)
	if err != nil && exit.Code(err) != exit.Invalid {
		return nil, err
	}
	if len(recs) == 0 {
		return nil, why
	}
	o, err := l.Receive(id, p, recs, l.Elsewhere.Name())
	if err == nil {
		err = o.Close()
	}
	if err != nil {
		return nil, err
	}
	return l.resume(id, true)
}

// keptAway says which worktrees of an ended run are on this machine, once its driver has
// taken away there what is not needed.
func (o *Open) keptAway(ctx context.Context) []hand.Kept {
	if !o.hands().HasTrees() {
		return nil
	}
	if e, ok := o.local.Elsewhere.(interface {
		Tidied(ctx context.Context, id belay.RunID)
	}); ok {
		e.Tidied(ctx, o.ID)
	}
	return o.hands().Kept(ctx)
}

// Brought is what came of a look for the files of a run that is driven elsewhere.
type Brought struct {
	Bytes   int64 // of logs and big values, that are new here
	Records bool  // there are records that the copy lacks
}

// Parcel is all that a run begins with, for a machine that has nothing of it.
type Parcel struct {
	Started event.RunStarted  `json:"started"`
	Blobs   map[string][]byte `json:"blobs"` // recipes, personas and big values, by digest
}

// awayName marks the folder of a run that is driven elsewhere; it says by what.
const awayName = "driven-elsewhere"

// Copy is the copy of a run that is driven elsewhere.
type Copy struct {
	open *Open
	seen func([]event.Record)
}

// ID names the run.
func (c Copy) ID() belay.RunID { return c.open.ID }

// Folder has the files of the copy.
func (c Copy) Folder() journal.Folder { return c.open.run.Folder }

// Seq is the number of the last record that the copy has.
func (c Copy) Seq() int64 { return c.open.run.Seq() }

// Tree is the run by the records of the copy; nil if it has none.
func (c Copy) Tree() *flow.Tree { return c.open.Tree }

// Inbox is what other processes ask of the run, and Remove takes it out.
func (c Copy) Inbox() ([]event.Request, error) {
	reqs, err := mailLog{c.open.run}.Inbox()
	for i := range reqs {
		reqs[i].Why, reqs[i].Choice = c.open.hands().Clean(reqs[i].Why), c.open.hands().Clean(reqs[i].Choice)
	}
	return reqs, err
}

// Remove takes requests out of the inbox.
func (c Copy) Remove(ids ...string) error { return c.open.run.Remove(ids...) }

// Parcel is what the run begins with.
func (c Copy) Parcel() (Parcel, error) {
	p := Parcel{Blobs: map[string][]byte{}}
	switch {
	case len(c.open.first) > 0:
		p.Started, _ = c.open.first[0].Event.(event.RunStarted)
	case c.open.Tree != nil:
		p.Started = c.open.Tree.Started()
	}
	shas := []string{p.Started.Recipe}
	shas = slices.AppendSeq(shas, maps.Values(p.Started.Frozen))
	shas = slices.AppendSeq(shas, maps.Values(p.Started.Personas))
	for _, v := range p.Started.Vars {
		if !v.Inline() {
			shas = append(shas, v.Sha)
		}
	}
	for _, sha := range shas {
		b, err := c.open.run.ReadBlob(sha, maxParcel)
		if err != nil {
			return Parcel{}, err
		}
		p.Blobs[sha] = b
	}
	return p, nil
}

// maxParcel is the biggest part of a parcel.
const maxParcel = 64 << 20

// Take adds records, which follow those that are there: others have them already, so
// nothing is decided, and a gap is an error.
func (c Copy) Take(recs []event.Record) error {
	o := c.open
	for len(recs) > 0 {
		n := 1
		for n < len(recs) && recs[n].Epoch == recs[0].Epoch {
			n++
		}
		batch := slices.Clone(recs[:n])
		recs = recs[n:]
		if want := o.run.Seq() + 1; batch[0].Seq != want {
			return fmt.Errorf("copy records of run %s: record %d came, and %d is next", o.ID, batch[0].Seq, want)
		}
		if err := o.run.SetEpoch(batch[0].Epoch); err != nil {
			return err
		}
		got, err := o.run.Append(batch)
		if err != nil {
			return err
		}
		if err := o.Tree.Follow(got); err != nil {
			return fmt.Errorf("copy records of run %s: %w", o.ID, err)
		}
		o.first, o.epoch, o.tail = nil, got[n-1].Epoch, got[n-1]
		if c.seen != nil {
			c.seen(got)
		}
		starts, used := o.Tree.Spent()
		o.run.Beat(journal.Sign{
			Phase: string(o.Tree.Status()), Done: o.Tree.Done(), Micros: used.MicroUSD, Redone: o.Tree.Done() - stepsDone(o.Tree),
			Untold: starts > 0 && used.MicroUSD == 0,
		})
	}
	return nil
}

// Last is the last record that the copy has.
func (c Copy) Last() event.Record { return c.open.tail }

// Cut takes the records after a number out of the copy, because the run has others in
// their place. The first one stays.
func (c Copy) Cut(after int64) error {
	o := c.open
	if err := o.run.Cut(after); err != nil {
		return fmt.Errorf("cut the copy of run %s: %w", o.ID, err)
	}
	live, session := o.live, o.session
	o.hand, o.recent = nil, nil // the hand knows the tree as it was
	err := o.load()
	if o.session = session; live == nil {
		o.live, o.recent = nil, nil // who wanted them has them
	}
	return err
}

// Copy is the copy of a run that is open.
func (o *Open) Copy() Copy { return Copy{open: o} }

// Receive makes a place on this machine for a run that is driven elsewhere, or opens
// it again: a parcel, and the records so far, with the first at least.
func (l *Local) Receive(id belay.RunID, p Parcel, recs []event.Record, by string) (*Open, error) {
	o, err := l.place(id, p, recs, by)
	if err != nil {
		return nil, err
	}
	if missing := o.run.Seq(); missing < int64(len(recs)) {
		err = o.Copy().Take(recs[missing:])
	}
	if s := p.Started.Session; err == nil && s != nil && s.Depth > 0 {
		o.session = *s // the process that waits for it inside a step has the place
		err = o.openBooks(Origin{})
	} else if err == nil {
		o.session, err = o.enter()
	}
	if err == nil {
		err = o.announce(p.Started.Limits)
	}
	if err == nil {
		err = o.note(p.Started, ResultOf(o.Tree))
	}
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

func (l *Local) place(id belay.RunID, p Parcel, recs []event.Record, by string) (*Open, error) {
	self, err := proc.Self()
	if err != nil {
		return nil, fmt.Errorf("identify this process: %w", err)
	}
	run, err := l.State.Create(id)
	if errors.Is(err, journal.ErrExists) {
		return l.resume(id, true)
	}
	if err != nil {
		return nil, err
	}
	o := &Open{ID: id, local: l, run: run, self: self, books: books{state: l.State, name: id}}
	for _, b := range p.Blobs {
		if _, err := run.PutBlob(b); err != nil {
			return nil, errors.Join(err, run.Discard())
		}
	}
	lib, err := loadFrozen(event.Record{Run: id, Event: p.Started}, run)
	if err == nil {
		err = o.away(by)
	}
	if err == nil {
		o.Tree = flow.NewTree(id, lib)
		err = o.Copy().Take(recs)
	}
	if err != nil {
		return nil, errors.Join(err, run.Discard())
	}
	return o, nil
}

// away marks the folder of a run that is driven elsewhere.
func (o *Open) away(by string) error {
	return os.WriteFile(filepath.Join(string(o.run.Folder), awayName), []byte(by+"\n"), 0o600)
}

// IsElsewhere tells whether the folder of a run is a copy of one that is driven
// elsewhere.
func IsElsewhere(f journal.Folder) bool {
	_, err := os.Stat(filepath.Join(string(f), awayName))
	return err == nil
}

// home refuses to drive a run here that is driven elsewhere.
func (o *Open) home() error {
	b, err := os.ReadFile(filepath.Join(string(o.run.Folder), awayName))
	if errors.Is(err, os.ErrNotExist) || err == nil && o.local.Elsewhere != nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look who drives the run: %w", err)
	}
	return exit.New(exit.Invalid, "open run", fmt.Errorf("run %s is driven by %s, and this is a copy of it", o.ID, string(b[:max(0, len(b)-1)])),
		"use the program and the engine that started it")
}

// Site is where the attempts of the run are made on this machine.
func (o *Open) Site() Site {
	return Site{Hand: o.hands(), Ledger: indexLedger{o}, Now: time.Now}
}

// Keeper reaches the run's keeper on this machine, or starts one.
func (o *Open) Keeper(ctx context.Context, epoch int64, open []belay.Key) (Keeper, map[belay.Key]proc.State, error) {
	return o.attach(ctx, epoch, open)
}

// driveAway has the run driven elsewhere.
func (o *Open) driveAway(ctx context.Context, hard <-chan struct{}, seen func([]event.Record), facts []flow.Fact) (belay.RunResult, error) {
	if err := o.away(o.local.Elsewhere.Name()); err != nil {
		return belay.RunResult{}, err
	}
	facts = unsecret(facts, func(text string) string { return o.hands().Clean(text) })
	if err := o.local.Elsewhere.Drive(ctx, hard, Copy{open: o, seen: seen}, facts); err != nil {
		o.refusedBy(err)
		return belay.RunResult{Status: belay.Running}, err
	}
	r := o.Result()
	var coded interface{ ExitCode() int }
	if r.Status == belay.Stopped && errors.As(context.Cause(ctx), &coded) {
		r.Code = coded.ExitCode()
	}
	return r, o.note(o.Tree.Started(), r)
}

// writeAway has facts put on record elsewhere; first is the start of a new run.
func (o *Open) writeAway(facts []flow.Fact) ([]event.Record, error) {
	var got []event.Record
	c := Copy{open: o, seen: func(recs []event.Record) { got = append(got, recs...) }}
	err := o.away(o.local.Elsewhere.Name())
	if err == nil {
		err = o.local.Elsewhere.Settle(c, facts)
	}
	o.refusedBy(err)
	return got, err
}

// refusedBy sees to it that nothing is left of a run that was refused.
func (o *Open) refusedBy(err error) {
	var no *Refused
	o.refused = !o.Begun() && errors.As(err, &no)
}

// Records are all that the copy has.
func (c Copy) Records() ([]event.Record, error) { return c.open.run.Load() }

// Carry is how the files of the run get to another machine, by a repository of git that
// both reach; dir is in its checkout.
func (o *Open) Carry(dir string) worktree.Carry { return o.hands().Carry(dir) }

// Carry is that of the directory that the run is started in.
func (c Copy) Carry(dir string) worktree.Carry { return c.open.Carry(dir) }

// Folder has the files of the run on this machine.
func (o *Open) Folder() journal.Folder { return o.run.Folder }

// Labels are those that a worker has to have that makes the attempts of the run: of its
// recipe, its steps and all recipes that they may call.
func (c Copy) Labels() []string {
	var all []string
	if c.open.Tree == nil {
		return nil
	}
	for _, r := range c.open.Tree.Library().Recipes {
		all = append(all, r.RunsOn...)
		for i := range r.Steps {
			all = append(all, r.Steps[i].RunsOn...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Waits tells who lists runs what the run waits for.
func (c Copy) Waits(what string) { c.open.run.Beat(journal.Sign{Phase: journal.WaitsFor(what)}) }
