package flow

import (
	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
)

// answered keeps what an answer says about the tree as a whole.
func (t *Tree) answered(run belay.RunID, e event.AnswerGiven) {
	switch a := e.Answer.(type) {
	case effect.AnswerStep:
		if a.OK {
			t.permits[e.Key] = true
		}
	case effect.AnswerAgent:
		k, _ := e.Key.Is(belay.TopicAgent)
		t.reserve(run, k, a.OK)
	case effect.AnswerTree:
		t.excuse(run, a.Waited)
	}
}

// reserve keeps a slot for an agent that was allowed to start, and gives it
// back for one that was not: what may be used is asked for just before a start,
// not when a step has long to wait for its turn.
func (t *Tree) reserve(run belay.RunID, k belay.Key, granted bool) {
	over := t.runs[run].givesUp() || t.runs[run].cancel != nil // meanwhile: nothing starts in it any more
	switch {
	case granted && !over:
		t.granting[k] = true
	case t.granting[k]:
		delete(t.granting, k)
		t.freed()
	}
}

// release gives back the slots of a step that does not start after all, or of
// all steps of a run.
func (t *Tree) release(run belay.RunID, p belay.Path) {
	for k := range t.granting {
		if in, path := k.Step(); in == run && (p == "" || path == p) {
			delete(t.granting, k)
			t.freed()
		}
	}
}

// reserved tells whether a waiting step has a slot already.
func (s *State) reserved(i int) bool {
	g := s.steps[i].agent.grant
	return g != nil && g.OK
}
