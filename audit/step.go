package audit

import (
	"cmp"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
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
	owed    bool   // a recovery may be chosen
	held    bool
	reasked bool // a person wants it settled once more: its check may be judged alone
	vouched bool // a person called it done, and its check is to say so too
	due     time.Time
	lost    int
	again   int // starts that a person granted
	begun   bool
	called  belay.Role // the agent that is to help with it
	warned  bool       // it changed guarded files once, and is told
	apart   bool       // it works in a tree of its own, from which its work comes back
	merging bool       // its work is there, and not in the run's tree
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

func (s *step) judge(v effect.Verdict) {
	s.owed = v.Failure != nil
	switch {
	case v.OK:
		s.accomplish()
	case v.Unknown:
		s.unknown = true
	}
}

// accomplish takes in that the work is there: what was done apart is settled when
// it is merged, or when a person says so.
func (s *step) accomplish() {
	if s.apart && !s.merging {
		s.merging = true
		return
	}
	s.merging = false
	s.settle("done", true)
}

// judgeMerge takes in what a merge amounts to.
func (s *step) judgeMerge(v effect.Verdict) {
	s.owed = v.Failure != nil
	if v.OK {
		s.merging = false
		s.settle("done", true)
	}
}

// judgeHelper takes in what an agent that helps amounts to: one that finishes the
// work settles the step, and after all others something is chosen or started.
func (s *step) judgeHelper(role belay.Role, v effect.Verdict) {
	if v.Failure != nil && v.Failure.Class == belay.ClassTampered && !s.warned {
		s.warned, s.owed = true, false // it is told, and starts once more
		return
	}
	s.called, s.warned = "", false
	if role == belay.RoleRecovery && v.OK {
		s.accomplish()
		return
	}
	s.owed = !v.OK || role == belay.RolePlan
}

// beginMain checks that the step's own work may begin.
func (c *checker) beginMain(st *step, k belay.Key) {
	if st.merging {
		c.say(RuleMerge, "attempt %s starts, and the work of the one before it is to be merged", k)
	}
	if st.unknown {
		c.say(RuleOnce, "attempt %s starts, and nobody can tell whether the last one did the work", k)
	}
	if c.rec.At.Before(st.due) {
		c.say(RuleDue, "attempt %s starts at %s; its retry is due at %s", k, stamp(c.rec.At), stamp(st.due))
	}
	st.settled, st.final, st.forever = false, "", false
	st.unknown, st.checked, st.owed = false, false, false
	st.due = time.Time{}
	st.begun, st.called, st.vouched, st.reasked = true, "", false, false
}

// onNotTaken checks that a condition was decided before the first attempt, and
// not again after it: what failed would be forgotten.
func (c *checker) onNotTaken(e event.StepNotTaken) {
	st := c.step(e.Path)
	if st.begun {
		c.say(RuleTaken, "step %s is not taken (%s), but it has begun before", e.Path, e.Why)
	}
	st.settle("not taken", true)
}

// onAnswerGiven looks for a service that has no retries left, or is down when
// the patience of the step may be over: what its agent was to do again needs
// another recovery.
func (c *checker) onAnswerGiven(e event.AnswerGiven) {
	p, _ := belay.ParseKey(e.Key)
	switch a := e.Answer.(type) {
	case effect.AnswerWorktree:
		if p.Path != "" {
			st := c.step(p.Path)
			st.apart = a.Merge && a.Dir != "" || !a.OK && st.apart
		}
	case effect.AnswerAgent:
		if a.Spent || !a.Until.IsZero() {
			c.spent = p.Path
		}
	}
}

func (c *checker) onRecovery(e event.RecoveryChosen) {
	st := c.step(e.Path)
	if !st.owed && st.called == "" && c.spent != e.Path {
		c.say(RuleRecovery, "a recovery (%s) for step %s, which has no failure to leave", e.Plan.Act, e.Path)
		return
	}
	st.owed, st.called, c.spent = false, "", ""
	row := e.Plan.Act.Row()
	switch {
	case row.Again:
		st.due = e.Plan.Due
	case row.Helper != "": // an agent mends its own work by itself
		st.called = row.Helper
		if e.Plan.Act != belay.ActRecover {
			st.due = e.Plan.Due
		}
		if len(e.Plan.Parts) > 0 {
			st.called = ""
		}
	case e.Plan.Act == belay.ActGiveUp, e.Plan.Act == belay.ActAbort:
		st.settle("given up", false)
	case row.Ends: // an item follows, or that it is left out
	default:
		c.say(RuleRecovery, "an unknown recovery %q for step %s", e.Plan.Act, e.Path)
	}
}
