package belay_test

import (
	"os"
	"strings"
	"testing"
)

// mostTerms is how many terms a reader can be asked to learn.
const mostTerms = 40

// The glossary is short, and explains each term once.
func TestGlossaryIsShort(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("docs/reference/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || strings.Contains(line, "---") || strings.TrimSpace(cells[1]) == "term" {
			continue
		}
		term := strings.TrimSpace(cells[1])
		if seen[term] || term == "" {
			t.Errorf("the term %q stands there twice, or is empty", term)
		}
		seen[term] = true
	}
	if len(seen) < 30 || len(seen) > mostTerms {
		t.Errorf("%d terms, want 30 to %d", len(seen), mostTerms)
	}
}
