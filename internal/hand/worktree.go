package hand

import (
	"context"
	"path/filepath"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/worktree"
)

// worktreeFor makes the worktree of a run or of a step, or finds it again.
func (h *Hand) worktreeFor(ctx context.Context, q effect.AskWorktree, run belay.RunID) effect.AnswerWorktree {
	q.Text = h.Clean(q.Text)
	delete(h.taken, stepOf{run, q.Step})
	a, err := h.makeWorktree(ctx, q, run)
	if err != nil {
		return effect.AnswerWorktree{Error: h.Clean(err.Error())}
	}
	return a
}

func (h *Hand) makeWorktree(ctx context.Context, q effect.AskWorktree, run belay.RunID) (effect.AnswerWorktree, error) {
	ctx, cancel := context.WithTimeout(ctx, worktreeWithin)
	defer cancel()
	how := worktree.Options{
		Run: run, Step: q.Step, Branch: worktree.Branch(q.Text, "belay", 0, run),
		Root: h.Trees, Include: worktree.Include{Patterns: h.Include},
	}
	if q.Merge {
		how.From, how.Skip, how.Secret = worktree.FromState, h.Host.Skip, h.secretIn()
	}
	if q.Optional {
		if ok, why := worktree.CanIsolate(ctx, q.Dir, how.Root); !ok {
			return effect.AnswerWorktree{OK: true, Error: why}, ctx.Err()
		}
	}
	made, err := worktree.Create(ctx, q.Dir, how)
	if err != nil {
		return effect.AnswerWorktree{}, err
	}
	below, err := worktree.Prefix(ctx, q.Dir)
	return effect.AnswerWorktree{OK: true, Dir: filepath.Join(made.Path, below), Ref: made.Branch, Merge: q.Merge}, err
}

// TakeAway takes away the worktree of a step whose work is in the run's tree. One
// that cannot go now goes at the end of the run, or with gc.
func (h *Hand) TakeAway(ctx context.Context, run belay.RunID, p belay.Path) {
	s := h.Tree.Run(run)
	if a := s.Home(p); a != nil && a.Merge && a.Dir != "" {
		made := worktree.Made{Repo: s.Base(), Path: a.Dir, Branch: a.Ref, Run: run, Step: p}
		why := remove(ctx, made, worktree.ReasonDirty, worktree.ReasonUnpushed, worktree.ReasonIgnored) // the reasons are told at the end
		h.taken[stepOf{run, p}] = len(why) == 0
	}
}

// stepOf names a step of a run.
type stepOf struct {
	run  belay.RunID
	step belay.Path
}
