package flow

import (
	"fmt"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
)

// receive keeps a request until it is decided; one that is known already counts once.
func (s *State) receive(r event.Request) {
	if s.seen[r.ID] {
		return
	}
	s.seen[r.ID] = true
	if r.Run != s.id {
		return // meant for a run that is not in this tree; it is refused
	}
	if r.Ask == event.RequestCancel && s.result == nil {
		if s.cancel == nil {
			s.cancel = &r
		} else {
			s.cut = true
		}
		return
	}
	if (r.Ask == event.RequestStop || r.Ask == event.RequestPause && s.id.Depth() == 0) && s.result == nil {
		return // the tree's business
	}
	s.inbox = append(s.inbox, r)
}

// decided forgets a request that was refused.
func (s *State) decided(id string) {
	for n, r := range s.inbox {
		if r.ID == id {
			s.inbox = append(s.inbox[:n:n], s.inbox[n+1:]...)
			return
		}
	}
}

// decidedFor forgets the request that answered step i.
func (s *State) decidedFor(i int) {
	for n, r := range s.inbox {
		if r.Ask == event.RequestAnswer && s.target(r) == i {
			s.inbox = append(s.inbox[:n:n], s.inbox[n+1:]...)
			return
		}
	}
}

// nextRequest answers the oldest request from outside.
func (s *State) nextRequest() command {
	if len(s.inbox) == 0 {
		return nil
	}
	r := s.inbox[0]
	refuse := func(why string) command {
		return note{Event: event.RequestRefused{ID: r.ID, Why: why}}
	}
	if r.Ask == event.RequestClear {
		return s.nextClear(r)
	}
	if s.result != nil {
		why := "the run has ended: " + string(s.result.Status)
		if told := s.closed.about(r); told != "" && r.Ask == event.RequestAnswer {
			why = told + "; " + why
		}
		return refuse(why)
	}
	i := s.target(r)
	if r.Ask != event.RequestAnswer {
		return refuse(fmt.Sprintf("unknown request %q", r.Ask))
	}
	if i < 0 {
		if why := s.closed.about(r); why != "" && (r.Item != "" || r.Step != "") {
			return refuse(why)
		}
		if r.Item != "" {
			return refuse(fmt.Sprintf("there is no item %s in this run", r.Item))
		}
		if r.Step == "" {
			return refuse("no step of this run waits for an answer, or several do: name one")
		}
		return refuse(fmt.Sprintf("step %s does not wait for an answer", r.Step))
	}
	if s.steps[i].question != nil {
		answer, why := s.answerApproval(i, r)
		if why != "" {
			return refuse(why)
		}
		return note{Event: answer}
	}
	switch r.Choice {
	case event.ChoiceDone, event.ChoiceAgain, event.ChoiceFail, event.ChoiceSkip:
		return note{Event: event.ItemAnswered{
			ID: s.steps[i].item, Path: s.prog.Steps[i].ID, By: r.By, Choice: r.Choice, Why: r.Why,
			Check: r.Choice == event.ChoiceDone && s.prog.Steps[i].Verify != nil,
		}}
	}
	return refuse(fmt.Sprintf("unknown answer %q: done, again, fail or skip", r.Choice))
}

// target is the held step that a request speaks of, -1 when there is none.
func (s *State) target(r event.Request) int {
	if i, ok := s.items[r.Item]; ok {
		return i
	}
	if r.Item != "" {
		if i, ok := s.index[belay.Path(r.Item)]; ok && s.steps[i].item != "" {
			return i
		}
		return -1
	}
	if r.Step != "" {
		if i, ok := s.index[r.Step]; ok && s.steps[i].item != "" {
			return i
		}
		return -1
	}
	if len(s.items) != 1 {
		return -1
	}
	for _, i := range s.items {
		return i
	}
	return -1
}
