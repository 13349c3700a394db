package recipe

import (
	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/expr"
)

// stepKinds is a set of the types of a step.
type stepKinds uint8

const (
	onBash stepKinds = 1 << iota
	onRecipe
	onAgent

	onAll = onBash | onRecipe | onAgent
)

func (k stepKinds) String() string {
	switch k {
	case onBash:
		return "a bash step"
	case onRecipe:
		return "a recipe step"
	case onAgent:
		return "an agent step"
	}
	return "a step"
}

// draft is a step while it is read.
type draft struct {
	Step
	idPos      Pos
	needs      *yaml.Node // as written; nil when not given
	needsPos   Pos        // of the key
	timeoutKey string     // which of its names was used
	leeway     string     // which spelling of optional was used
}

// stepKeys are the keys of a step. One without a reader is a word of the
// language that does not work yet.
var stepKeys = []key[draft]{
	{name: "id", on: onAll, read: readID},
	{name: "type", on: onAll, read: func(*parser, *draft, *yaml.Node, *yaml.Node) {}}, // read before all others
	{name: "description", on: onAll, read: func(p *parser, d *draft, k, v *yaml.Node) { p.text(k, v) }},
	{name: "command", on: onBash, read: func(p *parser, d *draft, k, v *yaml.Node) { d.Command = p.script(k, v) }},
	{name: "recipe", on: onRecipe, read: readRecipeName},
	{name: "context", on: onRecipe, why: "only a sub-recipe is handed a context; a script reads the recipe's", read: readArgs},
	{name: "output", on: onAll, read: readOutput},
	{name: "condition", on: onAll, read: func(p *parser, d *draft, k, v *yaml.Node) { d.Condition = p.condition(k, v) }},
	{name: "working_dir", on: onAll, read: readDir},
	{name: "timeout", on: onAll, read: readTimeout},
	{name: "timeout_seconds", on: onAll, read: readTimeout},
	{name: "needs", on: onAll, read: func(_ *parser, d *draft, k, v *yaml.Node) { d.needs, d.needsPos = v, posOf(k) }},
	{name: "retry", on: onAll, read: readRetry},
	{name: "verify", on: onAll, read: func(p *parser, d *draft, k, v *yaml.Node) { d.Verify = p.script(k, v) }},
	{name: "once", on: onBash | onAgent, why: "a child run is never repeated on a guess; its own steps say once",
		read: func(p *parser, d *draft, k, v *yaml.Node) { d.Once = p.boolean(k, v) }},
	{name: "optional", on: onAll, read: readOptional},
	{name: "continue_on_error", on: onAll, read: readOptional},
	{name: "nonfatal", on: onAll, read: readOptional},
	{name: "fatal", on: onAll, read: readOptional},
	{name: "env", on: onBash | onAgent, why: "a sub-recipe is handed values by context:", read: readEnv},
	{name: "shell", on: onBash, read: func(p *parser, d *draft, k, v *yaml.Node) { d.Shell = p.shell(k, v) }},
	{name: "failure", on: onBash, read: readFailure},
	{name: "on_failure", on: onAll, read: func(p *parser, d *draft, k, v *yaml.Node) {
		d.Escalate = p.choice(k, v, "fail", "escalate") == "escalate"
	}},

	{name: "agent", on: onAgent}, {name: "prompt", on: onAgent}, {name: "model", on: onAgent}, {name: "mode", on: onAgent},
	{name: "auto_stage", on: onAgent}, {name: "role", on: onAgent}, {name: "recovery_on_failure", on: onRecipe},
	{name: "approve", on: onAll}, {name: "as", on: onAll}, {name: "expect", on: onAll}, {name: "fallback", on: onAll},
	{name: "foreach", on: onAll}, {name: "isolate", on: onAll}, {name: "max_parallel", on: onAll}, {name: "outputs", on: onAll},
	{name: "parallel_group", on: onAll}, {name: "parse_json", on: onAll}, {name: "parse_json_required", on: onAll},
	{name: "policy", on: onAll}, {name: "recovery", on: onAll}, {name: "runs_on", on: onAll}, {name: "when_tags", on: onAll},
}

// otherStep are words of other tools and what they are called here.
var otherStep = map[string]string{
	"allow_failure": "optional", "check": "verify", "cmd": "command", "cwd": "working_dir", "depends_on": "needs", "dir": "working_dir",
	"environment": "env", "if": "condition", "ignore_errors": "optional", "max_retries": "retry", "name": "id", "on_error": "on_failure",
	"retries": "retry", "run": "command", "script": "command", "sub_context": "context", "when": "condition", "workdir": "working_dir",
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
	drafts := make([]draft, 0, len(v.Content))
	for _, n := range v.Content {
		d := draft{Step: Step{Pos: posOf(n), Retry: Retry{MaxAttempts: 1}}}
		if n.Kind == yaml.MappingNode {
			p.step(&d, n)
		} else {
			p.fail(posOf(n), "write - id: and the step's other keys below it", "a step is a mapping, found %s", kindOf(n))
		}
		drafts = append(drafts, d)
	}
	p.resolve(drafts)
	r.Steps = make([]Step, len(drafts))
	for i := range drafts {
		r.Steps[i] = drafts[i].Step
	}
}

func (p *parser) step(d *draft, n *yaml.Node) {
	kind := p.kindOfStep(n)
	found := readKeys(p, n, stepKeys, otherStep, kind, d)
	if !found["id"] {
		p.fail(posOf(n), "", "a step needs an id")
	}
	switch kind {
	case onBash:
		d.Type = belay.TypeBash
		if !found["command"] {
			p.fail(posOf(n), "", "a bash step needs a command")
		}
	case onRecipe:
		d.Type = belay.TypeRecipe
		if !found["recipe"] {
			p.fail(posOf(n), "", "a recipe step needs a recipe")
		}
	}
}

// kindOfStep tells which hand does the step: its type, else by its keys. It is
// 0 when the type makes no sense.
func (p *parser) kindOfStep(n *yaml.Node) stepKinds {
	at := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		switch k := n.Content[i]; k.Value {
		case "type", "recipe", "agent", "prompt", "command":
			if at[k.Value] == nil {
				at[k.Value] = n.Content[i+1]
			}
		}
	}
	kind, cause := onBash, at["command"]
	switch {
	case at["type"] != nil:
		kind, cause = p.typed(at["type"]), at["type"]
	case at["recipe"] != nil:
		kind = onRecipe
	case at["agent"] != nil:
		kind, cause = onAgent, at["agent"]
	case at["prompt"] != nil && at["command"] == nil:
		kind, cause = onAgent, at["prompt"]
	}
	if kind == onAgent {
		p.fail(posOf(cause), "", "agent steps are not supported by this version")
	}
	return kind
}

func (p *parser) typed(v *yaml.Node) stepKinds {
	if v.Kind == yaml.ScalarNode {
		switch v.Value {
		case "bash":
			return onBash
		case "recipe":
			return onRecipe
		case "agent":
			return onAgent
		}
		hint := didYouMean(expr.Near(v.Value, []string{"bash", "recipe"}))
		p.fail(posOf(v), hint, "the type of a step is bash or recipe, found %q", clip(v.Value))
		return 0
	}
	p.fail(posOf(v), "", "the type of a step is bash or recipe, found %s", kindOf(v))
	return 0
}
