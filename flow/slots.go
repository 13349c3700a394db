package flow

import "github.com/belay-run/belay"

// reserve keeps a slot for an agent that was allowed to start, and gives it
// back for one that was not: what may be used is asked for just before a start,
// not when a step has long to wait for its turn.
func (t *Tree) reserve(run belay.RunID, e belay.AnswerGiven) {
	k, ok := e.Key.Is(belay.TopicAgent)
	over := t.runs[run].givesUp() || t.runs[run].cancel != nil // meanwhile: nothing starts in it any more
	switch {
	case !ok:
	case e.Answer.OK && !over:
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
