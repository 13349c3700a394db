package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/readable"
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
	for _, c := range (&app{}).root(nil).Commands() {
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

// A command that is named first is made alone, under the name that it is found by.
func TestCommandsAreMadeByName(t *testing.T) {
	t.Parallel()
	a := &app{}
	for _, m := range a.makers() {
		if got := m.make().Name(); got != m.name {
			t.Errorf("the command that is found as %q is called %q", m.name, got)
		}
		if got := len(a.commands([]string{m.name})); got != 1 && m.name != "completion" {
			t.Errorf("belay %s makes %d commands", m.name, got)
		}
	}
	for _, args := range [][]string{nil, {"help"}, {"completion", "bash"}, {"__complete", "run"}, {"--state", "run", "show"}, {"frob"}} {
		if got := len(a.commands(args)); got != len(a.makers()) {
			t.Errorf("belay %q makes %d commands, want all", args, got)
		}
	}
}

// The first screen that people see fits a terminal of 80 columns.
func TestShortHelpFits(t *testing.T) {
	t.Parallel()
	for l := range strings.Lines(shortHelp) {
		if n := readable.Width(l); n >= pageWidth {
			t.Errorf("%d columns: %s", n, l)
		}
	}
}
