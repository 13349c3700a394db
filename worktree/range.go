package worktree

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay"
)

// maxRange is how many commits and files of a range are told one by one.
const maxRange = 200

// Range is what lies between two commits.
type Range struct {
	Commits []string // the oldest first, the first of them
	Files   int
	Added   int
	Deleted int
	List    []belay.FileChange // the first of them
	Guards  []belay.FileChange // those that judge the work: tests, CI
}

// Between is what came between a commit and a later one, with what a tree has that
// the later one has not, where there is a tree. Without the first it is all that
// there is.
func Between(ctx context.Context, dir, from, tip, tree string) (Range, error) {
	at, err := find(ctx, "", dir)
	if err != nil {
		return Range{}, fmt.Errorf("look at what changed: %w", err)
	}
	r := Range{Commits: at.commitsBetween(ctx, from, tip)}
	if from == "" {
		from = at.emptyTree()
	}
	out, err := at.run(ctx, "diff-tree", "-r", "-z", "-M", "--raw", "--numstat", "--no-abbrev",
		"--no-ext-diff", "--no-textconv", "--ignore-submodules=none", "--end-of-options", from, cmp.Or(tree, tip))
	if err != nil {
		return Range{}, fmt.Errorf("look at what changed: %w", err)
	}
	for _, c := range parseDiff(out) {
		r.Files++
		r.Added += c.Added
		r.Deleted += c.Deleted
		guard := Guard(c.Path) || c.old != "" && Guard(c.old)
		c.Path, c.Sha = shown(c.Path), ""
		if guard && len(r.Guards) < maxGuards {
			r.Guards = append(r.Guards, c.FileChange)
		}
		if len(r.List) < maxRange {
			r.List = append(r.List, c.FileChange)
		}
	}
	return r, nil
}

// commitsBetween are the commits that one has and another has not, the oldest
// first.
func (p place) commitsBetween(ctx context.Context, from, to string) []string {
	if from == to {
		return nil
	}
	if ids, sure := p.straight(from, to, maxRange); sure {
		slices.Reverse(ids)
		return ids
	}
	args := []string{"rev-list", "--reverse", fmt.Sprintf("--max-count=%d", maxRange), "--end-of-options", to}
	if from != "" {
		args = append(args, "^"+from)
	}
	out, err := p.run(ctx, args...)
	if err != nil {
		return nil // one of them is not there
	}
	return strings.Fields(out)
}

// CommitOf is the commit that a name stands for; "" = there is none.
func CommitOf(ctx context.Context, dir, name string) string {
	p, err := find(ctx, "", dir)
	if err != nil {
		return ""
	}
	if id, sure := p.readCommit(name); sure {
		return id
	}
	id, err := p.line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		return ""
	}
	return id
}

// Holding is the first commit between two that has what a tree has over the first
// of them, file by file; "" = none has. Other files may be others there: somebody
// else's work can be in the same commit.
func Holding(ctx context.Context, dir, from, to, tree string) string {
	p, err := find(ctx, "", dir)
	if tree == "" || to == "" || err != nil {
		return ""
	}
	commits := p.commitsBetween(ctx, from, to)
	if len(commits) == 0 {
		return ""
	}
	work, err := p.others(ctx, cmp.Or(from, p.emptyTree()), tree)
	if err != nil {
		return ""
	}
	for _, id := range commits {
		differ, err := p.others(ctx, tree, id)
		if err == nil && !slices.ContainsFunc(differ, func(path string) bool { return slices.Contains(work, path) }) {
			return id
		}
	}
	return ""
}

// others are the paths of files that are not the same in two trees.
func (p place) others(ctx context.Context, a, b string) ([]string, error) {
	out, err := p.run(ctx, "diff-tree", "-r", "-z", "--name-only", "--ignore-submodules=none", "--end-of-options", a, b)
	return records(out), err
}

// Reached tells whether a branch, a tag or a remote has a commit.
func Reached(ctx context.Context, dir, commit string) bool {
	out, err := git{dir: dir}.run(ctx, "for-each-ref", "--count=1", "--format=%(refname)", "--contains="+commit, "refs/heads", "refs/tags", "refs/remotes")
	return err == nil && strings.TrimSpace(out) != ""
}

// Contains tells whether a commit is another one, or in its history.
func Contains(ctx context.Context, dir, commit, in string) bool {
	_, err := git{dir: dir}.run(ctx, "merge-base", "--is-ancestor", "--end-of-options", commit, in)
	return err == nil
}
