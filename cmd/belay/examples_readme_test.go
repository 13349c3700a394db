package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestExampleReadmes types the commands of the examples' READMEs, one page
// after the other, as a reader with one state directory would.
func TestExampleReadmes(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs(filepath.Join("..", "..", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(root, "*", "README.md"))
	if err != nil || len(pages) < 24 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	dir := t.TempDir()
	if err := os.Symlink(root, filepath.Join(dir, "examples")); err != nil {
		t.Fatal(err)
	}
	typed := 0
	for _, page := range pages {
		for _, line := range commandsOf(t, page) {
			typed++
			cmd := exec.Command("bash", "-c", line)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"),
				"HOME="+dir, "BELAY_STATE="+filepath.Join(dir, ".local", "state", "belay"))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %s: %v\n%s", page, line, err, out)
			}
		}
	}
	if typed < 50 {
		t.Errorf("only %d commands were typed", typed)
	}
}

// commandsOf are the commands of a page that can be typed as they are. The page
// about a kill has a test of its own.
func commandsOf(t *testing.T, page string) []string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "kill -9") {
		return nil
	}
	var lines []string
	inside := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			inside = !inside
		case inside && !strings.Contains(line, " ID"):
			lines = append(lines, line)
		}
	}
	return lines
}
