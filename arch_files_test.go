package belay_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestAgentsNamesFiles looks whether every file that AGENTS.md names is there. In the
// section of lists a name belongs to the room of its row, unless it has a path.
func TestAgentsNamesFiles(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile("`([a-z][a-zA-Z0-9_/{},*.]*\\.go)`")
	braces := regexp.MustCompile(`\{([^}]*)\}`)
	room, rows := "", 0
	for line := range strings.Lines(page(t, "AGENTS.md")) {
		if _, cell, ok := strings.Cut(line, "| `"); ok && strings.HasPrefix(line, "| `") {
			room, _, _ = strings.Cut(cell, "`")
		} else {
			room = "."
		}
		for _, m := range name.FindAllStringSubmatch(line, -1) {
			all := []string{m[1]}
			if b := braces.FindStringSubmatch(m[1]); b != nil {
				all = all[:0]
				for part := range strings.SplitSeq(b[1], ",") {
					all = append(all, strings.Replace(m[1], b[0], part, 1))
				}
			}
			for _, file := range all {
				if strings.Contains(file, "NAME") { // it is to be made
					continue
				}
				if !strings.Contains(file, "/") {
					file = filepath.Join(room, file)
				}
				if found, err := filepath.Glob(file); err != nil || len(found) == 0 {
					t.Errorf("AGENTS.md names %s, which is not there", file)
				}
				rows++
			}
		}
	}
	if rows < 100 {
		t.Errorf("AGENTS.md names %d files only: it is read wrongly", rows)
	}
}
