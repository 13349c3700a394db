package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestExplanationPrints types the commands of the pages that explain and holds
// what they print against the page, in which … stands for anything. Where a
// line ends does not count: how long a run took moves the words.
func TestExplanationPrints(t *testing.T) {
	t.Parallel()
	examples, err := filepath.Abs(filepath.Join("..", "..", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "explanation", "recovery.md"))
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	if err := os.Symlink(examples, filepath.Join(work, "examples")); err != nil {
		t.Fatal(err)
	}
	printed, compared := "", 0
	for _, block := range fenced.FindAllStringSubmatch(string(page), -1) {
		switch block[1] {
		case "sh":
			printed = (&reader{home: work}).typeIn(t, work, block[2])
		case "text":
			compared++
			if !flowing(block[2]).MatchString(strings.Join(strings.Fields(printed), " ")) {
				t.Errorf("the page promises\n%s\nand this was printed:\n%s", block[2], printed)
			}
		}
	}
	if compared == 0 {
		t.Error("nothing was compared")
	}
}

// flowing is the pattern that a text with … stands for, whatever its lines are.
func flowing(text string) *regexp.Regexp {
	words := regexp.QuoteMeta(strings.Join(strings.Fields(text), " "))
	return regexp.MustCompile("^" + strings.ReplaceAll(words, "…", ".*?") + "$")
}
