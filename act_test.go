package belay_test

import (
	"os"
	"strings"
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
		if !row.Asked && !row.Planned {
			t.Errorf("act %q: no failure asks for it, and no plan chooses it", a)
		}
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

// An act that no rule names is dead.
func TestEveryActIsChosen(t *testing.T) {
	t.Parallel()
	chosen := named(t, "recovery/ways.go", "recovery/finish.go", "recovery/choose_by.go", "verdict/*.go")
	for _, a := range declared(t, "act.go", "Act") {
		if !chosen[a] && !strings.Contains(classRows(t), a) {
			t.Errorf("%s: no class, no rule and no policy names it", a)
		}
	}
}

func classRows(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("class.go")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
