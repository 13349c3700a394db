package flow

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/verdict"
)

// unsure tells whether nobody knows if the work of a step that must not run
// twice is there.
func (s *State) unsure(i int) bool {
	def, st := &s.prog.Steps[i], &s.steps[i]
	if !def.Once || st.declared || verdict.Spoke(st.verify) && (!st.gone || !verdict.Passed(st.verify)) {
		return false
	}
	unchecked := s.hasCheck(i) && st.main != nil && st.verdict == nil
	return st.gone || unchecked || st.verdict != nil && st.verdict.Unknown
}

// reopen makes an ended run go on: what failed or was left out waits again,
// with one attempt granted by the person who asked.
func (s *State) reopen() error {
	if s.result == nil {
		return fmt.Errorf("run %s: reopened but not ended", s.id)
	}
	s.result, s.failing, s.aborts, s.cancel, s.cut, s.listed, s.beside = nil, false, false, nil, false, nil, nil
	s.doubtHomes()
	if s.rounds != nil {
		s.rounds.seen = nil
	}
	for i := range s.steps {
		st := &s.steps[i]
		if s.closes(i) {
			st.woken = true
			continue
		}
		if s.redoes(i) {
			if err := s.wakeAgain(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// wakeAgain has a step of an ended run wait again, with one attempt granted. What it did
// and what is known of it stays.
func (s *State) wakeAgain(i int) error {
	st := &s.steps[i]
	s.parted(i) // a cancelled run leaves without its hooks
	s.unsettle(i)
	st.extra++
	st.greeted = false
	st.woken = true
	st.agent.down, st.agent.patient = time.Time{}, false // a person asked: the patience begins anew
	st.failure = nil
	if s.unsure(i) {
		st.verify = nil // what it did is still unknown: it is settled anew, not run
		s.look(i)
		return s.move(i, Ended)
	}
	if s.unasked(i) || s.doubted(i) {
		return s.askAgain(i)
	}
	return s.again(i, time.Time{})
}

// redoes tells whether a step of an ended run is to be done again when it is reopened.
func (s *State) redoes(i int) bool {
	switch st := &s.steps[i]; {
	case st.phase == Skipped:
		return true
	case st.phase != Failed:
		return false
	case s.prog.Steps[i].Optional, s.rounds != nil && i != s.lastRound(len(s.steps)):
		return false // its failure was allowed, and others went on from there
	}
	return true
}

// stoppedSteps are the facts by which a run that the machine ended also goes on, when it is
// opened again, with the steps that may fail and that the machine kept from being done: that
// was no end of them. Where others went on without one of them, its failure stands.
func (s *State) stoppedSteps(by, why string) []Fact {
	if s.result == nil || s.result.Code != exit.Infra || s.ofStep() || s.started.Finally {
		return nil
	}
	var facts []Fact
	again := map[int]bool{}
	for i := len(s.steps) - 1; i >= 0; i-- { // what builds on a step comes after it
		if !s.stoppedByMachine(i) {
			continue
		}
		if also, alone := s.alone(i, again); alone {
			again[i] = true
			facts = append(facts, Fact{s.id, event.StepReset{Path: s.prog.Steps[i].ID, By: by, Why: cmp.Or(why, "the machine kept it from being done"), Also: also, GoesOn: true}})
		}
	}
	slices.Reverse(facts)
	return facts
}

// stoppedByMachine tells whether a step that may fail did so because the machine lacked
// something.
func (s *State) stoppedByMachine(i int) bool {
	st := &s.steps[i]
	return st.phase == Failed && s.prog.Steps[i].Optional && !s.closes(i) && st.failure != nil && st.failure.Class == belay.ClassInfrastructure
}

// alone tells whether nothing was done without a step that failed: what builds on it never
// began, or is done again when the run is opened again. What was not taken is decided anew.
func (s *State) alone(i int, again map[int]bool) (also []belay.Path, alone bool) {
	for _, n := range s.builtOn(i) {
		switch st := &s.steps[n]; {
		case s.closes(n), again[n], s.redoes(n), st.phase == Waiting && st.attempt == 0:
		case st.phase == NotTaken:
			also = append(also, s.prog.Steps[n].ID)
		default:
			return nil, false
		}
	}
	return also, true
}
