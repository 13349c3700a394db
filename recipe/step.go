package recipe

import (
	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/expr"
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
	if v.Kind != yaml.SequenceNode {
		p.wrong(k, v, "a list of steps", "")
		return
	}
	if len(v.Content) == 0 {
		p.fail(posOf(k), "", "a recipe needs at least one step")
		return
	}
	r.Steps = make([]Step, len(v.Content))
	var d draft // one for all steps: it is large
	for i, n := range v.Content {
		d = draft{Step: Step{Pos: posOf(n), Retry: Retry{MaxAttempts: 1}}}
		if n.Kind == yaml.MappingNode {
			p.step(&d, n)
		} else {
			p.fail(posOf(n), "write - id: and the step's other keys below it", "a step is a mapping, found %s", kindOf(n))
		}
		r.Steps[i] = d.Step
	}
	p.link(r.Steps, p.extends)
}

func (p *parser) step(d *draft, n *yaml.Node) {
	p.to = &d.Step
	d.kind = p.kindOfStep(n)
	found := readKeys(p, n, stepKeys, d.kind, d)
	p.fillIn(d, &found)
	if !stepKeys.holds(&found, "id") {
		p.fail(posOf(n), "", "a step needs an id")
	}
	switch d.kind {
	case onBash:
		d.Type = belay.TypeBash
		if !stepKeys.holds(&found, "command") {
			p.loose(posOf(n), "", "a bash step needs a command")
			d.Script = &Script{}
		}
	case onRecipe:
		d.Type = belay.TypeRecipe
		if !stepKeys.holds(&found, "recipe") {
			p.fail(posOf(n), "", "a recipe step needs a recipe")
		}
	case onAgent:
		d.Type = belay.TypeAgent
		if !stepKeys.holds(&found, "prompt") {
			p.loose(posOf(n), "", "an agent step needs a prompt")
			d.Prompt = new(expr.Text)
		}
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

// kindOfStep tells which hand does the step: its type, else by its keys. It is
// 0 when the type makes no sense.
func (p *parser) kindOfStep(n *yaml.Node) stepKinds {
	var typ, recipe, agent, prompt, command *yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		if p.twice[n.Content[i]] {
			continue
		}
		switch v := n.Content[i+1]; n.Content[i].Value {
		case "type":
			typ = v
		case "recipe":
			recipe = v
		case "agent":
			agent = v
		case "prompt":
			prompt = v
		case "command":
			command = v
		}
	}
	switch {
	case typ != nil:
		return p.typed(typ)
	case recipe != nil:
		return onRecipe
	case agent != nil, prompt != nil && command == nil:
		return onAgent
	}
	return onBash
}

func (p *parser) typed(v *yaml.Node) stepKinds {
	if v.Kind != yaml.ScalarNode {
		p.fail(posOf(v), "", "the type of a step is bash, agent or recipe, found %s", kindOf(v))
		return 0
	}
	switch v.Value {
	case "bash":
		return onBash
	case "recipe":
		return onRecipe
	case "agent":
		return onAgent
	}
	p.fail(posOf(v), typeHint(v.Value), "the type of a step is bash, agent or recipe, found %q", clip(v.Value))
	return 0
}

// typeHint says what a type of another tool is called here.
func typeHint(word string) string {
	switch word {
	case "shell", "sh", "command", "script", "run":
		return didYouMean("bash")
	case "loop", "matrix":
		return "leave type out and write foreach: with the name of a list"
	case "skill", "prompt", "llm", "ai":
		return didYouMean("agent")
	case "workflow", "subrecipe", "sub-recipe":
		return didYouMean("recipe")
	}
	return didYouMean(expr.Near(word, []string{"bash", "agent", "recipe"}))
}
