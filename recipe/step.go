package recipe

import (
	"go.yaml.in/yaml/v3"
)

// draft is a step while it is read.
type draft struct {
	Step
	timeoutKey string // which of its names was used
	leeway     string // which spelling of optional was used
	recovery   bool   // recovery itself was said, not its older spelling
	verifyPos  Pos    // of the key, as are the following
	jsonPos    Pos
	asPos      Pos
	maxPos     Pos
	kind       stepKinds
}

func readSteps(p *parser, r *Recipe, k, v *yaml.Node) {
	r.Steps = append(p.steps(k, v, func(*draft, *yaml.Node) {}), r.Steps...) // those of finally stay behind
}

// steps reads a list of steps; also looks at each once more.
func (p *parser) steps(k, v *yaml.Node, also func(*draft, *yaml.Node)) []Step {
	if v.Kind != yaml.SequenceNode {
		p.wrong(k, v, "a list of steps", asSteps(k, v))
		return nil
	}
	if len(v.Content) == 0 {
		p.fail(posOf(k), "", "%q needs at least one step", k.Value)
		return nil
	}
	list := make([]Step, len(v.Content))
	var d draft // one for all steps: it is large
	for i, n := range v.Content {
		d = draft{Step: Step{Pos: posOf(n), Retry: Retry{MaxAttempts: 1}}}
		if n.Kind == yaml.MappingNode {
			p.step(&d, n)
		} else {
			p.fail(posOf(n), "write - id: and the step's other keys below it", "a step is a mapping, found %s", kindOf(n))
		}
		also(&d, n)
		list[i] = d.Step
	}
	return list
}

func (p *parser) step(d *draft, n *yaml.Node) {
	p.to = &d.Step
	d.kind = p.kindOfStep(n)
	found := readKeys(p, n, stepKeys, d.kind, d)
	p.fillIn(d, &found)
	if !stepKeys.holds(&found, "id") {
		p.fail(posOf(n), "", "a step needs an id")
	}
	row := d.kind.row()
	d.Type = row.typ
	switch has := stepKeys.holds(&found, row.key); {
	case has, row.key == "":
	case row.bare == nil:
		p.fail(posOf(n), "", "%s needs the key %s", row.noun, row.key)
	default:
		p.loose(posOf(n), "", "%s needs a %s", row.noun, row.key)
		row.bare(d)
	}
	p.together(d, n, &found)
	p.to = nil
}

// readDefaults checks the keys once; every step reads them again, without a
// word.
func readDefaults(p *parser, _ *Recipe, k, v *yaml.Node) {
	if !p.mapping(k, v) {
		return
	}
	for i := 0; i+1 < len(v.Content); i += 2 {
		k := v.Content[i]
		at, ok := stepKeys.at[k.Value]
		if ok && stepKeys.keys[at].own {
			p.fail(posOf(k), "", "%q belongs to one step and cannot be a default of all", k.Value)
		}
	}
	scratch := draft{Step: Step{Retry: Retry{MaxAttempts: 1}}}
	p.to = &scratch.Step // what is read here is read by the steps that it is for
	readKeys(p, v, stepKeys, 0, &scratch)
	p.to = nil
}

// fillIn reads the defaults of the file that the step does not set.
func (p *parser) fillIn(d *draft, found *keySet) {
	if p.defaults == nil {
		return
	}
	p.muted = true
	for i := 0; i+1 < len(p.defaults.Content); i += 2 {
		k, v := p.defaults.Content[i], p.defaults.Content[i+1]
		at, ok := stepKeys.at[k.Value]
		if !ok || p.twice[k] || stepKeys.holds(found, k.Value) {
			continue
		}
		if known := &stepKeys.keys[at]; known.read != nil && !known.own && known.on&d.kind != 0 {
			known.read(p, d, k, v)
		}
	}
	p.muted = false
}
