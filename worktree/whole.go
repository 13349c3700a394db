package worktree

import (
	"os"
	"path/filepath"
)

// Whole is the working tree that a directory lies in, by the real path of its
// top; the directory itself where there is no repository. Git is not asked: the
// nearest folder with a .git is the top.
func Whole(dir string) string {
	dir = filepath.Clean(dir)
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
