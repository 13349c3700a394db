package hand

import (
	"context"
	"slices"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/worktree"
)

// treeIn is a checkout as it is looked at.
func (h *Hand) treeIn(dir string) worktree.Tree {
	return worktree.Tree{Dir: dir, Skip: h.Host.Skip, Secret: h.secretIn()}
}

// keepBeside keeps what is not committed in a checkout that nobody is to work in.
func (h *Hand) keepBeside(ctx context.Context, run belay.RunID, dir string) *worktree.Before {
	ctx, cancel := context.WithTimeout(ctx, treeWithin)
	defer cancel()
	b := worktree.KeepBeside(ctx, h.treeIn(dir), run)
	if b.Why = h.Clean(b.Why); b.Why != "" && ctx.Err() != nil {
		b.Why = "to look at it takes longer than " + treeWithin.String()
	}
	return &b
}

// takenBeside finds what is gone of it, and adds the files to those that changed: a look at
// sizes and times does not see what happens deep in a folder that is in no commit.
func (h *Hand) takenBeside(ctx context.Context, u *effect.UserCheckout, b *worktree.Before, changed []string) []string {
	if b.Ref == "" {
		if len(changed) > 0 {
			u.Unkept = b.Why
		}
		return changed
	}
	ctx, cancel := context.WithTimeout(ctx, treeWithin)
	defer cancel()
	t, err := b.BesideSince(ctx, h.treeIn(u.Dir))
	if err != nil {
		u.Kept, u.Unkept = b.Ref, h.Clean(err.Error())
		return changed
	}
	for _, list := range [][]string{t.Gone, t.Replaced, t.NoCopy} {
		for _, path := range list {
			if !slices.Contains(changed, path) {
				changed = append(changed, path)
			}
		}
	}
	if len(t.Gone)+len(t.Replaced) > 0 {
		u.Kept = b.Ref
	}
	u.Gone = h.someOf(t.Gone)
	u.Replaced = h.someOf(t.Replaced)
	u.MoreGone = len(t.Gone) + len(t.Replaced) - len(u.Gone) - len(u.Replaced)
	u.NoCopy = h.someOf(t.NoCopy)
	return changed
}

// someOf are the first of many paths, as they may be on record.
func (h *Hand) someOf(list []string) []string {
	var some []string
	for _, path := range list[:min(len(list), mostInCheckout)] {
		some = append(some, h.Clean(path))
	}
	return some
}
