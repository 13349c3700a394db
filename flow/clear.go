package flow

import (
	"fmt"
	"slices"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
)

// nextClear answers a person who takes a count back.
func (s *State) nextClear(r event.Request) command {
	refuse := func(why string) command {
		return note{Event: event.RequestRefused{ID: r.ID, Why: why}}
	}
	cleared := note{Event: event.RunCleared{What: r.What, Path: r.Step, By: r.By, Why: r.Why}}
	switch r.What {
	case event.CountAttempts:
		if _, known := s.index[r.Step]; r.Step != "" && !known {
			return refuse(fmt.Sprintf("there is no step %s in this run", r.Step))
		}
		return cleared
	case event.CountBreakers, event.CountBudget, event.CountRestarts, event.CountReview:
		if s.id.Depth() > 0 {
			return refuse("the budget, the breakers, the restarts and the review belong to the root run")
		}
		return cleared
	case event.CountInbox:
		if s.id.Depth() > 0 {
			return refuse("what the inbox lists is the root run")
		}
		return cleared
	}
	return refuse(fmt.Sprintf("unknown count %q: attempts, breakers, budget, inbox, restarts or review", r.What))
}

// cleared folds what a person took back.
func (s *State) cleared(e event.RunCleared) {
	for n, r := range s.inbox {
		if r.Ask == event.RequestClear && r.What == e.What && r.Step == e.Path {
			s.inbox = append(s.inbox[:n:n], s.inbox[n+1:]...)
			break
		}
	}
	if e.What == event.CountBreakers {
		s.unblock()
	}
	if e.What != event.CountAttempts {
		return
	}
	s.free(e)
	for i := range s.steps {
		if st := &s.steps[i]; e.Path == "" || s.prog.Steps[i].ID == e.Path {
			st.past, st.same, st.lost, st.woken = nil, 0, 0, false
			st.agent.spent, st.agent.down = false, time.Time{}
		}
	}
}

// Counted are the runs below a run that have failures of steps counted against
// them.
func (t *Tree) Counted(top belay.RunID) (runs []belay.RunID) {
	for _, id := range t.Runs() {
		if s := t.Run(id); id != top && id.Under(top) && slices.ContainsFunc(s.steps, func(st step) bool { return len(st.past) > 0 || st.same > 0 || st.lost > 0 }) {
			runs = append(runs, id)
		}
	}
	return runs
}

// unblock lets the steps that wait for a service ask again at once.
func (s *State) unblock() {
	for i := range s.steps {
		if st := &s.steps[i]; st.phase == Waiting && st.agent.blocked {
			st.agent.blocked = false
			s.unqueue(i)
			st.due = time.Time{}
			s.wake(i)
		}
	}
}
