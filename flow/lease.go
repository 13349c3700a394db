package flow

import (
	"maps"
	"slices"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
)

// lease is a working tree that a step has, or had last.
type lease struct {
	dir     string // that it was asked for with
	tree    string // its top
	taken   int64  // another number once somebody else has had it
	held    bool
	refused string      // why it can never be had
	by      belay.RunID // who has it, while the step waits for it
}

// leaseStep names a step where all runs on the machine see it.
func (s *State) leaseStep(i int) string { return s.id.Of(string(s.prog.Steps[i].ID)) }

// nextTree asks for the working tree that attempt k of a step works in, when the
// step does not have it; the second result tells that it is waited for.
func (s *State) nextTree(i int, k belay.Key, l *lease, dir string) (command, bool) {
	if l.held && l.dir == dir {
		return nil, false
	}
	key := k.About(belay.TopicTree)
	if s.wantsTree(key) {
		return nil, true
	}
	return effect.Ask{Key: key, Question: effect.AskTree{
		Dir: dir, Step: s.leaseStep(i), Shared: s.shares(i),
	}}, true
}

// leaseOf is the lease that a question for a tree is about.
func (s *State) leaseOf(k belay.Key) (int, *lease, bool) {
	p, ok := belay.ParseKey(k)
	if !ok || p.Topic != belay.TopicTree {
		return 0, nil, false
	}
	i, ok := s.index[p.Path]
	if !ok {
		return 0, nil, false
	}
	if p.Role == belay.RoleMerge {
		return i, &s.steps[i].into, true
	}
	return i, &s.steps[i].work, true
}

// treeAnswered folds the answer to a question for a working tree. If somebody
// else has had the tree since the step had it last, what the step did there
// before cannot be told from what they did: the next attempt is measured anew.
func (s *State) treeAnswered(k belay.Key, a effect.AnswerTree) {
	i, l, ok := s.leaseOf(k)
	if !ok {
		return
	}
	if by := a.WaitsFor(); by != "" {
		l.by = by
		s.trees[k] = true
		return
	}
	delete(s.trees, k)
	if !a.OK {
		*l = lease{tree: l.tree, taken: l.taken, dir: a.Dir, refused: a.Error}
	} else {
		if l == &s.steps[i].work && l.taken != 0 && (l.tree != a.Tree || l.taken != a.Taken) {
			s.steps[i].agent.base = nil
		}
		*l = lease{dir: a.Dir, tree: a.Tree, taken: a.Taken, held: true}
		s.leased[i] = true
	}
	if s.steps[i].phase != Waiting {
		s.look(i)
	}
}

// giveBack gives the trees of a step back; it asks for them again before its
// next agent starts.
func (s *State) giveBack(i int) {
	st := &s.steps[i]
	st.work.held, st.work.refused, st.work.by = false, "", ""
	st.into = lease{}
	delete(s.leased, i)
}

// giveAllBack does so for all steps whose agent is not at work.
func (s *State) giveAllBack() {
	for _, i := range slices.Sorted(maps.Keys(s.leased)) {
		if st := &s.steps[i]; st.key == "" || st.child != "" {
			s.giveBack(i)
			st.agent.grant, st.helper.grant = nil, nil // a slot is asked for once the tree is there
			s.tree.release(s.id, s.prog.Steps[i].ID)
		}
	}
}

// needsTree tells whether a step still needs the tree that it has. An agent's
// step has it until it is settled; another one only while an agent helps it.
func (s *State) needsTree(i int) bool {
	st := &s.steps[i]
	switch {
	case st.phase == Merging || !st.work.held:
		return false
	case !s.typeOf(i).Agent():
		return st.helper.role != ""
	}
	return !st.phase.settled() && st.phase != Held
}

// Trees are the working trees that the runs need, and for each the steps that do.
func (t *Tree) Trees() map[string][]string {
	need := map[string][]string{}
	for _, b := range t.leasing.list {
		s := t.born[b]
		for _, i := range slices.Sorted(maps.Keys(s.leased)) {
			l := &s.steps[i].work
			if s.steps[i].into.held {
				l = &s.steps[i].into
			} else if !s.needsTree(i) {
				continue
			}
			need[l.tree] = append(need[l.tree], s.leaseStep(i))
		}
	}
	return need
}

// Awaits tells whether the answer to a question for a tree is still wanted.
func (t *Tree) Awaits(k belay.Key) bool {
	run, _ := k.Step()
	s := t.runs[run]
	return s != nil && s.awaits(k)
}

// awaits tells whether a run that goes on waits for the answer to a question for a tree.
func (s *State) awaits(k belay.Key) bool {
	if s.result != nil || s.cancel != nil || !s.wantsTree(k) {
		return false
	}
	i, _, ok := s.leaseOf(k)
	return ok && !(s.steps[i].phase == Waiting && s.givesUp())
}

// wantsTree tells whether a question for a tree is out: it is asked in this turn,
// or others have the tree.
func (s *State) wantsTree(k belay.Key) bool { return s.trees[k] || s.wanted.keys[k] }

// awaitsTree tells whether a run waits for a tree.
func (s *State) awaitsTree() bool {
	for k := range s.trees {
		if s.awaits(k) {
			return true
		}
	}
	for k := range s.wanted.keys {
		if _, tree := k.Is(belay.TopicTree); tree && s.awaits(k) {
			return true
		}
	}
	return false
}

// waitsForTree tells whether an agent in a run, or below it, waits for a tree.
func (t *Tree) waitsForTree(id belay.RunID) bool {
	if t == nil {
		return false // a rehearsal
	}
	for _, b := range t.roped.list {
		if s := t.born[b]; s.id.Under(id) && s.awaitsTree() {
			return true
		}
	}
	return false
}

// stir asks the runs around one in which somebody waited for a tree: their
// timeouts, which did not count meanwhile, may be over.
func (t *Tree) stir(s *State) {
	for up, ok := t.parents[s.id]; ok; up, ok = t.parents[up.run] {
		t.touch(t.runs[up.run])
	}
}

// excuse gives the time that a step waited for a tree back to the sub-recipes
// around it: waiting uses up no timeout.
func (t *Tree) excuse(id belay.RunID, waited time.Duration) {
	for up, ok := t.parents[id]; ok && waited > 0; up, ok = t.parents[up.run] {
		p := t.runs[up.run]
		if i, open := p.open[up.key]; open && p.timers.later(i, up.key, waited) {
			t.touch(p)
		}
	}
}

// shares tells whether the author of a step said that others may work in its
// tree at the same time.
func (s *State) shares(i int) bool { return s.places[i].Shared }

// sharedWith says who can be at work in the tree of a step that shares it.
func (s *State) sharedWith(i int) string {
	if p := s.places[i]; p.Shared {
		return p.Why
	}
	return ""
}
