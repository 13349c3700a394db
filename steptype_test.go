package belay_test

import (
	"testing"

	"github.com/belay-run/belay"
)

// Every type of step has one row: what a person calls it, what its failure is, and
// at most one who does it.
func TestStepRows(t *testing.T) {
	t.Parallel()
	seen := map[belay.StepType]bool{}
	for _, typ := range belay.StepTypes() {
		row := typ.Row()
		if row.Type != typ || seen[typ] || row.Words == "" || row.Fails == "" {
			t.Errorf("type %q: %+v, seen before: %v", typ, row, seen[typ])
		}
		seen[typ] = true
		doers := 0
		for _, is := range []bool{row.Agent, row.Child, row.Shell, row.Inside, row.Asks} {
			if is {
				doers++
			}
		}
		if doers > 1 {
			t.Errorf("type %q is done by an agent, a child run, a script, Belay or a person, not by %d of them", typ, doers)
		}
	}
	for _, c := range readWords(t).consts["StepType"] {
		if !seen[belay.StepType(c.value)] {
			t.Errorf("type %q has no row", c.value)
		}
	}
	if row := belay.StepType("other").Row(); row != (belay.StepRow{}) {
		t.Errorf("a type that is not ours: %+v", row)
	}
}
