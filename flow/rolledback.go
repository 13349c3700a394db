package flow

import (
	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/verdict"
)

// around is what was seen of the files around a fallback. A step that has one is
// looked at before its first attempt, before the fallback and after it.
type around struct {
	before *belay.TreeState
	failed *belay.TreeState // as the failed attempts left them
	after  *belay.TreeState
}

// began keeps the state that the first attempt of an agent began with: its attendant
// looked already.
func (a *around) began(o *effect.Observation) {
	if o == nil || o.Agent == nil || a.before != nil {
		return
	}
	if p := o.Agent.Evidence.Before; usable(&p) {
		a.before = &p
	}
}

// nextLook asks for a look at the files before a step begins, nil when there is nothing
// to be seen or it was.
func (s *State) nextLook(i int) command {
	def, st := &s.prog.Steps[i], &s.steps[i]
	seen := &st.around
	switch {
	case def.Fallback == nil, def.Foreach != "", def.Repeat != nil, s.blind(i):
		return nil
	case st.nextAttempt.fallback && (!usable(seen.before) || seen.failed != nil):
		return nil
	case !st.nextAttempt.fallback && (st.attempt > 0 || seen.before != nil || s.typeOf(i).Agent()):
		return nil
	}
	dir, err := s.dir(i)
	if err != nil {
		return nil // it is refused
	}
	return effect.Ask{Key: s.mainKey(i, st.attempt+1).About(belay.TopicLook), Question: effect.AskLook{Dir: dir}}
}

// afterKey names the look at the files after the fallback of a step.
func (s *State) afterKey(i int) belay.Key {
	return belay.KeyOf(s.id, s.prog.Steps[i].ID, belay.RoleVerify, s.steps[i].attempt).About(belay.TopicLook)
}

// looksAfter asks for the look after a fallback, where the failed attempts had changed
// something; the second result tells that an answer is awaited.
func (s *State) looksAfter(i int) (command, bool) {
	st := &s.steps[i]
	seen := &st.around
	switch {
	case !st.nextAttempt.fallback, st.main == nil || st.main.Child == nil, seen.after != nil:
		return nil, false
	case !usable(seen.before) || !usable(seen.failed) || verdict.SameTree(*seen.before, *seen.failed):
		return nil, false
	case st.asked:
		return nil, true
	}
	dir, _ := s.dir(i) // it had one when it started
	return effect.Ask{Key: s.afterKey(i), Question: effect.AskLook{Dir: dir}}, true
}

// lookedAround keeps an answer about the files around a fallback; false for any other.
func (s *State) lookedAround(k belay.Key, a effect.AnswerLook) bool {
	p, ok := belay.ParseKey(k)
	i, known := s.index[p.Path]
	if !ok || !known || s.prog.Steps[i].Fallback == nil {
		return false
	}
	st := &s.steps[i]
	now := &belay.TreeState{Error: a.Error}
	if a.Seen != nil {
		now = &a.Seen.After
	}
	switch _, waiting := s.askedFor(k); {
	case waiting && st.nextAttempt.fallback:
		st.around.failed = now
	case waiting:
		st.around.before = now
	case st.phase == Ended && k == s.afterKey(i):
		st.around.after = now
		s.look(i)
	default:
		return false
	}
	return true
}

// rolledBack tells whether the fallback of a step put back what the failed attempts had
// changed.
func (s *State) rolledBack(i int) bool {
	seen := &s.steps[i].around
	return s.steps[i].nextAttempt.fallback && usable(seen.before) && usable(seen.failed) && usable(seen.after) &&
		verdict.RolledBack(*seen.before, *seen.failed, *seen.after)
}
