package step

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/belay-run/belay/worktree"
)

// errOutside says that a file is not in the tree that it must be in.
var errOutside = errors.New("it is outside of the step's tree")

// openWithin opens a file for reading that is in the tree of a directory, after
// all links on the way were followed. A step must not hand on what it could not
// have made: a link to a file of the user's is not its result.
func openWithin(dir, path string) (*os.File, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	top, err := filepath.EvalSymlinks(topOf(dir))
	if err != nil {
		return nil, err
	}
	below, err := filepath.Rel(top, real)
	if err != nil || !filepath.IsLocal(below) {
		return nil, errOutside
	}
	root, err := os.OpenRoot(top) // what became a link meanwhile leads nowhere else
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // the file stays open
	info, err := root.Stat(below)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // reading it might never end
		return nil, errNoFile
	}
	return root.Open(below)
}

var errNoFile = errors.New("it is not a file")

// topOf is the top of the git work tree that a directory is in, or the directory
// itself.
func topOf(dir string) string {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if worktree.IsTop(at) {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}
