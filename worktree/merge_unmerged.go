package worktree

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// hold puts a step's own work on the branch of its worktree, when it could not be
// merged: then somebody can do that with git. Uncommitted work of the user is not
// in it; so where there was some, commits of the step, which may have it, are not
// on the branch either. Files are not touched.
func (m *merger) hold(ctx context.Context) error {
	if z, err := m.posed(); err != nil || len(z.Files) > 0 {
		return err // it is there since the conflict was found
	}
	ours, theirs, err := m.looks(ctx)
	if err != nil || theirs.Head == "" {
		return err
	}
	t, _, err := m.run.threeTrees(ctx, m.own.Base.Tree, ours.Tree, theirs.Tree)
	if err != nil {
		return err
	}
	f, err := m.carried(ctx, *m.own.Base, theirs.Head, t)
	if err != nil {
		return err
	}
	tree, err := m.ownWork(ctx, f)
	if err != nil {
		return err
	}
	parent := theirs.Head
	if commit, ok := strings.CutSuffix(f.stand, "^{tree}"); ok && !m.own.Base.Clean {
		parent = commit
	}
	message := fmt.Sprintf("Work of step %s of run %s\n\nMade by Belay, because it could not be merged.", m.o.Step, m.o.Run)
	if err := m.lay(ctx, parent, tree, message); err != nil {
		return fmt.Errorf("put the work on branch %s: %w", m.branch, err)
	}
	return nil
}

// lay makes a tree the tip of the worktree's branch. The worktree stays at its
// commit, without the branch: who resolves the conflict there sees it as it was.
func (m *merger) lay(ctx context.Context, parent, tree, message string) error {
	head, on, err := m.step.head(ctx)
	if err != nil {
		return err
	}
	was, err := m.step.tip(ctx, m.branch)
	if err != nil {
		return err
	}
	tip, err := m.step.grown(ctx, was, parent, tree, message)
	if err != nil || tip == was {
		return err
	}
	if on == m.branch {
		if err := m.step.patient(ctx, "update-ref", "--no-deref", "-m", "belay: the branch gets the work", "HEAD", head); err != nil {
			return err
		}
	}
	return m.step.patient(ctx, "update-ref", "-m", "belay: work that could not be merged", "--end-of-options", "refs/heads/"+m.branch, tip)
}

// ownWork is the commit's tree that a step's work stands on, with that work and
// nothing else. Lines that cannot be told from the user's are in it as they are.
func (m *merger) ownWork(ctx context.Context, f fair) (string, error) {
	stand, err := m.step.line(ctx, "rev-parse", "--verify", f.stand)
	if err != nil {
		return "", err
	}
	w, err := m.step.threeWay(ctx, three{base: f.base, ours: stand, theirs: f.theirs})
	if err != nil || len(w.clashes) == 0 {
		return w.tree, err
	}
	edits, err := m.step.edits(ctx, w.tree, f.theirs)
	if err != nil {
		return "", err
	}
	clash := map[string]bool{}
	for _, c := range w.clashes {
		clash[c.Path] = true
	}
	var list []delta
	for _, e := range edits {
		if clash[e.path] {
			list = append(list, e)
		}
	}
	return m.step.edited(ctx, w.tree, list)
}

// grown is a commit with a tree on top of another one, which may have the tree
// already; and so may what is there.
func (p place) grown(ctx context.Context, there, parent, tree, message string) (string, error) {
	seen, err := p.describe(ctx, []string{there, parent})
	if err != nil {
		return "", err
	}
	is := seen[there]
	switch {
	case seen[parent].tree == tree:
		return parent, nil
	case is.tree == tree && len(is.parents) > 0 && is.parents[0] == parent:
		return there, nil
	}
	return commitTree(ctx, p.signed(ctx), tree, parent, message)
}

// signed commits as the user, or as Belay where git does not know who that is.
func (p place) signed(ctx context.Context) git {
	if _, err := p.run(ctx, "var", "GIT_COMMITTER_IDENT"); err == nil {
		return p.git
	}
	return p.with(author("")...)
}

// Commit puts what is uncommitted in a worktree on the branch that is checked out
// there, and gives that branch; "" = none is. Files that are too big for a commit or
// hold a known secret are left out, and so are ignored ones.
func Commit(ctx context.Context, dir, message string, skip []string, secret func(io.Reader) bool) (string, error) {
	p, err := find(ctx, "", dir)
	if err != nil {
		return "", err
	}
	now := Tree{Dir: dir, Skip: skip, Secret: secret}.State(ctx)
	switch {
	case now.Error != "":
		return "", fmt.Errorf("look at %s: %s", dir, now.Error)
	case now.Head == "" || now.Branch == "" || p.midway() != "" || !now.Dirty:
		return now.Branch, nil
	}
	tree, _, err := p.kept(ctx, now.Tree)
	if err != nil {
		return "", err
	}
	tip, err := p.grown(ctx, now.Head, now.Head, tree, message)
	if err != nil || tip == now.Head {
		return now.Branch, err
	}
	if err := p.patient(ctx, "update-ref", "-m", "belay: work that was not committed", "HEAD", tip, now.Head); err != nil {
		return "", err
	}
	if err := p.patient(ctx, "read-tree", tip); err != nil {
		return "", err
	}
	_, _ = p.run(ctx, "update-index", "-q", "--refresh") // what is changed makes it fail
	return now.Branch, nil
}
