package recovery

import (
	"testing"

	"github.com/belay-run/belay"
)

// A class without a row would be met as an unknown failure.
func TestEveryClassHasItsRow(t *testing.T) {
	t.Parallel()
	rows := table()
	for _, c := range append(belay.Classes(), belay.ClassNone) {
		if r, ok := rows[c]; !ok || r.shell == nil || r.agent == nil {
			t.Errorf("class %q has no recoveries", c)
		}
		delete(rows, c)
	}
	for c := range rows {
		t.Errorf("recoveries of class %q, which does not exist", c)
	}
}
