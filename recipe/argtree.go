package recipe

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay/expr"
)

// branch is a value with placeholders somewhere in it: a text, a list, an
// object, or a part without any.
type branch struct {
	name  string     // in an object
	text  *expr.Text // nil = no text to be filled in
	place place      // of the text
	open  byte       // '[' or '{' of a list or an object, else 0
	parts []branch
	json  json.RawMessage // of a part without any
}

// branch reads node n, whose value is v.
func (p *parser) branch(k, n *yaml.Node, v any) branch {
	switch v := v.(type) {
	case string:
		if strings.Contains(v, "{{") {
			if t := p.template(k, n, v); t != nil {
				return branch{text: t, place: p.src.place(n)}
			}
		}
	case []any:
		b := branch{open: '['}
		for i, part := range v {
			b.parts = append(b.parts, p.branch(k, n.Content[i], part))
		}
		return b
	case map[string]any:
		b := branch{open: '{'}
		for i := 0; i+1 < len(n.Content); i += 2 {
			name := n.Content[i]
			if p.twice[name] {
				continue
			}
			if strings.Contains(name.Value, "{{") {
				p.warn(posOf(name), "", "the name of a field is taken as it is written, nothing is filled in")
			}
			part := p.branch(k, n.Content[i+1], v[name.Value])
			part.name = name.Value
			b.parts = append(b.parts, part)
		}
		slices.SortFunc(b.parts, func(x, y branch) int { return cmp.Compare(x.name, y.name) })
		return b
	}
	return branch{json: p.asJSON(n, v)}
}

// texts are those of the branch and of all below it.
func (b *branch) texts() []*expr.Text {
	if b.text != nil {
		return []*expr.Text{b.text}
	}
	var list []*expr.Text
	for i := range b.parts {
		list = append(list, b.parts[i].texts()...)
	}
	return list
}

// Texts are all texts of an argument that have to be filled in.
func (a *Arg) Texts() []*expr.Text {
	switch {
	case a.Text != nil:
		return []*expr.Text{a.Text}
	case a.tree != nil:
		return a.tree.texts()
	}
	return nil
}

// Fill is the value of an argument that is no text, with its texts as render
// gives them; at is where the characters of a text stand.
func (a *Arg) Fill(render func(t *expr.Text, at func(col int) Pos) (json.RawMessage, error)) (json.RawMessage, error) {
	if a.tree == nil {
		return a.JSON, nil
	}
	var b bytes.Buffer
	err := a.tree.fill(&b, render)
	return b.Bytes(), err
}

func (b *branch) fill(to *bytes.Buffer, render func(*expr.Text, func(int) Pos) (json.RawMessage, error)) error {
	switch {
	case b.text != nil:
		raw, err := render(b.text, func(col int) Pos { return b.place.after(0, col-1) })
		to.Write(raw)
		return err
	case b.open == 0:
		to.Write(b.json)
		return nil
	}
	to.WriteByte(b.open)
	for i := range b.parts {
		if i > 0 {
			to.WriteByte(',')
		}
		if b.open == '{' {
			name, err := json.Marshal(b.parts[i].name)
			if err != nil {
				return err
			}
			to.Write(name)
			to.WriteByte(':')
		}
		if err := b.parts[i].fill(to, render); err != nil {
			return err
		}
	}
	to.WriteByte(b.open + 2) // ] and } come two after [ and {
	return nil
}

// unfilled warns of placeholders in a default, which nobody fills in.
func (p *parser) unfilled(n *yaml.Node) {
	if n.Kind != yaml.ScalarNode {
		for i, c := range n.Content {
			if n.Kind != yaml.MappingNode || i%2 == 1 {
				p.unfilled(c)
			}
		}
		return
	}
	if !strings.Contains(n.Value, "{{") {
		return
	}
	for _, h := range expr.Holes(n.Value) {
		if h.Value != nil && !h.Value.Literal() && !p.full() {
			hole := n.Value[h.Start:h.End]
			p.warn(p.src.place(n).offset(h.Start), "write "+clip(hole)+" where the variable is used, or let a step print the whole text into it",
				"a default is taken as it is written: %s is not filled in", clip(hole))
			return
		}
	}
}
