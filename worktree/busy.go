package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// occupied tells whether a process has its working directory in a folder. On
// Linux /proc tells; elsewhere lsof is asked. Processes of other users that may
// not be looked at are not counted: they have no business in our folders.
func occupied(ctx context.Context, dir string) (bool, error) {
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil || len(links) == 0 {
		return occupiedByList(ctx, dir)
	}
	for _, link := range links {
		cwd, err := os.Readlink(link)
		if err == nil && below(dir, strings.TrimSuffix(cwd, " (deleted)")) {
			return true, nil
		}
	}
	return false, nil
}

// occupiedByList asks lsof for the working directories of all processes. It
// exits with 1 when some could not be read.
func occupiedByList(ctx context.Context, dir string) (bool, error) {
	out := &capped{max: maxOutput, strict: true}
	cmd := exec.CommandContext(ctx, "lsof", "-w", "-n", "-P", "-d", "cwd", "-Fn")
	cmd.Stdout = out
	cmd.WaitDelay = waitDelay
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || out.over {
		return false, fmt.Errorf("list working directories: %w", errors.Join(err, ctx.Err()))
	}
	for line := range strings.Lines(out.buf.String()) {
		if cwd, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "n"); ok && below(dir, cwd) {
			return true, nil
		}
	}
	return false, nil
}
