// Package flow is the brain: it folds records into a state and names the next
// command. It has no clock, no disk, no process and no goroutine; time and
// everything else from outside arrive as facts. Folding never decides, and
// deciding never changes the state: a decision counts once it is a record.
//
// A [Tree] is a run with all runs below it. A driver (engine is the local one)
// gives it facts with [Tree.Turn], writes the records of the [Turn] that comes
// back to disk, and only then does its effects: start a process, ask a question,
// end an attempt. What comes of them are the facts of a later turn. After a crash
// a new driver folds the same records with [Tree.Apply] and stands where the old
// one stood. The example of Turn is such a driver, without processes.
//
// A program that wants to run recipes uses the package client. This one is for
// those who write a driver, or who read how a run stood at any moment.
package flow

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/recovery"
)

// Library is what was frozen at the start of a root run: its recipes by
// digest, and which digest a sub-recipe's name stands for.
type Library struct {
	Recipes map[string]*recipe.Recipe
	Names   map[string]string
}

// State is one run, folded from its records.
type State struct {
	id      belay.RunID
	lib     Library        `state:"memo"`
	prog    *recipe.Recipe `state:"derived"`
	started event.RunStarted
	begun   time.Time
	vars    *scope
	each    *each   `state:"derived"` // set when the run is the items of a foreach step
	rounds  *rounds `state:"derived"` // set when it is the rounds of a repeat step

	steps    []step
	places   []recipe.Placing   `state:"derived"` // where they work
	index    map[belay.Path]int `state:"derived"`
	ready    indexes            // waiting steps that could start now
	timers   timetable
	expiries timetable       // when open questions time out
	inbox    []event.Request // requests not decided yet
	toSettle []int           // ended and broken steps, to be settled in this order
	hooking  []int           // steps that are over but for their last hook
	open     map[belay.Key]int
	items    map[string]int
	freeing  []int        // held steps that wait for nothing any more
	closed   settledItems // items that were answered or timed out
	seen     map[string]bool
	outputs  map[string]bool
	left     int                // steps not settled
	running  int                // open attempts
	trees    map[belay.Key]bool // working trees that others have, by the question for each: nothing else waits for them
	leased   map[int]bool       // steps that have a tree
	stirred  indexes            // steps that are not settled and of which something is on record or asked
	cancel   *event.Request
	cut      bool // and once more, or nothing may begin
	failing  bool
	ran      bool
	listed   *effect.AnswerList // the list of all results, of a run that is items
	handed   *scope             // what the run inherits, until it begins
	result   *belay.RunResult

	tree   *Tree `state:"derived"` // that it is a part of; nil in a rehearsal of texts
	depth  int   // how often its task was split
	aborts bool  // nothing else starts, whatever may fail

	homes    map[belay.Key]*effect.AnswerWorktree // worktrees
	beside   *effect.AnswerLook                   // what is not as it was in the user's checkout
	homesOld map[belay.Key]bool                   // those that may be gone by now: asked for again, and found if they are there

	birth   int       // its place among the runs of the tree
	said    lastSaid  `state:"memo"` // when it was last asked
	wanted  questions `state:"memo"` // that it asks in this turn
	cramped bool      `state:"memo"` // a step waits until there is room for one more worktree
}

// step is what the fold knows of one step.
type step struct {
	phase     Phase
	waits     int   // needs that are not settled
	next      []int `state:"derived"`
	attempt   int   // number of the last main attempt
	check     int   // number of the last verify
	failed    int
	lost      int
	extra     int // attempts that a person granted
	key       belay.Key
	child     belay.RunID
	stopping  fault.KilledBy
	since     time.Time // start of the open attempt
	due       time.Time
	gone      bool            // the main attempt was lost
	seen      *belay.Evidence // and what is there since its base; nil = nobody looked
	seenLate  bool            // seen by a look that came later, when anybody could have been there
	deaf      bool            // its check was lost, the last time
	declared  bool            // a person said that it failed
	main      *effect.Observation
	verify    *effect.Observation
	verdict   *effect.Verdict
	failure   *belay.Failure
	permit    *effect.AnswerStep
	truth     *effect.AnswerCond
	filled    map[string]effect.Filled // texts that the hands filled in
	list      json.RawMessage          // of a foreach step, when the hands had to look
	unheard   string                   // why they could not
	asked     bool                     `state:"memo"` // it asks something in this turn
	item      string
	inputs    int                 // questions that its agents asked a person
	question  *event.ItemOpened   // the open item, of a step that is a question
	leave     *event.ItemAnswered // a person said to leave it out
	freed     *event.RunCleared   // a person took back what it is held for
	kept      bool                // it stays done while what it builds on runs again: who builds on it waits
	reask     bool                // its work may be there, and who can tell is asked again (askAgain)
	vouched   *event.ItemAnswered // a person said that it is done, and its check is to say so too
	unstarted bool                // that was said before an attempt began
	confirms  bool                // its last check was asked about the word of a person
	plan      *belay.Plan
	queued    bool        // in toSettle
	last      belay.RunID // child run of the last attempt
	prior     belay.RunID // the same, while there is something in it to go on with
	hook      string      // the hook that is open, "" = none
	hooks     map[string]int
	hookLost  int  // how often the hook that is due was lost
	greeted   bool // its first hook is behind it
	agent     agentHistory
	work      lease // the tree that its agents work in
	into      lease // the tree that its work is merged into
	merge     merge
	tests     *effect.TestPlan // how its tests are run, where that had to be asked for
	round     roundFacts       // of a round that is over
	taken     bool             // something of it began: its condition is decided for good

	around      around              // of a step with a fallback: what was seen of the files
	past        []recovery.Past     // recoveries that were taken
	same        int                 // failures in a row with one fingerprint and nothing changed
	nextAttempt nextAttempt         // what the last recovery changed
	helper      helper              // an agent that helps with it
	probe       *effect.AnswerProbe // a look at the machine after the last attempt
	mended      bool                // a helper changed something since the last failure
	moved       bool                // at the last failure the work was in another state than at the one before
	woken       bool                // a person reopened the run since its last attempt
}

func newState(id belay.RunID, lib Library) *State {
	return &State{
		id: id, lib: lib,
		open: map[belay.Key]int{}, items: map[string]int{},
		seen: map[string]bool{}, closed: settledItems{}, outputs: map[string]bool{}, trees: map[belay.Key]bool{}, leased: map[int]bool{},
		homes: map[belay.Key]*effect.AnswerWorktree{}, homesOld: map[belay.Key]bool{},
	}
}

// begin sets up the graph from the first record.
func (s *State) begin(e event.RunStarted, at time.Time) error {
	if s.prog != nil {
		return fmt.Errorf("run %s: a second run.started", s.id)
	}
	if e.Schema != event.Schema {
		return fmt.Errorf("run %s: schema %d, this belay reads %d", s.id, e.Schema, event.Schema)
	}
	prog := s.lib.Recipes[e.Recipe]
	if prog == nil {
		return fmt.Errorf("run %s: recipe %.12s is not among the frozen ones", s.id, e.Recipe)
	}
	vars, err := s.inherited(e)
	if err != nil {
		return err
	}
	prog, err = s.shape(prog, e, vars)
	if err != nil {
		return err
	}
	s.prog, s.started, s.begun = prog, e, at
	s.vars = newScope(vars)
	s.vars.up, s.handed = s.handed.base(), nil
	s.vars.compat = prog.Compat || e.Compat
	for _, r := range s.lib.Recipes {
		for _, name := range r.Secrets {
			s.vars.secret[name] = true
		}
	}
	for name, by := range e.Hidden {
		s.vars.hidden[name] = by
	}
	s.places = s.placings(e)
	s.steps = make([]step, len(prog.Steps))
	s.wire()
	for i := range prog.Steps {
		s.steps[i].phase = Waiting
		if s.closes(i) {
			continue // it waits for the end
		}
		s.left++
		if s.steps[i].waits = len(prog.Steps[i].Needs); s.steps[i].waits == 0 {
			s.ready.push(i)
		}
	}
	return nil
}

// wire finds the steps by their names, and who waits for each.
func (s *State) wire() {
	s.index = make(map[belay.Path]int, len(s.prog.Steps))
	for i := range s.prog.Steps {
		def := &s.prog.Steps[i]
		s.index[def.ID] = i
		for _, n := range def.Needs {
			s.steps[n].next = append(s.steps[n].next, i)
		}
	}
}

// at finds the step of a path.
func (s *State) at(p belay.Path) (int, error) {
	i, ok := s.index[p]
	if !ok {
		return 0, fmt.Errorf("run %s: no step %q in its recipe", s.id, p)
	}
	return i, nil
}

// settle counts a step as settled and wakes those that wait for it.
func (s *State) settle(i int) {
	s.left--
	for _, n := range s.steps[i].next {
		s.steps[n].waits--
		s.wake(n)
	}
}

// unsettle takes a settled step back, because a person reopened the run.
func (s *State) unsettle(i int) {
	s.left++
	for _, n := range s.steps[i].next {
		s.steps[n].waits++
		s.unqueue(n)
	}
}

// wake puts a waiting step where Next looks for it.
func (s *State) wake(i int) {
	st := &s.steps[i]
	if st.kept && st.waits == 0 { // what it builds on was done again
		st.kept = false
		s.settle(i)
		return
	}
	if st.phase != Waiting || st.waits > 0 || s.closes(i) {
		return
	}
	if st.due.IsZero() {
		s.ready.push(i)
		return
	}
	s.timers.push(timer{st.due, i, ""})
}

// look asks Next to settle an ended or broken step.
func (s *State) look(i int) {
	if !s.steps[i].queued {
		s.steps[i].queued = true
		s.toSettle = append(s.toSettle, i)
	}
}

// Result is how the run ended, nil while it has not.
func (s *State) Result() *belay.RunResult { return s.result }

// fail marks a step as failed for good.
func (s *State) fail(i int) {
	switch def := &s.prog.Steps[i]; {
	case s.rounds != nil && !s.aborts && !s.endsRounds(i): // the next round follows
	case !def.Optional || s.aborts:
		s.failing = true
	case def.Foreach != "" || def.Repeat != nil: // what its items or rounds gave is there all the same
		s.setOutputs(i)
	}
	s.tellFailed(i)
	s.part(i, Failed)
}
