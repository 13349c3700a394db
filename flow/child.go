package flow

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/expr"
	"github.com/belay-run/belay/recipe"
)

// startRun begins a sub-recipe as a child run.
func (s *State) startRun(i int) command {
	def, st := &s.prog.Steps[i], &s.steps[i]
	if depth := s.nesting() + 1; depth > s.started.Limits.MaxDepth {
		return s.refuse(i, belay.RecursionLimit,
			fmt.Sprintf("recipe %s would be nested %d deep; the limit is %d", def.Recipe, depth, s.started.Limits.MaxDepth),
			"look for recipes that call each other, or raise recursion.max_depth in the root recipe")
	}
	digest := s.lib.Names[def.Recipe]
	prog := s.lib.Recipes[digest]
	if prog == nil {
		return s.refuse(i, belay.RecipeFailure, fmt.Sprintf("sub-recipe %q was not found", def.Recipe), "")
	}
	n := st.attempt + 1
	key := s.mainKey(i, n)
	started := event.AttemptStarted{Key: key, Path: def.ID, Role: belay.RoleMain, Attempt: n}
	if s.goesOn(i, event.RunStarted{Recipe: digest}) {
		started.Child = st.prior
		return startRun{Started: started, Reopen: true}
	}
	own, err := s.handDown(i, prog)
	if err != nil {
		return s.refuseText(i, belay.RecipeFailure, err)
	}
	if empty := s.emptyOnes(prog.Rules, s.scope(i).under(own)); empty != "" {
		return s.refuse(i, belay.RecipeFailure, fmt.Sprintf("recipe %s needs a value for %s", def.Recipe, empty),
			"hand it down with context:")
	}
	dir, err := s.dir(i)
	if err != nil {
		return s.refuseText(i, belay.RecipeFailure, err)
	}
	started.Child = s.id.Child(def.ID, n)
	return startRun{Started: started, Child: event.RunStarted{
		Schema: event.Schema, Name: prog.Name, Recipe: digest, Vars: own, Inherit: true, Gather: def.Output != "" && !s.ofStep(),
		Dir: dir, Parent: key, Limits: s.started.Limits, Hidden: s.hiddenDown(i),
		Include: s.started.Include, Exclude: s.started.Exclude, Compat: s.started.Compat,
		Agent: s.started.Agent, Classic: s.started.Classic,
	}}
}

// goesOn tells whether the next attempt goes on with the child run of the last
// one, in which what is done stays done: a person asked for it, or something in
// it must not run twice.
func (s *State) goesOn(i int, like event.RunStarted) bool {
	st := &s.steps[i]
	prior := s.tree.Run(st.prior)
	if prior == nil || prior.result == nil {
		return false
	}
	if e := prior.started; e.Recipe != like.Recipe || e.Each != like.Each || e.Repeat != like.Repeat || e.Stand != "" || e.Split != "" {
		return false // something else was done instead
	}
	return st.extra > 0 || prior.onceBegan()
}

// onceBegan tells whether a step that must not run twice has begun in a run or
// below it.
func (s *State) onceBegan() bool {
	for i := range s.steps {
		st := &s.steps[i]
		if s.prog.Steps[i].Once && st.attempt > 0 {
			return true
		}
		if below := s.tree.Run(st.last); below != nil && below.onceBegan() {
			return true
		}
	}
	return false
}

// handDown is what a child run has of its own: what the step hands down, and
// those of its defaults that the parent has no value for.
func (s *State) handDown(i int, prog *recipe.Recipe) (map[string]belay.Value, error) {
	def, c := &s.prog.Steps[i], s.scope(i)
	vars := make(map[string]belay.Value, len(prog.Context)+len(def.Context))
	for _, v := range prog.Context {
		if _, known := c.vars[v.Name]; !known {
			vars[v.Name] = belay.Value{JSON: v.JSON}
		}
	}
	for _, a := range def.Context {
		v, err := s.argument(i, c, &a)
		if err != nil {
			return nil, err
		}
		vars[a.Name] = v
	}
	return vars, nil
}

// argument is the value of one of the things that step i hands down.
func (s *State) argument(i int, c *scope, a *recipe.Arg) (belay.Value, error) {
	return s.argumentOf(i, c, a, "context "+a.Name)
}

// argumentOf does so for any argument; key says which it is.
func (s *State) argumentOf(i int, c *scope, a *recipe.Arg, key string) (belay.Value, error) {
	if a.Text != nil {
		v, err := s.render(i, c, a.Text)
		if err != nil {
			err = s.misfit(i, key, a.Text, a.At, err)
		}
		return v, err
	}
	raw, err := a.Fill(func(t *expr.Text, at func(int) recipe.Pos) (json.RawMessage, error) {
		v, err := s.render(i, c, t)
		if err == nil && !v.Inline() {
			err = fmt.Errorf("the value of %s is too big for a part of something else: hand it down by itself", t)
		}
		if err != nil {
			return nil, s.misfit(i, key, t, at, err)
		}
		return v.JSON, nil
	})
	return belay.Value{JSON: raw}, err
}

// emptyOnes names the variables that must hold something and do not.
func (s *State) emptyOnes(rules []recipe.Rule, get func(string) (belay.Value, bool)) string {
	var names []string
	for _, r := range rules {
		if r.Kind == recipe.RuleOptional || s.vars.secret[r.Name] { // a secret is in the environment only
			continue
		}
		if v, ok := get(r.Name); !ok || v.Inline() && blank(v.JSON) {
			names = append(names, r.Name)
		}
	}
	return strings.Join(names, ", ")
}

// blank tells null and text without anything in it.
func blank(raw []byte) bool {
	var s *string
	return json.Unmarshal(raw, &s) == nil && (s == nil || strings.TrimSpace(*s) == "")
}

// hiddenDown are the variables with something hidden in them that a child run
// inherits; one that the step hands down anew is looked at before it starts.
func (s *State) hiddenDown(i int) map[string]belay.Path {
	hidden := s.scope(i).hidden
	if len(hidden) == 0 {
		return nil
	}
	down := maps.Clone(hidden)
	for _, a := range s.prog.Steps[i].Context {
		delete(down, a.Name)
	}
	return down
}
