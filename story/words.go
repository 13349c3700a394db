package story

import (
	"fmt"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
)

// HeldWords say why a step is held that did not fail.
func HeldWords(v flow.StepView) string {
	switch {
	case v.Question != nil:
		return "it asks: " + v.Question.Ask
	case Stale(v):
		return fmt.Sprintf("it failed %d times in the same way, and nothing has changed since", v.Same)
	case OverBudget(v):
		return "no further agent may start: the budget is used up"
	}
	return "nobody can tell whether its work was done"
}

// EndedBy says what ended a step of a run that was cancelled: a person's wish, or the time
// limit of a step above it.
func EndedBy(v *effect.Verdict) string {
	if v != nil && v.GivenBack && len(v.Against) > 0 {
		return v.Against[0]
	}
	return "ended by cancel"
}

// HeldWord is the word for a step that begins to wait for a person.
func HeldWord(about event.ItemKind) string {
	if about != event.ItemHeld {
		return "asks"
	}
	return "held"
}

// ExpiredWords say what it means that nobody answered a question in time.
func ExpiredWords(d *Decision) string {
	if d.Choice == belay.TimeoutHold {
		return "nobody answered in time: it stays open"
	}
	return "nobody answered in time: it counts as " + d.Choice
}

// AnsweredWord is the word for a step that is done because its agent gave an answer:
// nobody checked what it says.
const AnsweredWord = "answered"

// RecoveredWord is the word for a step that an agent finished whose sub-recipe had failed.
const RecoveredWord = "recovered"

// FallbackWord is the word for a step that ran in place of another one.
const FallbackWord = "fallback"

// BackWord is the word for a step whose failed attempts changed files, and whose fallback
// put them back as they were.
const BackWord = "rolled back"

// RolledBack tells whether that was seen of a step.
func RolledBack(v flow.StepView) bool {
	return v.Verdict != nil && v.Verdict.RolledBack && (v.Phase == flow.Done || v.Phase == flow.Failed || v.Phase == flow.Held)
}

// PhaseWord is how a step stands, as every screen says it.
func PhaseWord(v flow.StepView) string {
	switch {
	case v.Phase == flow.Done && RolledBack(v):
		return BackWord
	case Recovered(v):
		return RecoveredWord
	case AnswerOnly(v):
		return AnsweredWord
	case v.Phase == flow.NotTaken && v.InPlace != "":
		return FallbackWord
	}
	return string(v.Phase)
}

// StatusWord is how a run stands: what was only to be planned has achieved a plan, and
// nothing of the task.
func StatusWord(s belay.Status, planOnly bool) string {
	if planOnly && s == belay.Achieved {
		return "PLANNED"
	}
	return string(s)
}

// DecidedWord is the word for what a person answered about a held step.
const DecidedWord = "decided"

// TakenWords say of a step that nobody saw it pass.
const TakenWords = "taken on a person's word, not checked"
