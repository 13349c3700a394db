package recipe

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay/expr"
)

func readForeach(p *parser, d *draft, k, v *yaml.Node) {
	switch v.Kind {
	case yaml.SequenceNode:
		readItems(p, d, k, v)
		return
	case yaml.MappingNode:
		p.wrong(k, v, "a list, or the name of one", "write foreach: [one, two], or foreach: name")
		return
	case yaml.ScalarNode, yaml.DocumentNode, yaml.AliasNode: // the last two do not get past the shape check
	}
	name, ok := p.filled(k, v)
	if !ok {
		return
	}
	bare := strings.Trim(name, "{} \t")
	switch {
	case bare != name && varForm(bare):
		p.fail(posOf(v), "write foreach: "+bare, "%q is the name of a variable, without braces", k.Value)
	case strings.HasPrefix(name, "["):
		p.fail(posOf(v), "leave out the quotes: foreach: [one, two]", "%q is a text here, not a list", k.Value)
	case strings.ContainsAny(name, ", ") && !strings.ContainsAny(name, "|["):
		p.fail(posOf(v), "write a list in brackets: foreach: [one, two]", "%q is not the name of a list", clip(name))
	case strings.ContainsAny(name, ".[|"):
		t, err := expr.ParseText("{{" + name + "}}")
		_, way, filtered := strings.Cut(name, "|")
		if err != nil || len(t.Reads()) != 1 || filtered && strings.TrimSpace(way) != "lines" {
			p.fail(posOf(v), "write foreach: name, a place in one (foreach: name.field), or the lines of a text (foreach: name | lines)", "%q is not the name of a list", clip(name))
			return
		}
		d.Foreach = name
	case p.variable(v, name, varForm):
		d.Foreach = name
	}
	if d.Foreach != "" {
		p.note(use{name: d.List(), pos: posOf(v), outside: true})
	}
}

// readItems reads a list that stands in the recipe itself.
func readItems(p *parser, d *draft, k, v *yaml.Node) {
	switch n := len(v.Content); {
	case n == 0:
		p.fail(posOf(v), "leave the step out, or name a variable that holds a list", "%q is an empty list: the step would never run", k.Value)
		return
	case n > MaxItems:
		p.fail(posOf(v), splitHint, "foreach walks through at most %d items, and this list has %d", MaxItems, n)
		return
	}
	if text := filledIn(v); text != nil {
		at := strings.Index(text.Value, "{{")
		p.fail(p.src.inside(text, 1+len([]rune(text.Value[:at]))), "name a variable that holds the list, or write {{name}} where the step uses the item",
			"a list in foreach is taken as it is written, nothing is filled in")
		return
	}
	d.Items = p.asJSON(v, p.value(v))
	d.Foreach = string(d.Items)
}

// filledIn is the first text of a value that has a placeholder, nil for none.
func filledIn(v *yaml.Node) *yaml.Node {
	if v.Kind == yaml.ScalarNode && strings.Contains(v.Value, "{{") {
		return v
	}
	for _, part := range v.Content {
		if text := filledIn(part); text != nil {
			return text
		}
	}
	return nil
}

// List is the variable that a foreach step finds its list in; "" for a list that
// stands in the recipe.
func (s *Step) List() string {
	if s.Items != nil {
		return ""
	}
	if end := strings.IndexAny(s.Foreach, ".[| "); end >= 0 {
		return s.Foreach[:end]
	}
	return s.Foreach
}

// ListName is what the list is called where people read of it.
func (s *Step) ListName() string {
	if s.Items != nil {
		return "the list"
	}
	return s.Foreach
}

func readAs(p *parser, d *draft, k, v *yaml.Node) {
	if name, ok := p.filled(k, v); ok && p.variable(v, name, varForm) {
		d.As, d.asPos = name, posOf(k)
	}
}
