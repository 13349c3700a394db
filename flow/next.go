package flow

import (
	"fmt"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/recovery"
	"github.com/belay-run/belay/verdict"
)

// checkTimeout bounds a verify whose step has no timeout of its own.
const checkTimeout = 10 * time.Minute

// Next names the next command. room is how many processes may still be
// started in the whole tree; below zero nothing new begins at all. It is
// called again after each command, until it says Wait or End.
func (s *State) next(now time.Time, room int) command {
	s.cramped = false
	if c := s.nextExpired(now); c != nil {
		return c // an answer that comes later is too late
	}
	if c := s.nextRequest(); c != nil {
		return c
	}
	if s.result != nil {
		return wait{For: waitNobody}
	}
	if c := s.nextFreed(); c != nil {
		return c
	}
	c, crowded := s.nextHook(room)
	if c != nil {
		return c
	}
	for _, i := range s.toSettle {
		c, wants := s.nextSettle(i, now, room)
		if c != nil {
			return c
		}
		crowded = crowded || wants
	}
	if c := s.nextKill(now); c != nil {
		return c
	}
	if c := s.nextRenewal(); c != nil {
		return c
	}
	if s.cancel == nil && !s.givesUp() {
		c, wants := s.nextStart(now, room)
		if c != nil {
			return c
		}
		crowded = crowded || wants
	}
	if c := s.nextEnd(room); c != nil {
		return c
	}
	return s.wait(now, crowded)
}

// nextSettle says what becomes of an ended or broken step; the second result
// tells that it waits for room.
func (s *State) nextSettle(i int, now time.Time, room int) (command, bool) {
	def, st := &s.prog.Steps[i], &s.steps[i]
	switch {
	case st.leave != nil:
		return note{Event: event.StepSkipped{Path: def.ID, By: st.leave.By, Why: st.leave.Why}}, false
	case st.phase == Broken && st.helper.role != "":
		return s.nextHelper(i, now, room)
	case st.phase == Broken && st.plan != nil:
		return s.ask(i, held(def.ID, *st.failure, *st.plan)), false
	case s.needsInput(i):
		return s.askInput(i), false
	case st.phase == Broken:
		return s.chosen(i, s.decide(i, now)), false
	case st.phase == Merging:
		return s.nextMerge(i, now, room)
	case st.phase != Ended:
		return nil, false
	case st.vouched != nil:
		return s.confirm(i, now, room)
	case st.verdict != nil && st.verdict.Unknown:
		return s.ask(i, fmt.Sprintf("step %s must not run twice and was cut off in the middle."+howOn, def.ID)), false
	case st.gone:
		return s.settleLost(i, now, room)
	}
	c := s.caseOf(i)
	if s.hasCheck(i) && st.verify == nil && (verdict.NeedsCheck(c) || s.doubtful(i, c)) {
		if st.deaf && s.lostOut(i, now) {
			return note{Event: event.RecoveryChosen{Path: def.ID, Plan: s.afterLost(i, now)}}, false // its check is lost every time
		}
		return s.doCheck(i, room)
	}
	if s.doubted(i) && verdict.Passed(st.verify) && gives(def) {
		return s.ask(i, fmt.Sprintf("step %s must not run twice; it failed, its check passes, and nobody has what it had to print."+howOn, def.ID)), false
	}
	return s.judge(i, c), false
}

// held is the question about a step for which only a person can do something.
func held(p belay.Path, f belay.Failure, plan belay.Plan) string {
	text := fmt.Sprintf("step %s failed: %s.", p, f.Cause)
	if f.Hint != "" && plan.Policy != "" {
		text += " Hint: " + f.Hint + "."
	}
	return text + howOn
}

// howOn ends every question about a held step. Its words are those of the choices.
const howOn = " Choose: done (its work is done), again (run it again), fail (leave it failed), skip (go on without it)."

// ask holds a step for a person.
func (s *State) ask(i int, question string) command {
	def, st := &s.prog.Steps[i], &s.steps[i]
	id := fmt.Sprintf("%s.%d", def.ID, st.attempt+st.extra)
	if st.merge.due { // the same attempt may have been asked about before
		id += fmt.Sprintf(".merge%d", st.merge.n)
	}
	return note{Event: event.ItemOpened{
		ID: id, Path: def.ID, Ask: question,
		Choices: []string{event.ChoiceDone, event.ChoiceAgain, event.ChoiceFail, event.ChoiceSkip},
	}}
}

func (s *State) doCheck(i, room int) (command, bool) {
	if s.cancel != nil {
		return nil, false // it would be ended at once, and asked for again
	}
	if room <= 0 {
		return nil, true
	}
	return effect.Do{Job: s.job(i, belay.RoleVerify, s.steps[i].check+1)}, false
}

func (s *State) policy(i int) recovery.Policy {
	def, st := &s.prog.Steps[i], &s.steps[i]
	return recovery.Policy{
		MaxAttempts: def.Retry.MaxAttempts + st.extra,
		Backoff:     def.Retry.Backoff,
		MaxLost:     s.started.Limits.MaxLost + st.extra,
		Escalate:    def.Escalate,
		NoRepair:    def.NoRepair,
	}
}

func (s *State) history(i int) recovery.History {
	st := &s.steps[i]
	return recovery.History{Key: s.mainKey(i, st.attempt), Failed: st.failed, Lost: st.lost}
}

func (s *State) caseOf(i int) verdict.Case {
	def, st := &s.prog.Steps[i], &s.steps[i]
	return verdict.Case{
		Step: def.ID, Type: s.doneAs(i), Once: def.Once, Timeout: s.timeout(i), Declared: def.Failure,
		Main: *st.main, Check: st.verify, Over: s.overTime(),
		Expect: s.Expects(i), JSON: def.Output != "" && def.JSON != effect.JSONAuto, Classic: s.started.Classic, Shared: s.sharedWith(i),
	}
}

// overTime is the step above a cancelled run whose time limit was the reason, "" for none.
func (s *State) overTime() belay.Path {
	for at := s; at != nil && at.cancel != nil && at.cancel.By == byParent; {
		up, _ := at.id.Parent()
		if at.cancel.Why == string(fault.KilledDeadline) {
			return up.Path
		}
		at = s.tree.Run(up.Run)
	}
	return ""
}

// nextKill ends what must not go on: everything when the run is cancelled, but for
// the steps of finally, a child run past its timeout.
func (s *State) nextKill(now time.Time) command {
	if s.cancel != nil && s.running > 0 {
		for i := range s.steps {
			if st := &s.steps[i]; st.key != "" && st.stopping == fault.KilledNot && (!s.closes(i) || s.tree.cut()) {
				return effect.Kill{Key: st.key, Why: fault.KilledCancel}
			}
		}
	}
	for _, t := range s.timers.list {
		if t.at.After(now) {
			break
		}
		if t.key != "" && s.steps[t.step].stopping == fault.KilledNot && !s.tree.waitsForTree(s.steps[t.step].child) {
			return effect.Kill{Key: t.key, Why: fault.KilledDeadline}
		}
	}
	return nil
}

// ownKind is the kind of failure that a step of this type has by itself.
func (s *State) ownKind(i int) belay.FailureKind {
	return s.typeOf(i).Row().Fails
}

func (s *State) refuse(i int, kind belay.FailureKind, cause, hint string) command {
	id := s.prog.Steps[i].ID
	return note{Event: event.StepRefused{Path: id, Failure: verdict.Refused(belay.Failure{
		Kind: kind, Op: "step " + string(id), Cause: cause, Hint: hint,
	})}}
}

// nextEnd says how the run ends, once nothing is open and nothing is left.
func (s *State) nextEnd(room int) command {
	over := s.left == 0 || s.givesUp() || s.cancel != nil
	if !over || s.running > 0 || s.wanted.busy > 0 || len(s.toSettle)+len(s.hooking) > 0 && s.cancel == nil {
		return nil // what a cancelled run leaves unchecked stays so
	}
	if len(s.items) > 0 && s.cancel == nil {
		return nil // a person's answer comes before any end
	}
	if s.rounds != nil {
		return s.endRounds(room)
	}
	if c, open := s.nextFinally(room); open {
		return c
	}
	if c, open := s.nextBeside(room); open {
		return c
	}
	r := s.endsAs(s.outcome())
	if s.id.Depth() > 0 && !s.started.Finally {
		r.Outputs = make(map[string]belay.Value, len(s.outputs))
		for name := range s.outputs {
			r.Outputs[name] = s.vars.vars[name]
		}
	}
	if s.each != nil {
		return s.endEach(r, room)
	}
	if s.started.Gather {
		return s.endObject(r, room)
	}
	return runEnd{Result: r}
}

func (s *State) wait(now time.Time, crowded bool) command {
	w := wait{For: waitNobody}
	for _, t := range s.timers.list {
		st := &s.steps[t.step]
		if t.key != "" && st.stopping != fault.KilledNot || t.key == "" && (s.givesUp() || s.cancel != nil) {
			continue
		}
		if !t.at.After(now) {
			continue // due, and waiting for room or an answer
		}
		w.Until = t.at
		break
	}
	if open := s.expiries.list; len(open) > 0 && s.cancel == nil && (w.Until.IsZero() || open[0].at.Before(w.Until)) {
		w.Until = open[0].at
	}
	switch {
	case crowded || s.cramped:
		w.For = waitRoom
	case s.running > 0 || s.wanted.busy > 0 || s.awaitsTree():
		w.For = waitAttempt
	case !w.Until.IsZero():
		w.For = waitTimer
	case len(s.items) > 0:
		w.For = waitPerson
	}
	return w
}
