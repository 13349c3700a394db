package story

import (
	"github.com/belay-run/belay"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/recipe"
)

// Count is how the steps of a run and of its child runs stand.
type Count struct {
	Total    int      `json:"total"`
	Done     int      `json:"done"`
	Failed   []string `json:"failed"`
	Optional []string `json:"optional_failed"`
	Held     []string `json:"held"`
	LeftOut  []string `json:"left_out"` // by a person, or because what they need was
	NotTaken int      `json:"not_taken"`
	Spare    int      `json:"fallback_not_needed,omitempty"` // of those
	Open     []string `json:"not_finished"`
	Waiting  []string `json:"waiting"` // for a service, before their first attempt
	Unborn   []string `json:"not_reached"`
	Back     []string `json:"rolled_back,omitempty"` // of those done: the fallback put the files back as they were

	Answered  int `json:"-"` // of those done: by an answer alone
	Vouched   int `json:"-"` // of the answered ones: those of which a check passed
	Recovered int `json:"-"` // of those done: by an agent that finished what a sub-recipe left
	Checked   int `json:"-"` // of those done, but for the recovered ones
	Mended    int `json:"-"` // of the recovered ones: those that are checked
	Unproven  int `json:"-"` // of the recovered ones: those that nothing speaks for
}

// CountSteps counts steps. That of a sub-recipe counts beside the steps below
// it. Those that are settled do not count, and neither does what holds the steps of finally.
func CountSteps(all []Placed) Count {
	c := Count{
		Total: len(all), Failed: []string{}, Optional: []string{}, Held: []string{}, LeftOut: []string{}, Open: []string{}, Waiting: []string{}, Unborn: []string{},
	}
	for i := range all {
		if all[i].Settled || all[i].Path == recipe.FinallyID && all[i].Child != "" {
			c.Total--
			continue
		}
		c.add(&all[i])
	}
	return c
}

func (c *Count) add(p *Placed) {
	name := p.At().Name()
	switch p.Phase {
	case flow.Done:
		c.done(p.StepView, name)
	case flow.NotTaken:
		if p.InPlace != "" { // it is told below the step that it ran in place of
			c.Total--
			return
		}
		c.NotTaken++
		if p.Fallback {
			c.Spare++
		}
	case flow.Skipped:
		c.LeftOut = append(c.LeftOut, name)
	case flow.Held:
		c.Held = append(c.Held, name)
	case flow.Failed:
		if p.Optional {
			c.Optional = append(c.Optional, name)
		} else {
			c.Failed = append(c.Failed, name)
		}
	case flow.Waiting:
		switch {
		case p.Attempt == 0 && !p.Due.IsZero():
			c.Waiting = append(c.Waiting, name)
		case p.Attempt == 0:
			c.Unborn = append(c.Unborn, name)
		default:
			c.Open = append(c.Open, name)
		}
	case flow.Running, flow.Ended, flow.Checking, flow.Broken, flow.Helped, flow.Merging:
		c.Open = append(c.Open, name)
	}
}

func (c *Count) done(v flow.StepView, name string) {
	c.Done++
	checked := Checked(v)
	switch {
	case RolledBack(v):
		c.Back = append(c.Back, name)
	case Recovered(v):
		c.Recovered++
		if checked {
			c.Mended++
		} else if Unverified(v) {
			c.Unproven++
		}
		return
	case AnswerOnly(v):
		c.Answered++
		if checked {
			c.Vouched++
		}
	}
	if checked {
		c.Checked++
	}
}

func failedRun(s *flow.State) bool {
	return s != nil && s.Result() != nil && s.Result().Status != belay.Achieved && s.Result().Status != belay.Partial
}
