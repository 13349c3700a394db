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

// begin finds the commit that the worktree begins at.
func (b *builder) begin(ctx context.Context) (err error) {
	if b.o.From == FromHead {
		b.own.Start, err = b.start(ctx)
		return err
	}
	base, err := Tree{Dir: b.dir, Git: b.program, Skip: b.o.Skip, Secret: b.o.Secret}.keep(ctx, b.o.Run, b.o.Step)
	if err != nil {
		return fmt.Errorf("keep the files as they are: %w", err)
	}
	b.own.Start, b.own.Base = base.Commit, &base
	return nil
}

// keep makes a commit of the files as they are, unless HEAD is one.
func (t Tree) keep(ctx context.Context, run belay.RunID, step belay.Path) (Base, error) {
	p := t.Print(ctx)
	switch {
	case p.Error != "":
		return Base{}, errors.New(p.Error)
	case !p.Repo || p.Head == "":
		return Base{}, errors.New("there is no commit yet")
	}
	base := Base{Tree: p.Tree, Commit: p.Head, Head: p.Head, Branch: p.Branch, Clean: !p.Dirty}
	if base.Clean {
		return base, nil
	}
	g := git{program: t.Git, dir: t.Dir}
	files, _, err := g.kept(ctx, p.Tree)
	if err != nil {
		return Base{}, err
	}
	p.Tree = files
	message := fmt.Sprintf("Files as they were when step %s of run %s began\n\nMade by Belay. It holds uncommitted work of the tree that the run was started in.", step, run)
	base.Commit, err = commitTree(ctx, g.with(author("")...), p, message)
	return base, err
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
