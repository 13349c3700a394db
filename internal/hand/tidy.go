package hand

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/worktree"
)

// tidyWithin bounds the look at the worktrees of a run at its end.
const tidyWithin = time.Minute

// Kept is a worktree of an ended run that is still there.
type Kept struct {
	Dir, Branch string
	Why         []worktree.Reason
}

// Tidy removes the worktrees of an ended run in which nothing is that could be
// lost, and says which are kept. One that goes on later is made again for it.
func (h *Hand) Tidy(ctx context.Context) (kept []Kept) {
	achieved, published := h.Tree.Status() == belay.Achieved, h.published()
	for _, id := range slices.Backward(h.Tree.Runs()) { // those of a run are made from its own
		s := h.Tree.Run(id)
		for key, home := range s.Homes() {
			_, step := key.Step()
			if !home.OK || home.Dir == "" || h.taken[stepOf{id, step}] {
				continue
			}
			if home.Copy {
				worktree.Throwaway{Root: h.copyOf(id, step)}.Remove()
				continue
			}
			k := Kept{Dir: home.Dir, Branch: home.Ref}
			v, ok := s.Step(step)
			done := ok && v.Phase == flow.Done
			if !home.Merge && (achieved || done) && !h.offered() {
				k.Branch = h.commit(ctx, id, step, home)
			}
			made := worktree.Made{Path: home.Dir, Branch: home.Ref, Run: id, Step: step}
			switch {
			case home.Merge && done:
				made.Repo = s.Base()
				k.Why = remove(ctx, made, worktree.ReasonDirty, worktree.ReasonUnpushed, worktree.ReasonIgnored)
			case home.Merge && !achieved:
				made.Repo = s.Base()
				k.Why = h.removeUnused(ctx, made)
			default:
				made.Repo, made.Result, made.Local = h.Tree.Started().Dir, true, !published
				k.Why = remove(ctx, made)
			}
			if len(k.Why) == 0 {
				continue
			}
			if !achieved && !(home.Merge && done) {
				k.Why = nil // it is kept for who goes on with the run
			}
			kept = append(kept, k)
		}
	}
	slices.SortFunc(kept, func(a, b Kept) int { return strings.Compare(a.Dir, b.Dir) })
	return kept
}

// HasTrees tells whether the run made worktrees that may be there at its end.
func (h *Hand) HasTrees() bool {
	for _, id := range h.Tree.Runs() {
		for _, home := range h.Tree.Run(id).Homes() {
			if home.OK && home.Dir != "" && !home.Copy {
				return true
			}
		}
	}
	return false
}

// Kept says which worktrees of an ended run are on this machine, where another process
// tidies; nothing is touched.
func (h *Hand) Kept(ctx context.Context) (kept []Kept) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyWithin)
	defer cancel()
	achieved, repo := h.Tree.Status() == belay.Achieved, h.Tree.Started().Dir
	for _, id := range h.Tree.Runs() {
		for _, home := range h.Tree.Run(id).Homes() {
			if info, err := os.Stat(home.Dir); !home.OK || home.Copy || err != nil || !info.IsDir() {
				continue
			}
			k := Kept{Dir: home.Dir, Branch: home.Ref}
			if achieved && worktree.Glance(ctx, home.Dir).Dirty {
				k.Why = append(k.Why, worktree.ReasonDirty)
			}
			if achieved && worktree.HasWork(ctx, repo, home.Ref) && !worktree.IsMerged(ctx, repo, home.Ref) {
				k.Why = append(k.Why, worktree.ReasonUnpushed)
			}
			kept = append(kept, k)
		}
	}
	slices.SortFunc(kept, func(a, b Kept) int { return strings.Compare(a.Dir, b.Dir) })
	return kept
}

// offered tells whether the result of the run is on its branch already: nothing else is
// put there.
func (h *Hand) offered() bool {
	_, is := h.Tree.Run(h.Tree.Runs()[0]).Vars()["offered"]
	return is
}

// published tells whether a run may have pushed its branch: one of a recipe that says
// by publish what is to leave the machine has done so when it has what was published.
func (h *Hand) published() bool {
	vars := h.Tree.Run(h.Tree.Runs()[0]).Vars()
	_, says := vars["publish"]
	_, done := vars["published"]
	return done || !says
}

// commit puts what an agent left uncommitted on the branch of its worktree: that
// is where the user is told to find it. It gives the branch that has the work.
func (h *Hand) commit(ctx context.Context, run belay.RunID, step belay.Path, home *effect.AnswerWorktree) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyWithin)
	defer cancel()
	of := "run " + string(run)
	if step != "" {
		of = "step " + string(step) + " of " + of
	}
	branch, err := worktree.Commit(ctx, home.Dir, "Work of "+of+"\n\nMade by Belay, of what was not committed.", h.Host.Skip, h.secretIn())
	if err != nil || branch == "" {
		return home.Ref // it stays in the worktree, and "dirty" says so
	}
	return branch
}

// remove takes a worktree away when that is safe; otherwise it gives the reasons.
func remove(ctx context.Context, made worktree.Made, aside ...worktree.Reason) []worktree.Reason {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyWithin)
	defer cancel()
	return reasons(worktree.Remove(ctx, made, false, aside...))
}

// removeUnused takes the worktree of a step away that was not done, when all in it
// is as it began: a snapshot of a tree that nobody committed is no work of its own.
func (h *Hand) removeUnused(ctx context.Context, made worktree.Made) []worktree.Reason {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyWithin)
	defer cancel()
	return reasons(worktree.RemoveMerged(ctx, made, worktree.Tree{Skip: h.Host.Skip, Secret: h.secretIn()}))
}

func reasons(err error) []worktree.Reason {
	var unsafe *worktree.Unsafe
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unsafe):
		return unsafe.Why
	}
	return []worktree.Reason{worktree.ReasonUnknown}
}
