package recipe

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// pin moves what conditions read from the beginning of the condition, where it
// was noted, to the place of each name.
func pin(steps []Step) {
	for i := range steps {
		s := &steps[i]
		if s.Condition == nil {
			continue
		}
		for _, r := range s.Condition.Reads() {
			for j := range s.uses {
				if u := &s.uses[j]; u.name == r.Name && u.pos == s.condPlace.whole {
					u.pos = s.condPlace.offset(r.Offset)
				}
			}
		}
	}
}

// eachScript calls f for the key and the text of every script.
func eachScript(root *yaml.Node, f func(k, v *yaml.Node)) {
	texts := func(n *yaml.Node, keys ...string) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if k, v := n.Content[i], n.Content[i+1]; v.Kind == yaml.ScalarNode && slices.Contains(keys, k.Value) {
				f(k, v)
			}
		}
	}
	eachStep(root, func(n *yaml.Node) { texts(n, "command", "verify") })
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == "hooks" {
			texts(root.Content[i+1], "pre_step", "post_step", "on_error")
		}
	}
}

// eachStep calls f for the mapping of every step, and for their defaults.
func eachStep(root *yaml.Node, f func(*yaml.Node)) {
	for i := 0; i+1 < len(root.Content); i += 2 {
		v := root.Content[i+1]
		switch root.Content[i].Value {
		case "defaults":
			f(v)
		case "steps", "finally":
			for _, n := range v.Content {
				f(n)
			}
		}
	}
}
