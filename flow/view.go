package flow

import (
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/recipe"
)

// StepView is how a step stands, for screens. It is the same fold that the
// brain decides on.
type StepView struct {
	Path     belay.Path
	Type     belay.StepType
	Call     string // the function of a call step
	Phase    Phase
	Optional bool
	Finally  bool        // it is a part of finally: whatever becomes of it, the run ends as it would without
	Attempt  int         // number of the last main attempt
	Attempts int         // how many it may have
	Lost     int         // attempts that were lost
	Key      belay.Key   // the open attempt, "" if none
	Child    belay.RunID // the child run of its last attempt
	Since    time.Time   // start of the last attempt
	Due      time.Time   // when it is tried again
	Output   string
	Main     *effect.Observation
	Verify   *effect.Observation
	Verdict  *effect.Verdict
	Failure  *belay.Failure
	Item     string
	Question *event.ItemOpened // of an approval that waits for its answer
	Hook     string            // the hook that is open, "" if none
	Same     int               // of an agent's step: failures in a row that were alike, with nothing changed in between
	Fallback bool              // it runs only in place of another step
	InPlace  belay.Path        // the step that it ran in place of, "" if none
}

// Steps lists the steps of the run in the order of its recipe.
func (s *State) Steps() []StepView {
	list := make([]StepView, len(s.steps))
	for i := range s.steps {
		list[i] = s.view(i)
	}
	return list
}

// Step is the view of one step.
func (s *State) Step(p belay.Path) (StepView, bool) {
	i, ok := s.index[p]
	if !ok {
		return StepView{}, false
	}
	return s.view(i), true
}

func (s *State) view(i int) StepView {
	def, st := &s.prog.Steps[i], &s.steps[i]
	v := StepView{
		Path: def.ID, Type: def.Type, Call: def.Call, Phase: st.phase, Optional: def.Optional, Finally: s.inFinally(),
		Attempt: st.attempt, Attempts: def.Retry.MaxAttempts + st.extra, Lost: st.lost,
		Key: st.key, Child: st.child, Since: st.since, Output: def.Output,
		Main: st.main, Verify: st.verify, Verdict: st.verdict, Failure: st.failure, Item: st.item, Question: st.question, Hook: st.hook,
	}
	if s.typeOf(i).Agent() {
		v.Same = st.same
	}
	if v.Fallback = def.IsFallback; v.Fallback {
		v.InPlace = s.inPlaceOf(i)
	}
	if st.phase == Waiting {
		v.Due = st.due
	}
	if v.Child == "" {
		v.Child = st.last
	}
	return v
}

// Started is the run's first record, and when it was written.
func (s *State) Started() (event.RunStarted, time.Time) { return s.started, s.begun }

// Recipe is what the run walks through.
func (s *State) Recipe() *recipe.Recipe { return s.prog }

// Vars is the context as it stands.
func (s *State) Vars() map[string]belay.Value { return s.vars.vars }

// Given are the variables that steps have set, and of them those in which a secret
// was hidden.
func (s *State) Given() (vars map[string]belay.Value, hidden []string) {
	vars = make(map[string]belay.Value, len(s.outputs))
	for name := range s.outputs {
		vars[name] = s.vars.vars[name]
	}
	return vars, s.hiddenOut()
}

// Seen tells whether a request is among the facts already.
func (s *State) Seen(id string) bool { return s.seen[id] }
