package belay_test

import (
	"testing"

	"github.com/belay-run/belay"
)

// Every act has one row, and one that can be chosen says what follows from it.
func TestActRows(t *testing.T) {
	t.Parallel()
	seen := map[belay.Act]bool{}
	for _, a := range belay.Acts() {
		row := a.Row()
		if row.Act != a || seen[a] || row.Words == "" {
			t.Errorf("act %q: %+v, seen before: %v", a, row, seen[a])
		}
		seen[a] = true
		follows := 0
		for _, is := range []bool{row.Again, row.Helper != "", row.Ends} {
			if is {
				follows++
			}
		}
		if row.Planned != (follows == 1) {
			t.Errorf("act %q: a plan starts the step again, calls a helper or ends it: %+v", a, row)
		}
	}
	for _, c := range readWords(t).consts["Act"] {
		if !seen[belay.Act(c.value)] {
			t.Errorf("act %q has no row", c.value)
		}
	}
}
