package tui

import (
	"fmt"
	"slices"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/story"
)

// helperBegan is a line for an agent that starts to help.
func helperBegan(a *story.Attempt) []Line {
	text := "agent " + story.AgentName(a.Agent)
	if a.N > 1 {
		text += fmt.Sprintf(", attempt %d", a.N)
	}
	l := line("started", beside(a), "", text)
	l.Start = true
	return []Line{l}
}

// helperEnded is a line for an agent that was ended together with its run: nobody
// judges it.
func helperEnded(a *story.Attempt) []Line {
	switch a.Observation.KilledBy {
	case fault.KilledStop, fault.KilledCancel:
		return []Line{line("stopped", beside(a), took(a), givenBack(a))}
	case fault.KilledNot, fault.KilledDeadline, fault.KilledGrace, fault.KilledLease:
	}
	return nil
}

// helperJudged is what an agent that helped came to. It is no step: only one that
// finished a sub-recipe makes a step done.
func helperJudged(a *story.Attempt) []Line {
	work, again, v := "", "", a.Verdict
	if r := a.Report(); r != nil {
		work = AgentWork(r)
	}
	if a.N > 1 {
		again = fmt.Sprintf("attempt %d", a.N)
	}
	done := line("done", beside(a), took(a), joined(again, work))
	switch {
	case v.OK && a.Role == belay.RoleRecovery:
		text := "an agent finished what the sub-recipe left"
		switch {
		case v.Partial:
			text = unverified
		case slices.Contains(v.For, flow.TakenAnswer):
			text = flow.TakenAnswer
		}
		return []Line{done, line(story.RecoveredWord, a.Place, "", text)}
	case v.OK:
		return []Line{done}
	case v.Failure != nil:
		text := v.Failure.Words()
		if work != "" {
			text += " (" + work + ")"
		}
		return []Line{line("failed", beside(a), took(a), text)}
	}
	return nil
}

const (
	unverified = "unverified: nothing in the recipe checks the work"
	unjoined   = "joined, unverified: nothing in the recipe checks the whole"
)

// recoveredLine says in a summary who finished a step, and what had failed.
func recoveredLine(name string, v flow.StepView) Line {
	text := "by " + story.AgentName(v.Main.Agent.Name)
	if v.Verdict != nil && v.Verdict.Partial {
		text += ", " + unverified
	}
	if v.Verdict != nil && slices.Contains(v.Verdict.For, flow.TakenAnswer) {
		text += ", " + flow.TakenAnswer
	}
	if v.Failure != nil {
		text += " (" + v.Failure.Words() + ")"
	}
	return Line{Word: story.RecoveredWord, Step: name, Text: text}
}
