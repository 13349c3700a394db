package flow

import (
	"fmt"
	"slices"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/recovery"
	"github.com/belay-run/belay/verdict"
)

// judgeHelper says what a helper's attempt amounts to. What finishes a sub-recipe
// must pass the check of the step that it stands for.
func (s *State) judgeHelper(i int, now time.Time, room int) (command, bool) {
	def, st := &s.prog.Steps[i], &s.steps[i]
	a := &st.helper
	v := s.helperVerdict(i)
	if a.role == belay.RoleRecovery && s.rechecked(i, v) {
		lost := st.deaf && s.lostOut(i, now)
		if s.hasCheck(i) && st.verify == nil && !lost {
			return s.doCheck(i, room)
		}
		v = s.recovered(i, v)
	}
	if a.role == belay.RoleRepair && st.merge.due && def.Verify != nil && a.seen().Began && !spoils(v) {
		if st.verify == nil && !(st.deaf && s.lostOut(i, now)) {
			return s.doCheck(i, room)
		}
		v = s.resolved(i, v)
	}
	return note{Event: event.AttemptJudged{Key: belay.KeyOf(s.id, def.ID, a.role, a.numbers[a.role]), Verdict: v}}, false
}

// helperVerdict judges a helper by itself.
func (s *State) helperVerdict(i int) effect.Verdict {
	def, st := &s.prog.Steps[i], &s.steps[i]
	a := &st.helper
	c := verdict.Case{Step: def.ID, Type: belay.TypeAgent, Main: *a.seen(), Timeout: s.helperTime(i), Expect: s.helperExpects(i), Classic: s.tree.started.Classic}
	if s.asksFor(i) != "" && a.role == belay.RoleRecovery {
		c.Expect = belay.ExpectNone // the check that follows says whether it is there
	}
	v := verdict.Of(c)
	if v.Failure != nil {
		s.tree.classifier().Explain(c, v.Failure, verdict.Look{})
	}
	if a.role == belay.RoleRecovery && s.recoveryMode(i) == recovery.PolicyClassic {
		v = verdict.Lenient(v)
	}
	return verdict.Guarded(c, verdict.Helper(v, *a.seen(), a.role), a.saw)
}

// helperExpects is what a helper must leave behind: what mends must change
// something, what finishes what the step expects.
func (s *State) helperExpects(i int) belay.Expect {
	switch s.steps[i].helper.role {
	case belay.RoleRepair:
		return belay.ExpectChange
	case belay.RoleRecovery:
		if e := s.prog.Steps[i].Expect; e != "" && s.recoveryMode(i) != recovery.PolicyClassic {
			return belay.Expect(e)
		}
	case belay.RolePlan, belay.RoleMain, belay.RoleVerify, belay.RoleHook, belay.RoleMerge:
	}
	return belay.ExpectAnswer
}

// rechecked tells whether the step is looked at after a recovery agent. Its check
// is asked whatever became of the agent, unless that never began or says with the
// agreed word that nothing can be recovered.
func (s *State) rechecked(i int, v effect.Verdict) bool {
	told := s.steps[i].helper.seen()
	if v.OK || spoils(v) { // a check says nothing when its files were changed
		return v.OK
	}
	return s.hasCheck(i) && told.Began && (told.Agent == nil || !told.Agent.Result.GaveUp)
}

// recovered judges a recovered step by all that it owes: its check, the change
// that it expects, and the outputs that others read. The agent's answer is none of
// these: a step with nothing else to look at is recovered, unverified.
func (s *State) recovered(i int, v effect.Verdict) effect.Verdict {
	def, st := &s.prog.Steps[i], &s.steps[i]
	classic := s.recoveryMode(i) == recovery.PolicyClassic
	refuse := func(why string) effect.Verdict {
		return effect.Verdict{Against: append(slices.Clone(v.Against), why), For: v.For, Failure: &belay.Failure{
			Kind: belay.RecipeFailure, Class: belay.ClassWorkFailure, Level: belay.LevelProcess, Rule: "recovery",
			Op: "step " + string(def.ID), Cause: why,
		}}
	}
	has := s.hasCheck(i)
	switch {
	case has && verdict.Passed(st.verify):
		if v.For = append(v.For, verdict.CheckedFor(*st.verify)...); v.Basis == effect.BasisAnswer {
			v.Basis = effect.BasisVerify // more than its word
		}
	case !v.OK:
		return v // its own failure says why
	case has && classic: // the answer is taken, as what it is
		v.For, v.Against, v.Partial = append(v.For, unverified), append(v.Against, "the step's check does not pass"), true
		return v
	case has:
		return refuse("the recovery agent answered, and the step's check does not pass")
	}
	if !v.OK && !classic && !s.helperShows(i) {
		return v
	}
	if why := s.unrecovered(i, v.OK); why != "" && !classic {
		return refuse(why)
	}
	v.OK, v.Failure = true, nil
	switch {
	case has:
	case def.Expect == string(belay.ExpectChange) && !classic:
		v.For = append(v.For, "evidence: "+def.Expect)
	case demands(def.Expect) && !classic:
		return refuse("the step expects " + def.Expect + ", and no check shows it")
	case classic:
		v.For = append(v.For, TakenAnswer)
	default:
		v.For, v.Partial = append(v.For, unverified), true
	}
	return v
}

// unverified is what is said for a recovery that nothing in the recipe checks.
const unverified = "recovered, unverified"

// TakenAnswer is what is said for one where the recipe takes the answer for the
// work.
const TakenAnswer = "unverified: recovery: classic takes the answer for the work"

// demands tells whether an expectation asks for something that Belay can see.
func demands(expect string) bool {
	switch belay.Expect(expect) {
	case belay.ExpectChange, belay.ExpectTests, belay.ExpectPR:
		return true
	case belay.ExpectAnswer, belay.ExpectNone:
	}
	return false
}

// helperShows tells whether a helper that did not end well left the change that its
// step expects all the same.
func (s *State) helperShows(i int) bool {
	told := s.steps[i].helper.seen()
	switch belay.Expect(s.prog.Steps[i].Expect) {
	case belay.ExpectChange:
		return told.Agent != nil && verdict.Changed(told.Agent.Evidence)
	case belay.ExpectTests, belay.ExpectPR, belay.ExpectAnswer, belay.ExpectNone: // the check that passed is all there is to see
	}
	return true
}

// unrecovered says which output of a recovered step is not there; "" = none is
// missing. answered: the agent gave an answer, which is the step's own output.
func (s *State) unrecovered(i int, answered bool) string {
	def, st := &s.prog.Steps[i], &s.steps[i]
	if def.Output != "" && !answered {
		return "nobody has the output " + def.Output
	}
	child := s.tree.runs[st.last]
	if child == nil || st.main == nil || st.main.Child == nil {
		return ""
	}
	for k := range child.steps {
		owes := &child.prog.Steps[k]
		if p := child.steps[k].phase; owes.Optional || p == Done || p == NotTaken || p == Skipped {
			continue
		}
		for name := range owes.Sets {
			if _, there := st.main.Child.Outputs[name]; there {
				continue
			}
			if by := s.reader(i, name); by != "" {
				return fmt.Sprintf("step %s reads %s, which the sub-recipe did not come to set", by, name)
			}
		}
	}
	return ""
}

// reader is a step after step i that reads a variable, "" for none.
func (s *State) reader(i int, name string) belay.Path {
	for k := range s.prog.Steps {
		if k != i && s.steps[k].phase == Waiting && s.prog.Steps[k].Reads(name) {
			return s.prog.Steps[k].ID
		}
	}
	return ""
}

// threwAway tells whether all that an agent did with a conflict was to take back
// work: that resolves nothing, though no mark is left.
func threwAway(o *effect.Observation) bool { return o.Agent != nil && o.Agent.Evidence.TakenBack }

// judgedHelper folds what a helper's attempt amounts to.
func (s *State) judgedHelper(i int, v effect.Verdict) error {
	st := &s.steps[i]
	a := &st.helper
	s.drop(i)
	told := a.seen()
	switch {
	case tampered(v) && a.warned == "" && a.told != nil && a.told.Agent != nil:
		return s.warn(i, v)
	case spoils(v):
		return s.spoiled(i, v)
	case a.role == belay.RolePlan && v.OK:
		a.judged = &v
		s.look(i)
		return nil
	case a.role == belay.RoleRepair && (v.OK || told.Began) && !s.unfit(i) && !(st.merge.due && threwAway(told)):
		// Whatever it says of itself, the step itself shows whether it is mended.
		st.mended = v.OK || told.Agent == nil || verdict.Changed(told.Agent.Evidence)
		a.leave()
		st.nextAttempt.brief = ""
		return s.again(i, time.Time{})
	case a.role == belay.RoleRecovery && v.OK:
		a.leave()
		s.setOutputs(i) // what the sub-recipe set before it failed
		st.plan, st.main, st.verdict = nil, told, &v
		s.setOutputs(i)
		return s.accomplish(i)
	}
	if told.Agent != nil && verdict.Changed(told.Agent.Evidence) {
		st.mended = true
	}
	a.leave()
	st.plan = nil
	s.look(i)
	return nil
}
