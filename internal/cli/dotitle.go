package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/journal"
)

// titleFile is the file in the folder of a run that names its task in a line, for
// those who list many runs and open no journal.
const titleFile = "task.txt"

// planMark is the second line of that file where only a plan is asked for.
const planMark = "plan"

// keepTitle writes the title of a task. It is said anew by the journal: that it could
// not be written is not worth a word.
func keepTitle(folder journal.Folder, vars map[string]json.RawMessage, planOnly bool) {
	var text string
	if json.Unmarshal(vars["task_description"], &text) == nil && strings.TrimSpace(text) != "" {
		first := tui.Title(firstLine(text)) + "\n"
		if planOnly {
			first += planMark + "\n"
		}
		_ = putFile(filepath.Join(string(folder), titleFile), []byte(first)) // the journal has it
	}
}

// firstLine is the first line of a text that says something.
func firstLine(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return first
}

// titleOf is the title of the task of a run, and whether only its plan is asked for; ""
// for a run of any other recipe.
func titleOf(folder journal.Folder, recipe string) (title string, planOnly bool) {
	if recipe != doRecipe {
		return "", false
	}
	b, err := os.ReadFile(filepath.Join(string(folder), titleFile))
	if err != nil {
		return "", false // it is named by its recipe alone
	}
	title, mark, _ := strings.Cut(string(b), "\n")
	return tui.Title(title), strings.TrimSpace(mark) == planMark
}
