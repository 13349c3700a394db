package flow

import (
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/verdict"
)

// maxShown bounds how much of what a check printed stands in a question.
const maxShown = 600

// checkItem is in the id of a question about a step that a person called done,
// and whose check says otherwise.
const checkItem = ".check"

// vouch folds a person's word that the work of a step is there. The step has a
// check of its own: that decides.
func (s *State) vouch(i int, e event.ItemAnswered, unstarted bool) error {
	st := &s.steps[i]
	st.vouched, st.unstarted = &e, unstarted
	st.verify, st.deaf = nil, false
	s.look(i)
	return s.move(i, Ended)
}

// judgedKey names the attempt that is judged next of an ended step: its own, or
// the check that a person's word waits for.
func (s *State) judgedKey(i int) belay.Key {
	st := &s.steps[i]
	if st.vouched != nil || st.reask {
		return belay.KeyOf(s.id, s.prog.Steps[i].ID, belay.RoleVerify, st.check)
	}
	return s.mainKey(i, st.attempt)
}

// unasked tells whether a step failed only because the forge could not be asked
// about its work.
func (s *State) unasked(i int) bool {
	st := &s.steps[i]
	return s.prog.Steps[i].Verify == nil && s.asksFor(i) == belay.ExpectPR && st.main != nil && st.main.Agent != nil && st.verify != nil &&
		st.verdict != nil && st.verdict.Failure != nil && st.verdict.Failure.Kind == belay.Infrastructure
}

// askAgain settles a step anew instead of running it again: the work of its agent is
// there, or the answer of a step that must not run twice was lost.
func (s *State) askAgain(i int) error {
	st := &s.steps[i]
	st.reask, st.verify, st.deaf, st.plan, st.probe = true, nil, false, nil, nil
	s.look(i)
	return s.move(i, Ended)
}

// confirm asks the check of a step that a person called done: once for each
// such word. If it does not pass, the person is asked again, and told why.
func (s *State) confirm(i int, now time.Time, room int) (command, bool) {
	st := &s.steps[i]
	if st.verify == nil {
		if st.deaf && s.lostOut(i, now) {
			return s.doubt(i, "was lost every time"), false
		}
		return s.doCheck(i, room)
	}
	if !verdict.Passed(st.verify) {
		return s.doubt(i, said(st.verify)), false
	}
	return note{Event: event.AttemptJudged{Key: s.judgedKey(i), Verdict: effect.Verdict{
		OK: true, For: []string{st.vouched.By + " says it is done: " + st.vouched.Why, "verify: exit 0"},
	}}}, false
}

// doubt asks the person again. The id keeps what the question before was about,
// as "again" means something else for each.
func (s *State) doubt(i int, why string) command {
	def, st := &s.prog.Steps[i], &s.steps[i]
	id := fmt.Sprintf("%s.%d%s%d", def.ID, st.attempt+st.extra, checkItem, st.check)
	for _, kind := range []string{staleItem, budgetItem} {
		if strings.HasSuffix(st.vouched.ID, kind) {
			id += kind
		}
	}
	return note{Event: event.ItemOpened{
		ID: id, Path: def.ID,
		Ask: fmt.Sprintf("step %s is done, says %s, but its check %s. Shall it be checked once more (done), shall the step run again, has it failed, or shall it be skipped?",
			def.ID, st.vouched.By, why),
		Choices: []string{event.ChoiceDone, event.ChoiceAgain, event.ChoiceFail, event.ChoiceSkip},
	}}
}

// said is what a check that does not pass let see.
func said(o *effect.Observation) string {
	text := fmt.Sprintf("ended with exit %d", o.Exit)
	switch {
	case !o.Began:
		text = "could not be started"
	case o.KilledBy == fault.KilledDeadline:
		text = "took too long"
	case !verdict.Spoke(o):
		text = "was cut off"
	}
	tail := strings.TrimSpace(o.Tail)
	if len(tail) > maxShown {
		tail = "…" + strings.ToValidUTF8(tail[len(tail)-maxShown:], "")
	}
	if tail != "" {
		text += ": " + tail
	}
	return text
}
