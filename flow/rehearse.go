package flow

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/expr"
	"github.com/belay-run/belay/recipe"
)

// maxRehearsed bounds a rehearsal: recipes that call each other under
// conditions nobody can decide yet would fill any screen.
const maxRehearsed = 10_000

// Rehearsed is what is known about a step before anything runs.
type Rehearsed struct {
	Step    string         `json:"step"` // with the steps that it is nested in
	Type    belay.StepType `json:"type"`
	Depth   int            `json:"depth"`
	Take    Take           `json:"take"`
	Why     string         `json:"why,omitempty"`
	Dir     string         `json:"dir,omitempty"`     // "" while it depends on an output
	Problem string         `json:"problem,omitempty"` // it would be refused
	Spared  bool           `json:"spared,omitempty"`  // the run would go on without it: it or what it is nested in is optional
	Unmet   *belay.Place   `json:"-"`                 // where it is certain to be refused for want of a value
	Hint    string         `json:"-"`                 // what to do about that
}

// Take says whether a step would run.
type Take string

const (
	TakeYes     Take = "taken"
	TakeNo      Take = "not taken"
	TakeDepends Take = "depends" // on an output that is not there yet
)

// Rehearse walks through a recipe and all that it calls as a run would, with
// the given first record, and decides what can be decided without outputs. env
// looks up a secret in the environment that the steps would have.
func Rehearse(lib Library, first event.RunStarted, env func(name string) (string, bool)) ([]Rehearsed, error) {
	r := &rehearsal{known: lib, limits: first.Limits, env: env}
	_, err := r.walk("", first, map[string]belay.Path{}, fate{certain: true})
	return r.out, err
}

type rehearsal struct {
	known  Library
	limits belay.Limits
	env    func(name string) (string, bool)
	out    []Rehearsed
}

// fate is what is known of a run as a whole.
type fate struct {
	certain bool // it would certainly begin, and its failure would count
	spared  bool // its failure would not count
}

// scene is one run of a rehearsal.
type scene struct {
	*rehearsal
	*State
	prefix  string
	unknown map[string]belay.Path // variables that a step will set, and which
	fate
}

// walk rehearses one run and tells which variables it would set.
func (r *rehearsal) walk(prefix string, first event.RunStarted, unknown map[string]belay.Path, of fate) ([]string, error) {
	s := newState(belay.RunID("dry"), r.known)
	if err := s.begin(first, time.Time{}); err != nil {
		return nil, err
	}
	c := &scene{rehearsal: r, State: s, prefix: prefix, unknown: unknown, fate: of}
	var sets []string
	for _, i := range inOrder(s.prog.Steps) {
		if len(r.out) >= maxRehearsed {
			break
		}
		names, err := c.step(i)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			c.unknown[n] = s.prog.Steps[i].ID
		}
		sets = append(sets, names...)
	}
	return sets, nil
}

// inOrder gives the steps so that each comes after what it needs.
func inOrder(steps []recipe.Step) []int {
	order := make([]int, 0, len(steps))
	done := make([]bool, len(steps))
	var visit func(i int)
	visit = func(i int) {
		if done[i] {
			return
		}
		done[i] = true
		for _, n := range steps[i].Needs {
			visit(n)
		}
		order = append(order, i)
	}
	for i := range steps {
		visit(i)
	}
	return order
}

// step rehearses one step and gives the variables that it would set.
func (c *scene) step(i int) ([]string, error) {
	def := &c.prog.Steps[i]
	line := Rehearsed{Step: c.prefix + string(def.ID), Type: def.Type, Take: TakeYes, Spared: c.spared || def.Optional}
	for _, b := range c.prefix {
		if b == '/' {
			line.Depth++
		}
	}
	c.decide(def, &line)
	if line.Take == TakeNo || line.Problem != "" {
		c.out = append(c.out, line)
		return nil, nil
	}
	c.texts(i, &line)
	at := len(c.out)
	c.out = append(c.out, line)
	if def.Foreach != "" {
		c.items(i, &c.out[at])
	}
	if def.Repeat != nil && c.out[at].Why == "" {
		c.out[at].Why = fmt.Sprintf("up to %d rounds", def.Repeat.Max)
	}
	if c.closes(i) {
		return nil, c.last(line)
	}
	sets := setBy(def)
	if !def.Type.Child() || c.out[at].Problem != "" {
		return sets, nil
	}
	more, err := c.call(i, at)
	return append(sets, more...), err
}

func setBy(def *recipe.Step) []string {
	var names []string
	if def.Output != "" {
		names = append(names, def.Output)
	}
	if def.Failed != "" {
		names = append(names, def.Failed)
	}
	for _, o := range def.Outputs {
		names = append(names, o.Name)
	}
	return names
}

// open is the first of the names that is not known yet, and the step that sets it.
func (c *scene) pending(names []string) (belay.Path, bool) {
	for _, n := range names {
		if by, ok := c.unknown[n]; ok {
			return by, true
		}
	}
	return "", false
}

// decide says whether the step would be taken.
func (c *scene) decide(def *recipe.Step, line *Rehearsed) {
	if c.leftOut(def) {
		line.Take, line.Why = TakeNo, "tags"
		return
	}
	if def.Condition == nil {
		return
	}
	if by, ok := c.pending(def.Condition.Names()); ok {
		line.Take, line.Why = TakeDepends, fmt.Sprintf("on the output of %s: %s", by, def.Condition)
		if by == recipe.FinallyID {
			line.Why = "on how the run ends: " + def.Condition.String()
		}
		return
	}
	taken, err := def.Condition.Truth(c.vars.lookup())
	switch {
	case err != nil:
		line.Problem = c.undecided(c.index[def.ID], err).Error()
	case !taken:
		line.Take, line.Why = TakeNo, "condition is false: "+def.Condition.String()
	}
}

// texts renders what can be rendered.
func (c *scene) texts(i int, line *Rehearsed) {
	def := &c.prog.Steps[i]
	item := def.Item
	if def.Foreach != "" {
		item = def.As
	}
	if _, taken := c.unknown[item]; item != "" && !taken {
		c.unknown[item] = def.ID
		defer delete(c.unknown, item)
	}
	if def.Repeat != nil {
		defer c.hideRound(def)()
	}
	c.filled(i, line)
}

// hideRound makes the variables of a round unknown until it is called back.
func (c *scene) hideRound(def *recipe.Step) (back func()) {
	was := maps.Clone(c.unknown)
	c.unknown[recipe.RoundVar], c.unknown[recipe.LastVar] = def.ID, def.ID
	return func() {
		clear(c.unknown)
		maps.Copy(c.unknown, was)
	}
}

// filled renders what can be rendered with the variables as they are.
func (c *scene) filled(i int, line *Rehearsed) {
	def := &c.prog.Steps[i]
	complain := func(err error) {
		if err != nil && line.Problem == "" {
			line.Problem = err.Error()
		}
	}
	if def.Dir == nil || !c.depends(def.Dir) {
		dir, err := c.dir(i)
		line.Dir = dir
		complain(err)
	}
	for _, script := range []*recipe.Script{def.Script, def.Verify} {
		if script == nil {
			continue
		}
		for n := range script.Uses {
			complain(c.placeholder(i, &script.Uses[n], line))
		}
	}
	for _, a := range slices.Concat(def.Context, def.With) {
		if c.allKnown(&a) {
			_, err := c.argument(i, c.scope(i), &a)
			complain(err)
		}
	}
}

// allKnown tells whether nothing that an argument reads depends on an output.
func (c *scene) allKnown(a *recipe.Arg) bool {
	return !slices.ContainsFunc(a.Texts(), c.depends)
}

func (c *scene) depends(t *expr.Text) bool {
	_, open := c.pending(t.Names())
	return open
}

// call rehearses a sub-recipe.
func (c *scene) call(i, at int) ([]string, error) {
	def, line := &c.prog.Steps[i], &c.out[at]
	prog := c.known.Recipes[c.known.Names[def.Recipe]]
	of := fate{certain: c.certain && line.Take == TakeYes && !def.Optional, spared: line.Spared}
	switch {
	case prog == nil:
		line.Problem = fmt.Sprintf("sub-recipe %q was not found", def.Recipe)
		return nil, nil
	case line.Depth >= c.limits.MaxDepth && of.certain:
		line.Problem = fmt.Sprintf("recipe %s would be nested %d deep; the limit is %d", def.Recipe, line.Depth+1, c.limits.MaxDepth)
		return nil, nil
	case line.Depth >= c.limits.MaxDepth:
		return nil, nil // only an output could lead here
	}
	unknown := map[string]belay.Path{}
	for n, by := range c.unknown {
		unknown[n] = by
	}
	vars := c.down(i, prog, unknown)
	rules := slices.DeleteFunc(slices.Clone(prog.Rules), func(r recipe.Rule) bool { _, open := unknown[r.Name]; return open })
	if empty := c.emptyOnes(rules, func(n string) (belay.Value, bool) { v, ok := vars[n]; return v, ok }); empty != "" {
		line.Problem = fmt.Sprintf("recipe %s needs a value for %s", def.Recipe, empty)
		if of.certain {
			at := c.where(i, def.RecipePos())
			line.Unmet, line.Hint = &at, "hand it down with context:, or give it with --set"
		}
		return nil, nil
	}
	first := c.started
	first.Recipe, first.Vars, first.Each = c.known.Names[def.Recipe], vars, ""
	if line.Dir != "" {
		first.Dir = line.Dir
	}
	return c.walk(line.Step+"/", first, unknown, of)
}

// last rehearses the steps of finally. What they set reaches nobody.
func (c *scene) last(line Rehearsed) error {
	unknown := maps.Clone(c.unknown)
	unknown[recipe.RunVar] = recipe.FinallyID
	first := c.started
	first.Finally, first.Vars = true, c.vars.vars
	_, err := c.walk(line.Step+"/", first, unknown, fate{spared: true})
	return err
}

// down is the context of a sub-recipe; what depends on outputs is left unknown.
func (c *scene) down(i int, prog *recipe.Recipe, unknown map[string]belay.Path) map[string]belay.Value {
	def := &c.prog.Steps[i]
	vars := make(map[string]belay.Value, len(prog.Context)+len(c.vars.vars))
	for _, v := range prog.Context {
		vars[v.Name] = belay.Value{JSON: v.JSON}
	}
	for n, v := range c.vars.vars {
		vars[n] = v
	}
	if def.Foreach != "" {
		unknown[def.As] = def.ID
	}
	if def.Item != "" {
		unknown[def.Item] = def.ID
	}
	if def.Repeat != nil {
		unknown[recipe.RoundVar], unknown[recipe.LastVar] = def.ID, def.ID
		defer c.hideRound(def)()
	}
	for _, a := range def.Context {
		delete(unknown, a.Name)
		for _, t := range a.Texts() {
			by, open := c.pending(t.Names())
			if def.Foreach != "" && slices.Contains(t.Names(), def.As) {
				by, open = def.ID, true
			}
			if open {
				unknown[a.Name] = by
			}
		}
		if _, open := unknown[a.Name]; open {
			continue
		}
		if v, err := c.argument(i, c.vars, &a); err == nil { // an error was told with the step
			vars[a.Name] = v
		}
	}
	return vars
}
