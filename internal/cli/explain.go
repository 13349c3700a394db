package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/recipe"
)

type sourceOptions struct {
	dir     string
	shelves []string
	json    bool
	compat  bool
	sets    setOptions
}

// sourceFlags are the flags of commands that read recipes and start nothing.
func sourceFlags(cmd *cobra.Command, o *sourceOptions, asJSON string) {
	cmd.Flags().StringVarP(&o.dir, "dir", "C", "", "the directory that steps would run in (default: here)")
	cmd.Flags().StringArrayVarP(&o.shelves, "recipes", "R", nil, "a folder to look for recipes in, before all others")
	if asJSON != "" {
		cmd.Flags().BoolVar(&o.json, "json", false, asJSON)
	}
	cmd.ValidArgsFunction = completeRecipe
}

func (a *app) explainCommand() *cobra.Command {
	var o sourceOptions
	cmd := command("explain RECIPE", "show what a recipe would run, in order, without running it", 1, 1,
		func(ctx context.Context, cmd *cobra.Command, args []string) error {
			return a.explain(ctx, cmd, args[0], o)
		})
	sourceFlags(cmd, &o, "print one JSON object per recipe and per step")
	compatFlag(cmd, &o.compat)
	setFlag(cmd, &o.sets)
	return cmd
}

// recipeLine is a recipe as explain --json prints it.
type recipeLine struct {
	Kind        string            `json:"kind"` // recipe
	Recipe      string            `json:"recipe"`
	File        string            `json:"file"`
	Depth       int               `json:"depth"`
	Description string            `json:"description,omitempty"`
	Steps       int               `json:"steps"`
	Context     map[string]any    `json:"context,omitempty"`
	Secrets     []string          `json:"secrets,omitempty"`
	Isolate     bool              `json:"isolate,omitempty"`
	Policy      string            `json:"policy,omitempty"`
	Recovery    string            `json:"recovery,omitempty"`
	MaxAgents   string            `json:"max_agents,omitempty"` // a number, or an expression that gives one
	Rules       map[string]string `json:"context_validation,omitempty"`
}

// planLine is a step as explain --json prints it.
type planLine struct {
	Kind      string     `json:"kind"` // step
	Recipe    string     `json:"recipe"`
	Depth     int        `json:"depth"`
	ID        belay.Path `json:"id"`
	Type      string     `json:"type"`
	Condition string     `json:"condition,omitempty"`
	Needs     []string   `json:"needs"`
	Reads     []string   `json:"reads,omitempty"`
	Gives     []string   `json:"gives,omitempty"`
	Calls     string     `json:"calls,omitempty"`
	Agent     string     `json:"agent,omitempty"`
	Model     string     `json:"model,omitempty"`
	Expect    string     `json:"expect,omitempty"`
	Tests     []string   `json:"tests,omitempty"` // how they are run
	Forge     string     `json:"forge,omitempty"` // how it is asked
	Isolate   bool       `json:"isolate,omitempty"`
	Merge     string     `json:"merge,omitempty"`  // of an isolated step: auto or branch
	Placed    string     `json:"placed,omitempty"` // where it works, and why, when that is not the run's tree alone
	Foreach   string     `json:"foreach,omitempty"`
	Rounds    int        `json:"rounds,omitempty"` // of repeat: how many there are at most
	Until     string     `json:"until,omitempty"`  // what ends them before
	Group     string     `json:"parallel_group,omitempty"`
	Tags      []string   `json:"when_tags,omitempty"`
	TimeoutMS int64      `json:"timeout_ms,omitempty"`
	Attempts  int        `json:"attempts"`
	Once      bool       `json:"once,omitempty"`
	Optional  bool       `json:"optional,omitempty"`
	Finally   bool       `json:"finally,omitempty"`
	Verify    bool       `json:"verify,omitempty"`
	Role      string     `json:"role,omitempty"`
	Policy    string     `json:"policy,omitempty"`
	Recovery  string     `json:"recovery,omitempty"`
	Fallback  string     `json:"fallback,omitempty"` // "recipe NAME" or "step ID"
	Instead   []string   `json:"instead,omitempty"`  // steps that it stands in for; it then does not start by itself
}

func (a *app) explain(ctx context.Context, cmd *cobra.Command, name string, o sourceOptions) error {
	vars, err := a.variables(cmd, o.sets)
	if err != nil {
		return err
	}
	shelf, err := a.sourceShelf(o)
	if err != nil {
		return err
	}
	shelf.Given = slices.Sorted(maps.Keys(vars))
	set, err := a.load(shelf, name)
	if err != nil {
		return err
	}
	if err := a.secretSets(vars, set, nil); err != nil {
		return err
	}
	a.warnUnread(set, vars)
	out := newOutline(set)
	out.vars = vars
	cfg, err := config.Load(a.environ)
	if err != nil {
		return err
	}
	dir, err := workDir(o.dir)
	if err != nil {
		return err
	}
	out.unhoused = unhoused(ctx, dir)
	out.checks = a.checker(cfg, dir)
	a.explainRecipe(out, set.Root, spot{dir: dir}, 0, o.json)
	return nil
}

// sourceShelf is where a command that only looks at recipes finds them.
func (a *app) sourceShelf(o sourceOptions) (library.Shelf, error) {
	dir, most, err := a.place(o.dir)
	shelf := a.shelf(o.shelves, dir, most)
	shelf.Compat = o.compat
	return shelf, err
}

func compatFlag(cmd *cobra.Command, compat *bool) {
	cmd.Flags().BoolVar(compat, "compat", false, "read recipes as the older runner would, where that is safe")
}

// explainRecipe tells of a recipe step by step, and below a step of what it calls.
func (a *app) explainRecipe(o *outline, r *recipe.Recipe, at spot, depth int, asJSON bool) {
	o.shown[r.Digest] = true
	given := o.given(r)
	known := exportsOf(append(variables(r), slices.Sorted(maps.Keys(o.vars))...))
	if asJSON {
		a.object(recipeLineOf(r, given, depth))
	} else {
		a.head(r, given, depth)
	}
	places := placings(o.set, r)
	for n, i := range shapeOf(r, o.expects(r)).Order() {
		st := &r.Steps[i]
		line := planLineOf(r, st, o.set.Expects(r, i), known, depth)
		line.Isolate, line.Merge, line.Placed = places[i].Isolated, string(places[i].Merge), housing(places[i], o.unhoused)
		line.Tests, line.Forge = o.checks.tests(r, st, at.in(st)), o.checks.forge(st)
		if asJSON {
			a.object(line)
		} else {
			a.plan(r, st, line, n+1)
		}
		if sub := o.callee(st); sub != nil {
			a.explainRecipe(o, sub, at.in(st), depth+1, asJSON)
		}
		if sub := o.instead(st); sub != nil {
			a.explainRecipe(o, sub, at.in(st), depth+1, asJSON)
		}
	}
}

const indent = "       "

func (a *app) head(r *recipe.Recipe, given []recipe.Var, depth int) {
	in := strings.Repeat(indent, depth)
	a.out.line("%srecipe %s: %s", in, readable.Clean(r.Name), readable.Many(len(r.Steps), "step"))
	if r.Description != "" {
		a.out.line("%s  %s", in, readable.Clean(strings.Join(strings.Fields(r.Description), " ")))
	}
	for _, v := range given {
		a.out.line("%s  %s = %s", in, v.Name, readable.Cut(readable.Clean(string(v.JSON)), 80))
	}
	if r.Isolate {
		a.out.line("%s  isolate: the run has a worktree of its own", in)
	}
	if r.Ends != nil {
		a.out.line("%s  ends: as %s, or worse", in, strings.Join(strings.Fields(r.Ends.String()), " "))
	}
	if r.MaxAgents != nil && depth == 0 {
		a.out.line("%s  max_agents: %s", in, strings.Join(strings.Fields(r.MaxAgents.String()), " "))
	}
	if r.Policy != "" {
		a.out.line("%s  policy: %s", in, r.Policy)
	}
	if r.Recovery != "" {
		a.out.line("%s  recovery: %s", in, r.Recovery)
	}
	if len(r.Secrets) > 0 {
		a.out.line("%s  secret: %s", in, strings.Join(r.Secrets, ", "))
	}
}

// plan prints a step and, below it, what is to be known about it.
func (a *app) plan(r *recipe.Recipe, st *recipe.Step, l planLine, n int) {
	in := strings.Repeat(indent, l.Depth)
	a.out.line("%s%3d. %s  %s", in, n, st.ID, doer(st))
	for _, row := range [][2]string{
		{"when", conditionOf(st)},
		{"after", afterOf(r, st)},
		{"instead", strings.Join(idsOf(r, standsFor(r, st)), ", ")},
		{"each", st.Foreach},
		{"repeat", repeatOf(st)},
		{"group", st.Group},
		{"tags", strings.Join(st.Tags, ", ")},
		{"reads", strings.Join(l.Reads, ", ")},
		{"expect", expected(st, belay.Expect(l.Expect))},
		{"tests", strings.Join(l.Tests, "; ")},
		{"forge", l.Forge},
		{"isolate", l.Placed},
		{"guard", guarded(r, st)},
		{"gives", strings.Join(gives(st), ", ")},
		{"rules", strings.Join(caps(st), "; ")},
		{"role", st.Role},
		{"policy", st.Policy},
		{"recover", st.Recovery},
		{"else", elseOf(st)},
	} {
		if row[1] != "" {
			a.out.line("%s%s%-7s %s", in, indent, row[0], readable.Clean(row[1]))
		}
	}
}

// guarded says which files an agent of a step may not change.
func guarded(r *recipe.Recipe, st *recipe.Step) string {
	said := cmp.Or(st.Guard, r.Guard)
	switch {
	case said != nil && len(said.Globs) == 0:
		return "nothing (guard: [])"
	case !st.Type.Agent() && said == nil:
		return "" // only an agent that repairs it, by default
	}
	var list []string
	if said != nil {
		list = said.Globs
	}
	text := strings.Join(list, ", ")
	if files := st.Verify.RunsFiles(); st.Type.Agent() && len(files) > 0 {
		text = strings.TrimPrefix(text+"; "+strings.Join(files, ", ")+": verify runs it, so the agent may not change it if it is there before the step", "; ")
	}
	return text
}

// doer says who does a step.
func doer(st *recipe.Step) string {
	switch word := string(st.Type); {
	case st.Type.Agent():
		return word + performer(st)
	case st.Type.Child():
		return word + " " + readable.Clean(st.Recipe)
	case st.Type.Inside():
		return word + " " + st.Call
	default:
		return word
	}
}

// performer is the agent that does a step: one by name, or as a persona, and
// with which model. A step that names nobody leaves it to the run.
func performer(st *recipe.Step) string {
	text := ""
	switch {
	case strings.Contains(st.Agent, ":"):
		text = " as " + readable.Clean(st.Agent)
	case st.Agent != "":
		text = " " + readable.Clean(st.Agent)
	}
	if st.Model != "" {
		text += ", model " + readable.Clean(st.Model)
	}
	return text
}

// expected says what an agent must leave behind.
func expected(st *recipe.Step, expect belay.Expect) string {
	text := ""
	switch expect {
	case belay.ExpectNone:
		text = "none: nothing has to be left behind"
	case belay.ExpectChange:
		text = "change: a changed file, or a commit"
	case belay.ExpectTests:
		text = "tests: belay runs them, and they pass"
	case belay.ExpectPR:
		text = "pr: a pull request that the forge knows"
	case belay.ExpectAnswer:
		text = "answer: a final text"
	}
	switch {
	case text == "" || st.Expect != "":
		return text
	case expect == belay.ExpectChange:
		return text + " (by default: nobody reads an answer of it)"
	}
	return text + " (by default: it is read)"
}

func conditionOf(st *recipe.Step) string {
	if st.Condition == nil {
		return ""
	}
	return strings.Join(strings.Fields(st.Condition.String()), " ")
}

// afterOf is what a step waits for; one that stands in for another waits for
// the end of that one alone.
func afterOf(r *recipe.Recipe, st *recipe.Step) string {
	if st.IsFallback {
		return ""
	}
	return strings.Join(idsOf(r, st.Needs), ", ")
}

// elseOf says what is done when a step stays failed.
func elseOf(st *recipe.Step) string {
	switch {
	case st.Fallback == nil:
		return ""
	case st.Fallback.Recipe != "":
		return "recipe " + st.Fallback.Recipe
	}
	return "step " + string(st.Fallback.Step)
}

func idsOf(r *recipe.Recipe, steps []int) []string {
	ids := make([]string, 0, len(steps))
	for _, k := range steps {
		ids = append(ids, string(r.Steps[k].ID))
	}
	return ids
}

func recipeLineOf(r *recipe.Recipe, given []recipe.Var, depth int) recipeLine {
	l := recipeLine{
		Kind: "recipe", Recipe: r.Name, File: r.File, Depth: depth, Description: r.Description,
		Steps: len(r.Steps), Secrets: r.Secrets, Isolate: r.Isolate, Policy: r.Policy, Recovery: r.Recovery, Context: map[string]any{}, Rules: map[string]string{},
	}
	for _, v := range given {
		l.Context[v.Name] = v.JSON
	}
	for _, rule := range r.Rules {
		l.Rules[rule.Name] = string(rule.Kind)
	}
	if r.MaxAgents != nil {
		l.MaxAgents = r.MaxAgents.String()
	}
	return l
}

func planLineOf(r *recipe.Recipe, st *recipe.Step, expect belay.Expect, known exports, depth int) planLine {
	rounds, until := roundsOf(st)
	return planLine{
		Kind: "step", Recipe: r.Name, Depth: depth, ID: st.ID, Type: string(st.Type), Condition: conditionOf(st),
		Needs: idsOf(r, st.Needs), Reads: reads(st, known), Gives: gives(st), Calls: st.Recipe, Agent: st.Agent,
		Model: st.Model, Expect: string(expect),
		Foreach: st.Foreach, Rounds: rounds, Until: until, Group: st.Group, Tags: st.Tags, TimeoutMS: st.Timeout.Milliseconds(),
		Attempts: max(st.Retry.MaxAttempts, 1), Once: st.Once, Optional: st.Optional, Finally: st.Finally, Verify: st.Verify != nil,
		Role: st.Role, Policy: st.Policy, Recovery: st.Recovery, Fallback: elseOf(st), Instead: idsOf(r, standsFor(r, st)),
	}
}

// tooBig says that a picture would be of no use to anybody.
func tooBig(steps, most int) error {
	return exit.New(exit.Invalid, "", fmt.Errorf("a picture of %d steps is more than can be read, at most %d", steps, most),
		"use --format text, or draw a sub-recipe")
}
