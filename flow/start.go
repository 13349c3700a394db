package flow

import (
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
)

// nextStart begins the first step that can begin; the second result tells
// that one waits for room.
func (s *State) nextStart(now time.Time, room int) (command, bool) {
	if room < 0 {
		return nil, false
	}
	crowded, out, full, tight := false, false, s.full(), s.tree != nil && s.tree.tight()
	spare := max(room, 1) - s.housed()
	ready := s.ready.list
	if full {
		ready = s.ready.among(s.stirred)
	}
	for _, i := range ready {
		if out && !s.reserved(i) {
			continue // only one that has a slot already can begin
		}
		if st := &s.steps[i]; full && st.attempt == 0 && st.agent.grant == nil && !s.seated(i) {
			continue // one that was answered has its place among them
		}
		if tight && s.waits(i) {
			crowded = true
			continue // a shell step behind it need not wait
		}
		c, wants := s.nextStep(i, now, room, spare)
		if c != nil {
			return c, false
		}
		if wants {
			crowded, out = true, true
			if s.tree == nil || len(s.tree.granting)+len(s.tree.slots) == 0 {
				break
			}
		}
	}
	for _, t := range s.timers.list {
		if t.at.After(now) {
			break
		}
		if t.key != "" {
			continue
		}
		if tight && s.waits(t.step) {
			crowded = true
			continue
		}
		c, wants := s.nextStep(t.step, now, room, spare)
		if c != nil {
			return c, false
		}
		crowded = crowded || wants
	}
	return nil, crowded
}

// nextStep begins one step: its condition, its permit, then the step itself.
func (s *State) nextStep(i int, now time.Time, room, spare int) (command, bool) {
	def, st := &s.prog.Steps[i], &s.steps[i]
	if st.asked || s.wantsTree(s.mainKey(i, st.attempt+1).About(belay.TopicTree)) {
		return nil, false
	}
	if c := s.passedOver(i); c != nil {
		return c, false
	}
	if s.rounds != nil {
		if c, open := s.nextRound(i); c != nil || open {
			return c, false
		}
	}
	if s.greetsFirst(i) {
		if room == 0 && st.hook == "" {
			return nil, true
		}
		c, _ := s.greet(i)
		return c, false
	}
	if def.Condition != nil && !st.taken {
		if c := s.hiddenFrom(i, def.Condition.Names()); c != nil {
			return c, false
		}
		if c := s.nextCondition(i); c != nil {
			return c, false
		}
	}
	if c := s.hiddenFrom(i, s.reads(def)); c != nil {
		return c, false
	}
	if c := s.nextTexts(i); c != nil {
		return c, false
	}
	asks := def.Type.Asks() && def.Foreach == ""
	if room == 0 && !s.reserved(i) && (!asks || s.prog.Hooks.PreStep != nil) {
		return nil, true
	}
	if c := s.nextPermit(i); c != nil {
		return c, false
	}
	if spare <= 0 && s.places[i].Isolated && s.homes[s.homeKey(i)] == nil {
		s.cramped = true
		return nil, false // no more worktrees than can be worked in; those who have one begin first
	}
	if c, open := s.settleIn(i); c != nil || open {
		return c, false
	}
	if c, open := s.greet(i); c != nil || open {
		return c, false
	}
	if c := s.nextLook(i); c != nil {
		return c, false
	}
	switch {
	case st.nextAttempt.fallback:
		return s.startInstead(i), false
	case st.nextAttempt.parts != nil:
		return s.startParts(i), false
	case def.Foreach != "":
		return s.startEach(i), false
	case def.Repeat != nil:
		return s.startRounds(i), false
	case def.Type.Child():
		return s.startRun(i), false
	case asks:
		return s.nextApproval(i, now), false
	}
	if err := s.renders(i); err != nil {
		return s.refuseText(i, belay.BashFailure, err), false
	}
	if s.typeOf(i).Agent() {
		return s.startAgent(i), false
	}
	return effect.Do{Job: s.job(i, belay.RoleMain, st.attempt+1)}, false
}

// passedOver says that a step does not begin for what is known without its values;
// nil when nothing says so.
func (s *State) passedOver(i int) command {
	def := &s.prog.Steps[i]
	if def.IsFallback {
		return note{Event: event.StepNotTaken{Path: def.ID, Why: "it runs only if step " + s.fallbackOf(i) + " fails"}}
	}
	if s.leftOut(def) {
		return note{Event: event.StepNotTaken{Path: def.ID, Why: "tags"}}
	}
	return s.unmet(i)
}

// nextPermit asks whether one more step may begin below the root, nil when it may.
func (s *State) nextPermit(i int) command {
	st := &s.steps[i]
	if s.id.Depth() == 0 || s.ofStep() || s.started.Finally {
		return nil
	}
	if st.permit == nil {
		return effect.Ask{Key: s.stepKey(i), Question: effect.AskStep{}}
	}
	if !st.permit.OK {
		return s.refuse(i, belay.RecursionLimit, st.permit.Error, "raise recursion.max_total_steps in the root recipe")
	}
	return nil
}

// nextCondition says what a condition decides, nil when the step is taken.
func (s *State) nextCondition(i int) command {
	def, st := &s.prog.Steps[i], &s.steps[i]
	var taken bool
	c := s.scope(i)
	if names := def.Condition.Names(); c.big(names) {
		if st.truth == nil {
			return effect.Ask{Key: s.condKey(i), Question: effect.AskCond{
				Cond: def.Condition.String(), Vars: c.pick(names), Lenient: c.compat,
			}}
		}
		if st.truth.Error != "" {
			return s.refuseText(i, s.ownKind(i), s.undecided(i, noTruth(st.truth)))
		}
		taken = st.truth.OK
	} else {
		var err error
		if taken, err = def.Condition.Truth(c.lookup()); err != nil {
			return s.refuseText(i, s.ownKind(i), s.undecided(i, err))
		}
	}
	if taken {
		return nil
	}
	return note{Event: event.StepNotTaken{Path: def.ID, Why: "condition is false: " + def.Condition.String()}}
}
