package worktree

import (
	"os"
	"path/filepath"
)

// Around is the top of the working tree that a directory lies in, found by its
// .git and without asking git; the directory itself where there is none. Links
// are followed, so that one tree has one name.
func Around(dir string) string {
	dir = settled(dir)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}
