package flow

import (
	"fmt"

	"github.com/belay-run/belay/event"
)

// pause is what the fold knows of a person's wish that nothing new starts. It
// outlives every driver: only a person who resumes the run takes it back.
type pause struct {
	pausing *event.Request // the wish; nil = there is none
	paused  bool           // and nothing runs any more
}

// requested keeps what is asked of the tree as a whole.
func (t *Tree) requested(r event.Request) {
	t.parked = nil // somebody wants something of it now
	if r.Run != t.root || t.runs[t.root].result != nil {
		return
	}
	switch r.Ask {
	case event.RequestStop:
		t.stopping = &r
	case event.RequestPause:
		if t.pausing == nil {
			t.pausing = &r
		}
	case event.RequestCancel: // what it leaves open has to end
		t.unpause()
		t.held = false // nobody is waited for any more
		t.touchAll()   // a second one ends what they do last
	case event.RequestAnswer, event.RequestClear: // the run's business
	}
}

// unpause lets new attempts start again.
func (t *Tree) unpause() {
	if t.pausing == nil {
		return
	}
	t.pause = pause{}
	t.touchAll()
	t.freed()
}

// Paused tells whether a person wants nothing new to start, and who.
func (t *Tree) Paused() (by string, paused bool) {
	if t.pausing == nil {
		return "", false
	}
	return t.pausing.By, true
}

// resumed folds that a person wants the run to go on. Who is named does the steps
// that are started from now on: that one, or all of the run and those below it.
func (s *State) resumed(e event.RunResumed) error {
	if e.Agent == "" {
		return nil
	}
	if e.From == "" {
		s.tree.instead = e.Agent
		for _, run := range s.tree.born {
			for i := range run.steps {
				if run.prog != nil && !run.steps[i].phase.settled() {
					run.steps[i].nextAttempt.agent = ""
				}
			}
		}
		return nil
	}
	if e.Child != "" {
		if s = s.tree.runs[e.Child]; s == nil {
			return fmt.Errorf("resumed in run %s, which is not there", e.Child)
		}
	}
	return s.withStep(e.From, func(i int) error {
		s.steps[i].nextAttempt = nextAttempt{agent: e.Agent}
		return nil
	})
}
