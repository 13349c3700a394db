package belay_test

import (
	"os"
	"strings"
	"testing"
)

// The agent that the page about belay do shows is the one that a script runs.
func TestDocsShowTheAgentThatIsRun(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("docs/howto/do-a-task.md")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("cmd/belay/testdata/script/do-screen.txtar")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(page), "\n```bash\n")
	shown, _, ok := strings.Cut(shown, "\n```\n")
	_, run, found := strings.Cut(string(script), "\n-- agent.sh --\n")
	if !ok || !found || strings.TrimSpace(shown) != strings.TrimSpace(run) {
		t.Errorf("the page shows another agent than the script runs:\n%s", shown)
	}
}

// Every step of the shipped recipes is on the page about belay do: their ids are
// promised there.
func TestDocsNameTheShippedSteps(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("docs/reference/do.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir("internal/library/shipped")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d shipped recipes: %v", len(files), err)
	}
	for _, f := range files {
		src, err := os.ReadFile("internal/library/shipped/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		_, row, found := strings.Cut(string(page), "\n| `"+strings.TrimSuffix(f.Name(), ".yaml")+"` |")
		row, _, _ = strings.Cut(row, "\n")
		if !found {
			t.Errorf("docs/reference/do.md does not name the recipe %s", f.Name())
			continue
		}
		for line := range strings.Lines(string(src)) {
			id, is := strings.CutPrefix(line, "  - id: ")
			if id = strings.TrimSpace(id); is && !strings.Contains(row, "`"+id+"`") {
				t.Errorf("docs/reference/do.md: %s has the step %s", f.Name(), id)
			}
		}
	}
}
