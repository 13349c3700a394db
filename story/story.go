// Package story is the one read model: what the records of a run tell, for
// everybody who shows or explains it. Records go in one by one, in their order;
// what comes out are facts with names:
//
//   - News: what one record says, with what it is about looked up (the step, the
//     attempt, the decision) as it stood at that moment.
//   - Attempt and Step: everything that was ever said about one of them.
//   - Decision: what was chosen about a failure, by whom, and what was known then.
//   - Driver: each process that drove the run, and how the one before it left.
//   - Account: what follows from all of it at one moment: how the run stands, the
//     cause of a failure, what is waited for, how the steps stand, and what a
//     person may type next. Beside it Cost (what was used) and Work (where it is).
//
// Tell makes a story of a whole journal. Live makes one that is told while it
// happens, and forgets what is over. Either way a record is read once, by Add, and
// nobody else has to look into one: a command, the live view, a page or a program
// that renders the run asks the story.
//
// How a step stands is not told here a second time: that is the fold of flow,
// which the brain decides on, and a story holds it as its Tree. The story has no
// words for people, but for the few that are in records; it reads no journal and
// no clock: what only the machine knows comes in as a value.
package story

import (
	"cmp"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/recovery"
)

// Story is a run, with all runs below it, as its records tell it.
type Story struct {
	Tree *flow.Tree  // of the same records; nil where nobody needs how steps stand
	Root belay.RunID // the run at the top

	Status    belay.Status     // by the records alone; "" before a driver took the run
	Rest      *belay.RunResult // how the run came to rest; nil while it is driven
	StoppedBy string           // who stopped it the last time
	Drivers   []Driver
	News      []News     // all that was told, in order; a live story keeps none
	Attempts  []*Attempt // in the order of their start; a live story keeps none
	Records   int        // how many were told
	Last      time.Time  // when the last of them was written
	Seq       int64      // its number
	Done      int        // steps that are done, for the counts of a live view

	live   bool
	watch  driverWatch
	open   []opening      // some of which may be closed by now
	opened int            // how many are not
	waits  map[*Step]bool // steps that wait for something
	byKey  map[belay.Key]*Attempt
	steps  map[Place]*Step
	runs   map[belay.RunID]*Run
	failed map[belay.RunID]int     // steps that stay failed
	fallen map[Place][]belay.RunID // runs with such steps, by each step that they are below
}

// Run is one run of the tree, beside what its fold knows.
type Run struct {
	Ended time.Time // when it ended the last time
	Rest  time.Time // when it came to rest the last time
	Rests bool      // the last of its own records says that nothing is left to do
}

// New is a story that nobody has told yet.
func New(tree *flow.Tree) *Story {
	return &Story{
		Tree: tree, byKey: map[belay.Key]*Attempt{},
		steps: map[Place]*Step{}, waits: map[*Step]bool{}, runs: map[belay.RunID]*Run{}, failed: map[belay.RunID]int{}, fallen: map[Place][]belay.RunID{},
	}
}

// Tell is the story of all records of a run. Without a tree it does not know
// how the steps stand.
func Tell(tree *flow.Tree, recs []event.Record) *Story {
	s := New(tree)
	s.Add(recs...)
	return s
}

// Live is a story for one who watches: what is over is not kept, so that a driver
// does not grow with its run.
func Live(tree *flow.Tree) *Story {
	s := New(tree)
	s.live = true
	return s
}

// Open are the attempts that run now, or have ended and are not judged yet, in
// the order of their start.
func (s *Story) Open() []*Attempt {
	list := make([]*Attempt, 0, s.opened)
	for _, o := range s.open {
		if o.stands() {
			list = append(list, o.Attempt)
		}
	}
	return list
}

// opening is an attempt that was opened for the nth time.
type opening struct {
	*Attempt
	nth int
}

func (o opening) stands() bool { return o.open && o.nth == o.opened }

// Failed is how many steps stay failed, so far.
func (s *Story) Failed() int {
	n := 0
	for _, f := range s.failed {
		n += f
	}
	return n
}

// Run is what is known of one run of the tree beside its fold.
func (s *Story) Run(id belay.RunID) Run {
	if r := s.runs[id]; r != nil {
		return *r
	}
	return Run{}
}

// Step is what was told about a step.
func (s *Story) Step(at Place) Step {
	if st := s.steps[at]; st != nil {
		return *st
	}
	return Step{Place: at}
}

// state is the fold of one run; nil when there is none.
func (s *Story) state(run belay.RunID) *flow.State {
	if s.Tree == nil {
		return nil
	}
	return s.Tree.Run(run)
}

// View is how a step stands.
func (s *Story) View(at Place) (v flow.StepView) {
	if st := s.state(at.Run); st != nil {
		v, _ = st.Step(at.Path)
	}
	return v
}

// Def is a step as its recipe has it; nil for none.
func (s *Story) Def(at Place) *recipe.Step {
	if st := s.state(at.Run); st != nil {
		for i := range st.Recipe().Steps {
			if def := &st.Recipe().Steps[i]; def.ID == at.Path {
				return def
			}
		}
	}
	return nil
}

// Minor tells whether a step that ended well is news only for those who want everything:
// a command or a call between the agents of a shipped recipe.
func (s *Story) Minor(at Place) bool {
	def := s.Def(at)
	if def == nil || def.Type.Agent() || def.Type.Asks() || def.Type.Child() {
		return false
	}
	return s.state(at.Run).Recipe().IsShipped()
}

// role is the role that a step has: that it was given, or that of its recipe.
func (s *Story) role(st *Step) string {
	role := string(recovery.Coder)
	if def := s.Def(st.Place); def != nil {
		role = cmp.Or(def.Role, role)
	}
	return cmp.Or(st.Role, role)
}

// Merges tells whether the work of a step comes back from a worktree.
func (s *Story) Merges(at Place) bool {
	st := s.state(at.Run)
	if st == nil {
		return false
	}
	h := st.Home(at.Path)
	return h != nil && h.Merge && h.Dir != ""
}

// Walk visits the steps of a run and, under each, those of the child run of its
// last attempt. An empty run is the root.
func Walk(tree *flow.Tree, run belay.RunID, visit func(run belay.RunID, depth int, v flow.StepView)) {
	if run == "" {
		if len(tree.Runs()) == 0 {
			return
		}
		run = tree.Runs()[0]
	}
	walk(tree, run, 0, false, visit)
}

// walk goes through a run; optional: what is below an optional step fails no run either.
func walk(tree *flow.Tree, run belay.RunID, depth int, optional bool, visit func(belay.RunID, int, flow.StepView)) {
	s := tree.Run(run)
	if s == nil {
		return
	}
	for _, v := range s.Steps() {
		v.Optional = v.Optional || optional
		visit(run, depth, v)
		if v.Child != "" {
			walk(tree, v.Child, depth+1, v.Optional, visit)
		}
	}
}
