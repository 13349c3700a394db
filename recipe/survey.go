package recipe

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay/expr"
	"github.com/belay-run/belay/internal/spelling"
)

// maxUnset is how many names a recipe with errors is told of that nothing sets.
const maxUnset = 5

// survey looks for names that nothing sets in a recipe that has other errors,
// so that they are not found only when those are mended. Nobody knows yet what
// the caller sets, so these are warnings, few, and each name comes once. A name
// that stands anywhere in the file as a key or a value may be what the wrong
// part was to set: it is not reported.
func (p *parser) survey(root *yaml.Node, r *Recipe) {
	if p.extends {
		return
	}
	words := map[string]bool{}
	collect(root, words)
	open := slices.ContainsFunc(r.SubRecipes(), func(Ref) bool { return true })
	own := slices.Sorted(maps.Keys((&callGraph{}).owns(r)))
	told := 0
	for _, u := range p.allUses(root, r) {
		if u.maybe || words[u.name] || told == maxUnset {
			continue
		}
		hint := didYouMean(spelling.Near(u.name, own))
		if hint == "" && open {
			continue // a sub-recipe may set it
		}
		if hint == "" {
			hint = fmt.Sprintf("give it a default under context:, or a value with --set %s=…", u.name)
		}
		words[u.name] = true
		told++
		p.warn(u.pos, hint, "nothing in this file sets the variable %q", u.name)
	}
}

// collect finds the words that may be names of variables: all keys, and all
// values but those that only read one.
func collect(n *yaml.Node, words map[string]bool) {
	if n.Kind == yaml.ScalarNode {
		words[n.Value] = true
	}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 {
			switch key := n.Content[i-1].Value; key {
			case "foreach":
				words["item"] = true
				continue
			case "repeat":
				words[RoundVar], words[LastVar] = true, true
				continue
			case "finally":
				words[RunVar] = true
			case "condition":
				continue
			}
		}
		collect(c, words)
	}
}

// allUses are the names that the file reads, by place. Those of a script that
// is wrong were not noted: they are looked for again.
func (p *parser) allUses(root *yaml.Node, r *Recipe) []use {
	uses := slices.Clone(r.hookUses)
	for i := range r.Steps {
		uses = append(uses, r.Steps[i].uses...)
	}
	noted := make(map[Pos]bool, len(uses))
	for _, u := range uses {
		noted[u.pos] = true
	}
	eachScript(root, func(_, v *yaml.Node) {
		found := p.readsOf(v)
		if !slices.ContainsFunc(found, func(u use) bool { return noted[u.pos] }) {
			uses = append(uses, found...)
		}
	})
	slices.SortStableFunc(uses, func(a, b use) int {
		if before(a.pos, b.pos) {
			return -1
		}
		if before(b.pos, a.pos) {
			return 1
		}
		return 0
	})
	return uses
}

// readsOf are the placeholders of a script, but for those after a #.
func (p *parser) readsOf(v *yaml.Node) []use {
	var uses []use
	place := p.src.place(v)
	for _, h := range expr.Holes(v.Value) {
		line := v.Value[strings.LastIndexByte(v.Value[:h.Start], '\n')+1 : h.Start]
		if h.Value == nil || strings.Contains(line, "#") {
			continue
		}
		for _, read := range h.Value.Reads() {
			uses = append(uses, use{name: read.Name, pos: place.offset(h.Start), maybe: read.Optional})
		}
	}
	return uses
}
