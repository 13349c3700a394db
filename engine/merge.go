package engine

import (
	"context"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/worktree"
)

// pose puts a conflict into the worktree of a step, for the agent that resolves it.
func (w *drive) pose(ctx context.Context, j belay.Job) error {
	if j.Agent == nil || j.Merge == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, worktreeWithin)
	defer cancel()
	order := w.Host.MergeOrder(j)
	order.Key += "+" + string(j.Key)
	order.Secret = w.secretIn()
	_, err := worktree.Conflict(ctx, order)
	return err
}

// came takes away the worktrees whose work is in the run's tree by these records.
// One that cannot go now goes at the end of the run, or with gc.
func (w *drive) came(ctx context.Context, recs []belay.Record) {
	for _, r := range recs {
		e, ok := r.Event.(belay.AttemptJudged)
		if !ok || !e.Verdict.OK || w.Unhouse == nil {
			continue
		}
		if p, _ := belay.ParseKey(e.Key); p.Role == belay.RoleMerge {
			w.Unhouse(ctx, r.Run, p.Path)
		}
	}
}

// unhouse takes away a worktree whose work is in the run's tree.
func (o *Open) unhouse(ctx context.Context, run belay.RunID, p belay.Path) {
	s := o.Tree.Run(run)
	if h := s.Home(p); h != nil && h.Merge && h.Dir != "" {
		_ = o.remove(ctx, run, p, s.Base(), h, worktree.ReasonDirty, worktree.ReasonUnpushed, worktree.ReasonIgnored) // the reasons are told at the end
	}
}
