package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/story"
)

// takenFor is a step that is done because a person says so: nobody checked it.
type takenFor struct {
	Step string `json:"step"`
	By   string `json:"by"`
	Why  string `json:"why"`
}

// taken are the steps that are done on somebody's word, in their order; never
// nil.
func taken(s *runView, all []story.Placed) []takenFor {
	list := []takenFor{}
	for _, p := range all {
		if t, ok := s.takenFor(p); ok {
			list = append(list, t)
		}
	}
	return list
}

// takenFor is on whose word a step is done, if it is.
func (s *runView) takenFor(p story.Placed) (takenFor, bool) {
	if !story.OnWord(p.StepView) {
		return takenFor{}, false
	}
	t := takenFor{Step: p.At().Name()}
	if a := s.Step(p.At()).Answer; a != nil {
		t.By, t.Why = a.By, a.Why
	}
	return t, true
}

// words say on whose word it is done, and why.
func (t takenFor) words() string {
	return fmt.Sprintf("%s (%s: %s)", story.TakenWords, t.By, t.Why)
}

// goodEnd says what kind of a good end it is.
func (w *whyFacts) goodEnd() string {
	switch {
	case w.Task != nil && w.Task.Merged:
		return "nothing: what is checked out in " + readable.Clean(w.Work.Dir) + " has the work already"
	case w.Task != nil && w.Task.Branch != "":
		return "merge the work"
	case w.Task != nil:
		return "nothing: there is evidence for every criterion"
	}
	if len(w.Steps.Back) > 0 {
		return "nothing has to be typed; not done, because it was rolled back: " + someNames(w.Steps.Back)
	}
	merge := len(w.unmerged) > 0
	open := append(slices.Clone(w.Answered), w.unproven...)
	if len(w.Taken) == 0 && len(open) == 0 {
		if merge {
			return "every required step is done; merge the work, which is on a branch of its own"
		}
		return "nothing: every required step is done"
	}
	start := "nothing"
	if merge {
		start = "merge the work, which is on a branch of its own"
	}
	if len(w.Taken) == 0 {
		return start + "; not independently checked: " + someNames(open)
	}
	names := make([]string, len(w.Taken))
	for i, t := range w.Taken {
		names[i] = t.Step
	}
	return start + ", if the word that was given is enough; not checked: " + strings.Join(names, ", ") + "; the rest is done"
}

// answered are the steps that are done by an answer alone.
func answered(all []story.Placed) []string {
	var list []string
	for _, p := range all {
		if story.AnswerOnly(p.StepView) {
			list = append(list, p.At().Name())
		}
	}
	return list
}

// unproven are the recovered steps of which nothing shows that their work is done.
func unproven(all []story.Placed) []string {
	var list []string
	for _, p := range all {
		if story.Unverified(p.StepView) {
			list = append(list, p.At().Name())
		}
	}
	return list
}

// someNames are the first of some names.
func someNames(names []string) string {
	const shown = 5
	text := strings.Join(names[:min(len(names), shown)], ", ")
	if n := len(names) - shown; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// takenPart names the steps that are done on somebody's word.
func (w *whyFacts) takenPart(p *page) {
	const shown = 3
	for i, t := range w.Taken {
		if i == shown {
			p.whole(fmt.Sprintf("  … %d more: %s show %s", len(w.Taken)-shown, w.belay, w.Run))
			return
		}
		p.text("  ", t.Step+": "+t.words())
	}
}
