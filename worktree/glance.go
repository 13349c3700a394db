package worktree

import (
	"context"

	"github.com/belay-run/belay"
)

// Glance is the commit and the branch of a working tree, and whether something in
// it is not committed. It writes nothing: no object, no index.
func Glance(ctx context.Context, dir string) belay.TreeState {
	at, err := find(ctx, "", dir)
	if err != nil {
		return belay.TreeState{Error: err.Error()}
	}
	out, err := at.run(ctx, "--no-optional-locks", "status", "--porcelain=v2", "--branch", "-z",
		"--untracked-files=all", "--no-renames", "--no-ahead-behind")
	if err != nil {
		return belay.TreeState{Repo: true, Error: err.Error()}
	}
	st := parseStatus(out)
	return belay.TreeState{Repo: true, Head: st.head, Branch: st.branch, Dirty: len(st.entries) > 0}
}
