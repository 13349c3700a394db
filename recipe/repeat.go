package recipe

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay/expr"
)

// Repeat makes a step rounds: it is done again until a condition holds.
type Repeat struct {
	Max   int        // rounds
	Until *expr.Expr // asked after each round; nil = a round that is done in full
	Pos   Pos        // of the key

	place place
}

// The variables of a round, beside those that the step has anyway.
const (
	RoundVar = "round" // its number, from 1
	LastVar  = "last"  // what the round before gave; in until, what the round that just ended gave
)

// The rounds that a step may have, and has where it does not say.
const (
	MaxRounds     = 100
	defaultRounds = 3
)

var repeatKeys = newTable(map[string]string{"times": "max", "rounds": "max", "limit": "max", "while": "until", "condition": "until"},
	key[Repeat]{name: "max", bound: bounds{most: MaxRounds}, types: []string{typeCount}, def: "3", doc: "How many rounds there are at most.",
		read: func(p *parser, r *Repeat, k, v *yaml.Node) { r.Max = p.count(k, v, MaxRounds) }},
	key[Repeat]{name: "until", bound: bounds{text: formCondition}, types: []string{typeText}, form: "EXPR", def: "a round that is done in full", read: readUntil,
		doc: "Asked after each round: the rounds are over when it is true. It reads `last`, what the round that just ended gave, and `round`, its number."},
)

func readRepeat(p *parser, d *draft, k, v *yaml.Node) {
	if v.Kind != yaml.MappingNode {
		p.wrong(k, v, "a mapping", "write repeat: {max: 3, until: last.ok}")
		return
	}
	r := Repeat{Max: defaultRounds, Pos: posOf(k)}
	readKeys(p, v, repeatKeys, 0, &r)
	d.Repeat = &r
}

// readUntil reads the condition that ends the rounds. One that looks at nothing
// which a round gives would stay as it is.
func readUntil(p *parser, r *Repeat, k, v *yaml.Node) {
	src, ok := p.filled(k, v)
	if !ok {
		return
	}
	if i := strings.Index(src, "{{"); i >= 0 {
		p.fail(p.src.inside(v, 1+len([]rune(src[:i]))), "write the name alone: until: last.output == 'value'", "a condition reads variables by their names, without braces")
		return
	}
	e, err := expr.Parse(src)
	if err != nil {
		p.badText(k, v, err)
		return
	}
	names := e.Names()
	if !slices.Contains(names, LastVar) && !slices.Contains(names, RoundVar) {
		hint := "write until: last.NAME == 'value', or last.ok"
		if len(names) > 0 {
			hint = "write last." + names[0] + " for what the round gave"
		}
		p.fail(posOf(v), hint, "this would be the same after every round: it reads neither %q nor %q", LastVar, RoundVar)
		return
	}
	r.Until, r.place = e, p.src.place(v)
	for _, read := range e.Reads() {
		p.note(use{name: read.Name, pos: r.place.offset(read.Offset), maybe: read.Optional})
	}
}

// UntilAt is the position in the file of a character of until.
func (r *Repeat) UntilAt(col int) Pos { return r.place.after(0, col-1) }

// ofRound tells whether what a step reads is a variable of its rounds.
func (s *Step) ofRound(u use) bool {
	return s.Repeat != nil && !u.outside && (u.name == RoundVar || u.name == LastVar)
}

// readsAnswer tells whether the rounds of a step end by what it answers.
func (s *Step) readsAnswer() bool {
	return s.Repeat != nil && s.Repeat.Until != nil && strings.Contains(s.Repeat.Until.String(), LastVar+".output")
}

// repeats checks what repeat means for the other keys of a step.
func (p *parser) repeats(d *draft) {
	r := d.Repeat
	if r == nil {
		return
	}
	if d.Foreach != "" {
		p.fail(r.Pos, "put one of them into a recipe of its own, and call that", "%q and %q cannot be combined", "repeat", "foreach")
	}
	if r.Until != nil && d.Type.Row().Shell && d.Output == "" && strings.Contains(r.Until.String(), LastVar+".output") {
		p.fail(r.place.whole, "give the step output: with the name of a variable", "nothing keeps what the step prints, which %q reads as last.output", "until")
	}
}
