package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay/internal/spelling"
)

// read takes the settings of one file.
func (c *Config) read(path string, src []byte) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		return &Invalid{Where: path, Msg: err.Error()}
	}
	if doc.Kind == 0 || len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
		return nil // empty, or comments only
	}
	at := func(n *yaml.Node) string { return fmt.Sprintf("%s:%d", path, n.Line) }
	if n := tagged(doc.Content[0], strings.Split(string(src), "\n")); n != nil {
		return &Invalid{Where: at(n), Msg: "a ! before a value is a tag to YAML, not a part of it; put the value in quotes"}
	}
	return walk(doc.Content[0], "", func(n *yaml.Node, key string, value *yaml.Node) error {
		s, ok := find(key)
		if !ok {
			return &Invalid{Where: at(n), Msg: unknown(key)}
		}
		words, err := scalars(value, s.list)
		if err == nil {
			err = s.set(c, words, Origin("file "+at(n)))
		}
		if err != nil {
			return &Invalid{Where: at(n), Msg: key + ": " + err.Error()}
		}
		c.Recovery.keepTools(key, Place{File: path, Line: n.Line, Col: n.Column, Text: src})
		return nil
	}, at)
}

// tagged is the first value behind a tag, nil when there is none. The YAML parser
// drops a ! alone without a word: it is only in the source.
func tagged(n *yaml.Node, lines []string) *yaml.Node {
	if n.Style&yaml.TaggedStyle != 0 {
		return n
	}
	if n.Line > 0 && n.Line <= len(lines) {
		if line := []rune(lines[n.Line-1]); n.Column > 0 && n.Column <= len(line) && line[n.Column-1] == '!' {
			return n
		}
	}
	for _, c := range n.Content {
		if found := tagged(c, lines); found != nil {
			return found
		}
	}
	return nil
}

// find is the setting of a key.
func find(key string) (setting, bool) {
	if i := slices.IndexFunc(settings(), func(s setting) bool { return s.key == key }); i >= 0 {
		return settings()[i], true
	}
	if s, ok := ownAgent(key); ok {
		return s, true
	}
	return ownRole(key)
}

// walk visits the leaves of nested mappings under their dotted keys.
func walk(n *yaml.Node, prefix string, visit func(n *yaml.Node, key string, value *yaml.Node) error, at func(*yaml.Node) string) error {
	if n.Kind != yaml.MappingNode {
		return &Invalid{Where: at(n), Msg: strings.TrimSuffix(prefix, ".") + " is not a mapping of settings"}
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		key := prefix + name.Value
		if seen[key] {
			return &Invalid{Where: at(name), Msg: key + " is given twice"}
		}
		seen[key] = true
		if isGroup(key) || key == "roles" || (isAgent(key) || isRole(key)) && value.Kind == yaml.MappingNode {
			if err := walk(value, key+".", visit, at); err != nil {
				return err
			}
			continue
		}
		if err := visit(name, key, value); err != nil {
			return err
		}
	}
	return nil
}

func isGroup(key string) bool {
	return slices.ContainsFunc(keys(), func(k string) bool { return strings.HasPrefix(k, key+".") })
}

func unknown(key string) string {
	names := append(keys(), "roles")
	if parts := strings.Split(key, "."); len(parts) == 3 && parts[0] == "roles" {
		return fmt.Sprintf("unknown setting %q; a role has %s", key, strings.Join(roleKeys, ", "))
	}
	if parts := strings.Split(key, "."); len(parts) == 3 && parts[0] == "agents" {
		return fmt.Sprintf("unknown setting %q; an agent of your own has %s", key, strings.Join(agentKeys, ", "))
	}
	for _, k := range keys() {
		if group, _, ok := strings.Cut(k, "."); ok {
			names = append(names, group)
		}
	}
	if near := spelling.Near(key, names); near != "" {
		return fmt.Sprintf("unknown setting %q; did you mean %q?", key, near)
	}
	return fmt.Sprintf("unknown setting %q", key)
}

// scalars are the words of a plain value, or of a list where one is wanted.
func scalars(n *yaml.Node, list bool) ([]string, error) {
	switch {
	case !list && n.Kind == yaml.ScalarNode:
		return []string{n.Value}, nil
	case !list:
		return nil, errors.New("needs one plain value")
	case n.Kind != yaml.SequenceNode:
		return nil, errors.New("needs a list")
	}
	var words []string
	for _, item := range n.Content {
		if item.Kind != yaml.ScalarNode {
			return nil, errors.New("needs a list of plain values")
		}
		words = append(words, item.Value)
	}
	return words, nil
}
