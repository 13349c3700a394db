package hand

import (
	"context"
	"path/filepath"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/worktree"
)

// worktreeFor makes the worktree of a run or of a step, or finds it again.
func (h *Hand) worktreeFor(ctx context.Context, q belay.Worktree, run belay.RunID) belay.Answer {
	q.Text = h.Clean(q.Text)
	a, err := h.makeWorktree(ctx, q, run)
	if err != nil {
		return belay.Answer{Error: h.Clean(err.Error())}
	}
	return a
}

func (h *Hand) makeWorktree(ctx context.Context, q belay.Worktree, run belay.RunID) (belay.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, worktreeWithin)
	defer cancel()
	how := worktree.Options{
		Run: run, Step: q.Step, Branch: worktree.Branch(q.Text, "belay", 0, run),
		Root: h.Trees, Include: worktree.Include{Patterns: h.Include},
	}
	if q.Merge {
		how.From, how.Skip, how.Secret = worktree.FromState, h.Host.Skip, h.secretIn()
	}
	if q.Wish {
		if ok, why := worktree.CanIsolate(ctx, q.Dir, how.Root); !ok {
			return belay.Answer{OK: true, Error: why}, ctx.Err()
		}
	}
	made, err := worktree.Create(ctx, q.Dir, how)
	if err != nil {
		return belay.Answer{}, err
	}
	below, err := worktree.Prefix(ctx, q.Dir)
	return belay.Answer{OK: true, Dir: filepath.Join(made.Path, below), Ref: made.Branch, Merge: q.Merge}, err
}

// TakeAway takes away the worktree of a step whose work is in the run's tree. One
// that cannot go now goes at the end of the run, or with gc.
func (h *Hand) TakeAway(ctx context.Context, run belay.RunID, p belay.Path) {
	s := h.Tree.Run(run)
	if a := s.Home(p); a != nil && a.Merge && a.Dir != "" {
		_ = remove(ctx, run, p, s.Base(), a, worktree.ReasonDirty, worktree.ReasonUnpushed, worktree.ReasonIgnored) // the reasons are told at the end
	}
}
