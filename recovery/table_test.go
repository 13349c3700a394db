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

// What a plan can choose and is no end, somebody knows when to choose.
func TestEveryActCanBeTried(t *testing.T) {
	t.Parallel()
	for _, a := range belay.Acts() {
		row := a.Row()
		if !row.Planned || row.Ends || a == belay.ActFallback { // the ends are chosen by finish
			continue
		}
		c := chooser{s: Situation{Agents: true, Type: belay.TypeAgent}}
		if _, why := c.try(way{act: a, limit: 1}); why == isEnd {
			t.Errorf("act %q: try does not know it", a)
		}
	}
}
