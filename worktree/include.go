package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// IncludeFile is the file at the top of a repository that names ignored files
// which a worktree shall have too, in the syntax of gitignore.
const IncludeFile = ".worktreeinclude"

// Limits of what is copied into a worktree.
const (
	maxIncluded = 2 << 30 // bytes, when the caller names no limit
	maxBulky    = 8 << 30 // bytes of files that are too big for a snapshot
	maxCopied   = 500_000 // files and folders
	maxLeft     = 20      // that are named
)

// Include says which files that git ignores are copied into a new worktree.
// Tracked files and files that git does not ignore are never among them.
type Include struct {
	Patterns []string // in the syntax of gitignore; those of IncludeFile come after them
	Limit    int64    // bytes; 0 = 2 GiB
}

// DefaultInclude are the patterns where nobody says others.
func DefaultInclude() []string { return []string{".env*", "node_modules", ".venv"} }

// include copies ignored files in, and writes down which: they are never work.
func (b *builder) include(ctx context.Context, from place) error {
	paths, err := from.included(ctx, b.o.Include.Patterns)
	if err != nil {
		return fmt.Errorf("find ignored files to copy: %w", err)
	}
	to, err := find(ctx, b.program, b.own.Path)
	if err == nil {
		first := from.top
		if b, bad := os.ReadFile(filepath.Join(from.own, includedFrom)); bad == nil {
			first = string(b) // it was made from that of another checkout itself
		}
		err = os.WriteFile(filepath.Join(to.own, includedFrom), []byte(first), 0o600)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(to.own, begunName), strconv.AppendInt(nil, to.moment(), 10), 0o600)
	}
	if err == nil && len(paths) > 0 {
		err = os.WriteFile(filepath.Join(to.own, includedName), []byte(strings.Join(paths, "\x00")), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write down ignored files: %w", err)
	}
	c := copier{from: from.top, to: b.own.Path, left: b.o.Include.Limit}
	if c.left == 0 {
		c.left = maxIncluded
	}
	for _, p := range paths {
		if under(p, b.skipped(from.top)) {
			continue
		}
		if err := c.entry(ctx, p); err != nil {
			return fmt.Errorf("copy ignored files: %w", err)
		}
	}
	b.left = append(b.left, c.out...)
	return nil
}

// skipped are the paths in a tree that nobody looks at.
func (b *builder) skipped(top string) []string { return Tree{Skip: b.o.Skip}.leftOut(top) }

// The files in a worktree's git folder that list what was copied into it, and say from
// which checkout.
const (
	includedName = "belay-included"
	includedFrom = "belay-included-from"
)

// notWork are the paths that were copied into a worktree: when git does not
// ignore them any more, they are still not its work.
func (p place) notWork() []string {
	b, err := os.ReadFile(filepath.Join(p.own, includedName))
	if err != nil || len(b) == 0 {
		return nil // nothing was copied
	}
	return strings.Split(string(b), "\x00")
}

// included are the ignored files and folders that match the patterns, by their
// paths in the tree.
func (p place) included(ctx context.Context, patterns []string) ([]string, error) {
	text := strings.Join(patterns, "\n") + "\n"
	own, err := os.ReadFile(filepath.Join(p.top, IncludeFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if text += string(own); strings.TrimSpace(text) == "" {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "belay-include-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a leftover in the temp folder harms nobody
	file := filepath.Join(dir, "patterns")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	out, err := p.run(ctx, "ls-files", "--others", "--ignored", "--directory", "-z", "--exclude-from="+file)
	if err != nil {
		return nil, err
	}
	return p.ignoredOf(ctx, records(out))
}

// ignoredOf are those of the paths that git ignores. A folder that is not ignored
// itself is looked into.
func (p place) ignoredOf(ctx context.Context, paths []string) ([]string, error) {
	var all []string
	for round := 0; len(paths) > 0 && round < 2; round++ {
		out, err := p.feed(ctx, []byte(strings.Join(paths, "\x00")+"\x00"), "check-ignore", "-z", "--stdin")
		var none *GitError
		if err != nil && !(errors.As(err, &none) && none.Code == 1) {
			return nil, err
		}
		yes := records(out)
		all = append(all, yes...)
		var inside []string
		for _, path := range paths {
			if strings.HasSuffix(path, "/") && !slices.Contains(yes, path) {
				inside = append(inside, p.filesIn(path)...)
			}
		}
		paths = inside
	}
	for i := range all {
		all[i] = strings.TrimSuffix(all[i], "/")
	}
	return all, nil
}

// filesIn are the files below a folder of the tree.
func (p place) filesIn(dir string) []string {
	var files []string
	_ = filepath.WalkDir(filepath.Join(p.top, dir), func(path string, d fs.DirEntry, err error) error { // what cannot be read is not copied
		if len(files) >= maxCopied {
			return fs.SkipAll
		}
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(p.top, path) // it is below top
			files = append(files, rel)
		}
		return nil
	})
	return files
}

// records are the parts of what git prints with -z.
func records(out string) []string {
	if out == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
}
