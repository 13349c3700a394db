package flow

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/recipe"
)

// The bounds of a foreach: how many items it may have, and how much its list
// of results may hold.
const (
	maxItems   = 1000
	maxResults = 1 << 20
)

// each is a run that is the items of a foreach step: one step for each, alike
// but for the variable that holds the item. Its recipe is made from the frozen
// one and the list in its first record, so nothing else needs to be kept.
type each struct {
	as     string
	items  []json.RawMessage
	output string
	limit  int // items at the same time; 0 = as many as there is room for
}

// full tells whether an item that was never tried must wait until another is
// settled. One that will be tried again keeps its place.
func (s *State) full() bool {
	if s.each == nil || s.each.limit == 0 {
		return false
	}
	busy := 0
	for k := range s.steps {
		if st := &s.steps[k]; st.attempt > 0 && !st.phase.settled() {
			busy++
		}
	}
	return busy >= s.each.limit
}

// shape makes the recipe that a run walks through from the one that it names.
func (s *State) shape(prog *recipe.Recipe, e belay.RunStarted) (*recipe.Recipe, error) {
	if e.Each == "" {
		return outer(prog), nil
	}
	for i := range prog.Steps {
		def := &prog.Steps[i]
		if def.ID != e.Each {
			continue
		}
		items, problem := itemsOf(e.Vars[def.Foreach])
		if problem != "" {
			return nil, fmt.Errorf("run %s: the list %s %s", s.id, def.Foreach, problem)
		}
		s.each = &each{as: def.As, items: items, output: def.Output, limit: def.MaxItems}
		return inner(prog, def, len(items)), nil
	}
	return nil, fmt.Errorf("run %s: no step %q in its recipe", s.id, e.Each)
}

// outer is the recipe whose foreach steps are calls: what concerns one item
// (its check, its tries, its time) is left to the items.
func outer(prog *recipe.Recipe) *recipe.Recipe {
	var out *recipe.Recipe
	for i := range prog.Steps {
		if prog.Steps[i].Foreach == "" {
			continue
		}
		if out == nil {
			c := *prog
			c.Steps = append([]recipe.Step(nil), prog.Steps...)
			out = &c
		}
		def := &out.Steps[i]
		def.Verify, def.Once, def.Timeout, def.Failure = nil, false, 0, ""
		def.Retry = recipe.Retry{MaxAttempts: 1}
	}
	if out == nil {
		return prog
	}
	return out
}

// inner is the recipe of the items: no order among them, nothing around them.
func inner(prog *recipe.Recipe, def *recipe.Step, n int) *recipe.Recipe {
	c := *prog
	c.Hooks, c.Rules, c.AllowEmpty = recipe.Hooks{}, nil, true
	c.Steps = make([]recipe.Step, n)
	for i := range c.Steps {
		item := *def
		item.ID = belay.Path(fmt.Sprintf("item-%d", i+1))
		item.Needs, item.Condition, item.Tags, item.Group = nil, nil, nil, ""
		item.Foreach, item.Optional, item.Escalate = "", false, false
		c.Steps[i] = item
	}
	return &c
}

// itemsOf reads a list; problem says why it is none.
func itemsOf(v belay.Value) (items []json.RawMessage, problem string) {
	if !v.Inline() {
		return nil, "is too big to be walked through: it must be in the records"
	}
	if len(v.JSON) == 0 || v.JSON[0] != '[' || json.Unmarshal(v.JSON, &items) != nil {
		return nil, "is not a list"
	}
	if len(items) > maxItems {
		return nil, fmt.Sprintf("has %d items; at most %d are walked through", len(items), maxItems)
	}
	return items, ""
}

// scope is the context of one step: the run's, and the item if it is one of a list.
func (s *State) scope(i int) *scope {
	if s.each == nil {
		return s.vars
	}
	return s.vars.with(s.each.as, belay.Value{JSON: s.each.items[i]})
}

// typeOf is the type of a step as its outcome is judged: a foreach is a child run.
func (s *State) typeOf(i int) belay.StepType {
	if def := &s.prog.Steps[i]; def.Foreach == "" {
		return def.Type
	}
	return belay.TypeRecipe
}

// startEach begins the items of a list as a child run.
func (s *State) startEach(i int) belay.Command {
	def, st := &s.prog.Steps[i], &s.steps[i]
	n := st.attempt + 1
	key := s.mainKey(i, n)
	started := belay.AttemptStarted{Key: key, Path: def.ID, Role: belay.RoleMain, Attempt: n}
	if st.extra > 0 && st.prior != "" { // a person asked it to go on: what is done stays done
		started.Child = st.prior
		return belay.StartRun{Started: started, Reopen: true}
	}
	list, ok := s.vars.vars[def.Foreach]
	if !ok {
		return s.refuse(i, belay.RecipeFailure, fmt.Sprintf("foreach: no variable named %q", def.Foreach), "")
	}
	if _, problem := itemsOf(list); problem != "" {
		return s.refuse(i, belay.RecipeFailure, fmt.Sprintf("foreach: %s %s", def.Foreach, problem), "")
	}
	if len(def.Outputs) > 0 {
		return s.refuse(i, belay.RecipeFailure, "foreach: outputs: has no meaning for many items", "use output:, which becomes a list")
	}
	vars := make(map[string]belay.Value, len(s.vars.vars))
	for name, v := range s.vars.vars {
		vars[name] = v
	}
	started.Child = s.id.Child(def.ID, n)
	return belay.StartRun{Started: started, Child: belay.RunStarted{
		Schema: belay.Schema, Name: s.prog.Name, Recipe: s.started.Recipe, File: s.prog.File, Each: def.ID, Vars: vars,
		Dir: s.base(), Parent: key, Limits: s.started.Limits, Hidden: s.hiddenDown(def),
		Include: s.started.Include, Exclude: s.started.Exclude, Compat: s.started.Compat,
		Agent: s.started.Agent, Classic: s.started.Classic,
	}}
}

// gather makes the results of the items one list, in the order of the items;
// one that was left out is null.
func (s *State) gather(r belay.RunResult) belay.RunResult {
	r.Outputs = nil
	if s.each.output == "" || r.Status != belay.Achieved && r.Status != belay.Partial {
		return r
	}
	var b bytes.Buffer
	b.WriteByte('[')
	for i := range s.steps {
		if i > 0 {
			b.WriteByte(',')
		}
		raw := json.RawMessage("null")
		if v := result(s.produced(i)); v != nil {
			if !v.Inline() || b.Len()+len(v.JSON) > maxResults {
				return s.tooMuch(i)
			}
			raw = v.JSON
		}
		b.Write(raw)
	}
	b.WriteByte(']')
	r.Outputs = map[string]belay.Value{s.each.output: {JSON: b.Bytes()}}
	return r
}

// result is what one item gave: what it printed, or all that its sub-recipe gave.
func result(o *belay.Observation) *belay.Value {
	switch {
	case o == nil:
		return nil
	case o.Child != nil:
		v := gathered(o.Child.Outputs)
		return &v
	}
	return o.Output
}

func (s *State) tooMuch(i int) belay.RunResult {
	f := &belay.Failure{
		Kind: belay.BashFailure, Op: "step " + string(s.prog.Steps[i].ID), Cause: "its output is too big to be one of a list",
		Hint: "write big results to files and print their paths instead",
	}
	return belay.RunResult{Status: belay.Failed, Code: belay.ExitFailed, Reason: f.Error(), Failure: f}
}
