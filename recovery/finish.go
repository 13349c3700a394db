package recovery

import (
	"fmt"

	"github.com/belay-run/belay"
)

// finish is what is left when no recovery is: the other way that the recipe
// names, then a person where the cure is theirs, or the end of the step.
func (c *chooser) finish() belay.Plan {
	s := &c.s
	if c.stopped() {
		return belay.Plan{Act: belay.ActGiveUp, Rule: "cancelled", Reason: "it was ended on purpose"}
	}
	if p, ok := c.fallback(); ok {
		return p
	}
	switch {
	case s.Declared.Escalate:
		return c.hold("on_failure", "the recipe asks for a person when it fails")
	case s.Optional && !(s.Cured && c.lifted()):
		return belay.Plan{Act: belay.ActGiveUp, Rule: c.giveUpRule(), Reason: "no recovery is left, and the step is optional: " + s.cause()}
	case c.wrongSetup():
		return belay.Plan{Act: belay.ActAbort, Rule: c.rule(), Reason: "the recipe or the set-up is wrong, and no further step can cure that: " + s.cause()}
	case c.persons():
		return c.hold(c.rule(), s.Failure.Class.Row().Words+", and only a person can change that")
	}
	return belay.Plan{Act: belay.ActGiveUp, Rule: c.giveUpRule(), Reason: c.failedWords() + ": " + s.cause()}
}

// finishSpent is the end when a recovery is there and the run may take no more.
func (c *chooser) finishSpent() belay.Plan {
	const rule = "replans_spent"
	if p, ok := c.fallback(); ok {
		return p
	}
	words := c.spentWords()
	if c.s.Optional && !c.s.Declared.Escalate {
		return belay.Plan{Act: belay.ActGiveUp, Rule: rule, Reason: words + ", and can do without this step: " + c.s.cause()}
	}
	return c.hold(rule, words)
}

func (c *chooser) hold(rule, words string) belay.Plan {
	return belay.Plan{Act: belay.ActHold, Rule: rule, Reason: words + ": " + c.s.cause()}
}

// fallback is the other way that the recipe names. It is taken once, and before
// a person is asked.
func (c *chooser) fallback() (belay.Plan, bool) {
	why := ""
	switch s := &c.s; {
	case !s.Fallback:
		return belay.Plan{}, false
	case s.took(belay.ActFallback):
		why = "it failed too"
	case s.late(0):
		why = timeOver
	default:
		return belay.Plan{
			Act: belay.ActFallback, Rule: "fallback", Due: s.Now,
			Reason: "no other recovery is left, and the recipe has a fallback: " + s.cause(),
		}, true
	}
	c.refuse(belay.ActFallback, why)
	return belay.Plan{}, false
}

// failedWords says that it stays failed.
func (c *chooser) failedWords() string {
	if n := c.s.History.Failed; n > 1 {
		return fmt.Sprintf("%d attempts failed, and no other recovery applies", n)
	}
	return "no automatic recovery applies"
}

func (c *chooser) giveUpRule() string {
	f := c.s.Failure
	if f.Class == belay.ClassHollow && (c.s.Type.Agent() || f.Kind == belay.HollowSuccess) {
		return "hollow"
	}
	return "attempts_spent"
}

// wrongSetup tells that facts say: the recipe or an agent's set-up is wrong.
func (c *chooser) wrongSetup() bool {
	f := c.s.Failure
	return f.Class == belay.ClassInvalidInput && f.Move == belay.ActAbort && (f.Level == belay.LevelTyped || f.Level == belay.LevelProcess)
}

// lifted tells that every step like it fails until a person has lifted the cause: to go on
// without it would judge the machine, and not the work.
func (c *chooser) lifted() bool {
	switch c.s.Failure.Class {
	case belay.ClassAuth, belay.ClassQuota, belay.ClassBudget, belay.ClassInfrastructure:
		return c.persons()
	case belay.ClassNone, belay.ClassUnknown, belay.ClassBenign, belay.ClassCancelled, belay.ClassTimeout, belay.ClassTransient,
		belay.ClassRateLimit, belay.ClassPermission, belay.ClassTokenLimit, belay.ClassTurnLimit, belay.ClassComplexity,
		belay.ClassRefusal, belay.ClassWorkFailure, belay.ClassConflict, belay.ClassInvalidInput, belay.ClassHollow,
		belay.ClassIncomplete, belay.ClassTampered, belay.ClassMergeConflict:
	}
	return false
}

// persons tells that the cure is a person's. What a shell step only says in
// words does not hold a run. A sub-recipe has asked by itself.
func (c *chooser) persons() bool {
	s := &c.s
	f := s.Failure
	if s.Type.Child() || !s.Type.Agent() && !proven(f.Level) && f.Level != belay.LevelAct {
		return false
	}
	switch {
	case f.Class == belay.ClassBudget && f.Kind == belay.RecursionLimit: // the cure is in the recipe
		return false
	case f.Class == belay.ClassInfrastructure: // a full disk: asked once, then it is a failure
		return f.Move == belay.ActEscalate && f.Level == belay.LevelProbe && s.times(belay.ActHold) == 0
	}
	return f.Class.Row().Persons
}
