package sim

import (
	"encoding/json"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/recipe"
)

// last checks that the steps of finally begin when nothing else of their run is at work.
func (t *truth) last(e event.AttemptStarted, d *stepTruth) {
	if !closes(d) {
		return
	}
	for k, a := range t.attempts {
		if a.open && a.step.run == d.run && k != e.Key {
			t.w.violate("finally comes last", "%s starts, and %s is open", e.Key, k)
		}
	}
}

// closed checks that a run that ends has done what it does last, which was told how
// it ends. Only a second cancel of the whole ends a run without.
func (t *truth) closed(run belay.RunID, r belay.RunResult) {
	d := t.steps[stepName(run, recipe.FinallyID)]
	if d == nil || !closes(d) || t.cancels > 1 {
		return
	}
	if !d.settled {
		t.w.violate("finally comes last", "%s has ended, and its finally is %q", run, d.phase)
		return
	}
	var told struct{ Status belay.Status }
	v := t.first[run.Child(d.path, d.starts)].Vars[recipe.RunVar]
	if err := json.Unmarshal(v.JSON, &told); err != nil || told.Status != r.Status && r.Status != belay.Aborted {
		t.w.violate("finally changes nothing", "%s is %s, and its finally was told %s (%v)", run, r.Status, v.JSON, err)
	}
}

// closes tells whether a step is all steps of finally.
func closes(d *stepTruth) bool { return d.def.Finally && d.path == recipe.FinallyID }
