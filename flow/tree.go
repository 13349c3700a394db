package flow

import (
	"maps"
	"slices"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/verdict"
)

// maxMoves bounds what is said before the tree comes to rest: a brain that talks
// for ever is a bug, and must not become an endless journal.
const maxMoves = 1_000_000

// maxTurn is how many bytes of records make one turn; the facts that it begins
// with and the last record may go over it. A record is taken to have unmeasured
// bytes until there are many.
const (
	maxTurn    = 256 << 10
	unmeasured = 8 << 10
)

// Tree is a root run and its child runs: what one journal holds and one
// driver drives. Like State it is pure.
type Tree struct {
	root     belay.RunID
	lib      Library `state:"memo"`
	runs     map[belay.RunID]*State
	order    []belay.RunID // as they began
	born     []*State      // the same
	live     indexes       // those of them that have not ended
	parents  map[belay.RunID]parent
	open     map[belay.Key]opened // attempts that are processes
	starts   int                  // of them, so far
	running  map[belay.Key]bool   // open ones that nobody ends
	agents   map[belay.Key]bool   // open ones that are agents
	holding  indexes              // runs that wait for a person
	leasing  indexes              // runs in which a step has a working tree
	permits  map[belay.Key]bool
	started  event.RunStarted
	most     int   `state:"memo"` // bytes of records in one turn
	moves    int   `state:"memo"` // since it last came to rest
	folded   int64 // records
	last     time.Time
	done     int64
	stopping *event.Request
	held     bool
	heldFor  string // why, when nobody is asked anything
	stopped  bool
	parked   *event.RunParked
	stood    *belay.Value // how the user's checkout stood before the first worktree was made
	instead  string       // who does agent steps from now on, by a person's word; "" = as the run says
	pause
	pardoned bool // a person cleared attempts since it last ended
	anew     bool // a person cleared the review since: new rounds begin from nothing
	spent    spent
	replans  int                 // recoveries that count
	granting map[belay.Key]bool  // agents that were allowed and have not started: each has a slot
	driver   event.RunAttached   // who drives it
	classes  *verdict.Classifier `state:"memo"` // made when it is first needed
	reading  *recipe.Readers     `state:"memo"` // the same

	attended bool `state:"memo"` // somebody is there who can be asked

	schedule `state:"memo"`
	asks     `state:"memo"`
}

// opened is an open attempt: its run, and its place among all that started.
type opened struct {
	run belay.RunID
	n   int
}

// parent is the attempt that a child run is, and the run it belongs to.
type parent struct {
	run belay.RunID
	key belay.Key
}

// NewTree makes the tree of a root run; its records follow.
func NewTree(root belay.RunID, lib Library) *Tree {
	return &Tree{
		root: root, lib: lib, most: maxTurn,
		runs: map[belay.RunID]*State{}, parents: map[belay.RunID]parent{},
		open: map[belay.Key]opened{}, running: map[belay.Key]bool{}, agents: map[belay.Key]bool{}, permits: map[belay.Key]bool{},
		spent: spent{starts: map[belay.Key]int{}}, granting: map[belay.Key]bool{},
		asks: asks{slots: map[belay.Key]bool{}},
	}
}

// Fact is something that happened, before it has a number.
type Fact struct {
	Run   belay.RunID
	Event event.Event
}

// Turn is what a driver writes down in one transaction and then does.
type Turn struct {
	Records []event.Record  // without number and epoch; the journal gives those
	Effects []effect.Effect // Do, Ask and Kill, to be released after the commit
	Until   time.Time       // when to turn again by itself; zero = only on a new fact
	Status  belay.Status    // how the tree stands after it
	Idle    bool            // no process is open and no question is out: only time, or a person, moves it
	More    bool            // there is more to be said at once: it would have become too big
}

// Apply folds one record that is in the journal already.
func (t *Tree) Apply(r event.Record) error {
	s := t.runs[r.Run]
	if s == nil {
		s = newState(r.Run, t.lib)
		s.tree, s.birth = t, len(t.born)
		t.runs[r.Run] = s
		t.order, t.born = append(t.order, r.Run), append(t.born, s)
	}
	if e, ok := r.Event.(event.RunStarted); ok && e.Inherit && s.prog == nil {
		s.handed = t.handed(r.Run)
	}
	waited := len(s.trees) > 0
	if err := s.apply(r); err != nil {
		return err
	}
	if e, ok := r.Event.(event.RunStarted); ok {
		s.depth = t.splits(r.Run, e)
	}
	t.last = r.At
	t.folded++
	t.touch(s)
	t.note(s, r)
	t.holding.keep(s.birth, len(s.items) > 0 && s.result == nil)
	t.leasing.keep(s.birth, len(s.leased) > 0 && s.result == nil)
	t.rope(s)
	if waited {
		t.stir(s)
	}
	return nil
}

// Follow takes in what a turn wrote down, by this brain or an older one, without
// deciding anything. The tree is then as if it had made that turn: its next one
// is the same.
func (t *Tree) Follow(recs []event.Record) error {
	for _, r := range recs {
		if err := t.Apply(r); err != nil {
			return err
		}
	}
	return nil
}

// splits is how often the task of a run was split.
func (t *Tree) splits(id belay.RunID, e event.RunStarted) int {
	n := 0
	if up := t.runs[t.parents[id].run]; up != nil {
		n = up.depth
	}
	if e.Split != "" {
		n++
	}
	return n
}

// classifier has the rules about failures ready.
func (t *Tree) classifier() *verdict.Classifier {
	if t.classes == nil {
		t.classes = verdict.NewClassifier()
	}
	return t.classes
}

// Classifying gives the tree rules that are ready: whoever makes many trees makes
// the rules once.
func (t *Tree) Classifying(c *verdict.Classifier) { t.classes = c }

// Bound sets how many bytes of records make one turn, for a driver whose store
// takes less at once than the journal.
func (t *Tree) Bound(bytes int) { t.most = bytes }

// Replans is how many recoveries that count were taken, and how many may be.
func (t *Tree) Replans() (taken, most int) { return t.replans, t.started.Limits.Replans() }

// note keeps what belongs to the tree as a whole.
func (t *Tree) note(s *State, r event.Record) {
	t.spend(r)
	switch e := r.Event.(type) {
	case event.RunStarted:
		t.live.push(s.birth)
		if r.Run == t.root {
			t.started = e
		}
	case event.RunEnded:
		t.anew = t.anew && r.Run != t.root
		t.release(r.Run, "")
		t.forget(s)
	case event.RunAttached:
		t.attach(e)
	case event.RunHeld:
		t.held, t.stopped, t.paused, t.heldFor = true, false, false, e.Why
	case event.RunStopped: // what it waits for is asked again when it is resumed
		t.held, t.stopped, t.pause = false, true, pause{}
		t.giveAllBack()
	case event.RunParked: // the same
		t.parked = &e
		t.giveAllBack()
	case event.RunPaused:
		t.held, t.stopped, t.parked, t.paused = false, false, nil, true
		t.giveAllBack()
	case event.RunResumed:
		t.unpause()
	case event.RunReopened:
		t.pardoned, t.parked = false, nil
		t.live.push(s.birth)
		t.held, t.stopped = false, false
		if r.Run == t.root {
			t.unpause()
		}
	case event.RequestReceived:
		t.requested(e.Request)
	case event.ItemAnswered:
		t.held = false
		if e.Choice == event.ChoiceDone && !e.Check || e.About == event.ItemApproval && e.Choice != belay.ChoiceReject {
			t.done++
		}
	case event.ItemExpired:
		if e.Then != belay.TimeoutHold {
			t.held = false
			if e.Then != belay.ChoiceReject {
				t.done++
			}
		}
	case event.AttemptStarted:
		t.attemptStarted(r.Run, e)
	case event.AttemptStopping:
		delete(t.running, e.Key)
	case event.AttemptEnded:
		t.close(e.Key)
	case event.AttemptFound:
		t.attemptFound(e)
	case event.AttemptJudged:
		if e.Verdict.OK && s.counts(e.Key) {
			t.done++
		}
	case event.RecoveryChosen:
		if e.Plan.Counts {
			t.replans++
		}
	case event.RunCleared:
		t.cleared(e)
	case event.AnswerGiven:
		t.answered(r.Run, e)
	case event.StepRefused:
		t.release(r.Run, e.Path)
	case event.StepNotTaken:
		t.release(r.Run, e.Path)
	case event.StepSkipped:
		t.release(r.Run, e.Path)
	case event.ItemOpened:
		t.release(r.Run, e.Path)
	case event.AttemptNoted, event.RequestRefused, event.StepReset: // the run's business
	}
}

// attemptStarted counts an attempt as open, or a child run as known.
func (t *Tree) attemptStarted(run belay.RunID, e event.AttemptStarted) {
	if e.Child != "" {
		t.parents[e.Child] = parent{run, e.Key}
		return
	}
	delete(t.granting, e.Key)
	t.starts++
	t.open[e.Key], t.running[e.Key] = opened{run, t.starts}, true
	if e.Agent != "" {
		t.agents[e.Key] = true
	}
}

// attemptFound says whether an attempt that an earlier driver left is still open.
func (t *Tree) attemptFound(e event.AttemptFound) {
	switch e.How {
	case fault.Lost, fault.Unborn:
		t.close(e.Key)
	case fault.Adopted:
		t.running[e.Key] = true
	case fault.Harvested:
	}
}

// Anew tells whether a person cleared the review of a plan since its last rounds: new ones
// begin from nothing.
func (t *Tree) Anew() bool { return t.anew }

// cleared takes back what a person let count no more.
func (t *Tree) cleared(e event.RunCleared) {
	t.pardoned = t.pardoned || e.What == event.CountAttempts || e.What == event.CountReview
	t.anew = t.anew || e.What == event.CountReview
	if e.What == event.CountBudget {
		t.replans, t.spent = 0, spent{starts: map[belay.Key]int{}}
		t.freed()
		for _, b := range t.holding.list {
			t.born[b].free(e)
			t.touch(t.born[b])
		}
	}
}

// helps tells the keys of agents that mend or plan: their good end is no
// finished work.
func helps(k belay.Key) bool {
	p, _ := belay.ParseKey(k)
	return p.Role == belay.RoleRepair || p.Role == belay.RolePlan || p.Role == belay.RoleMerge
}

func (t *Tree) close(k belay.Key) {
	if _, ok := t.open[k]; !ok {
		return
	}
	delete(t.open, k)
	delete(t.running, k)
	delete(t.agents, k)
	t.freed()
}

// attach folds that a driver took the tree. One that comes back, because its
// keeper died, goes on with a stop that is under way; another one was sent by
// somebody who wants the run to go on.
func (t *Tree) attach(e event.RunAttached) {
	was := t.driver
	t.driver = e
	if t.stopped || e.Pid != was.Pid || e.Start != was.Start || e.Boot != was.Boot {
		t.stopping = nil
	}
	t.held, t.stopped, t.parked, t.paused = false, false, nil, false
	for _, b := range t.live.list {
		s := t.born[b]
		t.touch(s)
		s.doubtHomes()
		s.giveAllBack()
		clear(s.trees)
	}
}

// giveAllBack gives the working trees back of all steps whose agent is not at work.
func (t *Tree) giveAllBack() {
	for _, b := range t.live.list {
		t.born[b].giveAllBack()
	}
}

// Open lists the attempts that are processes, in the order of their start.
func (t *Tree) Open() []belay.Key {
	return t.inOrder(slices.Collect(maps.Keys(t.open)))
}

// IsOpen tells whether an attempt is a process, by the records.
func (t *Tree) IsOpen(k belay.Key) bool {
	_, open := t.open[k]
	return open
}

// OpenAgents lists those of them that are agents.
func (t *Tree) OpenAgents() []belay.Key {
	return t.inOrder(slices.Collect(maps.Keys(t.agents)))
}

// inOrder sorts open attempts by their start.
func (t *Tree) inOrder(keys []belay.Key) []belay.Key {
	slices.SortFunc(keys, func(a, b belay.Key) int { return t.open[a].n - t.open[b].n })
	return keys
}

// Job derives the job of an open attempt, and tells its run.
func (t *Tree) Job(k belay.Key) (effect.Job, bool) {
	s := t.runs[t.open[k].run]
	if s == nil {
		return effect.Job{}, false
	}
	j, ok := s.openJob(k)
	return t.sealed(j), ok
}

// Run is the state of one run of the tree, nil if there is none.
func (t *Tree) Run(id belay.RunID) *State { return t.runs[id] }

// Runs lists the runs in the order in which they began.
func (t *Tree) Runs() []belay.RunID { return t.order }

// Done counts the steps whose work is there: the only measure of progress.
func (t *Tree) Done() int64 { return t.done }

// Library is what was frozen at the start.
func (t *Tree) Library() Library { return t.lib }

// Started is the first record of the root.
func (t *Tree) Started() event.RunStarted { return t.started }
