package flow

import (
	"fmt"
	"maps"
	"slices"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/recipe"
)

// startInstead begins what the recipe names as another way, as a child run: a
// recipe with the step's context, or one other step.
func (s *State) startInstead(i int) belay.Command {
	def, st := &s.prog.Steps[i], &s.steps[i]
	n := st.attempt + 1
	key := s.mainKey(i, n)
	e := belay.RunStarted{Hidden: s.hiddenDown(def)}
	switch fb := def.Fallback; {
	case fb.Step != "":
		e.Name, e.Recipe, e.File, e.Stand, e.Dir = s.prog.Name, s.started.Recipe, s.prog.File, fb.Step, s.base()
	default:
		if depth := s.id.Depth() + 1; depth > s.started.Limits.MaxDepth {
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
	started := belay.AttemptStarted{Key: key, Path: def.ID, Role: belay.RoleMain, Attempt: n, Child: s.id.Child(def.ID, n)}
	return belay.StartRun{Started: started, Child: s.below(key, e)}
}

// alone is the recipe of one step that stands in for another.
func alone(prog *recipe.Recipe, def *recipe.Step) *recipe.Recipe {
	c := *prog
	c.Hooks, c.Rules = recipe.Hooks{}, nil
	item := *def
	item.Needs, item.Condition, item.Tags, item.Group, item.StandIn, item.Optional = nil, nil, nil, "", false, false
	c.Steps = []recipe.Step{item}
	return outer(&c)
}

// standsInFor names the step that a stand-in is there for.
func (s *State) standsInFor(i int) string {
	id := s.prog.Steps[i].ID
	for k := range s.prog.Steps {
		if fb := s.prog.Steps[k].Fallback; fb != nil && fb.Step == id {
			return string(s.prog.Steps[k].ID)
		}
	}
	return "another step"
}

// resultOf is what stands for the output of a step that something else was done
// in the stead of: the one thing that it gave, or all of them as an object.
func resultOf(r *belay.RunResult, output string) (belay.Value, bool) {
	if v, ok := r.Outputs[output]; ok {
		return v, false // it is bound by its name
	}
	if len(r.Outputs) == 1 {
		return r.Outputs[slices.Collect(maps.Keys(r.Outputs))[0]], true
	}
	return objectOf(r), true
}
