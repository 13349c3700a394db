package flow

import (
	"slices"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/expr"
	"github.com/belay-run/belay/recovery"
)

// askedFor is the waiting step that a question is about. It is read from the
// key, not looked for: thousands of steps may ask at the same time.
func (s *State) askedFor(k belay.Key) (int, bool) {
	p, ok := belay.ParseKey(k)
	if !ok || p.Role != belay.RoleMain {
		return 0, false
	}
	i, ok := s.index[p.Path]
	if !ok || s.steps[i].phase != Waiting || s.steps[i].waits > 0 {
		return 0, false
	}
	return i, p.Attempt == s.steps[i].attempt+1
}

// endedFor is the ended step that a question is about: a look at the machine, or
// at its tree.
func (s *State) endedFor(k belay.Key) (int, bool) {
	p, ok := belay.ParseKey(k)
	if !ok || p.Role != belay.RoleMain {
		return 0, false
	}
	i, ok := s.index[p.Path]
	return i, ok && s.steps[i].phase == Ended && p.Attempt == s.steps[i].attempt
}

// helperAnswered folds whether a helper may start.
func (s *State) helperAnswered(k belay.Key, a effect.AnswerAgent) {
	i, ok := s.helperOf(k)
	if of, _ := k.Is(belay.TopicAgent); ok && of == s.helperKey(i) {
		s.steps[i].helper.grant = &a
		s.look(i)
	}
}

// granted folds whether the agent of a step may start. A service that is down
// is asked again when it says, as long as the patience of the step lasts; one
// that has no retries left is a failure of its own, for which a recovery is chosen.
func (s *State) granted(i int, a effect.AnswerAgent, at time.Time) error {
	st := &s.steps[i]
	end := s.patienceEnd(i)
	over := !end.IsZero() && !at.Before(end)
	switch {
	case !a.OK && !a.Until.IsZero() && !over:
		s.unqueue(i)
		st.due, st.agent.blocked = a.Until, true
		if !end.IsZero() && end.Before(a.Until) {
			st.due = end
		}
		s.giveBack(i) // others can work there until then
		s.wake(i)
	case !a.OK && (a.Spent || over && !a.Until.IsZero()) && st.failure != nil:
		s.unqueue(i)
		st.agent.spent = true
		s.look(i)
		return s.move(i, Broken)
	default:
		st.agent.grant = &a
	}
	return nil
}

// patienceEnd is when a step has waited long enough for its service, zero where
// it does not wait for it.
func (s *State) patienceEnd(i int) time.Time {
	down := s.steps[i].agent.down
	patience := s.tree.started.Limits.Patience
	switch {
	case down.IsZero():
		return time.Time{}
	case patience == 0:
		patience = recovery.DefaultPatience
	}
	end := down.Add(max(patience, 0))
	if named := s.steps[i].agent.named; named.After(end) { // a time that the service named itself
		return named.Add(recovery.MaxWait)
	}
	return end
}

// forget drops the texts of a step that read what the step itself has set: a
// hook after it must see the new value.
func (s *State) forget(i int, sets []string) {
	for src := range s.steps[i].filled {
		t, err := expr.ParseText(src)
		if err != nil || slices.ContainsFunc(t.Names(), func(n string) bool { return slices.Contains(sets, n) }) {
			delete(s.steps[i].filled, src)
		}
	}
}
