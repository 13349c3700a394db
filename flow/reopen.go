package flow

import (
	"fmt"
	"time"

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
		if !s.redoes(i) {
			continue
		}
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
			if err := s.move(i, Ended); err != nil {
				return err
			}
			continue
		}
		if s.unasked(i) || s.doubted(i) {
			if err := s.askAgain(i); err != nil {
				return err
			}
			continue
		}
		if err := s.again(i, time.Time{}); err != nil {
			return err
		}
	}
	return nil
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
