package belay_test

import (
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
	}
	for _, c := range readWords(t).consts["Class"] {
		if c.value != "" && !seen[belay.Class(c.value)] {
			t.Errorf("class %q has no row", c.value)
		}
	}
}
