package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Standing is how a checkout stands, without a look into its files: where its
// branches and tags are, which commit is checked out, and which files are not as
// committed, each with its size and time.
type Standing map[string]string

// Stands looks at the checkout of a directory.
func Stands(ctx context.Context, dir string) (Standing, error) {
	at, err := find(ctx, "", dir)
	if err != nil {
		return nil, fmt.Errorf("look at the checkout: %w", err)
	}
	out, err := at.run(ctx, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags")
	if err != nil {
		return nil, fmt.Errorf("look at the checkout: %w", err)
	}
	s := Standing{}
	for line := range strings.Lines(out) {
		id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		s[name] = id
	}
	if out, err = at.run(ctx, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--no-renames"); err != nil {
		return nil, fmt.Errorf("look at the checkout: %w", err)
	}
	now := parseStatus(out)
	s["HEAD"] = now.head + " " + now.branch
	for _, e := range now.entries {
		s[e.path] = "gone"
		if info, err := os.Lstat(filepath.Join(at.top, e.path)); err == nil {
			s[e.path] = fmt.Sprint(info.Size(), " ", info.ModTime().UnixNano())
		}
	}
	return s, nil
}

// Since is what does not stand as before, in its order. New branches of Belay are
// left out.
func (s Standing) Since(before Standing) []string {
	var list []string
	for name, how := range s {
		if was := before[name]; was != how && (was != "" || !strings.HasPrefix(name, "refs/heads/belay/")) {
			list = append(list, name)
		}
	}
	for name := range before {
		if _, there := s[name]; !there && !strings.HasPrefix(name, "refs/heads/belay/") {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}
