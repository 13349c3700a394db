package belay_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/belay-run/belay"
)

// Every class has one row, and the row says what a person reads.
func TestClassRows(t *testing.T) {
	t.Parallel()
	seen := map[belay.Class]bool{}
	for _, c := range belay.Classes() {
		row := c.Row()
		if row.Class != c || seen[c] {
			t.Errorf("class %q: its row is that of %q, seen before: %v", c, row.Class, seen[c])
		}
		seen[c] = true
		if row.Words == "" || row.First == "" {
			t.Errorf("class %q: no words, or no first move: %+v", c, row)
		}
		if !row.First.Row().Asked || row.Second != "" && !row.Second.Row().Asked {
			t.Errorf("class %q asks for an act that is not marked as asked: %s, %s", c, row.First, row.Second)
		}
	}
	for _, c := range readWords(t).consts["Class"] {
		if c.value != "" && !seen[belay.Class(c.value)] {
			t.Errorf("class %q has no row", c.value)
		}
	}
}

// A class that nobody gives is dead: each is named where failures are judged.
func TestEveryClassIsGiven(t *testing.T) {
	t.Parallel()
	given := named(t, "verdict/*.go", "agent/*.go", "flow/*.go")
	for _, c := range declared(t, "class.go", "Class") {
		if !given[c] {
			t.Errorf("%s: neither verdict, nor an adapter, nor the brain gives it", c)
		}
	}
}

// named are the words of belay that occur in files, other than tests.
func named(t *testing.T, globs ...string) map[string]bool {
	t.Helper()
	met := map[string]bool{}
	word := regexp.MustCompile(`belay\.([A-Z]\w*)`)
	for _, glob := range globs {
		files, err := filepath.Glob(glob)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", glob, len(files), err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range word.FindAllStringSubmatch(string(text), -1) {
				met[m[1]] = true
			}
		}
	}
	return met
}

// declared are the names of the constants of a closed list.
func declared(t *testing.T, file, typ string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, m := range regexp.MustCompile(`(?m)^\t(\w+) +`+typ+` = "`).FindAllStringSubmatch(string(text), -1) {
		list = append(list, m[1])
	}
	if len(list) < 3 {
		t.Fatalf("%s: only %d of %s found: the test looks at too little", file, len(list), typ)
	}
	return list
}
