package worktree

import (
	"context"
	"strings"

	"github.com/belay-run/belay"
)

// takenBack tells whether all that happened is that uncommitted work of before is
// gone: every file that is another one is now as a commit has it that was there
// before, or is not there and was not committed. That is what git stash, clean,
// checkout and reset --hard leave.
func (p place) takenBack(ctx context.Context, e belay.Evidence, list []change) bool {
	if !e.Before.Dirty || len(list) == 0 || len(e.Commits) > 0 || e.After.Head == "" {
		return false
	}
	if e.After.Head != e.Before.Head {
		if _, err := p.run(ctx, "merge-base", "--is-ancestor", e.After.Head, e.Before.Head); err != nil {
			return false
		}
	}
	out, err := p.run(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv",
		"--ignore-submodules=none", "--end-of-options", e.After.Head+"^{tree}", e.After.Tree)
	if err != nil {
		return false
	}
	left := map[string]bool{} // what is uncommitted now
	for path := range strings.SplitSeq(out, "\x00") {
		left[strings.TrimPrefix(path, unkeptRoot+"/")] = true
	}
	for _, c := range list {
		if left[c.Path] || c.old != "" && left[c.old] {
			return false
		}
	}
	return true
}
