package sim

import (
	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
)

// reset looks at steps that a person wants to run again: of those that build on the
// one that was named, none that must not run twice is among them.
func (t *truth) reset(run belay.RunID, e event.StepReset) {
	t.w.stats.Resets++
	for i, p := range append([]belay.Path{e.Path}, e.Also...) {
		d := t.steps[stepName(run, p)]
		if d == nil {
			t.w.violate("records name steps", "%s in %s", p, run)
			return
		}
		if i > 0 && d.done && d.def.Once {
			t.w.violate("once is once", "%s runs again because of %s", stepName(run, p), e.Path)
		}
		d.settled, d.done, d.phase, d.hook = false, false, "", ""
		d.checked, d.vouched = false, false
		d.pass = "a person wants it to run again"
		more := d.def.Retry.MaxAttempts + d.grants - d.anew // what was granted before counts again
		d.grants, d.anew = d.grants+more, d.anew+more
	}
}
