package recipe

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ErrFormat says that a source cannot be written anew without a doubt: it is
// better left as it is.
var ErrFormat = errors.New("the recipe is left as it is")

// Format writes a recipe in the usual form: keys in the order of the reference,
// two spaces for each level, no blanks at the ends of lines, one empty line
// where there were more. It moves and indents lines and changes nothing in
// them, so comments, quotes and blocks of text stay as they were written. What
// the source means never changes: where that is in doubt the result is an
// error. Formatting twice changes nothing more.
func Format(src []byte) ([]byte, error) {
	out, err := format(src)
	if err != nil {
		return nil, err
	}
	again, err := format(out)
	if err != nil {
		return nil, fmt.Errorf("read the result: %w", err)
	}
	if !bytes.Equal(out, again) {
		return nil, fmt.Errorf("%w: its comments or texts would not stay in their places", ErrFormat)
	}
	return out, nil
}

func format(src []byte) ([]byte, error) {
	before, err := readTree(src)
	if err != nil {
		return nil, err
	}
	f, err := newFormatter(string(bytes.TrimPrefix(src, bom)), before.Content[0])
	if err != nil {
		return nil, err
	}
	out, err := f.recipe(before.Content[0])
	if err != nil {
		return nil, err
	}
	after, err := readTree(out)
	if err != nil {
		return nil, fmt.Errorf("%w: the result cannot be read: %w", ErrFormat, err)
	}
	usualOrder().arrange(before.Content[0])
	if !alike(before, after) {
		return nil, fmt.Errorf("%w: it would mean something else", ErrFormat)
	}
	return out, nil
}

// readTree reads a source with the same limits as Parse.
func readTree(src []byte) (*yaml.Node, error) {
	p := &parser{src: newSource(bytes.TrimPrefix(src, bom))}
	at, msg := p.src.unreadable()
	if msg != "" {
		p.fail(at, "", "%s", msg)
	} else if root := p.tree(); root != nil && len(p.errors) == 0 {
		var doc yaml.Node
		if err := yaml.Unmarshal(p.src.text, &doc); err != nil { // it was read before
			return nil, fmt.Errorf("read: %w", err)
		}
		return &doc, nil
	}
	first := p.list()[0]
	return nil, fmt.Errorf("line %d, column %d: %s", first.Line, first.Col, first.Msg)
}

// keyOrder is how the keys of a mapping are best written, and those of what it
// holds. Without one the keys stay as they are.
type keyOrder struct {
	at    map[string]int
	inner map[string]*keyOrder
	items *keyOrder // of a list
}

// usualOrder is the order of a recipe, as the reference lists the keys.
func usualOrder() *keyOrder {
	step := &keyOrder{at: stepKeys.at, inner: map[string]*keyOrder{"retry": {at: retryKeys.at}, "fallback": {at: fallbackKeys.at}}}
	return &keyOrder{at: topKeys.at, inner: map[string]*keyOrder{
		"steps": {items: step}, "defaults": step, "recursion": {at: recursionKeys.at}, "hooks": {at: hookKeys.at},
	}}
}

func (o *keyOrder) of(key string) *keyOrder {
	if o == nil {
		return nil
	}
	return o.inner[key]
}

func (o *keyOrder) each() *keyOrder {
	if o == nil {
		return nil
	}
	return o.items
}

// rank is the place of a key; those without one come behind all others.
func (o *keyOrder) rank(key string) int {
	if o == nil {
		return 0
	}
	if i, ok := o.at[key]; ok {
		return i
	}
	return len(o.at)
}

// arrange puts the keys of a tree in order, but for those on one line in braces.
func (o *keyOrder) arrange(n *yaml.Node) {
	switch {
	case o == nil || n.Style&yaml.FlowStyle != 0:
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			o.each().arrange(item)
		}
	case n.Kind == yaml.MappingNode:
		pairs := make([][2]*yaml.Node, 0, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			o.of(n.Content[i].Value).arrange(n.Content[i+1])
			pairs = append(pairs, [2]*yaml.Node{n.Content[i], n.Content[i+1]})
		}
		slices.SortStableFunc(pairs, func(a, b [2]*yaml.Node) int { return o.rank(a[0].Value) - o.rank(b[0].Value) })
		n.Content = n.Content[:0]
		for _, p := range pairs {
			n.Content = append(n.Content, p[0], p[1])
		}
	}
}

// alike tells whether two trees mean the same, in the same order.
func alike(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || a.Value != b.Value || a.ShortTag() != b.ShortTag() || isPlain(a) != isPlain(b) || len(a.Content) != len(b.Content) {
		return false
	}
	for i := range a.Content {
		if !alike(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}

func indented(col int) string { return strings.Repeat(" ", max(col, 0)) }
