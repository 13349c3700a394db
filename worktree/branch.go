package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/belay-run/belay"
)

// CheckedBranch is Branch, with git itself asked about the name: a git that
// knows more rules than this room gets the fallback. Without a git to ask the
// name stands as it is.
func CheckedBranch(ctx context.Context, program, text, prefix string, issue int, run belay.RunID) string {
	name := Branch(text, prefix, issue, run)
	var refused *GitError
	if err := checkBranch(ctx, git{program: program, dir: os.TempDir()}, name); errors.As(err, &refused) && refused.Code > 0 {
		return fallback(prefix, issue, run)
	}
	return name
}

// checkBranch asks git whether a branch may have the name.
func checkBranch(ctx context.Context, g git, name string) error {
	out, err := g.line(ctx, "check-ref-format", "--branch", name)
	if err != nil {
		return fmt.Errorf("check branch name: %w", err)
	}
	if out != name { // @{-1} and the like stand for another name
		return fmt.Errorf("check branch name: %q stands for another name", name)
	}
	return nil
}
