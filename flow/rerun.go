package flow

import (
	"fmt"
	"slices"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/recipe"
)

// NoRerun is the closed list of reasons why a step cannot run again.
type NoRerun string

const (
	RerunOpen    NoRerun = "open"    // something of the run is at work
	RerunFinal   NoRerun = "final"   // the run was cancelled
	RerunUnknown NoRerun = "unknown" // there is no such step
	RerunInside  NoRerun = "inside"  // its run is a part of a step, and over, or one of items, rounds or parts
	RerunUndone  NoRerun = "undone"  // it has not come to an end: to go on with the run is enough
	RerunMidway  NoRerun = "midway"  // a step that builds on it is in the middle of something
)

// CannotRerun says why a step cannot run again.
type CannotRerun struct {
	Why  NoRerun
	Step belay.Path
	Run  belay.RunID // of inside: the run of the step that is meant instead
	Of   belay.Path  // that step; of midway: the one in the middle
	Held bool        // of midway: it waits for a person
}

func (e *CannotRerun) Error() string {
	switch e.Why {
	case RerunOpen:
		return "something of the run is still at work"
	case RerunFinal:
		return "the run was cancelled, which is final"
	case RerunUnknown:
		return fmt.Sprintf("there is no step %s", e.Step)
	case RerunInside:
		return fmt.Sprintf("step %s is a part of step %s, and runs again only with it", e.Step, e.Of)
	case RerunUndone:
		return fmt.Sprintf("step %s has not come to an end", e.Step)
	case RerunMidway:
		if e.Held {
			return fmt.Sprintf("step %s builds on it and waits for a person", e.Of)
		}
		return fmt.Sprintf("step %s builds on it and has begun", e.Of)
	}
	return string(e.Why)
}

// Rerun are the facts that make a settled step run again, with all steps that
// build on it. Of those, one that is done and must not run twice stays done, and is
// named; the step itself runs again whatever it says of itself, because a person
// asked for it by its name.
func (t *Tree) Rerun(run belay.RunID, p belay.Path, by, why string) ([]Fact, error) {
	s := t.runs[run]
	switch {
	case len(t.open) > 0:
		return nil, &CannotRerun{Why: RerunOpen, Step: p}
	case t.Status() == belay.Aborted:
		return nil, &CannotRerun{Why: RerunFinal, Step: p}
	case s == nil || s.prog == nil:
		return nil, &CannotRerun{Why: RerunUnknown, Step: p}
	}
	if s.id != t.root && (s.result != nil || s.ofStep()) {
		up := t.parents[s.id]
		key, _ := belay.ParseKey(up.key) // it was made by this house
		return nil, &CannotRerun{Why: RerunInside, Step: p, Run: up.run, Of: key.Path}
	}
	i, known := s.index[p]
	switch {
	case !known:
		return nil, &CannotRerun{Why: RerunUnknown, Step: p}
	case !s.steps[i].phase.settled():
		return nil, &CannotRerun{Why: RerunUndone, Step: p}
	}
	e := event.StepReset{Path: p, By: by, Why: why}
	for _, j := range s.builtOn(i) {
		id := s.prog.Steps[j].ID
		switch st := &s.steps[j]; {
		case st.phase == Done && (s.prog.Steps[j].Once || s.onceBelow(j)):
			e.Kept = append(e.Kept, id)
		case st.phase.settled():
			e.Also = append(e.Also, id)
		case st.phase != Waiting || st.attempt > 0:
			return nil, &CannotRerun{Why: RerunMidway, Step: p, Of: id, Held: st.phase == Held}
		}
	}
	if last := len(s.steps) - 1; i != last && s.closes(last) && s.steps[last].phase == Running {
		return nil, &CannotRerun{Why: RerunMidway, Step: p, Of: recipe.FinallyID}
	}
	var facts []Fact
	if t.runs[t.root].result != nil {
		facts = t.reopen(by, why)
	}
	return append(facts, Fact{s.id, e}), nil
}

// builtOn are the steps that need a step, or one that needs it, in their order.
func (s *State) builtOn(i int) []int {
	var all indexes
	todo := []int{i}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		for _, n := range s.steps[at].next {
			if _, known := slices.BinarySearch(all.list, n); !known {
				all.push(n)
				todo = append(todo, n)
			}
		}
	}
	return all.list
}

// onceBelow tells whether a step that must not run twice has begun in the child
// run of a step.
func (s *State) onceBelow(i int) bool {
	below := s.tree.Run(s.steps[i].last)
	return below != nil && below.onceBegan()
}

// reset folds that steps run again. The numbers of their attempts go on, and so
// does what counts against their keeper; all else begins anew.
func (s *State) reset(e event.StepReset) error {
	if s.result != nil {
		return fmt.Errorf("run %s: step %s is to run again, and the run has ended", s.id, e.Path)
	}
	var all []int
	for _, p := range append([]belay.Path{e.Path}, e.Also...) {
		i, err := s.at(p)
		if err != nil {
			return err
		}
		if st := &s.steps[i]; st.phase == Waiting && p != e.Path {
			continue // the reopening of the run woke it
		}
		if s.closes(i) {
			s.anew(i)
			return s.move(i, Waiting)
		}
		all = append(all, i)
	}
	for _, p := range e.Kept {
		i, err := s.at(p)
		if err != nil {
			return err
		}
		if st := &s.steps[i]; !st.kept {
			s.parted(i)
			s.unsettle(i)
			st.kept = true
		}
	}
	if e.GoesOn {
		i := all[0]
		all = all[1:]
		s.forgetFailure(i)
		if err := s.wakeAgain(i); err != nil {
			return err
		}
	}
	for _, i := range all {
		if st := &s.steps[i]; st.phase.settled() && !st.kept {
			s.parted(i)
			s.unsettle(i)
		}
		s.anew(i)
		if s.steps[i].phase == Waiting {
			continue
		}
		if err := s.move(i, Waiting); err != nil {
			return err
		}
	}
	for _, i := range all {
		s.wake(i)
	}
	s.failing = false
	for i := range s.steps {
		s.failing = s.failing || s.steps[i].phase == Failed && !s.prog.Steps[i].Optional
	}
	s.listed = nil
	s.doubtHomes()
	return nil
}

// anew makes a step as if it had never begun, but for its numbers.
func (s *State) anew(i int) {
	was := s.steps[i]
	s.unqueue(i)
	s.drop(i)
	s.forgetOutputs(i)
	s.steps[i] = step{
		phase: was.phase, waits: was.waits, next: was.next,
		attempt: was.attempt, check: was.check, extra: was.extra, lost: was.lost, last: was.last,
		hooks: was.hooks, tests: was.tests, merge: merge{n: was.merge.n}, helper: helper{numbers: was.helper.numbers},
	}
}

// forgetOutputs takes back what a step of the root gave to others: a value that
// was there before it counts again.
func (s *State) forgetOutputs(i int) {
	if s.started.Inherit { // what was inherited under the same name is not known here
		return
	}
	for _, name := range s.outputNames(i) {
		s.forgetOutput(name)
	}
}

// forgetFailure takes back that others were told why a step failed.
func (s *State) forgetFailure(i int) {
	s.forgetOutput(s.prog.Steps[i].Failed)
}

// forgetOutput takes back one value that a step left.
func (s *State) forgetOutput(name string) {
	if name == "" || !s.outputs[name] {
		return
	}
	delete(s.outputs, name)
	if v, given := s.started.Vars[name]; given {
		s.vars.set(name, v)
	} else {
		s.vars.unset(name)
	}
}

// outputNames are the variables that a step gives to others; "" may be among them.
func (s *State) outputNames(i int) []string {
	def, o := &s.prog.Steps[i], s.produced(i)
	names := []string{def.Output, def.Failed}
	for _, out := range def.Outputs {
		names = append(names, out.Name)
	}
	if o != nil && o.Child != nil {
		for name := range o.Child.Outputs {
			names = append(names, name)
		}
	}
	return names
}
