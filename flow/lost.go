package flow

import (
	"fmt"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/recovery"
	"github.com/belay-run/belay/verdict"
)

func (s *State) lookKey(i int) belay.Key {
	return s.mainKey(i, s.steps[i].attempt).About(belay.TopicLook)
}

// settleLost decides what follows an attempt whose outcome nobody saw. It is done
// only when all that its step owes is there: the check passes, what the step
// expects is seen, and somebody has its outputs.
func (s *State) settleLost(i int, now time.Time, room int) (belay.Command, bool) {
	def, st := &s.prog.Steps[i], &s.steps[i]
	plan := recovery.AfterLost(s.policy(i), s.history(i), now)
	if s.wantsLook(i) && st.work.refused == "" { // before the check, which may write something itself
		if st.asked {
			return nil, false
		}
		dir, _ := s.dir(i) // it had one when it started
		// with the tree in hand, and only if nobody else had it since: theirs would be its work
		if c, open := s.nextTree(i, s.mainKey(i, st.attempt), &st.work, dir); c != nil || open {
			return c, false
		}
		return belay.Ask{Key: s.lookKey(i), Question: belay.Question{Look: dir, Base: st.agent.base, Guard: s.guarding(i, belay.RoleMain)}}, false
	}
	if s.hasCheck(i) && st.verify == nil && (plan.Act != belay.ActGiveUp || !st.deaf) {
		return s.doCheck(i, room)
	}
	passed := verdict.Passed(st.verify)
	why := "its outcome was lost with its keeper"
	if passed {
		v := verdict.Lost(s.lostCase(i), st.seen)
		if v.OK && v.Basis == belay.BasisChange && st.seenLate {
			v.Against = append(v.Against, "nobody saw the tree between the end of the attempt and now: a change that somebody else made since counts too")
		}
		lacks := unprinted(def)
		if v.OK && lacks == "" {
			return belay.Note{Event: belay.AttemptJudged{Key: s.mainKey(i, st.attempt), Verdict: v}}, false
		}
		if why = "its keeper died with it; its check passes, but " + lacks; v.Unknown {
			why = "its keeper died with it; its check passes, but " + v.Against[len(v.Against)-1]
		}
	}
	if def.Once && (passed || !verdict.Spoke(st.verify)) { // nobody can say that it may run again
		return s.ask(i, fmt.Sprintf("step %s must not run twice, and %s. Is the work there, shall it run again, has it failed, or is it left out?", def.ID, why)), false
	}
	return belay.Note{Event: belay.RecoveryChosen{Path: def.ID, Plan: plan}}, false
}

// unprinted says which output of a step went with its process: what a lost step
// printed, or answered, nobody has. What it wrote to files can still be read.
func unprinted(def *recipe.Step) string {
	switch {
	case def.Output != "":
		return "nobody has its output " + def.Output
	case def.JSON == belay.JSONRequired:
		return "nobody has the JSON that it had to print"
	}
	for _, o := range def.Outputs {
		if o.File == "" {
			return "nobody has its output " + o.Name
		}
	}
	return ""
}

// filed are the results that a step writes to files.
func filed(specs []belay.OutputSpec) []belay.OutputSpec {
	var list []belay.OutputSpec
	for _, o := range specs {
		if o.File != "" {
			list = append(list, o)
		}
	}
	return list
}

// lostCase is what a lost attempt is judged by.
func (s *State) lostCase(i int) verdict.Case {
	def, st := &s.prog.Steps[i], &s.steps[i]
	return verdict.Case{
		Step: def.ID, Type: s.doneAs(i), Once: def.Once, Timeout: s.timeout(i), Check: st.verify,
		Expect: s.Expects(i), Classic: s.started.Classic,
	}
}

// wantsLook tells whether the tree of a lost agent is to be looked at: a change is
// expected, or files are guarded, and nobody looked. Without the state that it began with there is
// nothing to compare; without a check nobody could say that the change is all.
func (s *State) wantsLook(i int) bool {
	st := &s.steps[i]
	if s.typeOf(i) != belay.TypeAgent || !s.hasCheck(i) || st.seen != nil || st.agent.base == nil {
		return false
	}
	return s.Expects(i) == belay.ExpectChange || s.guarding(i, belay.RoleMain) != nil
}

// sawLeft keeps what the attendant of a lost agent reported of the tree, when it
// lived on: it looked before anybody else could change something.
func (st *step) sawLeft(left *belay.Evidence) {
	st.seen, st.seenLate = nil, false
	if left != nil && usable(&left.Before) && usable(&left.After) {
		st.seen = left
	}
}

// looked folds a look at the tree of a lost agent.
func (s *State) looked(i int, a belay.Answer) {
	st := &s.steps[i]
	st.seen, st.seenLate = a.Seen, true
	if st.seen == nil {
		st.seen = &belay.Evidence{Error: a.Error, After: belay.Print{Error: a.Error}}
	}
	s.look(i)
}
