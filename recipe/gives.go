package recipe

import (
	"maps"
	"slices"
)

// Gives are the variables that the steps of a recipe may set, in the order of their
// names: their own, and what comes back from the recipes that they call.
func (q *Readers) Gives(r *Recipe) []string {
	names := map[string]bool{}
	q.gives(r, names, map[*Recipe]bool{})
	return slices.Sorted(maps.Keys(names))
}

func (q *Readers) gives(r *Recipe, names map[string]bool, seen map[*Recipe]bool) {
	if r == nil || seen[r] {
		return
	}
	seen[r] = true
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Finally { // what it gives reaches nobody behind it
			continue
		}
		for _, name := range append(s.sets(), s.Failed) {
			if name != "" {
				names[name] = true
			}
		}
		for c := range s.calls {
			q.gives(q.find(c.name), names, seen)
		}
	}
}

// Last are those of them that no other step of the recipe reads: they are for
// whoever started it. Of a step whose output: is all that a recipe gave, that is
// enough.
func (q *Readers) Last(r *Recipe) []string { return q.last(r, map[*Recipe]bool{}) }

func (q *Readers) last(r *Recipe, seen map[*Recipe]bool) []string {
	seen[r] = true
	var names []string
	add := func(name string, read bool) {
		if !read && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		for _, name := range s.sets() {
			add(name, q.reads(r, name, i, map[*Recipe]bool{}))
		}
		if !s.Type.Child() || s.Output != "" {
			continue
		}
		for c := range s.calls {
			sub := q.find(c.name)
			if c.fallback || sub == nil || seen[sub] {
				continue
			}
			for _, name := range q.last(sub, seen) {
				add(name, slices.ContainsFunc(q.index(r).of(name), func(k int) bool { return k != i }))
			}
		}
	}
	return names
}

// sets are the variables that a step sets itself.
func (s *Step) sets() []string {
	var names []string
	if s.Output != "" {
		names = append(names, s.Output)
	}
	for i := range s.Outputs {
		names = append(names, s.Outputs[i].Name)
	}
	return names
}
