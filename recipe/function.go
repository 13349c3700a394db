package recipe

import (
	"encoding/json"

	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay/internal/spelling"
	"github.com/belay-run/belay/task"
)

func readCall(p *parser, d *draft, k, v *yaml.Node) {
	name, ok := p.filled(k, v)
	if !ok {
		return
	}
	if _, known := task.Named(name); !known {
		hint := didYouMean(spelling.Near(name, task.Names()))
		if hint == "" {
			hint = "belay calls lists them"
		}
		p.fail(posOf(v), hint, "there is no function %q", clip(name))
		return
	}
	d.Call, d.callPos = name, posOf(v)
}

func readWith(p *parser, d *draft, k, v *yaml.Node) { d.With = p.arguments(k, v) }

// fitInputs checks the inputs of a function: their names, that none is missing,
// and values that are written down.
func (p *parser) fitInputs(d *draft) {
	if d.Call == "" {
		return // most steps: not worth a look at all functions
	}
	f, ok := task.Named(d.Call)
	if !ok {
		return
	}
	given := map[string]bool{}
	for i := range d.With {
		a := &d.With[i]
		given[a.Name] = true
		in, known := f.Input(a.Name)
		if !known {
			var names []string
			for _, in := range f.Inputs {
				names = append(names, in.Name)
			}
			p.fail(a.Pos, didYouMean(spelling.Near(a.Name, names)), "the function %s has no input %q", f.Name, a.Name)
			continue
		}
		if raw, written := a.written(); written {
			switch err := in.Fits(raw); {
			case err != nil:
				p.fail(a.Pos, "", "input %s of %s: %v", a.Name, f.Name, err)
			case in.Must && string(raw) == "null":
				p.fail(a.Pos, "", "input %s of %s must not be null", a.Name, f.Name)
			}
		}
	}
	for _, in := range f.Inputs {
		if in.Must && !given[in.Name] {
			p.fail(d.callPos, "add it under with:", "the function %s needs the input %q", f.Name, in.Name)
		}
	}
}

// written is the value of an argument in which nothing has to be filled in.
func (a *Arg) written() (json.RawMessage, bool) {
	switch {
	case a.tree != nil:
		return nil, false
	case a.Text == nil:
		return a.JSON, true
	}
	raw, err := json.Marshal(a.Text.String())
	return raw, err == nil && a.Text.Literal()
}

// Template is the argument as it is written: JSON in whose texts placeholders
// stand.
func (a *Arg) Template() json.RawMessage {
	if a.Text == nil {
		return a.JSON
	}
	raw, err := json.Marshal(a.Text.String())
	if err != nil { // a text always marshals
		return json.RawMessage("null")
	}
	return raw
}
