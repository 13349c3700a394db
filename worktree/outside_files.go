package worktree

import (
	"os"
	"slices"
	"strings"

	"github.com/belay-run/belay"
)

// writers are parts of the names of tools that write files, in small letters.
var writers = []string{"write", "edit", "create", "replace", "patch", "file_change", "insert", "move", "rename"}

// outside lists files that tools of the agent wrote and that are not in the
// work tree, as far as its own records tell.
func outside(dir, top string, tools []belay.ToolCall) []string {
	var list []string
	for _, tool := range tools {
		if tool.Path == "" || tool.Failed || tool.Denied || !writes(tool.Name) {
			continue
		}
		full, ok := existing(joined(dir, tool.Path))
		if !ok || below(top, full) || slices.Contains(list, shown(full)) {
			continue
		}
		if list = append(list, shown(full)); len(list) == maxOutside {
			break
		}
	}
	return list
}

// existing is the file that a path leads to, through all links, when there is one.
func existing(path string) (string, bool) {
	full, err := realPath(path)
	if err != nil {
		return "", false
	}
	fi, err := os.Stat(full)
	return full, err == nil && !fi.IsDir()
}

func writes(tool string) bool {
	name := strings.ToLower(tool)
	return slices.ContainsFunc(writers, func(w string) bool { return strings.Contains(name, w) })
}
