package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/flow"
)

// Helps tells the roles of agents that help with a step of another.
func Helps(r belay.Role) bool {
	switch r {
	case belay.RoleRepair, belay.RolePlan, belay.RoleRecovery:
		return true
	case belay.RoleMain, belay.RoleVerify, belay.RoleHook, belay.RoleMerge:
	}
	return false
}

// beside is the place of an attempt: that of an agent that helps is beside the
// step, under the name of its role.
func beside(at place, r belay.Role) place {
	if Helps(r) || r == belay.RoleMerge {
		at.path += belay.Path("@" + string(r))
	}
	return at
}

// helped is the step beside which an agent helps, and in which role; the role
// is "" for every other place.
func helped(at place) (place, belay.Role) {
	path, role, _ := strings.Cut(string(at.path), "@")
	if !Helps(belay.Role(role)) {
		return at, ""
	}
	return place{at.run, belay.Path(path)}, belay.Role(role)
}

// aideBegan is a line for an agent that starts to help.
func (b *Board) aideBegan(at place, e belay.AttemptStarted) []Line {
	text := "agent " + AgentName(e.Agent)
	if e.Attempt > 1 {
		text += fmt.Sprintf(", attempt %d", e.Attempt)
	}
	return []Line{b.line("started", at, "", text)}
}

// aideEnded takes away an agent that was ended together with its run: nobody
// judges it.
func (b *Board) aideEnded(l *lane) []Line {
	switch l.ended.KilledBy {
	case belay.KilledStop:
		b.remove(l.key)
		return []Line{b.line("stopped", l.place, l.took(), "given back: it is started again at resume")}
	case belay.KilledCancel:
		b.remove(l.key)
		return []Line{b.line("stopped", l.place, l.took(), "ended by cancel")}
	case belay.KilledNot, belay.KilledDeadline, belay.KilledGrace:
	}
	return nil
}

// aideJudged is what an agent that helped came to. It is no step: only one that
// finished a sub-recipe makes a step done.
func (b *Board) aideJudged(at place, l *lane, n int, v belay.Verdict) []Line {
	step, role := helped(at)
	work, again := "", ""
	if r := l.agentOf(); r != nil {
		work = AgentWork(r)
	}
	if n > 1 {
		again = fmt.Sprintf("attempt %d", n)
	}
	switch {
	case v.OK && role == belay.RoleRecovery:
		b.done++
		b.forgive(step)
		text := "an agent finished what the sub-recipe left"
		switch {
		case v.Partial:
			text = unverified
		case slices.Contains(v.For, flow.TakenAnswer):
			text = flow.TakenAnswer
		}
		return []Line{b.line("done", at, l.took(), joined(again, work)), b.line("recovered", step, "", text)}
	case v.OK:
		return []Line{b.line("done", at, l.took(), joined(again, work))}
	case v.Failure != nil:
		text := Reason(v.Failure)
		if work != "" {
			text += " (" + work + ")"
		}
		return []Line{b.line("failed", at, l.took(), text)}
	}
	return nil
}

const (
	unverified = "unverified: nothing in the recipe checks the work"
	unjoined   = "joined, unverified: nothing in the recipe checks the whole"
)

// Recovered tells whether an agent finished a step whose sub-recipe had failed.
func Recovered(v flow.StepView) bool {
	return v.Phase == flow.Done && v.Type == belay.TypeRecipe && v.Main != nil && v.Main.Agent != nil
}

// recoveredLine says in a summary who finished a step, and what had failed.
func recoveredLine(run belay.RunID, v flow.StepView) Line {
	text := "by " + AgentName(v.Main.Agent.Name)
	if v.Verdict != nil && v.Verdict.Partial {
		text += ", " + unverified
	}
	if v.Verdict != nil && slices.Contains(v.Verdict.For, flow.TakenAnswer) {
		text += ", " + flow.TakenAnswer
	}
	if v.Failure != nil {
		text += " (" + Reason(v.Failure) + ")"
	}
	return Line{Word: "recovered", Step: StepName(run, v.Path), Text: text}
}
