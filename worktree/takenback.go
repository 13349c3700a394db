package worktree

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay"
)

// takenBack names the files whose uncommitted work of before is gone: each is
// another one than before, and is now as it was committed or staged then, or is
// not there and was not committed. That is what git stash, clean, checkout and
// reset --hard leave. all tells whether nothing else happened: no other file, and
// no commit that holds something. History alone does not count: a new message or
// an empty commit on top makes no work of it.
func (p place) takenBack(ctx context.Context, e belay.Evidence, list []change) (gone []string, all bool) {
	if !e.Before.Dirty || len(list) == 0 {
		return nil, false
	}
	states, back := p.statesBefore(ctx, e)
	stays := map[string]int{} // in how many of the states a path is not as it is now
	for _, tree := range states {
		out, err := p.run(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv",
			"--ignore-submodules=none", "--end-of-options", tree, e.After.Tree)
		if err != nil {
			return nil, false
		}
		for path := range strings.SplitSeq(out, "\x00") {
			stays[strings.TrimPrefix(path, unkeptRoot+"/")]++
		}
	}
	all = back && len(e.Commits) == 0
	for _, c := range list {
		if c.Change == belay.FileDeleted && exists(filepath.Join(p.top, c.Path)) {
			continue // it is ignored now
		}
		if stays[c.Path] >= len(states) || c.old != "" && stays[c.old] >= len(states) {
			all = false
		} else {
			gone = append(gone, c.Path)
		}
	}
	return gone, all
}

// statesBefore are the trees that were there beside the files: of HEAD, of what
// was staged, and of the commit that HEAD was taken back to. back tells whether
// HEAD now has the files of one of them: it went nowhere else.
func (p place) statesBefore(ctx context.Context, e belay.Evidence) (trees []string, back bool) {
	empty := p.emptyTree()
	meet := ""
	if e.Before.Head != "" && e.After.Head != "" && e.Before.Head != e.After.Head {
		meet, _ = p.meeting(ctx, e.Before.Head, e.After.Head) // no common one: nothing to go back to
	}
	seen, err := p.treesOf(ctx, e.Before.Head, e.After.Head, meet)
	if err != nil {
		return nil, false
	}
	tree := func(head string) string {
		if head == "" {
			return empty
		}
		return seen[head]
	}
	trees, now := []string{tree(e.Before.Head)}, tree(e.After.Head)
	if meet != "" && tree(meet) == now {
		trees = append(trees, now)
	}
	back = slices.Contains(trees, now)
	if e.Before.Index != "" {
		trees = append(trees, e.Before.Index)
	}
	return slices.Compact(trees), back
}
