package flow

import (
	"fmt"
	"maps"
	"slices"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/recipe"
)

// startInstead begins what the recipe names as another way, as a child run: a
// recipe with the step's context, or one other step.
func (s *State) startInstead(i int) command {
	def, st := &s.prog.Steps[i], &s.steps[i]
	n := st.attempt + 1
	key := s.mainKey(i, n)
	e := event.RunStarted{Hidden: s.hiddenDown(i)}
	switch fb := def.Fallback; {
	case fb.Step != "":
		e.Name, e.Recipe, e.File, e.Stand, e.Dir = s.prog.Name, s.started.Recipe, s.prog.File, fb.Step, s.root(i)
		if in := stepOf(s.lib.Recipes[s.started.Recipe], fb.Step); in != nil && in.Dir == nil {
			dir, err := s.dir(i) // it stands where the step does, unless it says where
			if err != nil {
				return s.refuseText(i, belay.BashFailure, err)
			}
			e.Dir = dir
		}
	default:
		if depth := s.nesting() + 1; depth > s.started.Limits.MaxDepth {
			return s.refuse(i, belay.RecursionLimit,
				fmt.Sprintf("recipe %s would be nested %d deep; the limit is %d", fb.Recipe, depth, s.started.Limits.MaxDepth), "")
		}
		digest := s.lib.Names[fb.Recipe]
		prog := s.lib.Recipes[digest]
		if prog == nil {
			return s.refuse(i, belay.RecipeFailure, fmt.Sprintf("the fallback recipe %q was not found", fb.Recipe), "")
		}
		own, err := s.handDown(i, prog)
		if err != nil {
			return s.refuseText(i, belay.RecipeFailure, err)
		}
		e.Name, e.Recipe, e.Vars = prog.Name, digest, own
		if e.Dir, err = s.dir(i); err != nil {
			return s.refuseText(i, belay.RecipeFailure, err)
		}
	}
	started := event.AttemptStarted{Key: key, Path: def.ID, Role: belay.RoleMain, Attempt: n, Child: s.id.Child(def.ID, n)}
	return startRun{Started: started, Child: s.below(key, e)}
}

// stepOf finds a step of a recipe.
func stepOf(prog *recipe.Recipe, p belay.Path) *recipe.Step {
	for i := range prog.Steps {
		if prog.Steps[i].ID == p {
			return &prog.Steps[i]
		}
	}
	return nil
}

// owes gives a fallback the results of the step that it stands in for, where it
// names none of its own.
func owes(item *recipe.Step, prog *recipe.Recipe) {
	for i := range prog.Steps {
		fb := prog.Steps[i].Fallback
		if fb == nil || fb.Step != item.ID {
			continue
		}
		if item.Output == "" && prog.Steps[i].Output != "" {
			item.Output, item.JSON, item.Keys = prog.Steps[i].Output, prog.Steps[i].JSON, prog.Steps[i].Keys
		}
		if len(item.Outputs) == 0 {
			item.Outputs = prog.Steps[i].Outputs
		}
		return
	}
}

// missing says which result of a step is not there although something was done
// instead; "" = none is.
func (s *State) missing(i int) string {
	def, st := &s.prog.Steps[i], &s.steps[i]
	if st.main.Child == nil || !st.nextAttempt.fallback && st.nextAttempt.parts == nil {
		return ""
	}
	got := st.main.Child.Outputs
	for _, o := range def.Outputs {
		if _, ok := got[o.Name]; !ok {
			return "what was done instead left no output " + o.Name
		}
	}
	if def.Output != "" && !s.ofStep() && len(got) == 0 {
		return "what was done instead left no output " + def.Output
	}
	return ""
}

// alone is the recipe of one step that stands in for another.
func alone(prog *recipe.Recipe, def *recipe.Step) *recipe.Recipe {
	c := *prog
	c.Hooks, c.Rules, c.Ends, c.Isolate = recipe.Hooks{}, nil, nil, false // it works where the step does
	item := *def
	item.Isolate = recipe.IsolateUnsaid
	item.Needs, item.Condition, item.Tags, item.Group, item.IsFallback, item.Optional = nil, nil, nil, "", false, false
	owes(&item, prog)
	c.Steps = []recipe.Step{item}
	return outer(&c)
}

// fallbackOf names the step that a fallback is there for.
func (s *State) fallbackOf(i int) string {
	id := s.prog.Steps[i].ID
	for k := range s.prog.Steps {
		if fb := s.prog.Steps[k].Fallback; fb != nil && fb.Step == id {
			return string(s.prog.Steps[k].ID)
		}
	}
	return "another step"
}

// inPlaceOf is the first step whose fallback ran, or runs, and is the step i.
func (s *State) inPlaceOf(i int) belay.Path {
	for k := range s.prog.Steps {
		fb, st := s.prog.Steps[k].Fallback, &s.steps[k]
		if fb == nil || fb.Step != s.prog.Steps[i].ID || !st.nextAttempt.fallback {
			continue
		}
		if st.child != "" || st.main != nil && st.main.Child != nil {
			return s.prog.Steps[k].ID
		}
	}
	return ""
}

// resultOf is what stands for the output of a step that something else was done
// instead of: the one thing that it gave, or all of them as an object.
func resultOf(r *belay.RunResult, output string) (belay.Value, bool) {
	if v, ok := r.Outputs[output]; ok {
		return v, false // it is bound by its name
	}
	if len(r.Outputs) == 1 {
		return r.Outputs[slices.Collect(maps.Keys(r.Outputs))[0]], true
	}
	return objectOf(r), true
}
