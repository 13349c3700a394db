package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// alone counts the commits that would be lost with a branch and its worktree:
// those of the branch, of the worktree's HEAD, and those that only the log of
// that HEAD still leads to. The log goes with the worktree.
func (g git) alone(ctx context.Context, branches, tips []string, w linked) (int, error) {
	n, err := g.unpushed(ctx, branches, tips, w.head)
	if err != nil || w.path == "" {
		return n, err
	}
	ids, err := g.logged(ctx, w.path)
	if err != nil || len(ids) == 0 {
		return n, err
	}
	for _, id := range append(slices.Clone(tips), w.head) {
		if strings.Trim(id, "0") != "" {
			ids = append(ids, id)
		}
	}
	// what the log names and git has thrown away cannot be lost again
	out, err := g.feed(ctx, []byte(strings.Join(ids, "\n")+"\n"), append([]string{"rev-list", "--count", "--ignore-missing", "--stdin"}, others(branches)...)...)
	if err != nil {
		return n, err
	}
	m, err := strconv.Atoi(strings.TrimSpace(out))
	return max(n, m), err
}

// errLog is given for a log that is longer than anybody looks.
var errLog = errors.New("the log of HEAD is too long")

// logged are the commits that the log of a worktree's HEAD names. The folder of
// the worktree may be gone: git's notes about it are looked at.
func (g git) logged(ctx context.Context, path string) ([]string, error) {
	own, err := g.notes(ctx, path)
	if err != nil || own == "" {
		return nil, err
	}
	if logSize(own) > maxLog {
		return nil, errLog
	}
	seen := map[string]bool{}
	var ids []string
	for _, m := range parseLog(newLog(own, 0)) {
		for _, id := range []string{m.from, m.to} {
			if strings.Trim(id, "0") != "" && !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
		}
	}
	return ids, nil
}

// notes is the folder in which git keeps what it knows of a linked worktree;
// "" when there is none.
func (g git) notes(ctx context.Context, path string) (string, error) {
	common, err := g.common(ctx)
	if err != nil {
		return "", err
	}
	root := filepath.Join(common, "worktrees")
	list, err := os.ReadDir(root)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(list, func(d os.DirEntry) bool {
		b, err := os.ReadFile(filepath.Join(root, d.Name(), "gitdir"))
		return err == nil && joined(filepath.Join(root, d.Name()), strings.TrimSuffix(string(b), "\n")) == filepath.Join(path, ".git")
	})
	if i < 0 {
		return "", nil
	}
	return filepath.Join(root, list[i].Name()), nil
}
