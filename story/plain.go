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
	inside, f := Inside(t, at, f)
	text := Worded(f)
	if len(inside) == 0 {
		return text
	}
	var names []string
	for _, p := range inside {
		names = append(names, string(p.Path))
	}
	return "step " + strings.Join(names, "/") + " failed: " + text
}

// Inside are the steps inside a failed one that failed, each in the one before it, and the
// failure of the innermost; none for a step that failed by itself.
func Inside(t *flow.Tree, at Place, f *belay.Failure) (inside []Place, why *belay.Failure) {
	for f.Kind == belay.RecipeFailure {
		bad, ok := failedIn(t, at)
		if !ok {
			break
		}
		inside = append(inside, bad.At())
		at, f = bad.At(), bad.Failure
	}
	return inside, f
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
	started, _ := child.Started()
	bad, found := Placed{}, false
	for _, s := range child.Steps() {
		if s.Phase == flow.Failed && !s.Optional && s.Failure != nil && (!found || started.Repeat != "") { // of rounds the last one counts
			bad, found = Placed{Run: v.Child, StepView: s}, true
		}
	}
	return bad, found
}

// Worded is a failure in the words of its class, where those say more than its cause.
// The step is not named. Of a kind that only the recipe names there is nothing to say, and
// a class that was only guessed from text stands in front of no fact.
func Worded(f *belay.Failure) string {
	if f.Rule == belay.RuleDeclared {
		return Plain(f.Cause)
	}
	cause := Plain(f.Cause)
	if f.Kind == belay.RecipeFailure && cause != f.Cause {
		return cause // the step that failed in it says why
	}
	if f.Kind == belay.BashFailure && guessed(f.Level) {
		return cause
	}
	return meaning(f.Kind, f.Class) + cause
}

// guessed tells whether a class was given for words alone.
func guessed(l belay.Level) bool { return l == belay.LevelText || l == belay.LevelUnknown }

// meaning is what a kind and a class of failures say in front of a cause.
func meaning(kind belay.FailureKind, class belay.Class) string {
	row := class.Row()
	switch kind {
	case belay.RoutingGap:
		return "nothing ran: "
	case belay.RecursionLimit:
		return "recipes or sessions are nested too deep: "
	case belay.AgentTimeout:
		return belay.ClassTimeout.Row().Words + ": "
	case belay.HollowSuccess:
		if row.Named && class != belay.ClassHollow {
			return row.Words + ": "
		}
		return ""
	case belay.Infrastructure, belay.BashFailure, belay.RecipeFailure:
		if kind == belay.BashFailure && row.Kind == belay.Infrastructure {
			return "" // of a shell step, whose class was guessed
		}
		if row.Named {
			return row.Words + ": "
		}
		if kind == belay.Infrastructure && class != belay.ClassNone {
			return belay.ClassInfrastructure.Row().Words + ": "
		}
	}
	return ""
}

// Plain is a text on record in the words of the classes: what failed below is told in
// it by the names of kinds and classes, as Failure.Error gives them.
func Plain(text string) string {
	for _, kind := range belay.FailureKinds() {
		if !strings.Contains(text, string(kind)) {
			continue
		}
		words := func(class belay.Class) string {
			if kind == belay.RecipeFailure {
				return "" // what failed in it follows
			}
			return meaning(kind, class)
		}
		text = strings.ReplaceAll(text, string(kind)+": ", words(belay.ClassNone))
		for _, class := range belay.Classes() {
			f := belay.Failure{Kind: kind, Class: class}
			if name := f.Name(); name != string(kind) {
				text = strings.ReplaceAll(text, name+": ", words(class))
			}
		}
	}
	return text
}
