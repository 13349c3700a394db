package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/branchname"
)

// Branch is a name for a branch on which a task is worked; see branchname.Of.
func Branch(text, prefix string, issue int, run belay.RunID) string {
	return branchname.Of(text, prefix, issue, string(run))
}

// CheckedBranch is Branch, with git itself asked about the name: a git that
// knows more rules than this room gets the fallback. Without a git to ask the
// name stands as it is.
func CheckedBranch(ctx context.Context, program, text, prefix string, issue int, run belay.RunID) string {
	name := Branch(text, prefix, issue, run)
	var refused *GitError
	if err := checkBranch(ctx, git{program: program, dir: os.TempDir()}, name); errors.As(err, &refused) && refused.Code > 0 {
		return branchname.Fallback(prefix, issue, string(run))
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

// plainName tells whether a name is one of words and hyphens: git need not be asked
// whether it takes it before it is told to make it.
func plainName(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || strings.Trim(part, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || part[0] == '-' {
			return false
		}
	}
	return true
}
