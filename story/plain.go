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
	text := f.Words()
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
