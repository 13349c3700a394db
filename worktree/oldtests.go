package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// OldTests gives the copy the test files of base, in the place of those that its
// commit changed, removed or renamed, and names them. A test that only has another
// name is the same test.
func (t Throwaway) OldTests(ctx context.Context, base string) ([]string, error) {
	p, err := find(ctx, "", filepath.Join(t.root, "tree"))
	if err != nil {
		return nil, err
	}
	out, err := p.run(ctx, "diff", "--name-status", "-z", "--find-renames", "--no-ext-diff", "--diff-filter=MTDR", base, "HEAD", "--")
	if err != nil {
		return nil, err
	}
	old, gone := changedTests(records(out))
	if len(old) == 0 {
		return nil, nil
	}
	for _, path := range gone {
		if err := os.Remove(filepath.Join(p.top, filepath.FromSlash(path))); err != nil {
			return nil, fmt.Errorf("put old tests back: %w", err)
		}
	}
	var paths strings.Builder
	for _, path := range old {
		paths.WriteString(":(top,literal)" + path + "\x00")
	}
	_, err = p.feed(ctx, []byte(paths.String()), "restore", "--source="+base, "--worktree", "--pathspec-from-file=-", "--pathspec-file-nul")
	return old, err
}

// changedTests are the test files that are to come back, and those that have taken
// their place, from the fields of git diff --name-status -z.
func changedTests(fields []string) (old, gone []string) {
	for len(fields) > 1 {
		status, path := fields[0], fields[1]
		fields = fields[2:]
		if strings.HasPrefix(status, "R") {
			if len(fields) == 0 {
				return old, gone
			}
			to := fields[0]
			fields = fields[1:]
			if status == "R100" && testFile(to) {
				continue
			}
			if testFile(path) && testFile(to) {
				gone = append(gone, to)
			}
		}
		if testFile(path) {
			old = append(old, path)
		}
	}
	return old, gone
}
