package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// maxAbove is how many working trees around one are told.
const maxAbove = 20

// Spot is where a directory lies.
type Spot struct {
	Top   string   // of its working tree; the directory itself where there is none
	Above []string // tops of the working trees around that one in which its changes are seen, the nearest first
	Apart bool     // the tree is one of several of its repository, made to be apart from the others
	Repo  string   // git's folder that all trees of the repository share; "" = there is none
}

// Around is where a directory lies. The trees are found by their .git and
// without asking git; only where one lies in another, git is asked whether the
// outer one ignores it. What lies in a folder of skip no tree around it sees.
// Links are followed, so that one tree has one name.
func Around(ctx context.Context, dir string, skip []string) Spot {
	dir = resolved(settled(dir))
	s := Spot{Top: dir}
	top, ok := treeAt(dir)
	if !ok {
		return s
	}
	s.Top = top
	s.Repo, s.Apart = sharedBy(top)
	for inner := top; len(s.Above) < maxAbove; {
		outer, ok := treeAt(filepath.Dir(inner))
		if !ok || outer == inner || under(inner, Tree{Skip: skip}.within(outer)) || ignores(ctx, outer, inner) {
			break
		}
		s.Above = append(s.Above, outer)
		inner = outer
	}
	return s
}

// within are the folders that are not looked at, as full paths in a tree.
func (t Tree) within(top string) []string {
	list := t.leftOut(top)
	for i, rel := range list {
		list[i] = filepath.Join(top, rel)
	}
	return list
}

// treeAt is the nearest folder with a .git, from a folder upwards.
func treeAt(dir string) (string, bool) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at, true
		}
		if at == filepath.Dir(at) {
			return "", false
		}
	}
}

// ignores tells whether a tree surely does not see what is in a folder of it.
func ignores(ctx context.Context, top, folder string) bool {
	rel, err := filepath.Rel(top, folder)
	if err != nil {
		return false
	}
	_, err = git{dir: top}.run(ctx, "check-ignore", "-q", "--", rel)
	return err == nil // 1 = it is not, others = nobody knows
}

// sharedBy is git's folder of a repository, and whether the tree with this top is
// one that was added to it.
func sharedBy(top string) (repo string, added bool) {
	own := filepath.Join(top, ".git")
	b, err := os.ReadFile(own)
	if errors.Is(err, os.ErrNotExist) {
		return "", false
	}
	if line, ok := strings.CutPrefix(string(b), "gitdir:"); err == nil && ok {
		own = joined(top, strings.TrimSpace(line))
	}
	b, err = os.ReadFile(filepath.Join(own, "commondir"))
	if err != nil {
		return resolved(own), false
	}
	return resolved(joined(own, strings.TrimSuffix(string(b), "\n"))), true
}
