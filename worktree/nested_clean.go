package worktree

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// errMissed is given for a worktree with repositories inside that could not be
// looked at, or are too deep: nobody knows what is in them.
var errMissed = errors.New("a repository inside was not looked at")

// forgive takes a second look at worktrees that are kept for uncommitted files
// and for nothing worse: one is not dirty when each of those files, as it lies
// there and as it is staged, was committed in the meantime, and a branch, a
// remote or a tag has those commits. In doubt it stays dirty.
func (g git) forgive(ctx context.Context, list []*Owned) {
	var kept []Kept
	at := map[string]*Owned{} // by the path of the worktree
	for _, o := range list {
		if !o.onlyDirty() {
			continue
		}
		both, err := g.lying(ctx, o.Path)
		if err != nil {
			continue
		}
		at[o.Path] = o
		kept = append(kept, both...)
	}
	if len(kept) == 0 {
		return
	}
	h, err := g.historyOf(ctx, kept)
	if err != nil {
		return
	}
	for _, k := range kept {
		inside := slices.ContainsFunc(h.edits[k.Commit], func(e string) bool { return strings.HasPrefix(e, "160000 ") })
		if !h.knows(k) || h.holds(k) || inside { // the commits of a repository inside are only there
			delete(at, k.Ref)
		}
	}
	for _, o := range at {
		o.Dirty, o.committed = false, true
		o.Why = slices.DeleteFunc(o.Why, func(r Reason) bool { return r == ReasonDirty })
		o.Safe = len(o.Why) == 0
	}
}

// onlyDirty tells whether uncommitted files are what keeps a worktree; those that
// git ignores are for others to speak about.
func (o *Owned) onlyDirty() bool {
	return o.Kind == KindWorktree && o.Dirty && o.Exists &&
		!slices.ContainsFunc(o.Why, func(r Reason) bool { return r != ReasonDirty && r != ReasonIgnored })
}

// lying are the files of a worktree as they lie there and as they are staged, as
// snapshots that nothing refers to. The path stands for the ref.
func (g git) lying(ctx context.Context, path string) ([]Kept, error) {
	missed := false
	p, err := Tree{Dir: path, Git: g.program, missed: &missed}.look(ctx, 0)
	if err == nil && missed {
		err = errMissed
	}
	if err != nil {
		return nil, err
	}
	index, err := g.in(path).line(ctx, "write-tree")
	if err != nil {
		return nil, err // a merge is not done
	}
	var list []Kept
	for _, tree := range []string{p.Tree, index} {
		p.Tree = tree
		id, err := commitTree(ctx, g.with(author("@1 +0000")...), p.Tree, p.Head, "files of a worktree")
		if err != nil {
			return nil, err
		}
		list = append(list, Kept{Ref: path, Commit: id, Tree: tree, Parent: p.Head})
	}
	return list, nil
}
