package recipe

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/belay-run/belay/expr"
)

// wrongArgs warns of values that are handed to a sub-recipe which has no use
// for them.
func (g *callGraph) wrongArgs(in *Recipe, s *Step) {
	if len(s.Context) == 0 || g.lib[s.Recipe] == nil {
		return
	}
	sub := g.call(s.Recipe)
	if sub.unknown {
		return
	}
	for _, a := range s.Context {
		if sub.owns[a.Name] || g.readsName(s.Recipe, a.Name) {
			continue
		}
		g.add(Problem{
			File: s.where(in), Line: a.Pos.Line, Col: a.Pos.Col, Warning: true,
			Msg:  fmt.Sprintf("the recipe %q has no use for %q", s.Recipe, a.Name),
			Hint: didYouMean(expr.Near(a.Name, slices.Sorted(maps.Keys(sub.owns)))),
		})
	}
}

// readsName tells whether a recipe, or one that it calls, reads a variable: by
// name, or as a variable of the environment.
func (g *callGraph) readsName(recipe, name string) bool {
	long, short := EnvNames(name)
	queue, seen := []string{recipe}, map[string]bool{recipe: true}
	for len(queue) > 0 {
		r := g.lib[queue[0]]
		queue = queue[1:]
		if r == nil || r.mentions(name, long, short) {
			return true
		}
		for _, ref := range r.SubRecipes() {
			if !seen[ref.Name] {
				seen[ref.Name] = true
				queue = append(queue, ref.Name)
			}
		}
	}
	return false
}

func (r *Recipe) mentions(name, long, short string) bool {
	is := func(u use) bool { return u.name == name }
	has := func(s *Script) bool {
		return s != nil && (strings.Contains(s.Source, long) || short != "" && strings.Contains(s.Source, short))
	}
	if slices.ContainsFunc(r.hookUses, is) || has(r.Hooks.PreStep) || has(r.Hooks.PostStep) || has(r.Hooks.OnError) {
		return true
	}
	return slices.ContainsFunc(r.Steps, func(s Step) bool {
		return slices.ContainsFunc(s.uses, is) || has(s.Script) || has(s.Verify)
	})
}
