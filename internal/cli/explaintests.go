package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/check"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/recipe"
)

// checker finds how Belay will look at what a step expects, before any run.
type checker struct {
	run    string // the directory of the run
	path   string // the PATH of the steps
	script string // the test command of the settings
}

func (a *app) checker(cfg *config.Config, dir string) checker {
	return checker{run: dir, path: a.env("PATH"), script: cfg.Tests.Value}
}

// spot is where the steps of a recipe run; open tells that it is known only
// during the run.
type spot struct {
	dir  string
	open bool
}

// in is where one step runs.
func (s spot) in(st *recipe.Step) spot {
	dir, known := library.DirOf(st, s.dir)
	return spot{dir, s.open || !known}
}

// nothingFound begins the words about a step whose tests were not found.
const nothingFound = "no test command found"

// tests are the commands that will test a step.
func (c checker) tests(r *recipe.Recipe, st *recipe.Step, at spot) []string {
	if belay.Expect(st.Expect) != belay.ExpectTests {
		return nil
	}
	brief := func(script string) string { return strings.Join(strings.Fields(script), " ") }
	switch {
	case st.Verify != nil && !st.OwnTests:
		return []string{brief(st.Verify.Source) + " (verify: of the step)"}
	case r.Tests != nil:
		return []string{brief(r.Tests.Source) + " (tests: of the recipe)"}
	case c.script != "":
		return []string{brief(c.script) + " (tests: of the settings)"}
	case at.open:
		return []string{"looked for when the step starts: its directory is not known before"}
	}
	var list []string
	for _, t := range check.Find(at.dir, check.Top(at.dir, c.run), c.path).Commands {
		place := t.Program.Path
		if place == "" {
			place = t.Program.Name + " is not installed"
		}
		list = append(list, fmt.Sprintf("%s (found in %s, %s)", check.Title(t), t.From, place))
	}
	if len(list) == 0 {
		return []string{nothingFound + " from " + at.dir + " upwards: it is looked for again after the agent"}
	}
	return list
}

// forge is how it is found out whether there is a pull request.
func (c checker) forge(st *recipe.Step) string {
	switch {
	case belay.Expect(st.Expect) != belay.ExpectPR:
		return ""
	case st.Verify != nil:
		return "verify: of the step"
	}
	for _, p := range check.Programs(c.path, check.Forges...) {
		if p.Path != "" {
			return fmt.Sprintf("asked with %s (%s)", p.Name, p.Path)
		}
	}
	return "neither gh nor glab is installed: nobody can be asked"
}

// untested warns of steps that expect tests where none are found.
func (c checker) untested(set *library.Set) []recipe.Problem {
	if set.Root == nil {
		return nil
	}
	var list []recipe.Problem
	seen := map[string]bool{}
	var walk func(r *recipe.Recipe, at spot)
	walk = func(r *recipe.Recipe, at spot) {
		mark := r.Digest + " " + at.dir
		if seen[mark] || len(seen) > maxTested {
			return
		}
		seen[mark] = true
		for i := range r.Steps {
			st := &r.Steps[i]
			here := at.in(st)
			for _, text := range c.tests(r, st, here) {
				if strings.HasPrefix(text, nothingFound) {
					list = append(list, recipe.Problem{File: st.Where(r), Line: st.Pos.Line, Col: st.Pos.Col, Warning: true,
						Msg: fmt.Sprintf("step %s expects tests, and %s", st.ID, text), Hint: "name the command with tests: or verify:, if the agent does not make one"})
				}
			}
			if sub := set.Library.Recipes[set.Library.Names[st.Recipe]]; st.Recipe != "" && sub != nil {
				walk(sub, here)
			}
		}
	}
	walk(set.Root, spot{dir: c.run})
	return slices.CompactFunc(list, func(a, b recipe.Problem) bool { return a == b })
}

// maxTested bounds the walk through recipes that call each other.
const maxTested = 1000
