package flow

import (
	"slices"
	"strings"

	"github.com/belay-run/belay/event"
)

// holdsBack is the question that a step is held with because of a count, by that
// count: once a person takes the count back, the question is answered.
var holdsBack = map[event.Count]string{event.CountBudget: budgetItem, event.CountAttempts: staleItem}

// free marks the steps that are held only because of what a person took back.
func (s *State) free(e event.RunCleared) {
	question := holdsBack[e.What]
	if question == "" || s.result != nil {
		return
	}
	for i := range s.steps {
		st := &s.steps[i]
		if !strings.HasSuffix(st.item, question) || e.Path != "" && s.prog.Steps[i].ID != e.Path || st.freed != nil {
			continue
		}
		st.freed, st.agent.grant = &e, nil
		s.freeing = append(s.freeing, i)
	}
}

// nextFreed answers for a step that was held only because of what a person took
// back since: nothing else is asked there.
func (s *State) nextFreed() command {
	if len(s.freeing) == 0 {
		return nil
	}
	st, id := &s.steps[s.freeing[0]], s.prog.Steps[s.freeing[0]].ID
	return note{Event: event.ItemAnswered{
		ID: st.item, Path: id, By: st.freed.By, Choice: event.ChoiceAgain, Why: "cleared " + string(st.freed.What) + ": " + st.freed.Why,
	}}
}

// unfree forgets that a step was marked, and tells whether it was.
func (s *State) unfree(i int) bool {
	st := &s.steps[i]
	if st.freed == nil {
		return false
	}
	st.freed = nil
	s.freeing = slices.DeleteFunc(s.freeing, func(k int) bool { return k == i })
	return true
}
