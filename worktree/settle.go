package worktree

import (
	"context"
	"fmt"
	"slices"

	"github.com/belay-run/belay"
)

// maxSettled is how often something else may be found in one worktree and be kept.
const maxSettled = 100

// Settle brings a worktree back to a commit of its branch, and gives the refs under
// which it kept what else was there: files that are not committed, and commits that the
// branch or HEAD had. Ignored files and repositories inside stay where they are.
func Settle(ctx context.Context, dir string, run belay.RunID, step belay.Path, branch, commit string) ([]string, error) {
	p, err := find(ctx, "", dir)
	if err != nil {
		return nil, fmt.Errorf("settle: %w", err)
	}
	c, err := p.standsAt(ctx)
	if err == nil {
		err = p.unflag(ctx) // what git looks away from is there, too
	}
	if err != nil {
		return nil, fmt.Errorf("settle: %w", err)
	}
	out, err := p.run(ctx, "status", "--porcelain", "-z", "--untracked-files=all")
	if err != nil {
		return nil, fmt.Errorf("settle: %w", err)
	}
	if out == "" && c.Commit == commit && c.Branch == branch {
		return nil, nil
	}
	refs, err := p.keepAll(ctx, c, run, step, branch, commit)
	if err != nil {
		return nil, fmt.Errorf("settle: keep what is there: %w", err)
	}
	if err := p.patient(ctx, "checkout", "-q", "-f", "-B", branch, commit); err != nil {
		return refs, fmt.Errorf("settle: %w", err)
	}
	if _, err := p.run(ctx, "clean", "-fdq"); err != nil {
		return refs, fmt.Errorf("settle: %w", err)
	}
	return refs, nil
}

// keepAll keeps the files as they are, on top of HEAD, and the tip of the branch, as far
// as the commit that is gone back to does not have them.
func (p place) keepAll(ctx context.Context, c Checkout, run belay.RunID, step belay.Path, branch, commit string) ([]string, error) {
	tree, err := p.treeNow(ctx)
	if err != nil {
		return nil, err
	}
	tip, err := p.line(ctx, "for-each-ref", "--format=%(objectname)", "refs/heads/"+branch)
	if err != nil {
		return nil, err
	}
	trees, err := p.treesOf(ctx, c.Commit, commit)
	if err != nil {
		return nil, err
	}
	var refs []string
	keep := func(tree, id string) error {
		ref, err := p.keepOnce(ctx, run, step, tree, id)
		if err == nil && !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
		return err
	}
	if tree != trees[c.Commit] && tree != trees[commit] {
		err = keep(tree, c.Commit)
	}
	for _, id := range slices.Compact([]string{c.Commit, tip}) {
		if id == "" || err != nil {
			continue
		}
		if id == c.Commit && len(refs) > 0 { // it is below what was kept
			continue
		}
		var more string
		if more, err = p.line(ctx, "rev-list", "--max-count=1", id, "--not", commit); err == nil && more != "" {
			err = keep("", id)
		}
	}
	return refs, err
}

// keepOnce puts the next free ref of a step at a commit, or at one of a tree on top of
// it. What an earlier try kept is not kept twice.
func (p place) keepOnce(ctx context.Context, run belay.RunID, step belay.Path, tree, id string) (string, error) {
	for n := 1; n <= maxSettled; n++ {
		ref := SnapshotRef(run, step, n)
		was, err := p.line(ctx, "for-each-ref", "--format=%(objectname) %(tree) %(parent)", ref)
		switch {
		case err != nil:
			return "", err
		case was == "" && tree == "":
			_, err = p.run(ctx, "update-ref", "--end-of-options", ref, id)
			return ref, err
		case was == "":
			_, err = p.keepCommit(ctx, ref, tree, id, "what else was in the worktree of run "+string(run)+"\n\nKept by Belay before it went back to what it judged.")
			return ref, err
		case len(was) > len(id) && was[:len(id)] == id && tree == "", tree != "" && was[len(p.zero)+1:] == tree+" "+id:
			return ref, nil
		}
	}
	return "", fmt.Errorf("there are %d refs of step %s already", maxSettled, step)
}
