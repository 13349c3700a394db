package recipe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Inherit merges a recipe with all that it extends, from lib, which has recipes
// by name; a nil one is known but could not be read. It gives nil when a parent
// is missing, cannot be read or extends its own child.
func Inherit(r *Recipe, lib map[string]*Recipe) (*Recipe, []Problem) {
	line := []*Recipe{r} // from the child up
	names := []string{}
	for at := r; at != nil && at.Extends != ""; {
		if slices.Contains(names, at.Extends) {
			return nil, []Problem{at.atExtends("leave one of them out", "recipes extend each other in a circle: %s", circle(names, at.Extends))}
		}
		names = append(names, at.Extends)
		parent, known := lib[at.Extends]
		switch {
		case !known:
			all := make([]string, 0, len(lib))
			for name := range lib {
				all = append(all, name)
			}
			return nil, []Problem{at.atExtends(nearest(at.Extends, all), "no recipe named %q was found", at.Extends)}
		case parent == nil:
			return nil, nil // its own problems say what is wrong
		}
		line = append(line, parent)
		at = parent
	}
	merged := line[len(line)-1]
	for i := len(line) - 2; i >= 0 && merged != nil; i-- {
		var problems []Problem
		if merged, problems = Merge(line[i], merged); merged == nil {
			return nil, problems
		}
	}
	return merged, nil
}

func circle(names []string, again string) string {
	return strings.Join(append(slices.Clone(names[slices.Index(names, again):]), again), " → ")
}

func (r *Recipe) atExtends(hint, format string, args ...any) Problem {
	return Problem{File: r.File, Line: r.extendsPos.Line, Col: r.extendsPos.Col, Hint: hint, Msg: fmt.Sprintf(format, args...)}
}

// Merge gives the recipe that child and the parent which it extends are
// together: the parent's steps first, with those of the child in the place of
// the ones that have their id. The parent must have been merged itself. Neither
// is changed; the result is nil when there is an error.
func Merge(child, parent *Recipe) (*Recipe, []Problem) {
	switch {
	case parent == nil:
		return nil, []Problem{child.atExtends("", "no recipe named %q was found", child.Extends)}
	case parent.Extends != "":
		return nil, []Problem{child.atExtends("", "the recipe %q extends %q, which was not merged in", child.Extends, parent.Extends)}
	}
	m := *child
	m.Extends = ""
	m.Tags = union(parent.Tags, child.Tags)
	m.Secrets = union(parent.Secrets, child.Secrets)
	m.Context = overlay(parent.Context, child.Context, func(v Var) string { return v.Name })
	m.Rules = overlay(parent.Rules, child.Rules, func(r Rule) string { return r.Name })
	m.AllowEmpty = child.AllowEmpty || parent.AllowEmpty
	m.Compat = child.Compat || parent.Compat
	if m.Recursion.MaxDepth == 0 {
		m.Recursion.MaxDepth = parent.Recursion.MaxDepth
	}
	if m.Recursion.MaxTotalSteps == 0 {
		m.Recursion.MaxTotalSteps = parent.Recursion.MaxTotalSteps
	}
	m.Policy, m.Recovery, m.Merge = cmp.Or(child.Policy, parent.Policy), cmp.Or(child.Recovery, parent.Recovery), cmp.Or(child.Merge, parent.Merge)
	if m.stranded() {
		return nil, []Problem{child.atExtends(strandedHint, strandedText)}
	}
	if m.RunsOn == nil {
		m.RunsOn = parent.RunsOn
	}
	m.Guard = cmp.Or(child.Guard, parent.Guard)
	m.Hooks = inheritHooks(child.Hooks, parent.Hooks)
	m.hookUses = slices.Concat(parent.hookUses, child.hookUses)
	m.Steps = overlay(written(parent), written(child), func(s Step) string { return string(s.ID) })
	slices.SortStableFunc(m.Steps, func(a, b Step) int { // those of finally come last
		switch {
		case a.Finally == b.Finally:
			return 0
		case b.Finally:
			return -1
		}
		return 1
	})
	if m.Ends == nil {
		m.Ends, m.endsPlace = parent.Ends, parent.endsPlace
	}
	if m.MaxAgents == nil {
		m.MaxAgents = parent.MaxAgents
	}
	m.Notify = cmp.Or(child.Notify, parent.Notify)
	if m.Tests == nil {
		m.Tests = parent.Tests
	}
	giveTests(m.Steps, m.Tests)
	l := &linker{report: &report{}, steps: m.Steps}
	l.link()
	if len(l.errors) > 0 {
		return nil, l.list()
	}
	return &m, nil
}

// written are a recipe's steps, each with the file that it comes from.
func written(r *Recipe) []Step {
	steps := slices.Clone(r.Steps)
	for i := range steps {
		steps[i].file = steps[i].where(r)
	}
	return steps
}

// overlay is the first list with what the second has in the place of things of
// the same name, and the rest of the second behind it.
func overlay[T any](first, second []T, name func(T) string) []T {
	all := slices.Clone(first)
	at := make(map[string]int, len(all))
	for i, v := range all {
		at[name(v)] = i
	}
	for _, v := range second {
		if i, known := at[name(v)]; known {
			all[i] = v
			continue
		}
		all = append(all, v)
	}
	return all
}

// union is everything of both lists, sorted, once.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

func inheritHooks(child, parent Hooks) Hooks {
	if child.PreStep == nil {
		child.PreStep = parent.PreStep
	}
	if child.PostStep == nil {
		child.PostStep = parent.PostStep
	}
	if child.OnError == nil {
		child.OnError = parent.OnError
	}
	return child
}
