package flow

import (
	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
)

// items lists what waits for a person, run by run.
func (t *Tree) items() []string {
	var list []string
	for _, b := range t.holding.list {
		s := t.born[b]
		for i := range s.steps {
			if s.steps[i].item != "" {
				list = append(list, string(s.id)+":"+string(s.prog.Steps[i].ID))
			}
		}
	}
	return list
}

// Status is how the tree stands.
func (t *Tree) Status() belay.Status {
	root := t.runs[t.root]
	switch {
	case root == nil:
		return belay.Running
	case root.result != nil:
		return root.result.Status
	case t.held:
		return belay.Held
	case t.stopped:
		return belay.Stopped
	}
	return belay.Running
}

// Reopen are the facts that make an ended tree go on.
func (t *Tree) Reopen(by, why string) []Fact {
	return []Fact{{t.root, event.RunReopened{By: by, Why: why}}}
}
