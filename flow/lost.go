package flow

import (
	"fmt"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/recovery"
	"github.com/belay-run/belay/verdict"
)

func (s *State) lookKey(i int) belay.Key {
	return s.mainKey(i, s.steps[i].attempt).About(belay.TopicLook)
}

// afterLost is what follows when what a step started was lost once more.
func (s *State) afterLost(i int, now time.Time) belay.Plan {
	return recovery.AfterLost(s.policy(i), s.history(i), now)
}

// lostOut tells that it was lost every time: nothing of the step is started again.
func (s *State) lostOut(i int, now time.Time) bool {
	return s.afterLost(i, now).Act == belay.ActGiveUp
}

// settleLost decides what follows an attempt whose outcome nobody saw. It is done
// only when all that its step owes is there: the check passes, what the step
// expects is seen, and somebody has its outputs.
func (s *State) settleLost(i int, now time.Time, room int) (command, bool) {
	def, st := &s.prog.Steps[i], &s.steps[i]
	plan := s.afterLost(i, now)
	if s.wantsLook(i) && st.work.refused == "" { // before the check, which may write something itself
		if st.asked {
			return nil, false
		}
		dir, _ := s.dir(i) // it had one when it started
		// with the tree in hand, and only if nobody else had it since: theirs would be its work
		if c, open := s.nextTree(i, s.mainKey(i, st.attempt), &st.work, dir); c != nil || open {
			return c, false
		}
		return effect.Ask{Key: s.lookKey(i), Question: effect.AskLook{Dir: dir, Base: st.agent.base, Guard: s.guarding(i, belay.RoleMain)}}, false
	}
	if s.hasCheck(i) && st.verify == nil && !(st.deaf && s.lostOut(i, now)) {
		return s.doCheck(i, room)
	}
	passed := verdict.Passed(st.verify)
	why := "its outcome was lost with its keeper"
	if passed {
		v := verdict.Lost(s.lostCase(i), st.seen)
		if v.OK && v.Basis == effect.BasisChange && st.seenLate {
			v.Against = append(v.Against, "nobody saw the tree between the end of the attempt and now: a change that somebody else made since counts too")
		}
		lacks := unprinted(def)
		if v.OK && lacks == "" {
			return note{Event: event.AttemptJudged{Key: s.mainKey(i, st.attempt), Verdict: v}}, false
		}
		if why = "its keeper died with it; its check passes, but " + lacks; v.Unknown {
			why = "its keeper died with it; its check passes, but " + v.Against[len(v.Against)-1]
		}
	}
	if def.Once && (passed || !verdict.Spoke(st.verify)) { // nobody can say that it may run again
		return s.ask(i, fmt.Sprintf("step %s must not run twice, and %s."+howOn, def.ID, why)), false
	}
	return note{Event: event.RecoveryChosen{Path: def.ID, Plan: plan}}, false
}

// unprinted says which output of a step went with its process: what a lost step
// printed, or answered, nobody has. What it wrote to files can still be read.
func unprinted(def *recipe.Step) string {
	switch {
	case def.Output != "":
		return "nobody has its output " + def.Output
	case def.JSON == effect.JSONRequired:
		return "nobody has the JSON that it had to print"
	}
	for _, o := range def.Outputs {
		if o.File == "" {
			return "nobody has its output " + o.Name
		}
	}
	return ""
}

// doubtful tells whether a step that must not run twice failed in a way that leaves
// open what it did: the connection was lost, and with it perhaps only the answer. Its
// verify is asked before anybody tries again.
func (s *State) doubtful(i int, c verdict.Case) bool {
	def := &s.prog.Steps[i]
	if !def.Once || def.Verify == nil || def.Type != belay.TypeBash || c.Check != nil {
		return false
	}
	f := verdict.Of(c).Failure
	if f == nil || !byItself(&c.Main) {
		return false
	}
	s.explain(i, c, f)
	return f.Class == belay.ClassTransient || f.Class == belay.ClassTimeout
}

// doubted tells whether the verify of a step was asked because of such a failure:
// else it is asked about an attempt that ended badly by itself only when a person
// says that the work is there.
func (s *State) doubted(i int) bool {
	def, st := &s.prog.Steps[i], &s.steps[i]
	return def.Once && def.Verify != nil && !st.gone && !st.declared && byItself(st.main) && st.verify != nil && !st.confirms
}

// byItself tells whether an attempt ended badly, and nobody ended it.
func byItself(o *effect.Observation) bool {
	return o != nil && o.Began && o.Exit > 0 && o.Signal == 0 && o.KilledBy == fault.KilledNot && o.Fault == fault.None
}

// gives tells whether somebody may wait for what a step prints or writes.
func gives(def *recipe.Step) bool { return unprinted(def) != "" || len(def.Outputs) > 0 }

// filed are the results that a step writes to files.
func filed(specs []effect.OutputSpec) []effect.OutputSpec {
	var list []effect.OutputSpec
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
	if !s.typeOf(i).Agent() || !s.hasCheck(i) || st.seen != nil || st.agent.base == nil {
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

// looked folds a look at the tree of a lost agent, or at the files that a helper
// had to leave alone, or at the user's checkout.
func (s *State) looked(k belay.Key, a effect.AnswerLook) {
	if k == s.besideKey() {
		s.beside = &a
		return
	}
	i, ok := s.endedFor(k)
	if !ok {
		s.guardSeen(k, a)
		return
	}
	st := &s.steps[i]
	st.seen, st.seenLate = a.Seen, true
	if st.seen == nil {
		st.seen = &belay.Evidence{Error: a.Error, After: belay.TreeState{Error: a.Error}}
	}
	s.look(i)
}
