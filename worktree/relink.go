package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Relink makes a folder a worktree of the repository of home again, as which it is known
// there, after somebody took its .git away or put another in its place. That one is moved
// to the path that is given; "" = there was none.
func Relink(ctx context.Context, home, top string) (aside string, err error) {
	p, err := find(ctx, "", home)
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	own, link := "", filepath.Join(top, ".git")
	all, err := os.ReadDir(filepath.Join(p.all, "worktrees"))
	for _, d := range all {
		dir := filepath.Join(p.all, "worktrees", d.Name())
		if b, _ := os.ReadFile(filepath.Join(dir, "gitdir")); strings.TrimSpace(string(b)) == link { // one that is gone is none
			own = dir
		}
	}
	if err != nil || own == "" {
		return "", errors.Join(fmt.Errorf("%s is no worktree of %s", top, p.top), err)
	}
	if _, err := os.Lstat(link); err == nil {
		for n := 1; aside == "" || exists(aside); n++ {
			aside = fmt.Sprintf("%s-git-%d", top, n)
		}
		if err := os.Rename(link, aside); err != nil {
			return "", err
		}
	}
	return aside, os.WriteFile(link, []byte("gitdir: "+own+"\n"), 0o644) //nolint:gosec // as git writes it
}
