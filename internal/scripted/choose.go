package scripted

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"go.yaml.in/yaml/v3"
)

const (
	// maxDepth bounds how deep the parts of a script nest.
	maxDepth = 8

	// ways are the keys by which a part of a script is chosen.
	ways = "acts, attempts, steps, cases, roles, agents"
)

// cue is what a script is chosen by.
type cue struct {
	step   string // path of the step
	item   string // which of its items or rounds, item-1 and so on
	role   string // what the attempt is for
	agent  string // who plays
	start  int    // how many times it was started before
	prompt string
}

// choose finds the acts for a start and checks all others on the way: a script
// with a mistake is refused before it does anything.
func choose(script []byte, c cue) ([]act, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(script, &doc); err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	if len(doc.Content) == 0 {
		return nil, &Bad{Line: 1, Text: "it is empty"}
	}
	return part(doc.Content[0], c, 0)
}

// part is a list of acts, or a mapping that chooses one.
func part(n *yaml.Node, c cue, depth int) ([]act, error) {
	if depth > maxDepth {
		return nil, bad(n, "it nests deeper than %d", maxDepth)
	}
	if n.Kind == yaml.SequenceNode {
		return acts(n)
	}
	if n.Kind != yaml.MappingNode {
		return nil, bad(n, "a list of acts, or one of "+ways+" is wanted")
	}
	var key, value *yaml.Node
	for i := 0; i < len(n.Content); i += 2 {
		switch name := n.Content[i].Value; name {
		case "when":
		case "acts", "attempts", "steps", "cases", "roles", "agents":
			if key != nil {
				return nil, bad(n.Content[i], "only one of "+ways)
			}
			key, value = n.Content[i], n.Content[i+1]
		default:
			return nil, bad(n.Content[i], "unknown key %q: one of "+ways+", or when is wanted", name)
		}
	}
	if key == nil {
		return nil, bad(n, "one of "+ways+" is wanted")
	}
	value, err := pick(key.Value, value, c)
	if err != nil {
		return nil, err
	}
	if value == nil {
		return nil, bad(key, "nothing in %s fits this start", key.Value)
	}
	return part(value, c, depth+1)
}

// pick chooses one of the parts under a key and checks the others.
func pick(key string, n *yaml.Node, c cue) (*yaml.Node, error) {
	switch key {
	case "attempts":
		if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
			return nil, bad(n, "attempts is a list of lists of acts")
		}
		for _, other := range n.Content {
			if other.Kind != yaml.SequenceNode && other.Kind != yaml.MappingNode {
				return nil, bad(other, "attempts is a list of lists of acts")
			}
			if other.Kind == yaml.SequenceNode {
				if _, err := acts(other); err != nil {
					return nil, err
				}
			}
		}
		return n.Content[min(c.start, len(n.Content)-1)], nil
	case "steps":
		return pickName(key, n, c.item, c.step, c.step[strings.LastIndexByte(c.step, '/')+1:])
	case "roles":
		return pickRole(n, c.role)
	case "agents":
		return pickName(key, n, c.agent)
	case "cases":
		return pickCase(n, c)
	}
	if n.Kind != yaml.SequenceNode {
		return nil, bad(n, "acts is a list")
	}
	return n, nil
}

// pickName chooses the part under the first of the names that is there; "*" is
// for all that are not.
func pickName(key string, n *yaml.Node, names ...string) (*yaml.Node, error) {
	if n.Kind != yaml.MappingNode {
		return nil, bad(n, "%s is a mapping from a name to its acts", key)
	}
	parts := map[string]*yaml.Node{}
	for i := 0; i < len(n.Content); i += 2 {
		value := n.Content[i+1]
		if value.Kind == yaml.SequenceNode {
			if _, err := acts(value); err != nil {
				return nil, err
			}
		}
		parts[n.Content[i].Value] = value
	}
	for _, name := range append(names, "*") {
		if chosen := parts[name]; chosen != nil && name != "" {
			return chosen, nil
		}
	}
	return nil, nil
}

// pickRole chooses by what the attempt is for; a role that nobody has is a
// mistake in the script.
func pickRole(n *yaml.Node, role string) (*yaml.Node, error) {
	for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		name := n.Content[i].Value
		if !slices.Contains([]belay.Role{belay.RoleMain, belay.RoleRepair, belay.RolePlan, belay.RoleRecovery, "*"}, belay.Role(name)) {
			return nil, bad(n.Content[i], "no role %q: main, repair, plan, recovery or \"*\" is wanted", name)
		}
	}
	return pickName("roles", n, role)
}

func pickCase(n *yaml.Node, c cue) (*yaml.Node, error) {
	if n.Kind != yaml.SequenceNode {
		return nil, bad(n, "cases is a list of mappings with when and acts")
	}
	for _, one := range n.Content {
		if one.Kind != yaml.MappingNode {
			return nil, bad(one, "cases is a list of mappings with when and acts")
		}
		fits := true
		for i := 0; i < len(one.Content); i += 2 {
			if one.Content[i].Value == "when" {
				fits = strings.Contains(c.prompt, one.Content[i+1].Value)
			}
		}
		if fits {
			return one, nil
		}
	}
	return nil, nil
}
