package rehearse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/library"
)

// Answers are what a person says in a rehearsal, by the step that asks. One whose
// step is not there is not asked: the run is held, as it would be.
type Answers map[belay.Path]string

// ParseAnswers reads STEP=CHOICE and holds it against the recipes.
func ParseAnswers(texts []string, set *library.Set) (Answers, error) {
	list := Answers{}
	for _, text := range texts {
		step, choice, ok := strings.Cut(text, "=")
		if !ok || step == "" || choice == "" {
			return nil, fmt.Errorf("%q: STEP=CHOICE is wanted", text)
		}
		choices, found := choicesOf(set, belay.Path(step))
		switch {
		case !found:
			return nil, fmt.Errorf("%q: no step %q asks for approval", text, step)
		case !slices.Contains(choices, choice):
			return nil, fmt.Errorf("%q: step %s is answered with %s", text, step, strings.Join(choices, ", "))
		}
		list[belay.Path(step)] = choice
	}
	return list, nil
}

// choicesOf are the choices of a step that asks, in whichever recipe it is.
func choicesOf(set *library.Set, p belay.Path) (choices []string, found bool) {
	for _, r := range set.Library.Recipes {
		for i := range r.Steps {
			if s := &r.Steps[i]; s.ID == p && s.Approve != nil {
				choices, found = append(choices, s.Approve.Choices...), true
			}
		}
	}
	return choices, found
}

// First takes the timeouts from the steps that have an answer: in a rehearsal time
// flies, and what a person says comes before it runs out.
func (a Answers) First(lib flow.Library) {
	for _, r := range lib.Recipes {
		for i := range r.Steps {
			if s := &r.Steps[i]; s.Approve != nil && a[s.ID] != "" {
				s.Approve.Timeout = 0
			}
		}
	}
}

// Ask answers the questions of the steps that have an answer.
func (a Answers) Ask(open []flow.Asking) (answers []event.Request, there bool) {
	for _, q := range open {
		step := q.Path
		if up, ok := q.Run.Parent(); ok && a[step] == "" {
			step = up.Path // an item of a list: the step that has the list is named
		}
		if choice := a[step]; choice != "" {
			by := "the rehearsal"
			if len(q.Who) > 0 {
				by = q.Who[0]
			}
			answers = append(answers, event.Request{Run: q.Run, By: by, Item: q.ID, Choice: choice, Why: "--answer"})
		}
	}
	return answers, len(answers) > 0
}
