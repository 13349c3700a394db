package hand

import (
	"context"

	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/worktree"
)

// pose puts a conflict into the worktree of a step, for the agent that resolves it.
func (h *Hand) pose(ctx context.Context, j effect.Job) error {
	if j.Agent == nil || j.Merge == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, worktreeWithin)
	defer cancel()
	order := h.Host.MergeOrder(j)
	order.Key += "+" + string(j.Key)
	order.Secret = h.secretIn()
	_, err := worktree.Conflict(ctx, order)
	return err
}
