package recipe

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/expr"
)

func readID(p *parser, d *draft, k, v *yaml.Node) {
	id, ok := p.filled(k, v)
	switch {
	case !ok:
	case len(id) > maxName:
		p.fail(posOf(v), "", "an id has at most %d characters", maxName)
	case !idForm(id):
		p.fail(posOf(v), "", "%q cannot be an id: it is a letter, a digit or _, then letters, digits, _, . and -", clip(id))
	default:
		d.ID, d.idPos = belay.Path(id), posOf(v)
	}
}

// script reads a shell text; its placeholders become references to variables.
func (p *parser) script(k, v *yaml.Node) *Script {
	src := p.text(k, v)
	switch {
	case v.Kind != yaml.ScalarNode: // said so
		return &Script{}
	case strings.TrimSpace(src) == "":
		p.loose(posOf(k), "", "%q is empty", k.Value)
		return &Script{Source: src, Text: src}
	}
	if p.again && len(expr.Holes(src)) == 0 {
		return &Script{Source: src, Text: src}
	}
	if p.bash == nil {
		p.bash = newBash()
	}
	p.joined(k, v)
	p.altered(k, v)
	script, problems := parseScript(p.bash, src, blockAt(src, Pos{1, 1}))
	p.cutScript(k, v, len(problems) > 0)
	place := p.src.place(v)
	for _, pr := range problems {
		p.problem(place.at(Pos{pr.Line, pr.Col}), pr.Warning, pr.Hint, k.Value+": "+pr.Msg)
	}
	if script == nil {
		return &Script{Source: src, Text: src} // an error was reported
	}
	for i := range script.Uses {
		u := &script.Uses[i]
		u.Pos = place.at(u.Pos)
		p.readsText(u.Pos, u.Value)
	}
	for i := range script.env {
		script.env[i].pos = place.at(script.env[i].pos)
	}
	return script
}

func readVerify(p *parser, d *draft, k, v *yaml.Node) {
	d.Verify = p.script(k, v)
	if !p.muted {
		d.verifyPos = posOf(k)
	}
}

func readPrompt(p *parser, d *draft, k, v *yaml.Node) {
	src := p.text(k, v)
	if v.Kind == yaml.ScalarNode && strings.TrimSpace(src) == "" {
		p.loose(posOf(k), "", "%q is empty", k.Value)
	}
	d.Prompt = p.template(k, v, src)
}

func readRecipeName(p *parser, d *draft, k, v *yaml.Node) {
	if name, ok := p.filled(k, v); ok && p.recipeName(v, name) {
		d.Recipe, d.recipePos = name, posOf(v)
	}
}

// recipeName checks the name by which a recipe is looked up.
func (p *parser) recipeName(v *yaml.Node, name string) bool {
	switch {
	case strings.Contains(name, "{{"):
		p.fail(posOf(v), "call each one in a step of its own, with a condition", "the name of a recipe cannot have {{names}} in it")
	case len(name) > maxName:
		p.fail(posOf(v), "", "the name of a recipe has at most %d characters", maxName)
	case !recipeForm(name):
		p.fail(posOf(v), "it is the file's name without folder and .yaml",
			"%q cannot name a recipe: it is letters, digits, _ and -", clip(name))
	default:
		return true
	}
	return false
}

// readArgs reads what is handed to a sub-recipe: texts, also those inside lists
// and objects, are filled in when the step starts; everything else is handed on
// as it is.
func readArgs(p *parser, d *draft, k, v *yaml.Node) { d.Context = p.arguments(k, v) }

// arguments reads values by their names.
func (p *parser) arguments(k, v *yaml.Node) []Arg {
	if !p.mapping(k, v) {
		return nil
	}
	var list []Arg
	for i := 0; i+1 < len(v.Content); i += 2 {
		name, value := v.Content[i], v.Content[i+1]
		if p.twice[name] || !p.variable(name, name.Value, varForm) {
			continue
		}
		arg := Arg{Name: name.Value, Pos: posOf(name)}
		switch v := p.value(value).(type) {
		case string:
			arg.Text, arg.place = p.template(name, value, v), p.src.place(value)
		default:
			arg.JSON = p.asJSON(value, v)
			if bytes.Contains(arg.JSON, []byte("{{")) {
				tree := p.branch(name, value, v)
				arg.tree = &tree
			}
		}
		list = append(list, arg)
	}
	return list
}

func readDir(p *parser, d *draft, k, v *yaml.Node) {
	if dir, ok := p.filled(k, v); ok {
		d.Dir, d.dirPlace = p.template(k, v, dir), p.src.place(v)
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
	switch {
	case ok && t < 0:
		p.fail(posOf(v), "", "%q must be more than 0", k.Value)
		return
	case ok && t == 0:
		p.loose(posOf(v), "leave it out for no timeout", "%q must be more than 0", k.Value)
	}
	d.Timeout = t
}

func readRetry(p *parser, d *draft, k, v *yaml.Node) {
	if v.Kind == yaml.MappingNode {
		readKeys(p, v, retryKeys, 0, &d.Retry)
		return
	}
	d.Retry.MaxAttempts = p.count(k, v, maxAttempts)
}

// readOptional reads all spellings of the key; fatal says the opposite.
func readOptional(p *parser, d *draft, k, v *yaml.Node) {
	b := p.boolean(k, v)
	if k.Value == "fatal" {
		b = !b
	}
	if d.leeway != "" && b != d.Optional {
		p.loose(posOf(k), "leave one of them out", "%q and %q contradict each other", d.leeway, k.Value)
		d.Optional = true // it is enough that one says so
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
		if p.twice[name] || !p.variable(name, name.Value, envForm) {
			continue
		}
		text := p.text(name, value)
		if at := strings.Index(text, "{{"); at >= 0 {
			p.fail(p.src.inside(value, 1+len([]rune(text[:at]))), "a script reads every variable by itself: {{name}} or $NAME in the command",
				"a value of env is taken as it is written, nothing is filled in")
		}
		d.Env[name.Value] = text
	}
}

func readFailure(p *parser, d *draft, k, v *yaml.Node) {
	d.Failure = belay.FailureKind(p.choice(k, v, failureWords()...))
}

func readGroup(p *parser, d *draft, k, v *yaml.Node) {
	d.Group, _ = p.filled(k, v)
	d.groupPos = posOf(k)
}

// need is the id of a step that comes first, as it is written.
type need struct {
	id  belay.Path
	pos Pos
}

func readNeeds(p *parser, d *draft, k, v *yaml.Node) {
	if v.Kind != yaml.SequenceNode {
		p.fail(posOf(k), "write needs: [one, two], or needs: [] to start at once", "%q is a list of step ids, found %s", k.Value, kindOf(v))
		return
	}
	d.hasNeeds = true
	for _, n := range v.Content {
		if n.Kind != yaml.ScalarNode || isNull(n) {
			p.fail(posOf(n), "", "%q is a list of step ids, found %s", k.Value, kindOf(n))
			continue
		}
		d.needs = append(d.needs, need{belay.Path(n.Value), posOf(n)})
	}
}

// condition reads an expression and notes the names it reads. One that reads
// none is always the same, which is hardly what was meant.
func (p *parser) condition(k, v *yaml.Node) *expr.Expr {
	src, ok := p.filled(k, v)
	if !ok {
		return nil
	}
	if p.to != nil {
		p.to.condPlace = p.src.place(v)
	}
	if i := strings.Index(src, "{{"); i >= 0 {
		p.fail(p.src.inside(v, 1+len([]rune(src[:i]))), "write the name alone: condition: name == 'value'", "a condition reads variables by their names, without braces")
		return nil
	}
	p.altered(k, v)
	e, err := expr.Parse(src)
	if err != nil {
		p.cutScript(k, v, true)
	}
	if err != nil && p.compat {
		e = p.beginning(v, src, expr.Column(err))
	}
	if e == nil {
		p.badText(k, v, err)
		return nil
	}
	names := e.Names()
	if len(names) > 0 {
		for _, name := range names {
			p.note(use{name: name, pos: posOf(v), outside: true})
		}
		return e
	}
	always, err := e.Truth(func(string) (any, bool) { return nil, false })
	switch {
	case err != nil:
		p.badText(k, v, err)
	case always:
		p.warn(posOf(v), "leave it out", "this condition is always true")
	default:
		p.loose(posOf(v), "leave the step out, or make the condition depend on a variable", "this step can never run: its condition is always false")
	}
	return e
}

// beginning reads a condition as the older runner does, which ignores what
// comes after a complete one; nil when it does not begin with one.
func (p *parser) beginning(v *yaml.Node, src string, col int) *expr.Expr {
	text := []rune(src)
	if col < 2 || col > len(text) {
		return nil
	}
	rest := string(text[col-1:])
	switch c := rest[0]; {
	case isAlnum(c), strings.IndexByte("_'\"([<>", c) >= 0, strings.HasPrefix(rest, "=="), strings.HasPrefix(rest, "!="):
	default:
		return nil // not even a word of its language
	}
	e, err := expr.Parse(string(text[:col-1]))
	if err != nil {
		return nil
	}
	p.warn(p.src.inside(v, col), "", "the condition ends before this, and the rest has no effect")
	return e
}
