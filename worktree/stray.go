package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Strays looks at the worktrees in a folder that holds nothing but worktrees of
// Belay's, less those that are known already. The mark of one goes when git
// deletes its branch, and its work may still be there: such a one is foreign,
// and is never safe to go.
func Strays(ctx context.Context, root string, known map[string]bool) ([]Owned, error) {
	root, err := realPath(root)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for worktrees: %w", err)
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, fmt.Errorf("look for worktrees: %w", err)
	}
	var list []Owned
	for _, e := range entries {
		if path := filepath.Join(root, e.Name()); !known[path] {
			list = append(list, stray(ctx, path))
		}
	}
	return list, nil
}

// stray looks at one folder. Git is asked in the folder that all worktrees of
// the repository share: that one stays when the worktree goes.
func stray(ctx context.Context, path string) Owned {
	foreign := Owned{Kind: KindWorktree, Path: path, Exists: true, Why: []Reason{ReasonForeign}}
	at, err := find(ctx, "", path)
	if err != nil || at.top != path {
		return foreign // git knows nothing of it
	}
	common, err := at.common(ctx)
	if err != nil {
		return foreign
	}
	g := at.in(common)
	list, err := g.worktrees(ctx)
	if err != nil {
		return foreign
	}
	marks, err := g.owners(ctx)
	if err != nil {
		return foreign
	}
	for branch, own := range found(marks, list) {
		if own.Path == path {
			return g.assess(ctx, branch, own, list)
		}
	}
	i := slices.IndexFunc(list, func(w linked) bool { return w.path == path })
	if i < 0 {
		return foreign
	}
	o := g.assess(ctx, list[i].branch, owner{Path: path, Ready: true}, list)
	o.Why, o.Safe = append([]Reason{ReasonForeign}, o.Why...), false
	return o
}
