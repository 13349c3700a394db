package recipe

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay"
)

func readID(p *parser, d *draft, k, v *yaml.Node) {
	id, ok := p.filled(k, v)
	switch {
	case !ok:
	case len(id) > maxName:
		p.fail(posOf(v), "", "an id has at most %d characters", maxName)
	case !idForm.MatchString(id):
		p.fail(posOf(v), "", "%q cannot be an id: it is a letter, a digit or _, then letters, digits, _, . and -", clip(id))
	default:
		d.ID, d.idPos = belay.Path(id), posOf(v)
	}
}

// script reads a shell text. Values reach it as environment, never as text in
// it: what a value holds could otherwise run as a command.
func (p *parser) script(k, v *yaml.Node) string {
	s, ok := p.filled(k, v)
	if ok {
		p.noTemplate(v, s)
	}
	return s
}

func (p *parser) noTemplate(v *yaml.Node, s string) {
	i := strings.Index(s, "{{")
	if i < 0 {
		return
	}
	name := strings.TrimLeft(s[i+2:], " \t")
	end := strings.IndexFunc(name, func(r rune) bool { return !varForm.MatchString("a" + string(r)) })
	if end >= 0 {
		name = name[:end]
	}
	dollar := "NAME"
	if varForm.MatchString(name) {
		long, short := EnvNames(name)
		if dollar = short; short == "" {
			dollar = long
		}
	}
	p.fail(p.src.inside(v, 1+len([]rune(s[:i]))), `two braces that the script itself needs are written '{''{' in the shell`,
		`values reach a script as environment: write "$%s"`, dollar)
}

func readRecipeName(p *parser, d *draft, k, v *yaml.Node) {
	name, ok := p.filled(k, v)
	switch {
	case !ok:
	case strings.Contains(name, "{{"):
		p.fail(posOf(v), "", "a name of a sub-recipe that is only known at run time is not supported by this version")
	case len(name) > maxName:
		p.fail(posOf(v), "", "the name of a recipe has at most %d characters", maxName)
	case !recipeForm.MatchString(name):
		p.fail(posOf(v), "it is the file's name without folder and .yaml",
			"%q cannot name a recipe: it is letters, digits, _ and -", clip(name))
	default:
		d.Recipe, d.recipePos = name, posOf(v)
	}
}

// readArgs reads what is handed to a sub-recipe: texts are filled in when the
// step starts, everything else is handed on as it is.
func readArgs(p *parser, d *draft, k, v *yaml.Node) {
	if !p.mapping(k, v) {
		return
	}
	for i := 0; i+1 < len(v.Content); i += 2 {
		name, value := v.Content[i], v.Content[i+1]
		if !p.variable(name, name.Value, varForm) {
			continue
		}
		arg := Arg{Name: name.Value, Pos: posOf(name)}
		switch v := p.value(value).(type) {
		case string:
			arg.Text = p.template(name, value, v)
		default:
			arg.JSON = p.asJSON(value, v)
		}
		d.Context = append(d.Context, arg)
	}
}

func readOutput(p *parser, d *draft, k, v *yaml.Node) {
	name, ok := p.filled(k, v)
	if ok && p.variable(v, name, varForm) {
		d.Output = name
		p.sets(v, name)
	}
}

func readDir(p *parser, d *draft, k, v *yaml.Node) {
	if dir, ok := p.filled(k, v); ok {
		d.Dir = p.template(k, v, dir)
	}
}

// readTimeout reads both names of the key.
func readTimeout(p *parser, d *draft, k, v *yaml.Node) {
	if d.timeoutKey != "" {
		p.fail(posOf(k), "leave one of them out", "%q and %q are the same key", d.timeoutKey, k.Value)
		return
	}
	d.timeoutKey = k.Value
	t, ok := p.duration(k, v)
	if ok && t <= 0 {
		p.fail(posOf(v), "leave it out for no timeout", "%q must be more than 0", k.Value)
		return
	}
	d.Timeout = t
}

func readRetry(p *parser, d *draft, k, v *yaml.Node) {
	if v.Kind == yaml.MappingNode {
		readKeys(p, v, retryKeys, nil, 0, &d.Retry)
		return
	}
	d.Retry.MaxAttempts = p.count(k, v, maxAttempts)
}

var retryKeys = []key[Retry]{
	{name: "max_attempts", read: func(p *parser, r *Retry, k, v *yaml.Node) { r.MaxAttempts = p.count(k, v, maxAttempts) }},
	{name: "backoff", read: func(p *parser, r *Retry, k, v *yaml.Node) {
		d, ok := p.duration(k, v)
		if ok && d < 0 {
			p.fail(posOf(v), "", "%q must not be less than 0", k.Value)
			return
		}
		r.Backoff = d
	}},
}

// readOptional reads all spellings of the key; fatal says the opposite.
func readOptional(p *parser, d *draft, k, v *yaml.Node) {
	b := p.boolean(k, v)
	if k.Value == "fatal" {
		b = !b
	}
	if d.leeway != "" && b != d.Optional {
		p.fail(posOf(k), "leave one of them out", "%q and %q contradict each other", d.leeway, k.Value)
		return
	}
	d.leeway, d.Optional = k.Value, b
}

func readEnv(p *parser, d *draft, k, v *yaml.Node) {
	if !p.mapping(k, v) {
		return
	}
	d.Env = make(map[string]string, len(v.Content)/2)
	for i := 0; i+1 < len(v.Content); i += 2 {
		name, value := v.Content[i], v.Content[i+1]
		if !p.variable(name, name.Value, envForm) {
			continue
		}
		text := p.text(name, value)
		p.noTemplate(value, text)
		d.Env[name.Value] = text
	}
}

func readFailure(p *parser, d *draft, k, v *yaml.Node) {
	var words []string
	for _, kind := range belay.FailureKinds() {
		words = append(words, string(kind))
	}
	d.Failure = belay.FailureKind(p.choice(k, v, words...))
}

// resolve turns the needs of all steps into indexes and refuses what can never
// start.
func (p *parser) resolve(drafts []draft) {
	index := p.index(drafts)
	for i := range drafts {
		d := &drafts[i]
		d.Needs = []int{}
		switch {
		case d.needs == nil && i > 0:
			d.Needs = append(d.Needs, i-1)
		case d.needs == nil:
		case d.needs.Kind != yaml.SequenceNode:
			p.fail(d.needsPos, "write needs: [one, two], or needs: [] to start at once", "%q is a list of step ids, found %s", "needs", kindOf(d.needs))
		default:
			p.needed(drafts, i, index)
		}
	}
	p.cycles(drafts)
}

func (p *parser) index(drafts []draft) map[belay.Path]int {
	index := make(map[belay.Path]int, len(drafts))
	for i, d := range drafts {
		if d.ID == "" {
			continue
		}
		if first, twice := index[d.ID]; twice {
			p.fail(d.idPos, "", "the id %q is given twice, first in line %d", d.ID, drafts[first].Pos.Line)
			continue
		}
		index[d.ID] = i
	}
	return index
}

func (p *parser) needed(drafts []draft, i int, index map[belay.Path]int) {
	d := &drafts[i]
	for _, n := range d.needs.Content {
		if n.Kind != yaml.ScalarNode || isNull(n) {
			p.fail(posOf(n), "", "%q is a list of step ids, found %s", "needs", kindOf(n))
			continue
		}
		j, ok := index[belay.Path(n.Value)]
		switch {
		case !ok:
			p.noStep(n, index)
		case j == i || belay.Path(n.Value) == d.ID:
			p.fail(posOf(n), "", "the step %q needs itself", n.Value)
		default:
			d.Needs = append(d.Needs, j)
		}
	}
	slices.Sort(d.Needs)
	d.Needs = slices.Compact(d.Needs)
}

func (p *parser) noStep(n *yaml.Node, index map[belay.Path]int) {
	if p.full() {
		return
	}
	ids := make([]string, 0, len(index))
	for id := range index {
		ids = append(ids, string(id))
	}
	p.fail(posOf(n), nearest(n.Value, ids), "no step has the id %q", clip(n.Value))
}

// chain is a cycle as a message shows it.
func chain(drafts []draft, cycle []int) string {
	const most = 10
	var ids []string
	for n, i := range cycle {
		if n == most {
			ids = append(ids, fmt.Sprintf("… %d more …", len(cycle)-most))
			break
		}
		ids = append(ids, string(drafts[i].ID))
	}
	return strings.Join(append(ids, string(drafts[cycle[0]].ID)), " → ")
}
