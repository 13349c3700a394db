package recipe

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/expr"
	"github.com/belay-run/belay/internal/spelling"
)

// stepKinds is a set of the types of a step.
type stepKinds uint8

const (
	onBash stepKinds = 1 << iota
	onAgent
	onRecipe
	onCall
	onApprove

	onAll stepKinds = 1<<iota - 1

	// onWork are the types of steps that do work: it takes time, it can be tried
	// again, and somebody can look at what it left behind.
	onWork = onBash | onAgent | onRecipe

	// onDone are those that do something at all: the others only ask.
	onDone = onWork | onCall
)

// kindRow is what the language knows of one type of step. What everybody else
// knows of it is the row of belay.StepType.
type kindRow struct {
	on    stepKinds
	typ   belay.StepType
	noun  string
	key   string       // that says what it does
	bare  func(*draft) // stands for the key in an older recipe that lacks it; nil = no recipe may
	marks []tells      // without type:, such a step is told by one of these
	also  []string     // what other tools call it
}

// tells is a key that tells the type of a step, unless another one is there.
type tells struct{ key, unless string }

// kindRows has a row for each type of step. A step whose keys tell two types is of
// the later one; one whose keys tell none is of the first.
var kindRows = []kindRow{
	{
		on: onBash, typ: belay.TypeBash, noun: "a bash step", key: "command",
		bare: func(d *draft) { d.Script = &Script{} },
		also: []string{"shell", "sh", "command", "script", "run"},
	},
	{
		on: onAgent, typ: belay.TypeAgent, noun: "an agent step", key: "prompt",
		bare:  func(d *draft) { d.Prompt = new(expr.Text) },
		marks: []tells{{key: "agent"}, {key: "prompt", unless: "command"}},
		also:  []string{"skill", "prompt", "llm", "ai"},
	},
	{
		on: onRecipe, typ: belay.TypeRecipe, noun: "a recipe step", key: "recipe",
		marks: []tells{{key: "recipe"}},
		also:  []string{"workflow", "subrecipe", "sub-recipe"},
	},
	{
		on: onCall, typ: belay.TypeCall, noun: "a call step", key: "call",
		marks: []tells{{key: "call"}},
		also:  []string{"function", "func"},
	},
	{
		on: onApprove, typ: belay.TypeApprove, noun: "an approve step", key: "approve",
		marks: []tells{{key: "approve"}},
		also:  []string{"approval", "gate", "confirm", "manual", "human", "input"},
	},
}

// row is what is known of a single type; the zero row of none or of several.
func (k stepKinds) row() kindRow {
	for i := range kindRows {
		if kindRows[i].on == k {
			return kindRows[i]
		}
	}
	return kindRow{noun: "a step"}
}

func (k stepKinds) words() []string {
	var words []string
	for i := range kindRows {
		if k&kindRows[i].on != 0 {
			words = append(words, string(kindRows[i].typ))
		}
	}
	return words
}

// kindOfStep tells who does the step: its type, else by its keys. It is 0 when
// the type makes no sense.
func (p *parser) kindOfStep(n *yaml.Node) stepKinds {
	if typ := p.under(n, "type"); typ != nil {
		return p.typed(typ)
	}
	for _, row := range slices.Backward(kindRows) {
		for _, m := range row.marks {
			if p.under(n, m.key) != nil && (m.unless == "" || p.under(n, m.unless) == nil) {
				return row.on
			}
		}
	}
	return kindRows[0].on
}

// under is the value of a key, nil where it is not there or there twice.
func (p *parser) under(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := n.Content[i]; k.Value == key && !p.twice[k] {
			return n.Content[i+1]
		}
	}
	return nil
}

func (p *parser) typed(v *yaml.Node) stepKinds {
	words := onAll.words()
	most := len(words) - 1
	all := strings.Join(words[:most], ", ") + " or " + words[most]
	if v.Kind != yaml.ScalarNode {
		p.fail(posOf(v), "", "the type of a step is %s, found %s", all, kindOf(v))
		return 0
	}
	if at := slices.Index(words, v.Value); at >= 0 {
		return kindRows[at].on
	}
	p.fail(posOf(v), typeHint(v.Value), "the type of a step is %s, found %q", all, clip(v.Value))
	return 0
}

// typeHint says what a type of another tool is called here.
func typeHint(word string) string {
	if word == "loop" || word == "matrix" {
		return "leave type out and write foreach: with the name of a list"
	}
	for i := range kindRows {
		if slices.Contains(kindRows[i].also, word) {
			return didYouMean(string(kindRows[i].typ))
		}
	}
	return didYouMean(spelling.Near(word, onAll.words()))
}
