package flow

import (
	"encoding/json"
	"fmt"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/recipe"
)

// each is a run that is the items of a foreach step: one step for each, alike
// but for the variable that holds the item. Its recipe is made from the frozen
// one and the list in its first record, so nothing else needs to be kept.
type each struct {
	as     string
	items  []json.RawMessage
	output string
	limit  int  // items at the same time; 0 = as many as there is room for
	all    bool // an item that fails does not stop the others

	at   int // the item that seen is the context of
	seen *scope
}

// givesUp tells whether a failure keeps other steps from starting.
func (s *State) givesUp() bool { return s.failing && (s.each == nil || !s.each.all || s.aborts) }

// full tells whether an item that was never tried must wait until another is
// settled. One that will be tried again keeps its place.
func (s *State) full() bool {
	if s.each == nil || s.each.limit == 0 {
		return false
	}
	busy := 0
	for _, k := range s.stirred.list {
		st := &s.steps[k]
		if (st.attempt > 0 || st.asked || st.agent.grant != nil || s.seated(k)) && !st.phase.settled() {
			busy++
		}
	}
	return busy >= s.each.limit
}

// shape makes the recipe that a run walks through from the one that it names.
func (s *State) shape(prog *recipe.Recipe, e event.RunStarted, vars map[string]belay.Value) (*recipe.Recipe, error) {
	only := max(e.Each, e.Split, e.Stand, e.Repeat) // at most one of them is set, and none with finally
	switch {
	case e.Finally:
		return lastSteps(prog), nil
	case only == "":
		return outer(closing(prog)), nil
	}
	for i := range prog.Steps {
		def := &prog.Steps[i]
		switch {
		case def.ID != only:
			continue
		case e.Split != "":
			return pieces(prog, def, e.Parts), nil
		case e.Stand != "":
			return alone(prog, def), nil
		case e.Repeat != "" && def.Repeat != nil:
			s.rounds = &rounds{def: def}
			return roundsOf(prog, def), nil
		}
		list := e.Items
		if list == nil {
			list = vars[def.Foreach].JSON
		}
		items, problem := itemsOf(list)
		if problem != "" {
			return nil, fmt.Errorf("run %s: the list %s %s", s.id, def.Foreach, problem)
		}
		s.each = &each{as: def.As, items: items, output: def.Output, limit: def.MaxItems, all: def.Optional}
		needs, _ := itemNeeds(items) // a list without an order was refused, or an earlier Belay knew of none
		return inner(prog, def, len(items), needs), nil
	}
	return nil, fmt.Errorf("run %s: no step %q in its recipe", s.id, only)
}

// outer is the recipe whose foreach and repeat steps are calls: what concerns one
// item or round (its check, its tries, its time) is left to those.
func outer(prog *recipe.Recipe) *recipe.Recipe {
	var out *recipe.Recipe
	for i := range prog.Steps {
		if prog.Steps[i].Foreach == "" && prog.Steps[i].Repeat == nil {
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

// inner is the recipe of the items: no order among them but what they need of
// each other, nothing around them.
func inner(prog *recipe.Recipe, def *recipe.Step, n int, needs [][]int) *recipe.Recipe {
	c := *prog
	c.Hooks, c.Rules, c.Ends, c.AllowEmpty = recipe.Hooks{}, nil, nil, true
	c.Steps = make([]recipe.Step, n)
	for i := range c.Steps {
		item := *def
		item.ID = belay.Path(fmt.Sprintf("item-%d", i+1))
		item.Needs, item.Condition, item.Tags, item.Group = nil, nil, nil, ""
		item.Foreach, item.Items, item.Optional, item.Escalate, item.Cure = "", nil, false, false, false
		if needs != nil {
			item.Needs = needs[i]
		}
		c.Steps[i] = item
	}
	return &c
}

// itemsOf reads a list; problem says why it is none.
func itemsOf(list json.RawMessage) (items []json.RawMessage, problem string) {
	if len(list) == 0 || list[0] != '[' || json.Unmarshal(list, &items) != nil {
		return nil, "is not a list"
	}
	if len(items) > recipe.MaxItems {
		return nil, fmt.Sprintf("has %d items; at most %d are walked through", len(items), recipe.MaxItems)
	}
	return items, ""
}

// linesHint says how to go through the lines of a text that was taken for a list.
func linesHint(name string, list json.RawMessage) string {
	if len(list) == 0 || list[0] != '"' {
		return ""
	}
	return "it is a text; foreach: " + name + " | lines goes through its lines"
}

// scope is the context of one step: the run's, and the item if it is one of a
// list, or what the round before gave.
func (s *State) scope(i int) *scope {
	if s.rounds != nil {
		return s.roundScope(i)
	}
	if s.each == nil {
		return s.vars
	}
	if e := s.each; e.seen == nil || e.at != i { // what is around the items never changes
		e.at, e.seen = i, s.vars.with(e.as, belay.Value{JSON: e.items[i]})
	}
	return s.each.seen
}

// Items are the items of a list, in the order of the steps that work on them; nil for a
// run that is not the items of one.
func (s *State) Items() []json.RawMessage {
	if s.each == nil {
		return nil
	}
	return s.each.items
}

// typeOf is the type of a step as its outcome is judged: a foreach or a repeat is
// a child run.
func (s *State) typeOf(i int) belay.StepType {
	if def := &s.prog.Steps[i]; def.Foreach == "" && def.Repeat == nil {
		return def.Type
	}
	return belay.TypeRecipe
}

// doneAs is the type of a step as its last attempt was done: what was split, or
// done instead, was a child run.
func (s *State) doneAs(i int) belay.StepType {
	if o := s.steps[i].main; o != nil && o.Child != nil {
		return belay.TypeRecipe
	}
	return s.typeOf(i)
}

// startEach begins the items of a list as a child run.
func (s *State) startEach(i int) command {
	def, st := &s.prog.Steps[i], &s.steps[i]
	n := st.attempt + 1
	key := s.mainKey(i, n)
	started := event.AttemptStarted{Key: key, Path: def.ID, Role: belay.RoleMain, Attempt: n}
	if s.goesOn(i, event.RunStarted{Recipe: s.started.Recipe, Each: def.ID}) {
		started.Child = st.prior
		return startRun{Started: started, Reopen: true}
	}
	list, plain, err := s.listOf(i)
	if err != nil {
		return s.refuse(i, belay.RecipeFailure, "foreach: "+err.Error(), "")
	}
	items, problem := itemsOf(list)
	if problem == "" {
		_, problem = itemNeeds(items)
	}
	if problem != "" {
		return s.refuse(i, belay.RecipeFailure, fmt.Sprintf("foreach: %s %s", def.ListName(), problem), linesHint(def.Foreach, list))
	}
	if len(def.Outputs) > 0 {
		return s.refuse(i, belay.RecipeFailure, "foreach: outputs: has no meaning for many items", "use output:, which becomes a list")
	}
	if plain {
		list = nil // it is among the variables
	}
	started.Child = s.id.Child(def.ID, n)
	return startRun{Started: started, Child: event.RunStarted{
		Schema: event.Schema, Name: s.prog.Name, Recipe: s.started.Recipe, File: s.prog.File, Each: def.ID, Items: list, Inherit: true,
		Dir: s.base(), Parent: key, Limits: s.started.Limits, Hidden: s.hiddenDown(i),
		Include: s.started.Include, Exclude: s.started.Exclude, Compat: s.started.Compat,
		Agent: s.started.Agent, Classic: s.started.Classic,
	}}
}
