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
				list = append(list, s.id.Of(string(s.prog.Steps[i].ID)))
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
	case t.paused:
		return belay.Paused
	case t.parked != nil:
		return belay.Parked
	}
	return belay.Running
}

// HeldFor is why a tree is held that waits for no answer; "" = it waits for one, or
// is not held.
func (t *Tree) HeldFor() string {
	if t.Status() != belay.Held {
		return ""
	}
	return t.heldFor
}

// Parked is when a tree that nobody drives wants to go on, and with what; ok is
// false for one that is not parked.
func (t *Tree) Parked() (p event.RunParked, ok bool) {
	if t.Status() != belay.Parked {
		return p, false
	}
	return *t.parked, true
}

// Parking is the fact that the driver leaves until the next moment at which a run
// wants to be asked; ok is false where there is none. Only a turn that ends idle
// has nothing else to wait for.
func (t *Tree) Parking() (f Fact, ok bool) {
	at := t.until()
	if at.IsZero() {
		return f, false
	}
	s := t.born[t.alarms[0].run]
	what := "run " + string(s.id)
	name := func(before string, step int) {
		if what = before + string(s.prog.Steps[step].ID); s.id != t.root {
			what += " of run " + string(s.id)
		}
	}
	for _, timer := range s.timers.list {
		if timer.at.Equal(at) && timer.key == "" {
			name("step ", timer.step)
		}
	}
	for _, timer := range s.expiries.list {
		if timer.at.Equal(at) {
			name("an answer to step ", timer.step)
		}
	}
	return Fact{t.root, event.RunParked{Until: at, For: what}}, true
}

// Reopen are the facts that make an ended tree go on, also with what the machine kept from
// being done.
func (t *Tree) Reopen(by, why string) []Fact {
	return append(t.reopen(by, why), t.runs[t.root].stoppedSteps(by, why)...)
}

func (t *Tree) reopen(by, why string) []Fact {
	return []Fact{{t.root, event.RunReopened{By: by, Why: why}}}
}
