package worktree

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// blocked are the edits that cannot be done in the tree as it is: what no look
// sees is in the way, or they lead out of the tree. It gives what it saw.
func (p place) blocked(ctx context.Context, list []delta) ([]Clash, sight, error) {
	seen, err := p.see(ctx, list)
	if err != nil {
		return nil, seen, err
	}
	goes := map[string]bool{} // paths at which nothing or something else will be
	for _, e := range list {
		if e.was != "" {
			goes[e.path] = true
		}
	}
	var stuck []Clash
	for _, e := range list {
		if c := p.obstacle(e, seen.now[e.path], goes); c.Why != "" {
			c.Path = e.path
			stuck = append(stuck, c)
		}
	}
	return stuck, seen, nil
}

// obstacle says why an edit cannot be done, without a reason it can. What is in the
// way may be in no commit and hidden from git add: then git merge writes over it.
func (p place) obstacle(e delta, now string, goes map[string]bool) Clash {
	switch {
	case !lawful(e.path):
		return Clash{Why: "no path that a file may have"}
	case strings.HasPrefix(e.now, "160000") || strings.HasPrefix(e.was, "160000"):
		return Clash{Why: "a repository inside the tree is not merged"}
	case e.now == "":
		return Clash{}
	case e.was == "" && now != "" && now != e.now:
		return inTheWay("a file that git ignores is there, and is another one")
	}
	for dir := filepath.Dir(e.path); dir != "."; dir = filepath.Dir(dir) {
		fi, err := os.Lstat(filepath.Join(p.top, dir))
		if err != nil || fi.IsDir() || goes[dir] {
			continue
		}
		if fi.Mode()&fs.ModeSymlink != 0 {
			return inTheWay("the directory " + shown(dir) + " is a symbolic link here")
		}
		return inTheWay("a file is where the directory " + shown(dir) + " would have to be")
	}
	if fi, err := os.Lstat(filepath.Join(p.top, e.path)); err == nil && fi.IsDir() && !p.clears(e.path, goes) {
		return inTheWay("a directory with other files is there")
	}
	return Clash{}
}

func inTheWay(why string) Clash { return Clash{Why: why, Unkept: true} }

// clears tells whether a folder holds nothing but files that go.
func (p place) clears(dir string, goes map[string]bool) bool {
	err := filepath.WalkDir(filepath.Join(p.top, dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if rel, _ := filepath.Rel(p.top, path); !goes[rel] { // it is below top
			return fs.ErrExist
		}
		return nil
	})
	return err == nil
}

// lawful tells whether a path is one of a file in a tree, and not git's own.
func lawful(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part == "." || part == ".." || strings.EqualFold(part, ".git") {
			return false
		}
	}
	return true
}
