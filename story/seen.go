package story

import (
	"slices"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/verdict"
)

// Change is what Belay saw of the work of one agent: around agents it looks at
// the files, around other steps it does not.
type Change struct {
	Place
	Dir   string    // the tree that it worked in
	Ended time.Time // zero = nobody saw its end
	belay.Evidence
}

// Changes are those that the agents of a run and of all runs below it made, in
// the order of their ends. An attempt that goes on with the work of an earlier one
// is measured from the same state, and counts in its place.
func (s *Story) Changes(top belay.RunID) []Change {
	var list []Change
	at := map[Place]map[belay.TreeState]int{}
	for _, a := range s.Attempts {
		e := a.evidence()
		if e == nil || s.inCopy(a.Place) || !a.Run.Under(top) || e.Files == 0 && len(e.Commits) == 0 && e.Before.Tree == e.After.Tree {
			continue
		}
		c := s.change(a, e)
		from := belay.TreeState{Head: e.Before.Head, Tree: e.Before.Tree}
		if i, again := at[a.Place][from]; again && from.Tree != "" {
			list[i] = c
			continue
		}
		if at[a.Place] == nil {
			at[a.Place] = map[belay.TreeState]int{}
		}
		at[a.Place][from] = len(list)
		list = append(list, c)
	}
	return list
}

func (s *Story) change(a *Attempt, e *belay.Evidence) Change {
	c := Change{Place: a.Place, Dir: s.Dir(a.Place), Evidence: *e}
	if a.Observation != nil {
		c.Ended = a.Observation.Ended
	}
	return c
}

// Kept is what was seen of all attempts of which Belay keeps a snapshot: also of those that
// a later attempt went on with. They are in the order of their starts.
func (s *Story) Kept(top belay.RunID) []Change {
	var list []Change
	for _, a := range s.Attempts {
		if e := a.evidence(); e != nil && (e.Snapshot != "" || e.Earlier != "") && !s.inCopy(a.Place) && a.Run.Under(top) {
			list = append(list, s.change(a, e))
		}
	}
	return list
}

// Unseen names the steps of a run, and of all runs below it, whose agents worked in a
// tree that nobody looked at, before or afterwards.
func (s *Story) Unseen(top belay.RunID) []string {
	var list []string
	for _, a := range s.Attempts {
		if a.Starts == 0 || !a.Over() || !a.Run.Under(top) || s.inCopy(a.Place) || slices.Contains(list, a.Name()) {
			continue
		}
		if e := a.evidence(); e == nil || e.Before.Tree == "" || e.After.Tree == "" {
			list = append(list, a.Name())
		}
	}
	return list
}

// evidence is what was seen of an agent's work; nil when nobody looked.
func (a *Attempt) evidence() *belay.Evidence {
	if r := a.Report(); r != nil {
		return &r.Evidence
	}
	return a.left
}

// inCopy tells whether a step worked in a copy: nothing of what it did there is left.
func (s *Story) inCopy(at Place) bool {
	st := s.state(at.Run)
	if st == nil {
		return false
	}
	h := st.Home(at.Path)
	return h != nil && h.Copy
}

// Dir is the tree that a step works in: a worktree of its own, or that of its run.
func (s *Story) Dir(at Place) string {
	st := s.state(at.Run)
	if st == nil {
		return ""
	}
	path, _ := at.Path.Hook()
	if h := st.Home(path); h != nil && h.Dir != "" {
		return h.Dir
	}
	return st.Base()
}

// Check is a check of a done step that Belay itself ran, and that passed.
type Check struct {
	Place
	Key   belay.Key
	Begun time.Time
	Told  int    // how many records there were when it started: then its job was open
	Tree  string // that it ran in
	Home  string // the tree of the run, which has the work now if it was merged
	Seen  effect.Observation
	Merge bool // the step's work was merged
}

// Checks are those of the steps of a run, and of all runs below it, as they
// stand: the last one of each.
func (s *Story) Checks(all []Placed) []Check {
	var list []Check
	for _, p := range all {
		if p.Phase != flow.Done || !verdict.Passed(p.Verify) {
			continue
		}
		tries := s.Step(p.At()).Attempts
		for i := len(tries) - 1; i >= 0; i-- {
			a := tries[i]
			if a.Role != belay.RoleVerify || a.Observation == nil {
				continue
			}
			list = append(list, Check{
				Place: p.At(), Key: a.Key, Begun: a.StartedAt, Told: a.startedAt, Tree: s.Dir(p.At()), Home: s.state(p.Run).Base(),
				Seen: *a.Observation, Merge: s.Merges(p.At()),
			})
			break
		}
	}
	return list
}

// Merged is what became of the last merge of a step's work; nil when there was
// none.
func (s *Story) Merged(at Place) *effect.Merged {
	tries := s.Step(at).Attempts
	for i := len(tries) - 1; i >= 0; i-- {
		if o := tries[i].Observation; tries[i].Role == belay.RoleMerge && o != nil && o.Merge != nil {
			return o.Merge
		}
	}
	return nil
}

// Output is the value that a done step of a run gave under a name, as it stands.
func (s *Story) Output(run belay.RunID, name string) (belay.Value, bool) {
	st := s.state(run)
	if st == nil {
		return belay.Value{}, false
	}
	for _, v := range st.Steps() {
		if v.Output == name && v.Phase == flow.Done {
			value, ok := st.Vars()[name]
			return value, ok
		}
	}
	return belay.Value{}, false
}
