package scripted

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Check finds the mistakes of a script without playing it: in every part,
// whatever start it is for.
func Check(script []byte) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(script, &doc); err != nil {
		return fmt.Errorf("script: %w", err)
	}
	if len(doc.Content) == 0 {
		return &Bad{Line: 1, Text: "it is empty"}
	}
	return checkPart(doc.Content[0], 0)
}

// checkPart is part for all starts at once.
func checkPart(n *yaml.Node, depth int) error {
	if n.Kind != yaml.MappingNode || depth > maxDepth {
		_, err := part(n, cue{}, depth)
		return err
	}
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, n.Content[i+1]
		var parts []*yaml.Node
		switch key {
		case "acts":
			parts = []*yaml.Node{value}
		case "attempts", "cases":
			if value.Kind == yaml.SequenceNode {
				parts = value.Content
			}
		case "steps", "roles", "agents":
			for j := 1; j < len(value.Content) && value.Kind == yaml.MappingNode; j += 2 {
				parts = append(parts, value.Content[j])
			}
		}
		for _, p := range parts {
			if err := checkPart(p, depth+1); err != nil {
				return err
			}
		}
	}
	return checkShape(n)
}

// checkShape is about a mapping itself: its keys, and what stands under them.
func checkShape(n *yaml.Node) error {
	found := 0
	for i := 0; i < len(n.Content); i += 2 {
		switch key := n.Content[i].Value; key {
		case "when":
			continue
		case "acts", "attempts", "steps", "cases", "roles", "agents":
			found++
		default:
			return bad(n.Content[i], "unknown key %q: one of "+ways+", or when is wanted", key)
		}
		if _, err := pick(n.Content[i].Value, n.Content[i+1], cue{}); err != nil {
			return err
		}
	}
	if found != 1 {
		return bad(n, "one of "+ways+" is wanted")
	}
	return nil
}
