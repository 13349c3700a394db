package recipe

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/belay-run/belay"
)

// Isolation is what a recipe says about where a step works.
type Isolation string

const (
	IsolateUnsaid   Isolation = ""
	IsolateWorktree Isolation = "worktree" // in a worktree of its own
	IsolateCopy     Isolation = "copy"     // in a copy of the tree that is thrown away: it only reads
	IsolateOff      Isolation = "off"      // in the run's tree: of an agent, sharing is meant; of a script, it does not write there
)

// MergeMode is what becomes of isolated work.
type MergeMode string

const (
	MergeUnsaid MergeMode = ""
	MergeAuto   MergeMode = "auto"   // it comes back into the run's tree when the step is done
	MergeBranch MergeMode = "branch" // it stays on its branch
)

// Placing is where a step works.
type Placing struct {
	Isolated bool      // in a worktree of its own; of a foreach step, each item
	Chosen   bool      // because Belay says so: where that cannot be, agents take turns
	Copy     bool      // and that is a copy, which is thrown away
	Merge    MergeMode // what becomes of that work
	Shared   bool      // beside others in the run's tree, as its author says
	Why      string
}

// Placings says where the steps of a recipe work. Agents that can be at work at
// the same time as another step do not share a tree: each has one of its own, and
// its work comes back. sub finds a sub-recipe; nil where it is not known.
func Placings(r *Recipe, sub func(name string) *Recipe) []Placing {
	o := newOrder(r.Steps)
	c := crowd{steps: r.Steps, merge: r.Merge, order: o, sub: sub, agents: map[string]bool{}}
	list := make([]Placing, len(r.Steps))
	for i := range r.Steps {
		list[i] = c.place(i)
	}
	return list
}

type crowd struct {
	steps  []Step
	merge  MergeMode
	order  *order
	sub    func(name string) *Recipe
	agents map[string]bool // sub-recipes with agents that work where they are called
}

func (c *crowd) place(i int) Placing {
	s := &c.steps[i]
	switch s.Isolate {
	case IsolateCopy:
		return Placing{Isolated: true, Copy: true, Why: "the recipe says so"}
	case IsolateWorktree:
		usual := MergeBranch
		if s.Foreach != "" {
			usual = MergeAuto
		}
		return Placing{Isolated: true, Merge: cmp.Or(s.Merge, c.merge, usual), Why: "the recipe says so"}
	case IsolateUnsaid, IsolateOff:
	}
	if s.IsFallback || !c.hasAgents(i) {
		return Placing{}
	}
	why := c.beside(i)
	switch {
	case why == "":
		return Placing{}
	case s.Isolate == IsolateOff:
		return Placing{Shared: true, Why: why}
	}
	return Placing{Isolated: true, Chosen: true, Merge: cmp.Or(s.Merge, c.merge, MergeAuto), Why: why}
}

// beside says what can be at work in the run's tree at the same time as a step,
// "" for nothing.
func (c *crowd) beside(i int) string {
	s := &c.steps[i]
	if s.Foreach != "" && s.MaxItems != 1 {
		return "its items can be at work at the same time"
	}
	for j := range c.steps {
		other := &c.steps[j]
		if j == i || other.IsFallback || other.apart() || !other.writes() {
			continue
		}
		if !c.order.before(j, i) && !c.order.before(i, j) {
			return fmt.Sprintf("step %s can be at work at the same time", other.ID)
		}
	}
	return ""
}

// apart tells whether a step has a tree of its own, as its author says.
func (s *Step) apart() bool { return s.Isolate == IsolateWorktree || s.Isolate == IsolateCopy }

// writes tells whether a step can change the tree of the run. A script that is not
// isolated promises that it does not.
func (s *Step) writes() bool {
	row := s.Type.Row()
	return row.Writes && (!row.Shell || s.Isolate != IsolateOff)
}

// hasAgents tells whether agents work in a step, in the tree of the run.
func (c *crowd) hasAgents(i int) bool {
	s := &c.steps[i]
	return s.Type.Agent() || s.Type.Child() && c.calls(s.Recipe)
}

// calls tells whether agents work in a sub-recipe, where it is called.
func (c *crowd) calls(name string) bool {
	if has, known := c.agents[name]; known {
		return has
	}
	c.agents[name] = false // a circle adds nothing
	r := (*Recipe)(nil)
	if c.sub != nil {
		r = c.sub(name)
	}
	if r == nil || r.Isolate {
		return false
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		if !s.apart() && (s.Type.Agent() || s.Type.Child() && c.calls(s.Recipe)) {
			c.agents[name] = true
			break
		}
	}
	return c.agents[name]
}

// What is said of a recipe that asks for a merge that never comes.
const (
	strandedText = "isolate: worktree of a whole recipe leaves the work on its branch, so nothing is merged by merge: auto"
	strandedHint = "say merge: auto on the steps that are isolated; or leave isolate: worktree out at the top, and say it on a step"
)

// stranded tells whether a recipe asks for its own worktree and for a merge.
func (r *Recipe) stranded() bool { return r.Isolate && r.Merge == MergeAuto }

// crowds refuses an agent that shares its tree with others and that nothing
// checks: what changed there can be the work of any of them. And it refuses work that
// would be thrown away.
func (l *linker) crowds() {
	for i := range l.steps {
		s := &l.steps[i]
		if s.Isolate != IsolateCopy {
			continue
		}
		if s.Merge != MergeUnsaid {
			l.fail(s, s.Pos, "leave merge: out, or say isolate: worktree", "step %q has a copy that is thrown away (isolate: copy), and nothing of it is merged", s.ID)
		}
		if e := belay.Expect(s.Expect); e == belay.ExpectChange || e == belay.ExpectPR || e == belay.ExpectTests {
			l.fail(s, s.Pos, "say isolate: worktree, or expect: answer", "step %q has a copy that is thrown away (isolate: copy), and is to leave work behind (expect: %s)", s.ID, e)
		}
	}
	if !slices.ContainsFunc(l.steps, func(s Step) bool { return s.Isolate == IsolateOff && s.Type.Agent() }) {
		return
	}
	for i, p := range Placings(&Recipe{Steps: l.steps}, nil) {
		s := &l.steps[i]
		if !p.Shared || s.Verify != nil {
			continue
		}
		l.fail(s, s.Pos, "add verify: with a script that tells by exit 0 that the work is there, or leave isolate: off out: then the agent has a worktree of its own, and its work comes back",
			"step %q shares its tree (isolate: off), %s, and nothing checks its work", s.ID, p.Why)
	}
}
