package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/graph"
	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/internal/pattern"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/recipe"
)

// outline walks through a recipe and all it calls, for explain and graph. A
// recipe that was shown once is only named when it is called again, so that
// what calls itself has an end.
type outline struct {
	set    *library.Set
	shown  map[string]bool            // by digest
	vars   map[string]json.RawMessage // given to the recipe that is run
	checks checker

	unhoused string // why there can be no worktrees, "" when there can
}

func newOutline(set *library.Set) *outline { return &outline{set: set, shown: map[string]bool{}} }

// callee is the recipe that a step calls, nil when it is not known before the
// run or was shown already.
func (o *outline) callee(st *recipe.Step) *recipe.Recipe {
	if !st.Type.Child() {
		return nil
	}
	return o.fresh(st.Recipe)
}

// instead is the recipe that is a step's fallback, nil as for callee.
func (o *outline) instead(st *recipe.Step) *recipe.Recipe {
	if st.Fallback == nil || st.Fallback.Recipe == "" {
		return nil
	}
	return o.fresh(st.Fallback.Recipe)
}

// fresh is a recipe by name that was not shown yet.
func (o *outline) fresh(name string) *recipe.Recipe {
	sub := o.set.Library.Recipes[o.set.Library.Names[name]]
	if sub == nil || o.shown[sub.Digest] {
		return nil
	}
	return sub
}

// given is the context that a recipe starts with: that of the root with what
// is set, that of another as it is declared.
func (o *outline) given(r *recipe.Recipe) []recipe.Var {
	if r != o.set.Root {
		return r.Context
	}
	var list []recipe.Var
	for _, v := range r.Context {
		if set, ok := o.vars[v.Name]; ok {
			v.JSON = set
		}
		list = append(list, v)
	}
	for _, name := range slices.Sorted(maps.Keys(o.vars)) {
		if !slices.ContainsFunc(list, func(v recipe.Var) bool { return v.Name == name }) {
			list = append(list, recipe.Var{Name: name, JSON: o.vars[name]})
		}
	}
	return list
}

// expects is what the steps of a recipe must leave behind.
func (o *outline) expects(r *recipe.Recipe) func(i int) belay.Expect {
	return func(i int) belay.Expect { return o.set.Expects(r, i) }
}

// graph is the picture of a recipe.
func (o *outline) graph(r *recipe.Recipe) *graph.Graph {
	o.shown[r.Digest] = true
	g := shapeOf(r, o.expects(r))
	for i := range r.Steps {
		if sub := o.callee(&r.Steps[i]); sub != nil {
			g.Nodes[i].Sub = o.graph(sub)
		}
	}
	return g
}

// shapeOf is a recipe as boxes and arrows, without what it calls.
func shapeOf(r *recipe.Recipe, expects func(i int) belay.Expect) *graph.Graph {
	g := &graph.Graph{Title: readable.Clean(r.Name)}
	for i := range r.Steps {
		st := &r.Steps[i]
		n := graph.Node{ID: string(st.ID), Type: string(st.Type), Note: readable.Clean(noteOf(st, expects(i))), Needs: st.Needs}
		if n.For = standsFor(r, st); len(n.For) > 0 {
			n.Needs = nil // it starts when those have failed
		}
		g.Nodes = append(g.Nodes, n)
	}
	return g
}

// standsFor are the steps that have a step as their fallback.
func standsFor(r *recipe.Recipe, st *recipe.Step) []int {
	if !st.IsFallback {
		return nil
	}
	var list []int
	for i := range r.Steps {
		if f := r.Steps[i].Fallback; f != nil && f.Step == st.ID {
			list = append(list, i)
		}
	}
	return list
}

// noteOf says in a few words what is special about a step.
func noteOf(st *recipe.Step, expect belay.Expect) string {
	var words []string
	if st.Type.Child() && st.Recipe != "" {
		words = append(words, st.Recipe)
	}
	if st.Type.Inside() {
		words = append(words, st.Call)
	}
	if st.Type.Agent() {
		if who := strings.TrimPrefix(strings.TrimPrefix(performer(st), ","), " "); who != "" {
			words = append(words, who)
		}
		words = append(words, "expect "+string(expect))
	}
	if st.Isolate == recipe.IsolateWorktree {
		words = append(words, "own worktree")
	}
	if st.Foreach != "" {
		words = append(words, "for each "+st.As+" in "+st.Foreach)
	}
	if text := repeatOf(st); text != "" {
		words = append(words, text)
	}
	if st.Condition != nil {
		words = append(words, "if "+strings.Join(strings.Fields(st.Condition.String()), " "))
	}
	switch {
	case st.Finally:
		words = append(words, "finally")
	case st.Optional:
		words = append(words, "optional")
	}
	if st.Once {
		words = append(words, "once")
	}
	if st.Fallback != nil && st.Fallback.Recipe != "" {
		words = append(words, "fallback recipe "+st.Fallback.Recipe)
	}
	return strings.Join(words, ", ")
}

// roundsOf is how many rounds a step has at most, and what ends them before.
func roundsOf(st *recipe.Step) (most int, until string) {
	switch {
	case st.Repeat == nil:
		return 0, ""
	case st.Repeat.Until == nil:
		return st.Repeat.Max, ""
	}
	return st.Repeat.Max, strings.Join(strings.Fields(st.Repeat.Until.String()), " ")
}

// repeatOf is the same in words, "" for a step that is done once.
func repeatOf(st *recipe.Step) string {
	most, until := roundsOf(st)
	switch {
	case most == 0:
		return ""
	case until == "":
		until = "one is done"
	}
	return fmt.Sprintf("up to %d rounds, until %s", most, until)
}

// exports are variables by their names in a script.
type exports map[string][]string

func exportsOf(names []string) exports {
	known := exports{}
	for _, n := range names {
		long, short := recipe.EnvNames(n)
		known[long] = append(known[long], n)
		if short != "" {
			known[short] = append(known[short], n)
		}
	}
	return known
}

var shellName = pattern.Lazy(`\$\{?[#!]?([A-Za-z_][A-Za-z0-9_]*)`)

// reads are the variables that a step looks at, sorted: those it names, and of
// the known ones those that its scripts mention as $NAME.
func reads(st *recipe.Step, known exports) []string {
	var names []string
	for _, s := range []*recipe.Script{st.Script, st.Verify} {
		if s == nil {
			continue
		}
		for _, u := range s.Uses {
			names = append(names, u.Value.Names()...)
		}
		if len(known) == 0 {
			continue
		}
		for _, m := range shellName().FindAllStringSubmatch(s.Source, -1) {
			names = append(names, known[m[1]]...)
		}
	}
	for _, arg := range slices.Concat(st.Context, st.With) {
		for _, t := range arg.Texts() {
			names = append(names, t.Names()...)
		}
	}
	if st.Prompt != nil {
		names = append(names, st.Prompt.Names()...)
	}
	if st.Dir != nil {
		names = append(names, st.Dir.Names()...)
	}
	if st.Condition != nil {
		names = append(names, st.Condition.Names()...)
	}
	if st.List() != "" {
		names = append(names, st.List())
	}
	if st.Repeat != nil {
		if st.Repeat.Until != nil {
			names = append(names, st.Repeat.Until.Names()...)
		}
		names = slices.DeleteFunc(names, func(n string) bool { return n == recipe.RoundVar || n == recipe.LastVar })
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// gives are the variables that a step sets.
func gives(st *recipe.Step) []string {
	var names []string
	if st.Output != "" {
		names = append(names, st.Output)
	}
	for _, o := range st.Outputs {
		names = append(names, o.Name)
	}
	return names
}

// variables are all that a recipe declares or sets.
func variables(r *recipe.Recipe) []string {
	var names []string
	for _, v := range r.Context {
		names = append(names, v.Name)
	}
	for i := range r.Steps {
		names = append(names, gives(&r.Steps[i])...)
		if r.Steps[i].Foreach != "" {
			names = append(names, r.Steps[i].As)
		}
		if r.Steps[i].Repeat != nil {
			names = append(names, recipe.RoundVar, recipe.LastVar)
		}
		if r.Steps[i].Finally {
			names = append(names, recipe.RunVar)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// caps are the limits of a step, in words.
func caps(st *recipe.Step) []string {
	var words []string
	if st.Timeout > 0 {
		words = append(words, "timeout "+st.Timeout.String())
	}
	if n := st.Retry.MaxAttempts; n > 1 {
		text := fmt.Sprintf("%d attempts", n)
		if st.Retry.Backoff > 0 {
			text += " with " + st.Retry.Backoff.String() + " between the first two"
		}
		words = append(words, text)
	}
	if st.Once {
		who := "a person decides"
		if st.Verify != nil {
			who = "verify decides"
		}
		words = append(words, "once: if Belay or the machine dies while it runs, "+who+" whether it runs again")
	}
	if st.Verify != nil {
		words = append(words, "checked by verify")
	}
	switch {
	case st.Finally:
		words = append(words, "finally: it runs however the run ends, and never changes how")
	case st.Optional:
		words = append(words, "optional: its failure does not fail the run")
	}
	if st.Escalate {
		words = append(words, "a failure is held for a person")
	}
	if st.Cure {
		words = append(words, "what only a person can lift (a login, a full disk) is held for a person")
	}
	return words
}
