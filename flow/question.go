package flow

import (
	"github.com/belay-run/belay"
)

// A question lives for one turn. What a turn asks is all that the tree wants to
// know at that moment; the facts of the next turn hold the answers, and what is
// not answered then is asked again, under the same key. So nothing about what is
// out has to be kept: a tree that was built from the records asks the same. Only
// a working tree that somebody else has is waited for longer, and that is on
// record.

// questions are those of one run in this turn.
type questions struct {
	keys  map[belay.Key]bool
	steps []int // that ask
	busy  int   // that the run cannot end without: all but those for working trees
}

// asks are the questions of this turn.
type asks struct {
	askers []*State
	slots  map[belay.Key]bool // agents that are asked for: each has a slot
	roped  indexes            // runs in which somebody waits for a working tree
}

// ask keeps that a run asks something.
func (t *Tree) ask(s *State, k belay.Key) {
	if len(s.wanted.keys) == 0 {
		t.askers = append(t.askers, s)
	}
	s.asks(k)
	t.rope(s)
}

// asks keeps a question of a run.
func (s *State) asks(k belay.Key) {
	if s.wanted.keys == nil {
		s.wanted.keys = map[belay.Key]bool{}
	}
	s.wanted.keys[k] = true
	s.stir(k)
	if _, ok := k.Is(belay.TopicTree); ok {
		return
	}
	s.wanted.busy++
	if _, ok := k.Is(belay.TopicWorktree); ok || k == s.listKey() {
		return
	}
	if p, ok := belay.ParseKey(k); ok {
		if i, ok := s.index[p.Path]; ok {
			s.steps[i].asked = true
			s.wanted.steps = append(s.wanted.steps, i)
		}
	}
}

// stir keeps that something is known or asked about a step, so that those of which
// nothing is need not be looked at.
func (s *State) stir(k belay.Key) {
	p, ok := belay.ParseKey(k)
	if !ok {
		return
	}
	if i, ok := s.index[p.Path]; ok && !s.steps[i].phase.settled() {
		s.stirred.push(i)
	}
}

// asked tells whether an answer is awaited.
func (t *Tree) asked() bool {
	for _, s := range t.askers {
		if s.result == nil && s.wanted.busy > 0 {
			return true
		}
	}
	return false
}

// lapse drops the questions of the last turn: who still wants to know asks again.
func (t *Tree) lapse() {
	for _, s := range t.askers {
		for _, i := range s.wanted.steps {
			s.steps[i].asked = false
		}
		clear(s.wanted.keys)
		s.wanted.steps, s.wanted.busy = s.wanted.steps[:0], 0
		t.rope(s)
		for up := s; up != nil; up = t.runs[t.parents[up.id].run] {
			if up.result == nil { // its timeout may have waited for an answer
				t.unsure.push(up.birth)
			}
		}
	}
	t.askers = t.askers[:0]
	if len(t.slots) > 0 {
		clear(t.slots)
		t.freed()
	}
}

// rope keeps whether somebody in a run waits for a working tree.
func (t *Tree) rope(s *State) {
	t.roped.keep(s.birth, len(s.trees)+len(s.wanted.keys) > s.wanted.busy && s.result == nil)
}
