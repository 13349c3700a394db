package worktree

import (
	"path/filepath"
	"strings"
)

// leftOut are the folders to skip that lie below a root, by their paths there.
func (t Tree) leftOut(root string) []string {
	if len(t.Skip) == 0 {
		return nil
	}
	root = resolved(root)
	var out []string
	for _, dir := range t.Skip {
		rel, err := filepath.Rel(root, resolved(dir))
		if err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, "../") {
			out = append(out, rel)
		}
	}
	return out
}

// resolved is a path without links, or as it is when it cannot be followed.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// under tells whether a path is one of the folders or lies in one.
func under(path string, folders []string) bool {
	path = strings.TrimSuffix(path, "/")
	for _, f := range folders {
		if path == f || strings.HasPrefix(path, f+"/") {
			return true
		}
	}
	return false
}
