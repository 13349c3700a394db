package temporal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/worktree"
)

// Cloned says when a run has a checkout that its host cloned. What is made there stays
// there: nothing is pushed.
type Cloned string

// The ways.
const (
	CloneAlways Cloned = "always" // the directory of the client is not used
	CloneAway   Cloned = "away"   // only where the directory is not, or is at another commit
)

// From where a new run is cloned, if nobody says it, and how to say that it is not.
const (
	CloneUsual = "origin"
	CloneNever = "none"
)

const (
	cloneWithin = 25 * time.Minute
	cloneTries  = 4                // of a clone, before a person is asked
	reachWithin = 20 * time.Second // for a remote to answer
	nearTries   = 3                // of a host that would have to clone: one that has the directory may be there
	nearWithin  = 2 * time.Second  // for the worker of the client's own machine to answer
	reposName   = "repos"          // of the folder of what was cloned, in the state directory
)

// pushes tells whether what is made goes to a remote.
func (c *Carry) pushes() bool { return c != nil && c.Clone == "" }

// housed tells whether the run has a checkout of its own, wherever its host is.
func (c *Carry) housed() bool { return c != nil && c.Clone != CloneAway }

// cloned says from where a host can clone what a new run begins with. Where nobody named
// a remote, only what is the same as in the directory may be cloned; else it says why the
// run stays where the directory is.
func (e *Engine) cloned(ctx context.Context, c engine.Copy, dir string) (*Carry, string, error) {
	if e.CloneFrom == CloneNever {
		return nil, "", nil
	}
	asked, remote, how := e.CloneFrom != "", CloneUsual, CloneAway
	if asked {
		remote, how = e.CloneFrom, CloneAlways
	}
	o, why, err := worktree.OriginOf(ctx, dir, remote, asked)
	switch {
	case err != nil && !asked:
		return nil, "the repository cannot be looked at", nil
	case err != nil:
		return nil, "", exit.New(exit.Infra, "look for the commit of the run", err, "check --clone-from: it has to be a remote of git that this machine and all workers can read")
	case why != "" && asked:
		return nil, "", exit.New(exit.Invalid, "clone the directory of the run", errors.New(why),
			"push it, as with git push "+remote+" HEAD; or take the files along as they are: --snapshots-to "+remote+"; or use the directory of a worker that has it: --clone-from "+CloneNever)
	case o.Top == "": // it is in no repository: the run stays where the directory is
		return nil, "", nil
	case why != "":
		return nil, why, nil
	case o.Loose > 0 && !asked:
		return nil, files(o.Loose) + " not committed", nil
	case o.Loose > 0 && e.Say != nil:
		e.Say(files(o.Loose) + " not committed, and not in the checkout of the run; --snapshots-to " + remote + " takes them along")
	}
	return &Carry{
		Remote: o.Remote, Dir: dir, Top: o.Top, Below: o.Below, Folder: string(c.Folder()),
		Snap: Snap{Commit: o.Commit}, Clone: how, Branch: o.Branch,
	}, "", nil
}

func files(n int) string {
	if n == 1 {
		return "1 file is"
	}
	return fmt.Sprintf("%d files are", n)
}

// has says why a host does not have the directory of a run; nil = it has.
func (h *Host) has(ctx context.Context, dir string, c *Carry) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is no directory", dir)
	case c == nil:
		return nil
	}
	if at, err := (worktree.Tree{Dir: dir}).At(ctx, "HEAD"); err != nil || at.Head != c.Snap.Commit {
		return errors.Join(fmt.Errorf("%s is not at commit %.12s", dir, c.Snap.Commit), err)
	}
	return nil
}

// fits says why a run cannot be here; nil = it can.
func (h *Host) fits(ctx context.Context, in PlaceIn) error {
	c := in.Carry
	if c == nil && in.Dir == "" {
		return nil
	}
	if c == nil || c.Clone == CloneAway {
		err := h.has(ctx, in.Dir, c)
		if err == nil || c == nil {
			return err
		}
		if activity.GetInfo(ctx).Attempt <= nearTries {
			return fmt.Errorf("another one may have the directory: %w", err)
		}
	}
	if c.Clone == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, reachWithin)
	defer cancel()
	return worktree.Reach(ctx, c.Remote)
}

// clone makes the checkout of the run. What goes wrong is tried again, for a while.
func (p *place) clone(ctx context.Context, c *Carry) error {
	at, cancel := context.WithTimeout(ctx, cloneWithin)
	defer cancel()
	f := worktree.Fetched{
		Remote: c.Remote, Commit: c.Snap.Commit, Branch: c.Branch, Dir: p.checkout(),
		Kept: filepath.Join(p.host.Engine.State.Dir(), reposName),
	}
	p.made = p.made || !f.Made()
	err := f.Run(at)
	var none *worktree.NotThere
	if err != nil && ctx.Err() == nil && (errors.As(err, &none) || activity.GetInfo(ctx).Attempt >= cloneTries) {
		return temporal.NewNonRetryableApplicationError(worktree.Bare(err.Error()), errUncloned, nil)
	}
	return err
}

// errUncloned is the type of the error of a host that cannot make the checkout of a run.
const errUncloned = "uncloned"

// uncloned is what a person has to know who has to act; "" = nothing is wrong with that.
func (w *drive) uncloned(err error) string {
	var app *temporal.ApplicationError
	if !errors.As(err, &app) || app.Type() != errUncloned {
		return ""
	}
	return fmt.Sprintf("host %s could not make the checkout of the run: %s. Push the commit, or see to it that the host can read the repository, and type: %s resume %s",
		w.in.Host, app.Message(), Program, w.in.Run)
}

// settled takes in where the files of the run turned out to be.
func (w *drive) settled(got Attached) {
	if w.in.Carry == nil || w.in.Carry.Clone != CloneAway {
		return
	}
	c := *w.in.Carry // the one that was given to activities stays as it was
	c.Clone = CloneAlways
	if w.in.Carry = &c; got.Here {
		w.in.Carry = nil
	}
}

// attached is what is on record of a host that took the run.
func (w *drive) attached(got Attached) event.RunAttached {
	e := event.RunAttached{
		Epoch: w.epoch, Version: w.version, Start: w.in.Drives, Boot: "temporal", Containment: got.Containment,
		Host: w.in.Host, Lost: w.lost, From: w.from(), Dir: got.Dir,
	}
	if got.Made {
		e.Clone, e.From = w.in.Carry.Remote, w.in.Carry.Snap.Commit
	}
	return e
}
