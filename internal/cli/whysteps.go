package cli

import (
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/tui"
)

// whySteps is how the steps of a run and of its child runs stand.
type whySteps struct {
	Total    int      `json:"total"`
	Done     int      `json:"done"`
	Failed   []string `json:"failed"`
	Optional []string `json:"optional_failed"`
	Held     []string `json:"held"`
	LeftOut  []string `json:"left_out"` // by a person, or because what they need was
	NotTaken int      `json:"not_taken"`
	Open     []string `json:"not_finished"`
	Waiting  []string `json:"waiting"` // for a service, before their first attempt
	Unborn   []string `json:"not_reached"`
}

// A sub-recipe's step counts beside the steps below it: each is one line of show.
func countSteps(all []placed) whySteps {
	w := whySteps{
		Total: len(all), Failed: []string{}, Optional: []string{}, Held: []string{}, LeftOut: []string{}, Open: []string{}, Waiting: []string{}, Unborn: []string{},
	}
	for _, p := range all {
		w.count(p)
	}
	return w
}

func (w *whySteps) count(p placed) {
	name := tui.StepName(p.run, p.Path)
	switch p.Phase {
	case flow.Done:
		w.Done++
	case flow.NotTaken:
		w.NotTaken++
	case flow.Skipped:
		w.LeftOut = append(w.LeftOut, name)
	case flow.Held:
		w.Held = append(w.Held, name)
	case flow.Failed:
		if p.Optional {
			w.Optional = append(w.Optional, name)
		} else {
			w.Failed = append(w.Failed, name)
		}
	case flow.Waiting:
		switch {
		case p.Attempt == 0 && !p.Due.IsZero():
			w.Waiting = append(w.Waiting, name)
		case p.Attempt == 0:
			w.Unborn = append(w.Unborn, name)
		default:
			w.Open = append(w.Open, name)
		}
	case flow.Running, flow.Ended, flow.Checking, flow.Broken, flow.Aided, flow.Merging:
		w.Open = append(w.Open, name)
	}
}
