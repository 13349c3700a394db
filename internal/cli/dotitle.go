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

// keepTitle writes the title of a task. It is said anew by the journal: that it could
// not be written is not worth a word.
func keepTitle(folder journal.Folder, vars map[string]json.RawMessage) {
	var text string
	if json.Unmarshal(vars["task_description"], &text) == nil && strings.TrimSpace(text) != "" {
		first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
		_ = putFile(filepath.Join(string(folder), titleFile), []byte(tui.Title(first)+"\n")) // the journal has it
	}
}

// titleOf is the title of the task of a run; "" for a run of any other recipe.
func titleOf(folder journal.Folder, recipe string) string {
	if recipe != doRecipe {
		return ""
	}
	b, err := os.ReadFile(filepath.Join(string(folder), titleFile))
	if err != nil {
		return "" // it is named by its recipe alone
	}
	return tui.Title(string(b))
}
