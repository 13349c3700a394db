package audit

import (
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
)

// onReset takes in that a person wants steps to run again: only what has come to an
// end, and nothing of which something is open.
func (c *checker) onReset(e event.StepReset) {
	if e.By == "" {
		c.say(RuleReset, "step %s is to run again, and nobody says who wants it", e.Path)
	}
	for i, p := range append([]belay.Path{e.Path}, e.Also...) {
		st := c.step(p)
		if st.open > 0 || st.held || i == 0 && !st.settled {
			c.say(RuleReset, "step %s is to run again, and has not come to an end", p)
		}
		st.settled, st.final, st.forever = false, "", false
		st.unknown, st.checked, st.owed, st.merging = false, false, false, false
		st.begun, st.called, st.vouched, st.reasked = false, "", false, false
		st.due = time.Time{}
		st.again++
	}
	for _, p := range e.Kept {
		if !c.step(p).settled {
			c.say(RuleReset, "step %s is said to stay done, and is not", p)
		}
	}
}
