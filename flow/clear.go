package flow

import (
	"fmt"
	"time"

	"github.com/belay-run/belay"
)

// nextClear answers a person who takes a count back.
func (s *State) nextClear(r belay.Request) belay.Command {
	refuse := func(why string) belay.Command {
		return belay.Note{Event: belay.RequestRefused{ID: r.ID, Why: why}}
	}
	cleared := belay.Note{Event: belay.RunCleared{What: r.What, Path: r.Step, By: r.By, Why: r.Why}}
	switch r.What {
	case belay.CountAttempts:
		if _, known := s.index[r.Step]; r.Step != "" && !known {
			return refuse(fmt.Sprintf("there is no step %s in this run", r.Step))
		}
		return cleared
	case belay.CountBreakers, belay.CountBudget:
		if s.id.Depth() > 0 {
			return refuse("the budget and the breakers belong to the root run")
		}
		return cleared
	}
	return refuse(fmt.Sprintf("unknown count %q: attempts, breakers or budget", r.What))
}

// cleared folds what a person took back.
func (s *State) cleared(e belay.RunCleared) {
	for n, r := range s.inbox {
		if r.Ask == belay.RequestClear && r.What == e.What && r.Step == e.Path {
			s.inbox = append(s.inbox[:n:n], s.inbox[n+1:]...)
			break
		}
	}
	if e.What == belay.CountBreakers {
		s.unblock()
	}
	if e.What != belay.CountAttempts {
		return
	}
	for i := range s.steps {
		if st := &s.steps[i]; e.Path == "" || s.prog.Steps[i].ID == e.Path {
			st.past, st.same, st.lost, st.woken = nil, 0, 0, false
			st.agent.spent, st.agent.down = false, time.Time{}
		}
	}
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
