package flow

import (
	"fmt"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
)

// GoOn is what a person wants when a run is to go on.
type GoOn struct {
	By, Why  string
	Run      belay.RunID // of From; "" = the root
	From     belay.Path  // the step to go on from; "" = any that can
	Agent    string      // who does that step, or all that are started from now on
	Held     bool        // every step that is held is tried again
	DiskFree bool        // so are those that are held because the disk was full
	ID       string      // begins the ids of the requests that come of it
}

// NoGoOn is the closed list of reasons why a run cannot go on from a step.
type NoGoOn string

const (
	FromUnknown NoGoOn = "unknown" // there is no such step
	FromSettled NoGoOn = "settled" // nothing is left to be done about it: only a rerun runs it again
	FromBehind  NoGoOn = "behind"  // a step that it needs is not done
)

// CannotGoOn says why a run cannot go on from a step.
type CannotGoOn struct {
	Why   NoGoOn
	Step  belay.Path
	Run   belay.RunID // of the step
	Phase Phase       // of settled
	Needs belay.Path  // of behind
}

func (e *CannotGoOn) Error() string {
	switch e.Why {
	case FromUnknown:
		return fmt.Sprintf("there is no step %s", e.Step)
	case FromSettled:
		return fmt.Sprintf("step %s is %s", e.Step, e.Phase)
	case FromBehind:
		return fmt.Sprintf("step %s needs step %s, which is not done", e.Step, e.Needs)
	}
	return string(e.Why)
}

// GoOn are the facts that a person's wish to go on adds to a run which has not
// ended, or which is opened again in the same turn: the end of a pause, another
// agent, and the answer again for steps that are held.
func (t *Tree) GoOn(g GoOn) ([]Fact, error) {
	s := t.runs[t.root]
	if g.Run != "" {
		s = t.runs[g.Run]
	}
	at := -1
	if g.From != "" {
		var err error
		if at, err = t.from(s, g.From); err != nil {
			return nil, err
		}
	}
	var facts []Fact
	if _, paused := t.Paused(); paused || g.Agent != "" || g.From != "" {
		e := event.RunResumed{By: g.By, Why: g.Why, From: g.From, Agent: g.Agent}
		if g.From != "" && s.id != t.root {
			e.Child = s.id
		}
		facts = append(facts, Fact{t.root, e})
	}
	for _, b := range t.holding.list {
		run := t.born[b]
		for i := range run.steps {
			if run.steps[i].item != "" && run.steps[i].question == nil && (g.Held || run == s && i == at || g.DiskFree && run.fullDisk(i)) {
				facts = append(facts, run.onceMore(i, g, len(facts)))
			}
		}
	}
	return facts, nil
}

// from finds the step to go on from, and tells whether that can be.
func (t *Tree) from(s *State, p belay.Path) (int, error) {
	if s == nil || s.prog == nil {
		return 0, &CannotGoOn{Why: FromUnknown, Step: p}
	}
	i, known := s.index[p]
	if !known {
		return 0, &CannotGoOn{Why: FromUnknown, Step: p}
	}
	st := &s.steps[i]
	reopens := t.runs[t.root].result != nil && s.result != nil && !(st.phase == Failed && s.prog.Steps[i].Optional)
	needs := -1
	if reopens && !s.closes(i) {
		needs = s.behind(i)
	}
	switch {
	case st.phase == Done, st.phase == NotTaken, st.phase.settled() && !reopens:
		return 0, &CannotGoOn{Why: FromSettled, Step: p, Run: s.id, Phase: st.phase}
	case needs >= 0:
		return 0, &CannotGoOn{Why: FromBehind, Step: p, Run: s.id, Needs: s.prog.Steps[needs].ID}
	case st.waits > 0:
		return 0, &CannotGoOn{Why: FromBehind, Step: p, Run: s.id, Needs: s.prog.Steps[s.firstOf(i)].ID}
	}
	return i, nil
}

// behind is the first step of an ended run that has to be done before step i can begin, and
// that is done again when the run is reopened, or was never begun; -1 for none.
func (s *State) behind(i int) int {
	for _, n := range s.prog.Steps[i].Needs { // they are listed before it, so this ends
		if s.redoes(n) || !s.steps[n].phase.settled() {
			if first := s.behind(n); first >= 0 {
				return first
			}
			return n
		}
	}
	return -1
}

// firstOf is the first step that has to be done before step i can begin, and that
// waits for no other.
func (s *State) firstOf(i int) int {
	for s.steps[i].waits > 0 {
		next := i
		for _, n := range s.prog.Steps[i].Needs { // they are listed before it, so this ends
			if !s.steps[n].phase.settled() || s.steps[n].kept {
				next = n
				break
			}
		}
		if next == i {
			return i
		}
		i = next
	}
	return i
}

// onceMore is the answer that step i is tried again, as the nth fact of a wish.
func (s *State) onceMore(i int, g GoOn, n int) Fact {
	why := g.Why
	if why == "" {
		why = "resumed"
	}
	return Fact{s.id, event.RequestReceived{Request: event.Request{
		ID: fmt.Sprintf("%s-%d", g.ID, n), Run: s.id, By: g.By, Ask: event.RequestAnswer, Step: s.prog.Steps[i].ID, Choice: event.ChoiceAgain, Why: why,
	}}}
}

// fullDisk tells whether a step is held because there was no room on the disk.
func (s *State) fullDisk(i int) bool {
	f := s.steps[i].failure
	return s.steps[i].phase == Held && f != nil && f.Rule == fault.RuleDiskFull
}

// WantsDisk tells whether a step is held because there was no room on the disk, and
// names the directory of its run.
func (t *Tree) WantsDisk() (dir string, wants bool) {
	for _, b := range t.holding.list {
		s := t.born[b]
		for i := range s.steps {
			if s.fullDisk(i) {
				return s.base(), true
			}
		}
	}
	return "", false
}
