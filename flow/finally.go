package flow

import (
	"encoding/json"
	"strconv"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/verdict"
)

// The steps of finally are a child run: the last step of the run, which is there
// beside those of its recipe. It begins when all others are over, whether they ended
// well, failed or were cancelled, and the run ends when it is over. What it gives
// reaches nobody.

// closing is the recipe whose steps of finally are one step behind the others.
func closing(prog *recipe.Recipe) *recipe.Recipe {
	body := prog.Body()
	if body == len(prog.Steps) {
		return prog
	}
	c := *prog
	c.Steps = append(append([]recipe.Step(nil), prog.Steps[:body]...), recipe.Step{
		ID: recipe.FinallyID, Type: belay.TypeRecipe, Finally: true, Optional: true, Recovery: "off",
		Retry: recipe.Retry{MaxAttempts: 1}, Pos: prog.Steps[body].Pos,
	})
	return &c
}

// lastSteps is the recipe of the steps of finally: one after the other, whatever
// becomes of each.
func lastSteps(prog *recipe.Recipe) *recipe.Recipe {
	c := *prog
	c.Hooks, c.Rules, c.Ends, c.AllowEmpty, c.Isolate = recipe.Hooks{}, nil, nil, true, false // it works where the run does
	c.Steps = append([]recipe.Step(nil), prog.Steps[prog.Body():]...)
	for k := range c.Steps {
		c.Steps[k].Finally, c.Steps[k].Needs = false, nil
		if k > 0 {
			c.Steps[k].Needs = []int{k - 1}
		}
	}
	return outer(&c)
}

// closes tells whether step i is all steps of finally.
func (s *State) closes(i int) bool {
	def := &s.prog.Steps[i]
	return def.Finally && def.ID == recipe.FinallyID
}

// inFinally tells whether a run is the steps of finally, or a part of them: nobody
// is asked about them, and no agent mends them.
func (s *State) inFinally() bool {
	for up := s; up != nil && s.tree != nil; up = s.tree.runs[s.tree.parents[up.id].run] {
		if up.started.Finally {
			return true
		}
	}
	return false
}

// nextFinally runs the steps of finally before the run ends; the second result tells
// that the end waits for them. They come once more at the end of a run that was
// opened again.
func (s *State) nextFinally(room int) (command, bool) {
	i := len(s.steps) - 1
	if i < 0 || !s.closes(i) || s.tree.cut() {
		return nil, false
	}
	def, st := &s.prog.Steps[i], &s.steps[i]
	switch {
	case st.phase.settled() && !st.woken:
		return nil, false
	case room < 0:
		return nil, true // it comes to rest; they run when it goes on
	case st.phase.settled():
		return note{Event: event.StepReset{Path: def.ID, By: "belay", Why: "the run ends once more"}}, true
	}
	key := s.mainKey(i, st.attempt+1)
	return startRun{
		Started: event.AttemptStarted{Key: key, Path: def.ID, Role: belay.RoleMain, Attempt: st.attempt + 1, Child: s.id.Child(def.ID, st.attempt+1)},
		Child: s.below(key, event.RunStarted{
			Name: s.prog.Name, Recipe: s.started.Recipe, File: s.prog.File, Finally: true, Dir: s.base(), Hidden: s.hiddenDown(i),
			Vars: map[string]belay.Value{recipe.RunVar: s.ending()},
		}),
	}, true
}

// ending is how the run ends, as the steps of finally read it.
func (s *State) ending() belay.Value {
	r := s.endsAs(s.outcome())
	raw := func(text string) belay.Value { return belay.Value{JSON: json.RawMessage(text)} }
	return gathered(map[string]belay.Value{
		"ok": raw(strconv.FormatBool(r.Status == belay.Achieved)), "status": belay.Text(string(r.Status)),
		"code": raw(strconv.Itoa(r.Code)), "failure": belay.Text(belay.Plain(r.Reason)),
	})
}

// cut tells whether a person cancelled the run a second time, or the keeper lets nothing
// begin: then the steps of finally are ended, too.
func (t *Tree) cut() bool { return t.runs[t.root].cut }

// barred folds that an attempt of finally was not let begin, and no stop is under way:
// the keeper is closed, because the driver of a cancelled run did not answer. Whoever
// cancelled it was told that nothing else starts.
func (s *State) barred(o *effect.Observation) {
	if o.Began || o.KilledBy == fault.KilledNot || s.tree.stopping != nil || !s.inFinally() {
		return
	}
	root := s.tree.runs[s.tree.root]
	if root.cut = root.cancel != nil; root.cut {
		s.tree.touchAll()
	}
}

// unattended is what is written down instead of a question to a person in finally:
// a run that ends waits for nobody.
func (s *State) unattended(e event.Event) event.Event {
	item, ok := e.(event.ItemOpened)
	if !ok || !s.inFinally() {
		return e
	}
	return event.StepRefused{Path: item.Path, Failure: verdict.Refused(belay.Failure{
		Kind: s.ownKind(s.index[item.Path]), Op: "step " + string(item.Path), Cause: "nobody is asked in finally: " + item.Ask,
	})}
}

// counts tells whether a judged attempt is work of the run: what finally does is none.
func (s *State) counts(k belay.Key) bool {
	p, _ := belay.ParseKey(k) // it was made by this house
	i, ok := s.index[p.Path]
	return !helps(k) && !s.inFinally() && !(ok && s.closes(i))
}
