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

// Format writes a recipe anew: keys in the order of the reference, two spaces
// for each level. Comments, the way texts are written and single empty lines
// between keys and steps stay. What the source means never changes: where that
// is in doubt the result is an error. Formatting twice changes nothing more.
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
	gaps := gapsOf(before.Content[0], newSource(bytes.TrimPrefix(src, bom)))
	arrange(before.Content[0])
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(before); err != nil {
		return nil, fmt.Errorf("write: %w", err)
	}
	if err := enc.Close(); err != nil {
		return nil, fmt.Errorf("write: %w", err)
	}
	after, err := readTree(b.Bytes())
	if err != nil {
		return nil, fmt.Errorf("read the result: %w", err)
	}
	out := spread(b.Bytes(), after.Content[0], gaps)
	last, err := readTree(out)
	if err != nil {
		return nil, fmt.Errorf("read the result: %w", err)
	}
	if !alike(before, last) {
		return nil, fmt.Errorf("%w: it would mean something else", ErrFormat)
	}
	if !slices.Equal(comments(before), comments(last)) {
		return nil, fmt.Errorf("%w: a comment would be lost", ErrFormat)
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

// arrange puts the keys of a recipe and of its steps in order.
func arrange(root *yaml.Node) {
	sortKeys(root, topKeys.at)
	for i := 0; i+1 < len(root.Content); i += 2 {
		v := root.Content[i+1]
		switch root.Content[i].Value {
		case "steps":
			for _, step := range v.Content {
				arrangeStep(step)
			}
		case "defaults":
			arrangeStep(v)
		case "recursion":
			sortKeys(v, recursionKeys.at)
		case "hooks":
			sortKeys(v, hookKeys.at)
		}
	}
}

func arrangeStep(step *yaml.Node) {
	if step.Kind != yaml.MappingNode {
		return
	}
	sortKeys(step, stepKeys.at)
	for i := 0; i+1 < len(step.Content); i += 2 {
		if step.Content[i].Value == "retry" {
			sortKeys(step.Content[i+1], retryKeys.at)
		}
	}
	if len(step.Content) > 0 && step.Style&yaml.FlowStyle == 0 { // no room for it behind the dash
		first := step.Content[0]
		step.HeadComment = strings.Trim(step.HeadComment+"\n"+first.HeadComment, "\n")
		first.HeadComment = ""
	}
}

// sortKeys puts the keys of a mapping in the order of a table; others stay
// behind them in their own order.
func sortKeys(n *yaml.Node, at map[string]int) {
	if n.Kind != yaml.MappingNode {
		return
	}
	pairs := make([][2]*yaml.Node, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		pairs = append(pairs, [2]*yaml.Node{n.Content[i], n.Content[i+1]})
	}
	rank := func(p [2]*yaml.Node) int {
		if i, ok := at[p[0].Value]; ok {
			return i
		}
		return len(at)
	}
	slices.SortStableFunc(pairs, func(a, b [2]*yaml.Node) int { return rank(a) - rank(b) })
	n.Content = n.Content[:0]
	for _, p := range pairs {
		n.Content = append(n.Content, p[0], p[1])
	}
}

// alike tells whether two trees mean the same, in the same order.
func alike(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || a.Value != b.Value || isPlain(a) != isPlain(b) || len(a.Content) != len(b.Content) {
		return false
	}
	for i := range a.Content {
		if !alike(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}

// comments are all comments of a tree, line by line and sorted: they may move
// with what they are about.
func comments(n *yaml.Node) []string {
	var all []string
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		for _, c := range []string{n.HeadComment, n.LineComment, n.FootComment} {
			for line := range strings.Lines(c) {
				if line = strings.TrimSpace(line); line != "" {
					all = append(all, line)
				}
			}
		}
		for _, c := range n.Content {
			walk(c)
		}
	}
	walk(n)
	slices.Sort(all)
	return all
}

// gap names a key at the top, or a step by its number.
type gap struct {
	key  string
	step int // from 1; 0 for a key
}

// gapsOf are the keys and steps that have an empty line in front of them.
func gapsOf(root *yaml.Node, src *source) map[gap]bool {
	gaps := map[gap]bool{}
	parts(root, func(g gap, n *yaml.Node) {
		line := above(n, src)
		if line > 1 && strings.TrimSpace(src.line(line-1)) == "" {
			gaps[g] = true
		}
	})
	return gaps
}

// parts calls visit for every key at the top and for every step.
func parts(root *yaml.Node, visit func(g gap, n *yaml.Node)) {
	for i := 0; i+1 < len(root.Content); i += 2 {
		k, v := root.Content[i], root.Content[i+1]
		visit(gap{key: k.Value}, k)
		if k.Value != "steps" || v.Kind != yaml.SequenceNode || v.Style&yaml.FlowStyle != 0 {
			continue
		}
		for j, step := range v.Content {
			visit(gap{step: j + 1}, step)
		}
	}
}

// above is the first line of the comments right above a node, or its own.
func above(n *yaml.Node, src *source) int {
	line := n.Line
	for line > 1 && strings.HasPrefix(strings.TrimSpace(src.line(line-1)), "#") {
		line--
	}
	return line
}

// spread puts one empty line in front of everything that had one.
func spread(text []byte, root *yaml.Node, gaps map[gap]bool) []byte {
	src := newSource(text)
	wanted := map[int]bool{}
	parts(root, func(g gap, n *yaml.Node) {
		if line := above(n, src); gaps[g] && line > 1 {
			wanted[line] = true
		}
	})
	var b bytes.Buffer
	for n := 1; n <= len(src.starts); n++ {
		end := len(text)
		if n < len(src.starts) {
			end = src.starts[n]
		}
		if wanted[n] && strings.TrimSpace(src.line(n-1)) != "" {
			b.WriteByte('\n')
		}
		b.Write(text[src.starts[n-1]:end])
	}
	return b.Bytes()
}
