package worktree

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/belay-run/belay"
)

// Prefix is where a directory lies in its working tree: "" for the top, else
// its path from there.
func Prefix(ctx context.Context, dir string) (string, error) {
	at, err := find(ctx, "", dir)
	if err != nil {
		return "", err
	}
	real, err := realPath(dir)
	if err != nil {
		return "", err
	}
	below, err := filepath.Rel(at.top, real)
	if below == "." {
		below = ""
	}
	return filepath.ToSlash(below), err
}

// At is the state that a revision stands for, as if nothing else were there.
func (t Tree) At(ctx context.Context, rev string) (belay.TreeState, error) {
	p, err := find(ctx, t.Git, t.Dir)
	if err != nil {
		return belay.TreeState{}, err
	}
	head, err := p.line(ctx, "rev-parse", "--verify", "--end-of-options", rev+"^{commit}")
	if err != nil {
		return belay.TreeState{}, err
	}
	tree, err := p.treeOf(ctx, head)
	return belay.TreeState{Repo: true, Head: head, Tree: tree}, err
}

// Top is the main working tree of the repository that a directory lies in: the
// same for all its worktrees.
func Top(ctx context.Context, dir string) (string, error) {
	out, err := git{dir: dir}.run(ctx, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return "", err
	}
	first, _, _ := strings.Cut(out, "\x00")
	return strings.TrimPrefix(first, "worktree "), nil
}
