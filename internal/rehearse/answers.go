package rehearse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/story"
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
			return nil, fmt.Errorf("%q: there is no step %q", text, step)
		case !slices.Contains(choices, choice):
			return nil, fmt.Errorf("%q: step %s is answered with %s", text, step, strings.Join(choices, ", "))
		}
		list[belay.Path(step)] = choice
	}
	return list, nil
}

// choicesOf are the choices of a step, in whichever recipe it is: its own where it asks
// for approval, else those for a step that is held.
func choicesOf(set *library.Set, p belay.Path) (choices []string, found bool) {
	for _, r := range set.Library.Recipes {
		for i := range r.Steps {
			switch s := &r.Steps[i]; {
			case s.ID != p:
			case s.Approve != nil:
				choices, found = append(choices, s.Approve.Choices...), true
			default:
				choices, found = append(choices, event.ChoiceDone, event.ChoiceAgain, event.ChoiceFail, event.ChoiceSkip), true
			}
		}
	}
	return choices, found
}

// Asked is what a person is asked, as --answer names it.
type Asked struct {
	Step    belay.Path `json:"step"`
	Choices []string   `json:"choices"`
}

// asked are the questions that are open at the end and that --answer can answer, each step
// once.
func asked(st *story.Story, targets []Target) (list []Asked) {
	open := map[string]*story.Decision{}
	var order []string
	for i := range st.News {
		d := st.News[i].Decision
		switch {
		case d == nil || d.Item == "":
		case d.What == story.ItemOpened && d.About != event.ItemInput:
			order, open[string(d.Run)+d.Item] = append(order, string(d.Run)+d.Item), d
		case d.What == story.ItemAnswered || d.What == story.ItemExpired:
			delete(open, string(d.Run)+d.Item)
		}
	}
	known := func(p belay.Path) bool {
		return slices.ContainsFunc(targets, func(t Target) bool { return t.Step == p })
	}
	for _, key := range order {
		d := open[key]
		if d == nil {
			continue
		}
		step := d.Path
		if up, ok := d.Run.Parent(); ok && !known(step) {
			step = up.Path // an item of a list: the step that has the list is named
		}
		if !slices.ContainsFunc(list, func(a Asked) bool { return a.Step == step }) {
			list = append(list, Asked{step, d.Choices})
		}
	}
	return list
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

// Held answers for the steps that a run is held for, each one once: who says again to a
// step that fails for ever would be asked for ever.
func (a Answers) Held(tree *flow.Tree, said map[belay.Key]bool) (facts []flow.Fact) {
	for _, id := range tree.Runs() {
		for _, v := range tree.Run(id).Steps() {
			k, choice := belay.Key(string(id)+":"+string(v.Path)), a[v.Path]
			if v.Phase != flow.Held || v.Item == "" || v.Question != nil || choice == "" || said[k] {
				continue
			}
			said[k] = true
			facts = append(facts, flow.Fact{Run: id, Event: event.RequestReceived{Request: event.Request{
				ID: "rehearsal." + v.Item, Run: id, By: "the rehearsal", Ask: event.RequestAnswer, Item: v.Item, Choice: choice, Why: "--answer",
			}}})
		}
	}
	return facts
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
