package worktree

import (
	"os"
	"path/filepath"
)

// Whole is the working tree that a directory lies in, by the real path of its
// top; the directory itself where there is no repository. Git is not asked: the
// nearest folder that IsTop is the top.
func Whole(dir string) string {
	dir = filepath.Clean(dir)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for at := dir; ; at = filepath.Dir(at) {
		if IsTop(at) {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// IsTop tells whether a folder is the top of a working tree: its .git is a file,
// which names another folder, or a folder with a HEAD. An empty folder of that
// name is nothing to git, which looks further up.
func IsTop(dir string) bool {
	at := filepath.Join(dir, ".git")
	info, err := os.Stat(at)
	if err != nil || !info.IsDir() {
		return err == nil
	}
	_, err = os.Lstat(filepath.Join(at, "HEAD"))
	return err == nil
}
