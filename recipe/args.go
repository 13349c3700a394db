package recipe

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// wrongArgs reports values that are handed to a sub-recipe which has no use for
// them, or cannot use them as they are.
func (g *callGraph) wrongArgs(in *Recipe, s *Step) {
	callee := g.lib[s.Recipe]
	if len(s.Context) == 0 || callee == nil {
		return
	}
	sub := g.call(s.Recipe)
	if sub.unknown {
		return
	}
	for _, a := range s.Context {
		p := Problem{File: s.where(in), Line: a.Pos.Line, Col: a.Pos.Col, Warning: in.Compat || callee.Compat}
		if p.Msg = callee.cannotUse(s.Recipe, a); p.Msg != "" {
			p.Warning = false
			g.add(p)
			continue
		}
		if sub.owns[a.Name] || g.readsName(s.Recipe, a.Name) || g.replaced(in, callee) {
			continue
		}
		p.Msg = fmt.Sprintf("the recipe %q has no use for %q", s.Recipe, a.Name)
		known := slices.AppendSeq(slices.Collect(maps.Keys(sub.owns)), maps.Keys(g.want[callee]))
		p.Hint = nearest(a.Name, known)
		if p.Hint == "" {
			p.Hint = fmt.Sprintf("leave it out, or declare it under context: of %s if a program there reads $%s", s.Recipe, strings.ToUpper(a.Name))
		}
		g.add(p)
	}
}

// replaced tells whether a recipe that nobody can change calls one of the user's: that one
// takes of what it is given what it needs.
func (g *callGraph) replaced(caller, callee *Recipe) bool {
	return g.fixed != "" && path.Dir(caller.File) == g.fixed && path.Dir(callee.File) != g.fixed
}

// cannotUse says why a literal value cannot be what the recipe needs, "" when it
// can or when that is not known yet.
func (r *Recipe) cannotUse(name string, a Arg) string {
	if a.Text != nil && !a.Text.Literal() {
		return ""
	}
	for _, v := range r.Rules {
		if v.Name == a.Name && v.Kind != RuleOptional && a.empty() {
			return fmt.Sprintf("the recipe %q asks for a value of %q (%s:%d:%d), and this one is empty", name, a.Name, r.File, v.Pos.Line, v.Pos.Col)
		}
	}
	isList := a.Text == nil && len(a.JSON) > 0 && a.JSON[0] == '['
	for i := range r.Steps {
		if s := &r.Steps[i]; s.Foreach == a.Name && !isList && !outputsOf(r.Steps)[a.Name] {
			return fmt.Sprintf("the recipe %q goes through %q with foreach (%s:%d:%d), and this is no list", name, a.Name, s.where(r), s.Pos.Line, s.Pos.Col)
		}
	}
	return ""
}

// empty tells null and text without anything in it.
func (a Arg) empty() bool {
	if a.Text != nil {
		return strings.TrimSpace(a.Text.String()) == ""
	}
	return string(a.JSON) == "null"
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
