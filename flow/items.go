package flow

import (
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
)

// hold folds that a person is asked about a step.
func (s *State) hold(e event.ItemOpened, at time.Time) error {
	return s.withStep(e.Path, func(i int) error {
		if e.About == event.ItemApproval {
			return s.asking(i, e, at)
		}
		s.drop(i)
		st := &s.steps[i]
		if e.About == event.ItemInput {
			st.question, st.inputs = &e, st.inputs+1
			return s.openItem(i, e.ID)
		}
		if st.phase == Waiting { // it is asked about before it starts
			s.unqueue(i)
			st.agent.broke = true
		}
		if st.vouched != nil {
			st.agent.broke, st.vouched = st.unstarted, nil
		}
		return s.openItem(i, e.ID)
	})
}

// answered folds what the person chose.
func (s *State) answered(e event.ItemAnswered, at time.Time) error {
	i, ok := s.items[e.ID]
	if !ok {
		return fmt.Errorf("run %s: item %s is not open", s.id, e.ID)
	}
	s.decidedFor(i)
	if s.steps[i].question != nil {
		return s.approved(i, e, at)
	}
	s.closeItem(i, fmt.Sprintf("%s answered it with %s at %s", e.By, e.Choice, at.UTC().Format(time.RFC3339)))
	st := &s.steps[i]
	freed := s.unfree(i)
	budget := st.agent.broke
	st.agent.broke = false
	if e.Choice == event.ChoiceDone && e.Check {
		return s.vouch(i, e, budget)
	}
	if !budget && (st.verdict == nil || st.verdict.Failure == nil) {
		st.failed++ // what was cut off or lost is used up: "again" grants one attempt, not two
	}
	switch e.Choice {
	case event.ChoiceDone:
		s.setOutputs(i)
		if st.merge.due { // it is merged, too
			st.merge.due = false
			return s.finish(i, Done)
		}
		return s.accomplish(i)
	case event.ChoiceAgain:
		if budget {
			st.agent.pardon = !freed && !strings.HasSuffix(e.ID, staleItem)
			if freed {
				st.extra++ // it may be asked about once more, before anything starts
			}
			st.woken = false
			return s.again(i, time.Time{})
		}
		if st.helper.role != "" && st.helper.told == nil && len(st.past) > 0 {
			st.past = st.past[:len(st.past)-1] // who was called never came: that way is still there
		}
		st.extra++
		st.agent.down, st.agent.patient = time.Time{}, false // a person asked: the patience begins anew
		if s.unasked(i) {
			return s.askAgain(i)
		}
		return s.again(i, time.Time{})
	case event.ChoiceSkip:
		st.leave = &e
		s.look(i) // that it is left out follows
		return nil
	case event.ChoiceFail:
		st.declared = true
		if st.failure == nil {
			st.failure = &belay.Failure{
				Kind: belay.BashFailure, Op: "step " + string(e.Path), Cause: "declared failed by " + e.By + ": " + e.Why,
			}
		}
		said := *st.failure // a record of the past is not changed
		said.Rule = belay.RulePerson
		st.failure = &said
		if err := s.move(i, Failed); err != nil {
			return err
		}
		s.fail(i)
		return nil
	}
	return fmt.Errorf("run %s: unknown answer %q", s.id, e.Choice)
}
