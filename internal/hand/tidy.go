package hand

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
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

// Tidy removes the worktrees of an achieved run in which nothing is that could
// be lost, and says which are kept. A run that can go on keeps all of its own.
func (h *Hand) Tidy(ctx context.Context) []Kept {
	status := h.Tree.Status()
	var kept []Kept
	for _, id := range h.Tree.Runs() {
		s := h.Tree.Run(id)
		homes := s.Homes()
		for key, home := range homes {
			if !home.OK || home.Dir == "" {
				continue
			}
			_, step := key.Step()
			k := Kept{Dir: home.Dir, Branch: home.Ref}
			gone := status == belay.Achieved
			v, ok := s.Step(step)
			if !home.Merge && (gone || ok && v.Phase == flow.Done) {
				k.Branch = h.commit(ctx, id, step, home)
			}
			if ok && home.Merge && v.Phase == flow.Done {
				gone, k.Why = true, remove(ctx, id, step, s.Base(), home, worktree.ReasonDirty, worktree.ReasonUnpushed, worktree.ReasonIgnored)
			} else if gone {
				k.Why = remove(ctx, id, step, h.Tree.Started().Dir, home)
			}
			if !gone || len(k.Why) > 0 {
				kept = append(kept, k)
			}
		}
	}
	slices.SortFunc(kept, func(a, b Kept) int { return strings.Compare(a.Dir, b.Dir) })
	return kept
}

// commit puts what an agent left uncommitted on the branch of its worktree: that
// is where the user is told to find it. It gives the branch that has the work.
func (h *Hand) commit(ctx context.Context, run belay.RunID, step belay.Path, home *belay.Answer) string {
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
func remove(ctx context.Context, run belay.RunID, step belay.Path, repo string, h *belay.Answer, aside ...worktree.Reason) []worktree.Reason {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyWithin)
	defer cancel()
	err := worktree.Remove(ctx, worktree.Made{Repo: repo, Path: h.Dir, Branch: h.Ref, Run: run, Step: step}, false, aside...)
	var unsafe *worktree.Unsafe
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unsafe):
		return unsafe.Why
	}
	return []worktree.Reason{worktree.ReasonUnknown}
}
