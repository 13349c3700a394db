package recipe

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay/expr"
)

// lenient makes everything that is not there nothing, as the older runner does:
// a field of a missing name as well as the name.
func (r *Recipe) lenient() {
	script := func(s *Script) {
		if s == nil {
			return
		}
		for i := range s.Uses {
			s.Uses[i].Value.Lenient()
		}
	}
	text := func(t *expr.Text) {
		if t != nil {
			t.Lenient()
		}
	}
	script(r.Hooks.PreStep)
	script(r.Hooks.PostStep)
	script(r.Hooks.OnError)
	for i := range r.Steps {
		s := &r.Steps[i]
		script(s.Script)
		script(s.Verify)
		text(s.Prompt)
		text(s.Dir)
		for j := range s.Context {
			text(s.Context[j].Text)
		}
		for j := range s.With {
			text(s.With[j].Text)
		}
		if s.Condition != nil {
			s.Condition.Lenient()
		}
	}
}

// twoBraces is how a text writes two braces that are its own.
const twoBraces = "{{ '{{' }}"

// ownBraces finds every {{ that is no placeholder and writes it as the language
// wants it: the older runner leaves it as it is.
func (p *parser) ownBraces(root *yaml.Node) {
	eachScript(root, func(k, v *yaml.Node) { p.bracesIn(k, v, true) })
	eachStep(root, func(n *yaml.Node) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			k, v := n.Content[i], n.Content[i+1]
			switch k.Value {
			case "prompt", "working_dir":
				p.bracesIn(k, v, false)
			case "context", "with":
				for j := 0; j+1 < len(v.Content); j += 2 {
					p.bracesIn(v.Content[j], v.Content[j+1], false)
				}
			}
		}
	})
}

func (p *parser) bracesIn(k, v *yaml.Node, script bool) {
	if v.Kind != yaml.ScalarNode || !strings.Contains(v.Value, "{{") {
		return
	}
	var own []int
	place := p.src.place(v)
	for _, h := range expr.Holes(v.Value) {
		if h.Err == nil || script && inComment(v.Value[:h.Start]) {
			continue
		}
		own = append(own, h.Start)
		p.warn(place.offset(h.Start), "", "%s: this {{ is no placeholder and stays as it is: %s", k.Value, h.Err.Msg)
	}
	if len(own) > 0 {
		p.src.rewrite(v, own)
	}
}

// inComment tells whether a script goes on in a line that is a comment.
func inComment(before string) bool {
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return strings.HasPrefix(strings.TrimLeft(line, " \t"), "#")
}

// original is a scalar's value as it was before its braces were rewritten.
type original struct {
	value string
	own   []int // the places of the braces
}

// rewrite writes the braces at these offsets anew and keeps the old value, by
// which places are found.
func (s *source) rewrite(n *yaml.Node, own []int) {
	if s.originals == nil {
		s.originals = map[*yaml.Node]original{}
	}
	s.originals[n] = original{n.Value, own}
	var b strings.Builder
	from := 0
	for _, at := range own {
		b.WriteString(n.Value[from:at] + twoBraces)
		from = at + 2
	}
	b.WriteString(n.Value[from:])
	n.Value = b.String()
}

// offset is the place in the old value of a place in the new one.
func (o original) offset(i int) int {
	const more = len(twoBraces) - 2
	n := 0
	for n < len(o.own) && o.own[n]+n*more <= i {
		n++
	}
	if n == 0 {
		return i
	}
	return max(o.own[n-1], i-n*more)
}
