package recipe

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/spelling"
)

// whole checks what can only be seen when the whole file is read.
func (p *parser) whole(r *Recipe) {
	if r.Extends != "" {
		return // the rest comes with the parent
	}
	context := make(map[string]*Var, len(r.Context))
	for i := range r.Context {
		context[r.Context[i].Name] = &r.Context[i]
	}
	var set map[string]bool // made when it is first needed
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Foreach == "" {
			continue
		}
		if set == nil {
			set = outputsOf(r.Steps)
		}
		if context[s.As] != nil {
			p.warn(s.Pos, "choose another name with as:", "the item is called %q and hides the variable of that name", s.As)
		}
		if s.Items != nil {
			continue
		}
		at := s.uses[slices.IndexFunc(s.uses, func(u use) bool { return u.name == s.List() })].pos
		if v := context[s.Foreach]; v != nil && !set[s.Foreach] && string(v.JSON) != "null" && v.JSON[0] != '[' {
			p.fail(at, "write "+s.Foreach+": [one, two] under context:, or foreach: "+s.Foreach+" | lines for the lines of a text", "foreach needs a list, and the default of %q is none", s.Foreach)
		}
		if v := context[s.Foreach]; v != nil && !set[s.Foreach] {
			p.tooMany(at, v)
		}
	}
	p.secretNames(r, context)
}

// splitHint is what can be done about a list with too many items.
const splitHint = "split the list, or let one step go through it"

// tooMany refuses a list that no foreach walks through.
func (p *parser) tooMany(at Pos, v *Var) {
	var items []json.RawMessage
	if len(v.JSON) < MaxItems || json.Unmarshal(v.JSON, &items) != nil || len(items) <= MaxItems {
		return
	}
	p.fail(at, splitHint, "foreach walks through at most %d items, and the default of %q has %d", MaxItems, v.Name, len(items))
}

// outputsOf are the names that steps set.
func outputsOf(steps []Step) map[string]bool {
	set := make(map[string]bool, len(steps))
	for i := range steps {
		for name := range steps[i].Sets {
			set[name] = true
		}
	}
	return set
}

// Sets are the variables that a step sets by itself.
func (s *Step) Sets(yield func(name string) bool) {
	for _, name := range []string{s.Output, s.Failed} {
		if name != "" && !yield(name) {
			return
		}
	}
	for i := range s.Outputs {
		if !yield(s.Outputs[i].Name) {
			return
		}
	}
}

// Reads tells whether a step cannot do without a variable: it names it without a
// default, or reads it from the environment.
func (s *Step) Reads(name string) bool {
	long, short := EnvNames(name)
	return slices.ContainsFunc(s.uses, func(u use) bool { return u.name == name && !u.maybe }) ||
		s.Script.expands(long, short) || s.Verify.expands(long, short)
}

// expands tells whether a script has $NAME or ${NAME in it, for one of the names.
func (s *Script) expands(names ...string) bool {
	for word := range s.words {
		if slices.Contains(names, word) {
			return true
		}
	}
	return false
}

// secretNames finds slips in the list of secrets: what is hidden by a wrong
// name is not hidden at all.
func (p *parser) secretNames(r *Recipe, context map[string]*Var) {
	if len(r.Secrets) == 0 {
		return
	}
	known := make([]string, 0, len(context))
	for name := range context {
		known = append(known, name)
	}
	for name := range outputsOf(r.Steps) {
		known = append(known, name)
	}
	slices.Sort(known)
	for i, name := range r.Secrets {
		if slices.Contains(known, name) || name == strings.ToUpper(name) {
			continue // a variable of the environment is not ours to know
		}
		if near := spelling.Near(name, known); near != "" && i < len(r.secretPos) {
			p.warn(r.secretPos[i], didYouMean(near), "nothing in this file sets the secret %q", name)
		}
	}
}
