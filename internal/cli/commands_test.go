package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A command that a person can see is on the page of commands, and a script
// that runs it through the real binary.
func TestEveryCommandIsShown(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/reference/cli.md")
	must(t, err)
	files, err := filepath.Glob("../../cmd/belay/testdata/script/*.txtar")
	must(t, err)
	var scripts strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		scripts.Write(text)
	}
	seen := 0
	for _, c := range (&app{}).root().Commands() {
		if c.Hidden {
			continue
		}
		seen++
		if !regexp.MustCompile("`belay " + c.Name() + "[ `]").Match(page) {
			t.Errorf("docs/reference/cli.md does not name belay %s", c.Name())
		}
		if !regexp.MustCompile(`\bbelay ` + c.Name() + `\b`).MatchString(scripts.String()) {
			t.Errorf("no script runs belay %s", c.Name())
		}
	}
	if seen < 20 {
		t.Errorf("only %d commands found: the test looks at too little", seen)
	}
}
