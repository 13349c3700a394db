package audit

import (
	"cmp"
	"time"

	"github.com/belay-run/belay"
)

// stepID names a step in the whole journal.
type stepID struct {
	run  belay.RunID
	path belay.Path
}

func (a stepID) compare(b stepID) int {
	return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.path, b.path))
}

// step is what the records say of one step.
type step struct {
	last    map[belay.Role]int // number of the last attempt that counts
	open    int
	settled bool   // nothing is left to be done about it
	final   string // why it must not start again
	forever bool   // not even after a reopening
	unknown bool   // a once step whose work may or may not be there
	checked bool   // its check said that the work is there
	owed    bool   // a way out may be chosen
	held    bool
	due     time.Time
	lost    int
	again   int // starts that a person granted
	begun   bool
}

// step finds the step of the record's run.
func (c *checker) step(p belay.Path) *step {
	id := stepID{c.rec.Run, p}
	if c.steps[id] == nil {
		c.steps[id] = &step{last: map[belay.Role]int{}}
	}
	return c.steps[id]
}

func (s *step) settle(how string, forever bool) {
	s.final, s.forever = how, forever
	s.settled, s.owed = true, false
}

func (s *step) judge(v belay.Verdict) {
	s.owed = v.Failure != nil
	switch {
	case v.OK:
		s.settle("done", true)
	case v.Unknown:
		s.unknown = true
	}
}

// beginMain checks that the step's own work may begin.
func (c *checker) beginMain(st *step, k belay.Key) {
	if st.unknown {
		c.say(RuleOnce, "attempt %s starts, and nobody can tell whether the last one did the work", k)
	}
	if c.rec.At.Before(st.due) {
		c.say(RuleDue, "attempt %s starts at %s; its retry is due at %s", k, stamp(c.rec.At), stamp(st.due))
	}
	st.settled, st.final, st.forever = false, "", false
	st.unknown, st.checked, st.owed = false, false, false
	st.due = time.Time{}
	st.begun = true
}

// onNotTaken checks that a condition was decided before the first attempt, and
// not again after it: what failed would be forgotten.
func (c *checker) onNotTaken(e belay.StepNotTaken) {
	st := c.step(e.Path)
	if st.begun {
		c.say(RuleTaken, "step %s is not taken (%s), but it has begun before", e.Path, e.Why)
	}
	st.settle("not taken", true)
}

func (c *checker) onRecovery(e belay.RecoveryChosen) {
	st := c.step(e.Path)
	if !st.owed {
		c.say(RuleRecovery, "a way out (%s) for step %s, which has no failure to leave", e.Plan.Act, e.Path)
		return
	}
	st.owed = false
	switch e.Plan.Act {
	case belay.ActRetry:
		st.due = e.Plan.Due
	case belay.ActGiveUp:
		st.settle("given up", false)
	case belay.ActHold:
		// an item follows
	default:
		c.say(RuleRecovery, "an unknown way out %q for step %s", e.Plan.Act, e.Path)
	}
}
