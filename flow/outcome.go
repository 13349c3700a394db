package flow

import (
	"fmt"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/verdict"
)

// NothingRan is why a run amounts to nothing.
const NothingRan = "no step ran: every condition was false"

// nothingRan is why the run amounts to nothing, "" when a step did something. One that
// called a recipe in which nothing ran is not taken either, and one that walked through
// an empty list did nothing.
func (s *State) nothingRan() string {
	why := NothingRan
	for i := range s.steps {
		switch {
		case !s.ran || s.steps[i].phase == NotTaken || s.closes(i):
		case s.noItems(i):
			why = fmt.Sprintf("no step ran: the list of step %s is empty", s.prog.Steps[i].ID)
		default:
			return ""
		}
	}
	return why
}

// noItems tells whether a step is done because its list was empty.
func (s *State) noItems(i int) bool {
	st := &s.steps[i]
	if s.prog.Steps[i].Foreach == "" || st.phase != Done || st.attempt == 0 {
		return false
	}
	items := s.tree.runs[s.id.Child(s.prog.Steps[i].ID, st.attempt)]
	return items != nil && items.each != nil && len(items.each.items) == 0
}

// hadNothing tells whether a step called a recipe in which nothing ran and, read as
// the older runner would, is not taken because of that. A check has the last word.
func (s *State) hadNothing(i int) bool {
	def, st := &s.prog.Steps[i], &s.steps[i]
	called := def.Type.Child() && s.oneChild(i) && !st.nextAttempt.fallback && st.nextAttempt.parts == nil
	return s.vars.compat && called && st.main != nil && st.main.Child != nil && st.main.Child.Empty && !s.hasCheck(i) && !s.places[i].Isolated
}

// outcome is the status that the steps amount to.
func (s *State) outcome() belay.RunResult {
	if over := s.overTime(); over != "" {
		return belay.RunResult{Status: belay.Aborted, Code: exit.Aborted, Reason: verdict.OverWords(over)}
	}
	if s.cancel != nil {
		return belay.RunResult{Status: belay.Aborted, Code: exit.Aborted, Reason: "cancelled by " + s.cancel.By}
	}
	if s.failing {
		return s.failedOutcome(0)
	}
	if why := s.nothingRan(); why != "" && !s.prog.AllowEmpty {
		f := verdict.Refused(belay.Failure{
			Kind: belay.RoutingGap, Op: "recipe " + s.prog.Name, Cause: why,
			Hint: "check the conditions and the values given, or set allow_empty: true",
		})
		return belay.RunResult{Status: belay.Failed, Code: exit.Failed, Reason: f.Cause, Failure: &f, Empty: true}
	}
	for i := range s.steps {
		st := &s.steps[i]
		skipped := st.phase == Skipped && !s.prog.Steps[i].Optional
		if skipped || st.phase == Done && st.verdict != nil && st.verdict.Partial && !s.prog.Steps[i].Optional {
			return belay.RunResult{
				Status: belay.Partial, Code: exit.Partial,
				Reason: s.partly(i),
			}
		}
	}
	return belay.RunResult{Status: belay.Achieved, Code: exit.OK}
}

// partly says what is missing about a step that does not count in full.
func (s *State) partly(i int) string {
	def, st := &s.prog.Steps[i], &s.steps[i]
	switch {
	case st.phase == Done && st.main != nil && st.main.Agent != nil && s.typeOf(i).Child():
		return fmt.Sprintf("step %s was recovered, unverified: nothing in the recipe checks the work", def.ID)
	case st.phase == Done && s.unjoined(i):
		return fmt.Sprintf("step %s was split and joined, unverified: nothing in the recipe checks the whole", def.ID)
	case st.phase == Done && st.main != nil && st.main.Child != nil && st.main.Child.Reason != "":
		return fmt.Sprintf("step %s: %s", def.ID, st.main.Child.Reason)
	}
	return fmt.Sprintf("step %s was left out", def.ID)
}

// failedOutcome is what the failed steps amount to, from one of them on.
func (s *State) failedOutcome(from int) belay.RunResult {
	r := belay.RunResult{Status: belay.Failed, Code: exit.Failed}
	var codes []int
	for i := from; i < len(s.steps); i++ {
		st := &s.steps[i]
		if st.phase != Failed || s.prog.Steps[i].Optional && !s.aborts || s.closes(i) {
			continue
		}
		codes = append(codes, failureCode(st))
		if r.Failure == nil {
			r.Failure, r.Reason = st.failure, st.failure.Error()
		}
	}
	for i, code := range codes {
		if i == 0 {
			r.Code = code
		}
		r.Code = exit.Worse(r.Code, code)
	}
	switch r.Code {
	case exit.Hollow:
		r.Status = belay.Hollow
	case exit.Partial:
		r.Status = belay.Partial
	case exit.Stalemate:
		r.Status = belay.Stalemate
	}
	return r
}

// failureCode is the exit code that a failed step stands for.
func failureCode(st *step) int {
	if st.failure.Kind == belay.Infrastructure {
		return exit.Infra
	}
	if st.failure.Kind == belay.HollowSuccess {
		return exit.Hollow
	}
	if st.failure.Class == belay.ClassIncomplete && verdict.Shows(st.verdict) {
		return exit.Partial
	}
	if st.main != nil && st.main.Child != nil {
		switch st.main.Child.Status {
		case belay.Failed, belay.Hollow, belay.Partial, belay.NotAchieved, belay.Stalemate:
			return st.main.Child.Code
		case belay.Achieved, belay.Aborted, belay.Held, belay.Stopped, belay.Paused, belay.Parked, belay.Running:
		}
	}
	return exit.Failed
}
