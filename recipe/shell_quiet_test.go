package recipe

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Ordinary recipes are not warned of: what is said of every script is read by
// nobody.
func TestOrdinaryRecipesAreQuiet(t *testing.T) {
	t.Parallel()
	lib, found := map[string]*Recipe{}, []Problem{}
	scripts := 0
	for _, glob := range []string{"../examples/*/*.yaml", "../cmd/belay/testdata/corpus/*.yaml"} {
		files, err := filepath.Glob(glob)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", glob, err)
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			r, problems := Parse(file, src, Compat())
			found = append(found, problems...)
			if r != nil {
				lib[file] = r
			}
		}
	}
	for _, r := range lib {
		for i := range r.Steps {
			if r.Steps[i].Script != nil {
				scripts++
			}
		}
		found = append(found, CheckCalls(r, nil)...)
	}
	found = slices.DeleteFunc(found, func(p Problem) bool { return !aboutCode(p) })
	t.Logf("%d recipes, %d scripts, %d warnings", len(lib), scripts, len(found))
	if len(found) > 0 || scripts < 50 {
		t.Errorf("%d scripts: %v", scripts, found)
	}
}

// aboutCode tells whether a problem is one of a value that would run.
func aboutCode(p Problem) bool {
	for _, part := range []string{"as a script", "part of a script", "part of a program", "would run commands", "runs the commands"} {
		if strings.Contains(p.Msg, part) {
			return true
		}
	}
	return false
}
