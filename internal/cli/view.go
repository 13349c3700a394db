package cli

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/recipe"
)

// story is a run as its journal tells it, read without its lock.
type story struct {
	id   belay.RunID // the run that was asked for; its root may be another
	view *journal.View
	recs []belay.Record
	tree *flow.Tree

	purse journal.Purse             // of all runs that belong together
	tried map[place][]*attemptFacts // by step; collected when it is asked for
}

func tell(st *journal.State, arg string) (*story, error) {
	id, err := runID(st, arg)
	if err != nil {
		return nil, err
	}
	view, err := st.View(id)
	if err != nil {
		return nil, st.Unread(id, err)
	}
	s := &story{id: id, view: view}
	s.purse, _ = st.Purse(id) // what the index does not tell is left out
	if s.recs, err = view.Load(); err == nil {
		s.tree, err = engine.Fold(id.Root(), s.recs, view)
	}
	if err == nil {
		err = inRun(s.tree.Run(id) != nil, id)
	}
	if err != nil {
		_ = view.Close() // read only: nothing to lose
		return nil, st.Unread(id, err)
	}
	return s, nil
}

// read shows a run to see, and closes it again.
func (a *app) read(arg string, see func(*story) error) (err error) {
	st, err := a.openState()
	if err != nil {
		return err
	}
	defer closing(&err, "close state", st.Close)
	s, err := tell(st, arg)
	if err != nil {
		return err
	}
	defer closing(&err, "close journal", s.close)
	return see(s)
}

func (s *story) close() error { return s.view.Close() }

// source is a frozen recipe.
func (s *story) source(digest string) ([]byte, error) {
	return s.view.ReadBlob(digest, recipe.MaxBytes)
}

// attached is the last driver that took the run.
func (s *story) attached() belay.RunAttached {
	for i := len(s.recs) - 1; i >= 0; i-- {
		if e, ok := s.recs[i].Event.(belay.RunAttached); ok {
			return e
		}
	}
	return belay.RunAttached{}
}

// standing is how the run stands, in words: one whose driver died is not
// running, whatever its journal says.
func (s *story) standing() string {
	if s.crashed() {
		return crashedText
	}
	return string(s.tree.Status())
}

const crashedText = "STOPPED (crashed)"

func (s *story) crashed() bool {
	return s.tree.Status() == belay.Running && !driverOf(s.attached()).Alive()
}

// over tells whether a run of the tree has ended.
func (s *story) over(run belay.RunID) bool { return s.tree.Run(run).Result() != nil }

// steps lists the steps of the run that was asked for, with its child runs.
func (s *story) steps() []placed {
	var list []placed
	tui.Walk(s.tree, s.id, func(run belay.RunID, depth int, v flow.StepView) {
		list = append(list, placed{run, depth, v})
	})
	return list
}

// placed is a step with its place in the tree.
type placed struct {
	run   belay.RunID
	depth int
	flow.StepView
}

// step finds a step of the run that was asked for, or of a child run: a/b is
// the step b of the run that step a started.
func (s *story) step(p belay.Path) (placed, error) {
	run, parts := s.id, strings.Split(string(p), "/")
	for _, part := range parts[:len(parts)-1] {
		if run = s.childOf(run, part); run == "" {
			return placed{}, s.noStep(p)
		}
	}
	v, ok := s.tree.Run(run).Step(belay.Path(parts[len(parts)-1]))
	if !ok {
		return placed{}, s.noStep(p)
	}
	return placed{run: run, StepView: v}, nil
}

// childOf is the child run of a step's last attempt, or of the attempt whose
// number is named (a.2); "" if there is none.
func (s *story) childOf(run belay.RunID, part string) belay.RunID {
	if v, ok := s.tree.Run(run).Step(belay.Path(part)); ok && s.tree.Run(v.Child) != nil {
		return v.Child
	}
	if child := run + "/" + belay.RunID(part); s.tree.Run(child) != nil {
		return child
	}
	return ""
}

// nested tells whether a step is named as one of a child run.
func nested(p belay.Path) bool { return strings.Contains(string(p), "/") }

func (s *story) noStep(p belay.Path) error {
	return belay.Exit(belay.ExitInvalid, "find step", fmt.Errorf("run %s has no step %q", s.id, p),
		"see its steps with belay show "+string(s.id))
}
