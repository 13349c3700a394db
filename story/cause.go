package story

import (
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/verdict"
)

// Cause is the failure at the bottom of all: the step that failed by itself, and
// first.
type Cause struct {
	Placed
	Whole   bool           // no step has it: the recipe as a whole failed
	Failure *belay.Failure // nil for a step that is held for another reason
	Agent   string         // who did the last attempt
	Began   Trouble
	Above   []Place // the steps that it is nested in, the outermost first
	Final   bool    // no recovery is left
	Others  int     // steps that failed by themselves beside it
	Printed *Attempt
}

// Cause is why a run does not go well; nil when nothing is wrong. all are its
// steps.
func (s *Story) Cause(top belay.RunID, all []Placed) *Cause {
	final := func(p *Placed) bool {
		return !p.Settled && (p.Phase == flow.Failed && !p.Optional || p.Phase == flow.Held)
	}
	leaves := deepest(all, final)
	if len(leaves) == 0 {
		leaves = deepest(all, s.troubled)
	}
	if len(leaves) == 0 {
		return s.wholeFailure(top)
	}
	first, began := leaves[0], s.Step(leaves[0].At()).Trouble
	for _, p := range leaves {
		if b := s.Step(p.At()).Trouble; !b.At.IsZero() && (began.At.IsZero() || b.At.Before(began.At)) {
			first, began = p, b
		}
	}
	tries := s.Step(first.At()).Attempts
	c := &Cause{
		Placed: *first, Failure: first.Failure, Began: began, Above: above(first.Run, top),
		Final: final(first), Others: len(leaves) - 1, Printed: spoke(tries),
	}
	for _, a := range tries {
		if a.Role == belay.RoleMain {
			c.Agent = AgentName(a.Agent)
		}
	}
	return c
}

// troubled tells whether a step failed and is not yet through with it.
func (s *Story) troubled(p *Placed) bool {
	if p.Failure == nil || p.Settled || s.Over(p.Run) {
		return false
	}
	switch p.Phase {
	case flow.Waiting, flow.Running, flow.Ended, flow.Checking, flow.Broken, flow.Helped, flow.Merging:
		return true
	case flow.Held, flow.Failed, flow.Done, flow.NotTaken, flow.Skipped:
	}
	return false
}

// deepest are the bad steps that have no bad ones below them. The list is in the
// order of a walk: what is below a step follows it.
func deepest(all []Placed, bad func(*Placed) bool) []*Placed {
	var leaves []*Placed
	for i := range all {
		p := &all[i]
		if !bad(p) {
			continue
		}
		leaf := true
		for j := i + 1; leaf && j < len(all) && all[j].Depth > p.Depth; j++ {
			leaf = !bad(&all[j])
		}
		if leaf {
			leaves = append(leaves, p)
		}
	}
	return leaves
}

// wholeFailure is a failure that no step has: nothing was taken.
func (s *Story) wholeFailure(top belay.RunID) *Cause {
	res := s.Tree.Run(top).Result()
	if res == nil || res.Failure == nil {
		return nil
	}
	return &Cause{Placed: Placed{Run: top}, Whole: true, Failure: res.Failure, Final: true}
}

// above are the steps that a run is nested in, below the one at the top.
func above(run, top belay.RunID) []Place {
	var list []Place
	for up, ok := run.Parent(); ok && run != top; up, ok = run.Parent() {
		list = append([]Place{{run, ""}}, list...)
		run = up.Run
	}
	return list
}

// spoke is the attempt whose words tell of the failure: the step's own, or its
// check where that spoke last.
func spoke(tries []*Attempt) *Attempt {
	for i := len(tries) - 1; i >= 0; i-- {
		a := tries[i]
		if a.Observation == nil || a.Role != belay.RoleMain && a.Role != belay.RoleVerify {
			continue
		}
		if a.Role == belay.RoleMain || strings.TrimSpace(a.Said()) != "" {
			return a
		}
	}
	return nil
}

// Said is the end of what the attempt printed, or the last words of its agent.
func (a *Attempt) Said() string {
	if r := a.Report(); r != nil {
		return r.Result.Excerpt
	}
	return a.Observation.Tail
}

// Asked is a question that a person has to answer.
type Asked struct {
	Place
	Question
	Then Command // what to type after its answer; nil where the run goes on by itself, or waits for more than that
}

// Questions are the open ones about steps, in their order. Of a run that has
// ended nobody waits any more, and what nobody answered in time has no choices.
func (s *Story) Questions(all []Placed, now time.Time) []Asked {
	var list []Asked
	for i := range all {
		p := &all[i]
		if p.Phase != flow.Held || s.Over(p.Run) {
			continue
		}
		if q := s.Step(p.At()).Question; q != nil { // else the records do not say what is asked
			a := Asked{Place: p.At(), Question: *q}
			if a.TimedOut = a.late(now); a.TimedOut {
				a.Choices = []string{}
			}
			list = append(list, a)
		}
	}
	return list
}

// Unshown tells whether a run did not go well because a check of what an agent claimed shows
// nothing.
func (a *Account) Unshown() bool {
	return a.Cause != nil && a.Cause.Failure != nil && a.Cause.Failure.Rule == verdict.RuleUnshown
}
