package story

import (
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/flow"
)

// Plainly is why a step failed, for who watches a run: in words, without the names
// that the records have for it. Of a step that is a run of its own it names the step
// in there that failed, and says why that did.
func Plainly(t *flow.Tree, at Place, f *belay.Failure) string {
	var inside []string
	for f.Kind == belay.RecipeFailure {
		bad, ok := failedIn(t, at)
		if !ok {
			break
		}
		inside = append(inside, string(bad.Path))
		at, f = bad.At(), bad.Failure
	}
	text := Worded(f)
	if len(inside) > 0 {
		return "step " + strings.Join(inside, "/") + " failed: " + text
	}
	return text
}

// failedIn is the first required step that failed in the run that a step is.
func failedIn(t *flow.Tree, at Place) (Placed, bool) {
	run := t.Run(at.Run)
	if run == nil {
		return Placed{}, false
	}
	v, _ := run.Step(at.Path)
	child := t.Run(v.Child)
	if child == nil || child.Result() == nil {
		return Placed{}, false
	}
	for _, s := range child.Steps() {
		if s.Phase == flow.Failed && !s.Optional && s.Failure != nil {
			return Placed{Run: v.Child, StepView: s}, true
		}
	}
	return Placed{}, false
}

// Worded is a failure in the words of its class, where those say more than its cause.
func Worded(f *belay.Failure) string {
	words := ""
	switch row := f.Class.Row(); f.Kind {
	case belay.RoutingGap:
		words = "nothing ran"
	case belay.RecursionLimit:
		words = "recipes or sessions are nested too deep"
	case belay.AgentTimeout:
		words = belay.ClassTimeout.Row().Words
	case belay.HollowSuccess:
		words = belay.ClassHollow.Row().Words
	case belay.Infrastructure:
		words = belay.ClassInfrastructure.Row().Words
		if row.Named {
			words = row.Words
		}
	case belay.BashFailure, belay.RecipeFailure:
		if row.Named {
			words = row.Words
		}
	}
	if words == "" {
		return f.Cause
	}
	return words + ": " + f.Cause
}
