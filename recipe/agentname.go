package recipe

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// readAgent reads who does a step: the name of an agent, or a persona of two or
// three parts. Another form can name nobody, and the step would be done by
// somebody who was not asked for.
func readAgent(p *parser, d *draft, k, v *yaml.Node) {
	name, ok := p.filled(k, v)
	if !ok {
		return
	}
	parts := strings.Split(name, ":")
	if len(parts) > 3 {
		p.loose(posOf(v), "write namespace:name or namespace:category:name", "%q has %d parts and can be no persona", clip(name), len(parts))
	}
	for _, part := range parts {
		if !recipeForm(part) {
			p.loose(posOf(v), agentHint(parts[0]), "%q cannot name an agent: its parts are letters, digits, _ and -", clip(name))
			break
		}
	}
	d.Agent = name
}

// agentHint says what can stand there. Who writes a script's file into the
// recipe is told where it goes.
func agentHint(first string) string {
	if first == "scripted" {
		return "write agent: scripted, and give the file to the run: --agent scripted:FILE"
	}
	return "it is NAME, namespace:name or namespace:category:name"
}
