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
}

// CountSteps counts steps. That of a sub-recipe counts beside the steps below
// it: each is one line of show. The steps of finally count, and not what holds them.
func CountSteps(all []Placed) Count {
	c := Count{
		Total: len(all), Failed: []string{}, Optional: []string{}, Held: []string{}, LeftOut: []string{}, Open: []string{}, Waiting: []string{}, Unborn: []string{},
	}
	for i := range all {
		if all[i].Path == recipe.FinallyID && all[i].Child != "" {
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
		c.Done++
		if RolledBack(p.StepView) {
			c.Back = append(c.Back, name)
		}
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

// Unsettled are the steps of a tree but those that a failed child run left and
// that were done otherwise, by an agent or on a person's word, and rounds from
// which nothing follows.
func Unsettled(tree *flow.Tree) []Placed {
	var list []Placed
	settled := map[belay.RunID]bool{} // child runs whose step is done in spite of them
	Walk(tree, "", func(run belay.RunID, depth int, v flow.StepView) {
		moot := tree.Run(run).Moot(v.Path)
		if settled[run] || moot || v.Phase == flow.Done && failedRun(tree.Run(v.Child)) {
			settled[v.Child] = true
		}
		if !moot && !settled[run] || v.Phase == flow.Done {
			list = append(list, Placed{run, depth, v})
		}
	})
	return list
}

func failedRun(s *flow.State) bool {
	return s != nil && s.Result() != nil && s.Result().Status != belay.Achieved && s.Result().Status != belay.Partial
}
