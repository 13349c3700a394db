package story

import (
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/flow"
)

// Blocked is a step whose agent may not start yet: the service that it calls is
// left alone for a while.
type Blocked struct {
	Step  string    `json:"step"`
	Until time.Time `json:"until"`
	Why   string    `json:"why"`
	Since time.Time `json:"since"`
}

// Blocked are the steps of a run that wait for a service, the first to go on
// first; never nil.
func (s *Story) Blocked(top belay.RunID) []Blocked {
	list := []Blocked{}
	for st := range s.waits {
		if st.Blocked != nil && st.Run.Under(top) {
			list = append(list, *st.Blocked)
		}
	}
	slices.SortFunc(list, func(a, b Blocked) int {
		if n := a.Until.Compare(b.Until); n != 0 {
			return n
		}
		return strings.Compare(a.Step, b.Step)
	})
	return list
}

// Retries are the steps that will be started again, the first to go on first.
func (s *Story) Retries() []Step {
	return s.picked(func(st *Step) bool { return st.Again != nil }, func(a, b Step) int {
		if n := a.Again.Due.Compare(b.Again.Due); n != 0 {
			return n
		}
		return strings.Compare(string(a.Path), string(b.Path))
	})
}

// ForTrees are the steps that wait until others have left their working tree,
// by their names.
func (s *Story) ForTrees() []Step {
	return s.picked(func(st *Step) bool { return st.TreeOf != "" }, func(a, b Step) int { return strings.Compare(a.Name(), b.Name()) })
}

func (s *Story) picked(is func(*Step) bool, order func(a, b Step) int) []Step {
	var list []Step
	for st := range s.waits {
		if is(st) {
			list = append(list, *st)
		}
	}
	slices.SortFunc(list, order)
	return list
}

// Placed is a step with its place in the tree, as it stands.
type Placed struct {
	Run   belay.RunID
	Depth int
	flow.StepView

	// Settled: it is not done, and nothing follows from that: a failed child run left it
	// whose step is done otherwise, by an agent or on a person's word, or it is a round
	// that another followed, or that was not needed.
	Settled bool
}

// At is its place.
func (p Placed) At() Place { return Place{p.Run, p.Path} }

// Steps lists the steps of a run, each with those of its child run under it.
func (s *Story) Steps(run belay.RunID) []Placed { return Steps(s.Tree, run) }

// Steps are those of a run of a tree, as the story of the tree lists them.
func Steps(tree *flow.Tree, run belay.RunID) []Placed {
	var list []Placed
	settled := map[belay.RunID]bool{}
	Walk(tree, run, func(run belay.RunID, depth int, v flow.StepView) {
		moot := settled[run] || tree.Run(run).Moot(v.Path)
		if moot || v.Phase == flow.Done && (Recovered(v) || failedRun(tree.Run(v.Child))) {
			settled[v.Child] = true
		}
		list = append(list, Placed{run, depth, v, moot && v.Phase != flow.Done})
	})
	return list
}

// Over tells whether a run of the tree has ended.
func (s *Story) Over(run belay.RunID) bool { return s.Tree.Run(run).Result() != nil }

// Judged is how many records had been told when the last attempt of an agent's
// step was over and judged; 0 when there was none.
func (s *Story) Judged(at Place) int {
	last := 0
	for _, a := range s.Step(at).Attempts {
		if a.Role != belay.RoleMain {
			continue
		}
		if a.Report() != nil {
			last = a.endedAt
		}
		if a.judgedAt > 0 && last > 0 {
			last = a.judgedAt
		}
	}
	return last
}
