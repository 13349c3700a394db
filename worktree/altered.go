package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// caches are folders that programs write into while they run, and make again: what changed
// in them is not taken along, and is nothing to tell of.
var caches = []string{"__pycache__", ".cache", ".vite", ".vite-temp", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".turbo", ".parcel-cache"}

// Needed are the ignored files and folders of a checkout that are needed to run what is in
// it, such as .env and node_modules, when a run began.
type Needed struct {
	Paths []string `json:"paths,omitempty"`
	Began int64    `json:"began,omitempty"` // by the clock of the files; 0 = not known
}

// NeededIn looks for them in the checkout of a directory. patterns name more of them.
func NeededIn(ctx context.Context, dir string, patterns []string) (Needed, error) {
	p, err := find(ctx, "", dir)
	if err != nil {
		return Needed{}, err
	}
	n := Needed{Began: p.moment()}
	n.Paths, err = p.needed(ctx, patterns)
	return n, err
}

// needed are folders that package managers install into, and the files that a worktree is
// given.
func (p place) needed(ctx context.Context, patterns []string) ([]string, error) {
	out, err := p.run(ctx, "ls-files", "--others", "--ignored", "--directory", "-z", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	given, err := p.included(ctx, patterns)
	if err != nil {
		return nil, err
	}
	for _, name := range records(out) {
		whole, folder := strings.CutSuffix(name, "/")
		if (folder && installed(whole) || usual(whole)) && !slices.Contains(given, whole) {
			given = append(given, whole)
		}
	}
	return given, nil
}

// usual tells whether a worktree is given a file where nobody says which.
func usual(name string) bool {
	return slices.ContainsFunc(DefaultInclude(), func(pattern string) bool {
		ok, err := path.Match(pattern, path.Base(name))
		return err == nil && ok
	})
}

// Since names what of it is not as it was when the run began.
func (n Needed) Since(ctx context.Context, dir string, patterns []string) ([]string, error) {
	p, err := find(ctx, "", dir)
	if err != nil || n.Began == 0 {
		return nil, err
	}
	now, err := p.needed(ctx, patterns)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, name := range n.Paths {
		if !slices.Contains(now, name) && !exists(filepath.Join(p.top, name)) {
			list = append(list, shown(name))
		}
	}
	for _, name := range now {
		changed, _, err := altered(ctx, p.top, name, n.Began)
		if err != nil {
			return nil, err
		}
		list = append(list, changed...)
	}
	slices.Sort(list)
	return list, nil
}

// altered are the files at a path, or below it, that were changed after a moment, by the
// time that nobody can set back. Of a folder that only lacks something its own path is
// told, with a slash. Changed caches are given apart.
func altered(ctx context.Context, top, name string, after int64) (list, cached []string, err error) {
	root := filepath.Join(top, name)
	late := map[string]bool{} // folders that were changed, and whether something in them says why
	say := func(at string) string {
		rel, _ := filepath.Rel(top, at) // it is below top
		return shown(filepath.ToSlash(rel))
	}
	var cache string
	err = filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return nil //nolint:nilerr // gone since, or not readable: it is not copied either
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // gone since
		}
		if cache != "" && !strings.HasPrefix(at, cache+"/") {
			cache = ""
		}
		if cache == "" && d.IsDir() && slices.Contains(caches, d.Name()) {
			cache = at
		}
		_, when := touched(info)
		if when <= after {
			return nil
		}
		late[filepath.Dir(at)] = true
		switch {
		case cache != "":
			late[filepath.Dir(cache)] = true
			if len(cached) == 0 || cached[len(cached)-1] != cache {
				cached = append(cached, cache)
			}
		case d.IsDir():
			late[at] = false // what is in it comes later
		default:
			list = append(list, say(at))
		}
		return nil
	})
	for at, explained := range late {
		if !explained {
			list = append(list, say(at)+"/")
		}
	}
	slices.Sort(list)
	return list, cached, err
}

// begunName is the file in a worktree's git folder with the moment when it was made.
const begunName = "belay-begun"

// begunAt is when the worktree was made, by the clock of the files; 0 = not known.
func (p place) begunAt() (int64, error) {
	b, err := os.ReadFile(filepath.Join(p.own, begunName))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // an earlier Belay made it
	}
	if err != nil {
		return 0, err
	}
	at, err := strconv.ParseInt(string(b), 10, 64)
	return at, err
}

// givenGone are the ignored files and folders that were copied from a checkout into the
// worktree, and are not there any more.
func (p place) givenGone(user string) []string {
	var list []string
	for _, name := range p.notWork() {
		if name = strings.TrimSuffix(name, "/"); !exists(filepath.Join(user, name)) {
			list = append(list, name)
		}
	}
	return list
}
