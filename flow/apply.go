package flow

import (
	"fmt"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/recovery"
)

// apply folds one record of this run. It judges nothing: what was decided is
// in the records, and a better judge must not rewrite history.
func (s *State) apply(r event.Record) error {
	if s.prog == nil {
		e, ok := r.Event.(event.RunStarted)
		if !ok {
			return fmt.Errorf("run %s: first record is %s", s.id, r.Event.Kind())
		}
		return s.begin(e, r.At)
	}
	switch e := r.Event.(type) {
	case event.RunStarted:
		return s.begin(e, r.At)
	case event.RunAttached, event.RunHeld, event.RunPaused, event.RunStopped, event.RunParked:
		return nil // the tree's business
	case event.RunResumed:
		return s.resumed(e)
	case event.RunReopened:
		return s.reopen()
	case event.RunEnded:
		if s.result != nil {
			return fmt.Errorf("run %s: ended twice", s.id)
		}
		s.result = &e.RunResult
		clear(s.vars.known) // nobody looks at them any more
		clear(s.trees)
		return nil
	case event.RequestReceived:
		s.receive(e.Request)
		return nil
	case event.RequestRefused:
		s.decided(e.ID)
		return nil
	case event.ItemOpened:
		return s.hold(e, r.At)
	case event.ItemAnswered:
		return s.answered(e, r.At)
	case event.ItemExpired:
		return s.expired(e, r.At)
	case event.AnswerGiven:
		return s.told(e, r.At)
	case event.RunCleared:
		s.cleared(e)
		return nil
	}
	return s.applyStep(r)
}

// applyStep folds a record about a step or an attempt.
func (s *State) applyStep(r event.Record) error {
	switch e := r.Event.(type) {
	case event.AttemptStarted:
		return s.start(e, r.At)
	case event.AttemptNoted:
		return s.noted(e)
	case event.AttemptFound:
		return s.found(e)
	case event.AttemptStopping:
		return s.withOpen(e.Key, func(i int) error { s.steps[i].stopping = e.Why; return nil })
	case event.AttemptEnded:
		return s.end(e)
	case event.AttemptJudged:
		return s.judged(e, r.At)
	case event.StepNotTaken:
		return s.withStep(e.Path, func(i int) error { return s.finish(i, NotTaken) })
	case event.StepSkipped:
		return s.withStep(e.Path, func(i int) error {
			s.drop(i)
			s.steps[i].leave = nil
			return s.finish(i, Skipped)
		})
	case event.StepRefused:
		return s.withStep(e.Path, func(i int) error {
			f := e.Failure
			s.steps[i].failure = &f
			s.unqueue(i)
			s.drop(i)
			if err := s.move(i, Failed); err != nil {
				return err
			}
			s.fail(i)
			return nil
		})
	case event.StepReset:
		return s.reset(e)
	case event.RecoveryChosen:
		return s.withStep(e.Path, func(i int) error { return s.recover(i, e.Plan) })
	}
	return fmt.Errorf("run %s: cannot fold %s", s.id, r.Event.Kind())
}

func (s *State) withStep(p belay.Path, f func(int) error) error {
	i, err := s.at(p)
	if err != nil {
		return err
	}
	return f(i)
}

func (s *State) withOpen(k belay.Key, f func(int) error) error {
	i, ok := s.open[k]
	if !ok {
		return fmt.Errorf("run %s: attempt %s is not open", s.id, k)
	}
	return f(i)
}

// unqueue takes a waiting step out of the places where Next looks for one to start.
func (s *State) unqueue(i int) {
	s.ready.remove(i)
	if !s.steps[i].due.IsZero() {
		s.timers.remove(i, "")
	}
}

// finish settles a step well or as left out.
func (s *State) finish(i int, to Phase) error {
	if s.steps[i].phase == Waiting {
		s.unqueue(i)
	}
	if err := s.move(i, to); err != nil {
		return err
	}
	s.part(i, to)
	return nil
}

// again makes a step wait for its next start.
func (s *State) again(i int, due time.Time) error {
	if st := &s.steps[i]; st.merge.due { // the work is there
		st.plan, st.probe = nil, nil
		st.helper.leave()
		return s.toMerge(i)
	}
	if err := s.move(i, Waiting); err != nil {
		return err
	}
	st := &s.steps[i]
	st.due, st.plan = due, nil
	st.gone, st.main, st.verify, st.deaf, st.declared = false, nil, nil, false, false
	st.permit, st.truth, st.probe = nil, nil, nil
	st.filled, st.list, st.unheard, st.seen, st.round = nil, nil, "", nil, roundFacts{}
	st.helper.leave()
	s.wake(i)
	return nil
}

func (s *State) start(e event.AttemptStarted, at time.Time) error {
	switch e.Role {
	case belay.RoleHook:
		return s.startHook(e, at)
	case belay.RoleRepair, belay.RolePlan, belay.RoleRecovery:
		return s.startHelper(e, at)
	case belay.RoleMerge:
		return s.startMerge(e, at)
	case belay.RoleMain, belay.RoleVerify:
	}
	i, err := s.at(e.Path)
	if err != nil {
		return err
	}
	st := &s.steps[i]
	to := Running
	if e.Role == belay.RoleVerify {
		to = Checking
		st.check, st.confirms = e.Attempt, st.vouched != nil
	} else {
		s.unqueue(i)
		st.attempt, st.verdict, st.greeted, st.taken, st.woken = e.Attempt, nil, true, true, false
		s.ran = s.ran || !s.closes(i)
		if e.Agent != "" {
			st.agent.begin(e)
		}
	}
	if err := s.move(i, to); err != nil {
		return err
	}
	s.opened(i, e, at)
	st.child = e.Child
	if e.Child != "" {
		st.last, st.prior = e.Child, e.Child
		s.giveBack(i) // those who work in it ask for themselves
		if t := s.timeout(i); t > 0 && !st.nextAttempt.fallback && st.nextAttempt.parts == nil {
			s.timers.push(timer{at.Add(t), i, e.Key})
		}
	}
	return nil
}

// opened keeps the attempt of a step that has started, whatever it is for.
func (s *State) opened(i int, e event.AttemptStarted, at time.Time) {
	st := &s.steps[i]
	st.key, st.stopping, st.since = e.Key, fault.KilledNot, at
	s.open[e.Key] = i
	s.running++
}

// close forgets an open attempt.
func (s *State) close(i int) {
	st := &s.steps[i]
	if st.child != "" {
		s.timers.remove(i, st.key)
	}
	delete(s.open, st.key)
	st.key, st.child, st.hook, st.stopping = "", "", "", fault.KilledNot
	s.running--
}

func (s *State) found(e event.AttemptFound) error {
	return s.withOpen(e.Key, func(i int) error {
		st := &s.steps[i]
		switch e.How {
		case fault.Adopted:
			st.stopping = fault.KilledNot // a signal may never have reached it: decide again
			return nil
		case fault.Harvested:
			return nil // its end follows
		case fault.Unborn, fault.Lost:
		default:
			return fmt.Errorf("run %s: attempt found %q", s.id, e.How)
		}
		unborn := e.How == fault.Unborn
		switch {
		case st.hook != "":
			s.hookGone(i, unborn, e.Count)
			return nil
		case st.phase == Helped:
			return s.helperGone(i, unborn, e)
		case st.phase == Merging:
			s.mergeGone(i, unborn, e.Count)
			return nil
		case unborn:
			s.close(i)
			s.giveBack(i)
			if st.phase == Checking {
				st.check--
				s.look(i)
				return s.move(i, s.checkedPhase(i))
			}
			st.attempt--
			return s.again(i, time.Time{})
		}
		s.close(i)
		s.giveBack(i)
		st.lost = max(st.lost+1, e.Count)
		if st.phase == Running {
			st.gone = true
			st.sawLeft(e.Left)
			s.learnLost(i, e)
		}
		st.deaf = st.phase == Checking
		s.look(i)
		return s.move(i, s.checkedPhase(i))
	})
}

func (s *State) end(e event.AttemptEnded) error {
	return s.withOpen(e.Key, func(i int) error {
		st := &s.steps[i]
		if st.hook != "" {
			s.hookOver(i, e.Observation.KilledBy)
			return nil
		}
		o := e.Observation
		s.barred(&o)
		if st.phase == Helped {
			return s.helperEnded(i, o)
		}
		if st.phase == Merging {
			s.mergeEnded(i, o)
			return nil
		}
		to := s.checkedPhase(i)
		if st.phase == Checking {
			// A check that was cut off has not spoken: it is asked again.
			if o.KilledBy != fault.KilledStop && o.KilledBy != fault.KilledCancel {
				st.verify = &o
			}
		} else {
			st.main = &o
			s.learn(i, &o)
			if o.Child != nil && o.Child.Status == belay.Achieved {
				st.prior = "" // nothing in it to go on with
			}
		}
		s.close(i)
		s.look(i)
		return s.move(i, to)
	})
}

// checkedPhase is where a step stands when an attempt of it is over: one whose
// check looks at the work of a helper is still broken.
func (s *State) checkedPhase(i int) Phase {
	if st := &s.steps[i]; st.phase == Checking && st.helper.seen() != nil {
		return Broken
	}
	return Ended
}

func (s *State) judged(e event.AttemptJudged, at time.Time) error {
	if i, ok := s.helperOf(e.Key); ok {
		return s.judgedHelper(i, e.Verdict)
	}
	if i, ok := s.mergedFor(e.Key); ok {
		return s.judgedMerge(i, e.Verdict, at)
	}
	var i int
	found := false
	for n, at := range s.toSettle {
		st := &s.steps[at]
		if st.phase == Ended && s.judgedKey(at) == e.Key {
			i, found = at, true
			s.toSettle = append(s.toSettle[:n:n], s.toSettle[n+1:]...)
			st.queued = false
			break
		}
	}
	if !found {
		return fmt.Errorf("run %s: %s was judged but has not ended", s.id, e.Key)
	}
	st := &s.steps[i]
	v := e.Verdict
	known := st.reask && s.doubted(i) // the same failure: it counts once
	st.verdict, st.vouched, st.reask = &v, nil, false
	switch {
	case v.OK && st.merge.due: // a person says that it is merged
		st.merge.due = false
		return s.finish(i, Done)
	case v.Empty:
		return s.finish(i, NotTaken)
	case v.OK:
		s.setOutputs(i)
		return s.accomplish(i)
	case v.GivenBack:
		return s.again(i, time.Time{})
	case v.Unknown:
		s.look(i) // an item for a person follows
		return nil
	}
	s.broke(i, v.Failure, at)
	if known {
		st.failed--
	}
	s.look(i)
	return s.move(i, Broken)
}

// broke keeps a failure, and whether it is the same as the one before.
func (s *State) broke(i int, f *belay.Failure, at time.Time) {
	st := &s.steps[i]
	st.failed++
	st.moved = s.changed(i) // said now: from here on it is compared with what this failure left
	if f.Print != "" && st.agent.mark == f.Print && !st.moved {
		st.same++
	} else {
		st.same = 1
	}
	switch {
	case !recovery.Outage(*f):
		st.agent.down = time.Time{}
	case st.agent.down.IsZero() || st.moved: // with work in between it was up
		st.agent.down = at
	}
	if !st.agent.down.IsZero() {
		st.same = 1 // a service that is down says the same each time
	}
	st.failure = f
	st.agent.mark, st.agent.left, st.mended = f.Print, leftPrint(st.main), false
}

func lostFailure(p belay.Path, plan belay.Plan) *belay.Failure {
	return &belay.Failure{
		Kind: belay.Infrastructure, Op: "step " + string(p), Cause: plan.Reason,
		Hint: "find out what ends the keeper (out of memory, a session's end), then resume the run",
	}
}

// drop takes a step out of the queue of those to be settled.
func (s *State) drop(i int) {
	if !s.steps[i].queued {
		return
	}
	s.steps[i].queued = false
	for n, at := range s.toSettle {
		if at == i {
			s.toSettle = append(s.toSettle[:n:n], s.toSettle[n+1:]...)
			return
		}
	}
}

// told folds an answer. One that nobody waits for was asked for twice around a
// crash, and is used already.
func (s *State) told(e event.AnswerGiven, at time.Time) error {
	if !e.Fits() {
		return fmt.Errorf("run %s: %s is answered with %T", s.id, e.Key, e.Answer)
	}
	s.stir(e.Key)
	if s.roundAnswered(e.Key, e.Answer) {
		return nil
	}
	i, asked := s.askedFor(e.Key)
	switch a := e.Answer.(type) {
	case effect.AnswerTree:
		s.treeAnswered(e.Key, a)
	case effect.AnswerWorktree:
		s.homed(e.Key, a)
	case effect.AnswerList:
		if e.Key == s.listKey() {
			s.listed = &a
		}
	case effect.AnswerProbe:
		s.probed(e.Key, a)
	case effect.AnswerLook:
		if s.lookedAround(e.Key, a) {
			return nil
		}
		s.looked(e.Key, a)
	case effect.AnswerAgent:
		if asked {
			return s.granted(i, a, at)
		}
		s.helperAnswered(e.Key, a)
	case effect.AnswerStep:
		if asked {
			s.steps[i].permit = &a
		}
	case effect.AnswerCond:
		if asked {
			s.steps[i].truth = &a
		}
	case effect.AnswerText:
		if asked {
			s.fillIn(i, a)
		}
	case effect.AnswerTests:
		if asked {
			s.foundTests(i, a)
		}
	}
	return nil
}
