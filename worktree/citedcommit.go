package worktree

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// A KnownCommit is a commit that was there when a run began.
type KnownCommit struct {
	ID      string
	Message string
	Files   []string // that it changed, by their paths from the top

	at git
}

// CommitIn looks for a commit in the history of another one, by its id or the beginning of
// that. Where it is not there, wrong says so. What agents can put in the place of commits
// (git replace, grafts) does not count.
func CommitIn(ctx context.Context, dir, base, id string) (c KnownCommit, wrong string, err error) {
	p, err := find(ctx, "", dir)
	if err != nil {
		return c, "there is no git repository", nil //nolint:nilerr // that is the answer
	}
	c.at = p.with("GIT_NO_REPLACE_OBJECTS=1", "GIT_GRAFT_FILE=/dev/null")
	c.ID, err = c.at.line(ctx, "rev-parse", "-q", "--verify", "--end-of-options", id+"^{commit}")
	if err != nil || !strings.HasPrefix(c.ID, strings.ToLower(id)) {
		return c, "there is no such commit", ctx.Err()
	}
	if base == "" {
		return c, "there was no commit when the run began", nil
	}
	_, err = c.at.run(ctx, "merge-base", "--is-ancestor", c.ID, base)
	var no *GitError
	if errors.As(err, &no) && no.Code == 1 {
		return c, "it is not in the history that the run began with", nil
	}
	if err == nil {
		c.Message, err = c.at.run(ctx, "show", "-s", "--no-show-signature", "--format=%B", c.ID)
	}
	if err == nil {
		var out string
		out, err = c.at.run(ctx, "diff-tree", "--root", "-r", "-m", "--no-commit-id", "--name-only", "--no-renames", "-z", c.ID)
		c.Files = records(out)
	}
	if err != nil {
		return c, "", fmt.Errorf("look at commit %.12s: %w", c.ID, err)
	}
	return c, "", nil
}

// Has tells whether a text is in the message of a commit, or in the path or in a changed line of a file that
// it changed.
func (c KnownCommit) Has(ctx context.Context, text string) bool {
	if strings.Contains(c.Message, text) {
		return true
	}
	for _, name := range c.Files {
		if strings.Contains(name, text) {
			return true
		}
	}
	out, err := c.at.run(ctx, "show", "--format=", "--no-show-signature", "--unified=0", "--no-color", "--no-ext-diff", "--no-textconv", "-m", c.ID)
	if err != nil { // it is too big to be looked through
		return false
	}
	for l := range strings.Lines(out) {
		if (strings.HasPrefix(l, "+") || strings.HasPrefix(l, "-")) && !strings.HasPrefix(l, "+++ ") && !strings.HasPrefix(l, "--- ") && strings.Contains(l[1:], text) {
			return true
		}
	}
	return false
}
