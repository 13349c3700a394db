package story

import (
	"cmp"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
)

// Facts is what only the machine knows about a run.
type Facts struct {
	Now   time.Time
	Alive bool                     // the last driver is there
	Beat  time.Time                // its last sign of life
	Work  belay.RunID              // the run that carries out the plan of this one; "" = none yet
	Here  string                   // the directory of who reads it; "" = anywhere
	Plan  string                   // the file with the reviewed plan of a task, to be edited
	Text  func(belay.Value) []byte // a value that is not in its record; nil = cannot be read

	Lacks     []string // variables that its steps were given and that are not set here
	WantsDisk string   // the directory of a step that is held because the disk was full; "" = none
	DiskFree  bool     // there is room again
	Full      string   // the state directory, while its disk has no room: nothing can go on; "" = it has
	Watched   bool     // a watch leads, and wakes what is parked

	There func(dir string) bool // a worktree is still there; nil = nobody looked
}

// Account is what there is to say about a run at one moment.
type Account struct {
	Run belay.RunID
	Standing
	Steps   []Placed
	Count   Count
	Cause   *Cause
	Blocked []Blocked
	Asked   []Asked
	Task    *Task   // of belay do; nil for a run of another recipe, and for what is below one
	Refused *Review // of a task that ended because its plan was not approved
	Plan    string  // the file with that plan
	Next    Next
	Disk    string // the directory whose disk needs room before that; "" = none
	FixIn   string // the worktree in which the step failed, and goes on: a fix must be made there; "" = in the directory of the run
	FixAt   string // the repository in which the fix must be committed: the worktree is gone, and resume makes one anew
}

// Account is that of a run of the tree.
func (s *Story) Account(top belay.RunID, f Facts) *Account {
	a := &Account{Run: top, Standing: s.standing(top, f), Steps: s.Steps(top), Blocked: s.Blocked(top)}
	a.Count, a.Cause, a.Asked = CountSteps(a.Steps), s.Cause(top, a.Steps), s.Questions(a.Steps, f.Now)
	if top == top.Root() {
		a.Task = TaskOf(s.Tree, f.Text)
	}
	if a.Task != nil {
		if r := ReviewOf(s.Tree); r != nil && !r.Approved && (a.Status == belay.Failed || a.Status == belay.Stalemate) {
			a.Refused, a.Plan = r, cmp.Or(f.Plan, "plan.json in the folder of the run")
		}
	}
	find := &finder{a, f, s.Tree, s.Tree.Started()}
	a.Next = find.next()
	find.thens()
	if a.FixIn = s.fixIn(a); a.FixIn != "" && f.There != nil && !f.There(a.FixIn) {
		a.FixIn, a.FixAt = "", s.Tree.Started().Dir
	}
	return a
}

// fixIn is the worktree in which the step that failed works again.
func (s *Story) fixIn(a *Account) string {
	if c := a.Cause; c == nil || c.Whole || a.Task != nil || a.Status == belay.Achieved || a.Status == belay.Aborted || c.Question != nil {
		return ""
	}
	dir := s.Dir(a.Cause.At())
	for _, t := range s.Work(a.Run.Root()).Trees {
		if t.Dir == dir {
			return dir
		}
	}
	return ""
}

// Standing is how a run stands, and since when.
type Standing struct {
	Status  belay.Status
	Crashed bool // nobody drives it, and nobody said so
	Code    *int // nil while it goes on
	Reason  string
	Started time.Time
	Ended   time.Time // when it ended or came to rest; zero while it goes on
	Wall    time.Duration
	Died    int // drivers
}

// Status is how a tree stands, for people: one that was paused is paused, also when
// a question is open in it.
func Status(tree *flow.Tree) belay.Status {
	status := tree.Status()
	if _, paused := tree.Paused(); paused && status == belay.Held {
		return belay.Paused
	}
	return status
}

// Crashed tells whether nobody drives the run although its records say so.
func (s *Story) Crashed(alive bool) bool { return s.Tree.Status() == belay.Running && !alive }

// DecidedReason is why such a run does nothing.
const DecidedReason = "every question is answered, and the run is not resumed yet"

// Decided tells whether a run that was held has its answers, and nobody went on with it since.
func (s *Story) Decided(alive bool) bool {
	return s.Crashed(alive) && s.Rest != nil && s.Rest.Status == belay.Held
}

// standing is how a run stands. A child run that has not ended stands as its
// tree does.
func (s *Story) standing(top belay.RunID, f Facts) Standing {
	run := s.Tree.Run(top)
	_, begun := run.Started()
	w := Standing{Status: Status(s.Tree), Crashed: s.Crashed(f.Alive), Started: begun.UTC(), Died: len(s.Takeovers())}
	if s.Decided(f.Alive) { // nobody died
		w.Status, w.Crashed = belay.Held, false
	}
	last := s.Last
	if at := s.Run(top.Root()).Rest; s.Rest != nil && !at.IsZero() {
		last = at
	}
	if end := s.Run(top).Ended; !end.IsZero() && run.Result() != nil { // it may have been opened again since
		last = end
	}
	if s.StoppedBy != "" {
		w.Reason = "stopped by " + s.StoppedBy
	}
	if by, paused := s.Tree.Paused(); paused && w.Status == belay.Paused {
		w.Reason = "paused by " + by
	}
	if res := run.Result(); res != nil {
		w.Status, w.Reason, w.Code = res.Status, res.Reason, &res.Code
	}
	switch {
	case w.Status == belay.Running && !w.Crashed:
		last = f.Now
	case w.Status == belay.Held:
		code := exit.Held
		w.Code, w.Reason = &code, s.Tree.HeldFor()
	case w.Status == belay.Parked:
		p, _ := s.Tree.Parked()
		at := p.Until.UTC().Format(time.RFC3339)
		if w.Reason = "parked until " + at + " for " + p.For; !p.Until.After(f.Now) {
			w.Reason = "parked for " + p.For + ", due since " + at
		}
	case w.Status == belay.Running:
		w.Died++
		w.Reason = ""
		if f.Beat.After(last) {
			last = f.Beat
		}
	}
	if w.Status != belay.Running || w.Crashed {
		w.Ended = last.UTC()
	}
	w.Wall = max(0, last.Sub(begun))
	return w
}
