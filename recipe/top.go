package recipe

import (
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay"
)

// topKeys are the keys at the top of a recipe. One without a reader is a word
// of the language that does not work yet.
var topKeys = []key[Recipe]{
	{name: "name", read: readName},
	{name: "description", read: func(p *parser, r *Recipe, k, v *yaml.Node) { r.Description = p.text(k, v) }},
	{name: "version", read: func(p *parser, r *Recipe, k, v *yaml.Node) { r.Version = p.text(k, v) }},
	{name: "author", read: func(p *parser, r *Recipe, k, v *yaml.Node) { r.Author = p.text(k, v) }},
	{name: "tags", read: func(p *parser, r *Recipe, k, v *yaml.Node) { r.Tags = p.texts(k, v) }},
	{name: "context", read: readContext},
	{name: "recursion", read: func(p *parser, r *Recipe, k, v *yaml.Node) {
		if p.mapping(k, v) {
			readKeys(p, v, recursionKeys, nil, 0, &r.Recursion)
		}
	}},
	{name: "steps", read: readSteps},
	{name: "allow_empty", read: func(p *parser, r *Recipe, k, v *yaml.Node) { r.AllowEmpty = p.boolean(k, v) }},
	{name: "shell", read: func(p *parser, r *Recipe, k, v *yaml.Node) { r.Shell = p.shell(k, v) }},
	{name: "output", read: func(p *parser, _ *Recipe, k, _ *yaml.Node) {
		p.warn(posOf(k), "", "%q at the top of a recipe has no effect", k.Value)
	}},

	{name: "compat"}, {name: "context_validation"}, {name: "defaults"}, {name: "extends"}, {name: "hooks"},
	{name: "isolate"}, {name: "policy"}, {name: "recovery"}, {name: "runs_on"}, {name: "secrets"},
}

// otherTop are words of other tools and what they are called here.
var otherTop = map[string]string{
	"jobs": "steps", "tasks": "steps", "title": "name", "variables": "context", "vars": "context",
}

var recursionKeys = []key[Recursion]{
	{name: "max_depth", read: func(p *parser, r *Recursion, k, v *yaml.Node) { r.MaxDepth = p.count(k, v, maxCount) }},
	{name: "max_total_steps", read: func(p *parser, r *Recursion, k, v *yaml.Node) { r.MaxTotalSteps = p.count(k, v, maxCount) }},
}

func readName(p *parser, r *Recipe, k, v *yaml.Node) {
	r.Name = p.text(k, v)
	switch {
	case v.Kind != yaml.ScalarNode: // said so
	case strings.TrimSpace(r.Name) == "":
		p.fail(posOf(k), "", "%q is empty", k.Value)
	case strings.ContainsFunc(r.Name, unicode.IsControl):
		p.fail(posOf(v), "", "%q has a line break or a control character in it", k.Value)
	}
}

func readContext(p *parser, r *Recipe, k, v *yaml.Node) {
	if !p.mapping(k, v) {
		return
	}
	for i := 0; i+1 < len(v.Content); i += 2 {
		name, value := v.Content[i], v.Content[i+1]
		if !p.variable(name, name.Value, varForm) {
			continue
		}
		p.sets(name, name.Value)
		r.Context = append(r.Context, Var{Name: name.Value, JSON: p.asJSON(value, p.value(value)), Pos: posOf(name)})
	}
}

func (p *parser) shell(k, v *yaml.Node) belay.Shell {
	return belay.Shell(p.choice(k, v, string(belay.ShellStrict), string(belay.ShellPlain)))
}
