package worktree

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/belay-run/belay"
)

// Kind is the closed list of things that Belay leaves in a repository.
type Kind string

const (
	KindWorktree Kind = "worktree" // a folder with a branch
	KindBranch   Kind = "branch"   // a branch whose worktree is gone
	KindSnapshot Kind = "snapshot" // uncommitted work under a ref
)

// Owned is one thing that Belay made in a repository, and whether it can go.
type Owned struct {
	Kind     Kind
	Repo     string // the folder that it was looked at from
	Path     string // of a worktree; it may be gone
	Branch   string
	Ref      string // of a snapshot
	Run      belay.RunID
	Step     belay.Path
	Dirty    bool
	Unpushed int
	Ignored  int  // files that git ignores
	Exists   bool // the folder does
	Busy     bool
	Safe     bool
	Why      []Reason

	IgnoredBytes int64 // of those files

	tip       string   // of the snapshot, when it was looked at
	tips      []string // of the branches, in the order of owner.branches
	committed bool     // there are files that its branch does not have, and other commits do
}

// Remove takes away what can go. What turns out not to be safe any more is left,
// with *Unsafe.
func (o Owned) Remove(ctx context.Context, aside ...Reason) error {
	if o.Kind == KindSnapshot {
		return Tree{Dir: o.Repo}.DropSnapshot(ctx, o.Ref, o.tip)
	}
	if err := remove(ctx, o.Made(o.Repo), false, aside, o.committed); err != nil {
		return fmt.Errorf("remove worktree: %w", err)
	}
	return nil
}

// Made is the worktree as Remove takes it.
func (o Owned) Made(repo string) Made {
	return Made{Repo: repo, Path: o.Path, Branch: o.Branch, Run: o.Run, Step: o.Step}
}

// List gives everything that carries Belay's mark in a repository: worktrees,
// branches and snapshots, also those that were left behind.
func List(ctx context.Context, repo string) ([]Owned, error) {
	g := git{dir: repo}
	marks, err := g.owners(ctx)
	if err != nil {
		return nil, fmt.Errorf("list worktrees: %w", err)
	}
	linked, err := g.worktrees(ctx)
	if err != nil {
		return nil, err
	}
	marks = found(marks, linked)
	var list []Owned
	for _, branch := range slices.Sorted(maps.Keys(marks)) {
		list = append(list, g.assess(ctx, branch, marks[branch], linked))
	}
	kept, err := Tree{Dir: repo}.Snapshots(ctx)
	if err != nil {
		return nil, err
	}
	var all []*Owned
	for i := range list {
		all = append(all, &list[i])
	}
	g.forgive(ctx, all)
	return append(list, g.assessSnapshots(ctx, kept)...), nil
}

// refOwner is the run and the step that a snapshot is of.
func refOwner(ref string) (belay.RunID, belay.Path) {
	run, rest, _ := strings.Cut(strings.TrimPrefix(ref, refRoot), "/")
	step := rest
	if i := strings.LastIndexByte(rest, '.'); i >= 0 {
		step = rest[:i]
	}
	return belay.RunID(unescaped(run)), belay.Path(unescaped(step))
}

// unescaped undoes refPart; a name that it did not make stays as it is.
func unescaped(s string) string {
	if s == "%" {
		return ""
	}
	if t, err := url.PathUnescape(s); err == nil {
		return t
	}
	return s
}
