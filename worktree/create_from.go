package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/belay-run/belay"
)

// begin finds the commit that the worktree begins at: always one of the user's.
// What is not committed lies in the worktree as it lies in the tree of the run,
// so that git does there what it would do here: it carries work along or refuses.
func (b *builder) begin(ctx context.Context) (err error) {
	if b.o.From == FromHead {
		b.own.Start, err = b.start(ctx)
		return err
	}
	p := Tree{Dir: b.dir, Git: b.program, Skip: b.o.Skip, Secret: b.o.Secret}.State(ctx)
	switch {
	case p.Error != "":
		return fmt.Errorf("look at the files as they are: %s", p.Error)
	case !p.Repo || p.Head == "":
		return errors.New("there is no commit yet")
	}
	b.own.Start = p.Head
	if p.Dirty { // so that nobody's housekeeping takes away what the work is measured from
		message := fmt.Sprintf("Files as they were when step %s of run %s began", b.o.Step, b.o.Run)
		if _, err := (Tree{Dir: b.dir, Git: b.program}).Snapshot(ctx, p, baseRef(b.o.Run, b.o.Step), message); err != nil {
			return err
		}
	}
	b.own.Base = &Base{Tree: p.Tree, Commit: p.Head, Head: p.Head, Branch: p.Branch, Clean: !p.Dirty}
	if !p.Dirty {
		return nil
	}
	from, err := find(ctx, b.program, b.dir)
	if err == nil {
		b.own.Base.Staged, err = from.staged(ctx)
	}
	return err
}

// baseRef is the name under which the files are kept that a worktree began with.
func baseRef(run belay.RunID, step belay.Path) string {
	return refRoot + refPart(string(run)) + "/" + refPart(string(step)) + ".begin"
}

// unfold puts uncommitted work into a new worktree: the files, and what is staged.
func (b *builder) unfold(ctx context.Context) error {
	base := b.own.base()
	if base.Tree == "" || base.Clean {
		return nil
	}
	files, _, err := b.kept(ctx, base.Tree)
	if err != nil {
		return err
	}
	g := b.in(b.own.Path)
	for _, args := range [][]string{{"read-tree", "--reset", "-u", files}, {"read-tree", base.Staged}} {
		if _, err := g.run(ctx, args...); err != nil {
			return fmt.Errorf("put uncommitted work into the worktree: %w", err)
		}
	}
	_, _ = g.run(ctx, "update-index", "-q", "--refresh") // so that no command has to read all files; what is changed makes it fail
	return nil
}

// staged is the tree of the index; where files in it are in conflict it is HEAD's.
func (p place) staged(ctx context.Context) (string, error) {
	own, done, err := p.apart(ctx) // git writes into an index of which it makes a tree
	if err != nil {
		return "", err
	}
	defer done()
	if tree, err := own.line(ctx, "write-tree"); err == nil || ctx.Err() != nil {
		return tree, ctx.Err()
	}
	return own.line(ctx, "rev-parse", "--verify", "HEAD^{tree}")
}

// base is the state that the worktree began at.
func (o owner) base() Base {
	if o.Base == nil {
		return Base{}
	}
	return *o.Base
}

// furnish puts into a new worktree what no commit holds: the folder that it was
// asked for from, files that are too
// big for a snapshot or hold a known secret, ignored files.
func (b *builder) furnish(ctx context.Context) error {
	from, err := find(ctx, b.program, b.dir)
	if err != nil {
		return err
	}
	if b.own.Base != nil {
		if err := b.unfold(ctx); err != nil {
			return err
		}
		if err := b.remember(ctx); err != nil {
			return err
		}
		below, err := Prefix(ctx, b.dir)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Join(b.own.Path, below), 0o777); err != nil { // as the user's umask says
			return fmt.Errorf("make the folder of the step: %w", err)
		}
		if err := b.bulky(ctx, from); err != nil {
			return err
		}
	}
	return b.include(ctx, from)
}

// bulky copies the files that the snapshot does not hold.
func (b *builder) bulky(ctx context.Context, from place) error {
	if b.own.Base.Clean {
		return nil // a commit has all of it
	}
	_, paths, err := b.kept(ctx, b.own.Base.Tree)
	if err != nil {
		return err
	}
	c := copier{from: from.top, to: b.own.Path, left: maxBulky}
	for _, p := range paths {
		if err := c.entry(ctx, strings.TrimSuffix(p, "/")); err != nil {
			return err
		}
	}
	b.left = append(b.left, c.out...)
	return nil
}
