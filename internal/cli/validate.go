package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/recipe"
)

type validateOptions struct {
	dir     string
	shelves []string
	json    bool
	github  bool
	explain bool
	compat  bool
	sets    setOptions

	vars    map[string]json.RawMessage // what sets says
	secrets []string                   // that the configuration names
	vain    func(*library.Set) []vain  // roles whose tools do nothing
	checks  checker
}

func (a *app) validateCommand() *cobra.Command {
	var o validateOptions
	cmd := command("validate RECIPE…", "check recipes and the recipes that they call, without running them", 0, -1,
		func(ctx context.Context, cmd *cobra.Command, args []string) error {
			return a.validate(ctx, cmd, args, o)
		})
	cmd.Flags().StringVarP(&o.dir, "dir", "C", "", "the directory that steps would run in (default: here)")
	cmd.Flags().StringArrayVarP(&o.shelves, "recipes", "R", nil, "a folder to look for recipes in, before all others")
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON object per problem and one per file")
	cmd.Flags().BoolVar(&o.github, "github", false, "print problems as annotations of GitHub Actions")
	cmd.Flags().BoolVar(&o.explain, "explain-differences", false, "list what belay does unlike the older runner, and why")
	compatFlag(cmd, &o.compat)
	setFlag(cmd, &o.sets)
	cmd.ValidArgsFunction = completeRecipe
	return cmd
}

// problemLine is a problem as --json prints it.
type problemLine struct {
	Kind     string `json:"kind"` // problem
	File     string `json:"file"`
	Line     int    `json:"line,omitempty"`
	Col      int    `json:"col,omitempty"`
	Severity string `json:"severity"` // error or warning
	Msg      string `json:"msg"`
	Hint     string `json:"hint,omitempty"`
}

// fileLine sums a file up.
type fileLine struct {
	Kind     string `json:"kind"` // file
	File     string `json:"file"`
	OK       bool   `json:"ok"`
	Steps    int    `json:"steps"`
	Errors   int    `json:"errors"`
	Warnings int    `json:"warnings"`
}

func (a *app) validate(ctx context.Context, cmd *cobra.Command, paths []string, o validateOptions) error {
	switch {
	case o.json && o.github:
		return usage(cmd, errors.New("--json and --github are two answers to one question"))
	case o.explain:
		a.differences(o.json)
	case len(paths) == 0:
		return noRecipe(cmd)
	}
	vars, err := a.variables(cmd, o.sets)
	if err != nil {
		return err
	}
	cfg, err := config.Load(a.environ)
	if err != nil {
		return err
	}
	dir, err := workDir(o.dir)
	if err != nil {
		return err
	}
	shelf := a.shelf(o.shelves, dir, cfg.RecipeBytes.Value)
	shelf.Compat, shelf.Given = o.compat, slices.Sorted(maps.Keys(vars))
	o.vars, o.secrets = vars, cfg.Secrets.Value
	o.checks = a.checker(cfg, dir)
	agents, err := a.rosterOf(cfg, "")
	if err != nil {
		return err
	}
	o.vain = func(set *library.Set) []vain { return vainTools(cfg, agents, set, cfg.Agents.Default.Value) }
	bad := 0
	for _, path := range paths {
		if !a.validateOne(ctx, shelf, path, o) {
			bad++
		}
	}
	if bad > 0 {
		return exit.New(exit.Invalid, "", fmt.Errorf("%s", refusedWords(bad, len(paths))), "")
	}
	return nil
}

// validateOne prints what is wrong with one recipe, which is the answer, and
// tells whether it could be run.
func (a *app) validateOne(ctx context.Context, shelf library.Shelf, path string, o validateOptions) bool {
	given := shelf.Given
	shelf.Given = append(handed(shelf, path), given...)
	set, err := shelf.Load(path)
	sum := fileLine{Kind: "file", File: path}
	if err != nil {
		a.unread(path, err, o)
		return false
	}
	for _, u := range unreadSets(set, given) {
		set.Problems = append(set.Problems, recipe.Problem{File: path, Msg: u.msg(), Hint: u.hint(), Warning: true})
	}
	if err := a.secretSets(o.vars, set, o.secrets); err != nil {
		set.Problems = append(set.Problems, recipe.Problem{File: path, Msg: err.Error(), Hint: hint(err)})
	}
	for _, v := range o.vain(set) {
		set.Note(v.problem, v.text)
	}
	for _, p := range o.checks.untested(set) {
		set.Note(p, nil)
	}
	for _, p := range set.Problems {
		if p.Warning {
			sum.Warnings++
		} else {
			sum.Errors++
		}
		switch {
		case o.json:
			a.object(lineOfProblem(p))
		case o.github:
			a.out.raw(p.GitHub())
		}
	}
	sum.OK = sum.Errors == 0 && set.Root != nil
	if set.Root != nil {
		sum.Steps = len(set.Root.Steps)
	}
	switch text := problemText(set, set.Problems, a.outWidth(), a.verbose); {
	case o.json:
		a.object(sum)
	case o.github:
	case text != "":
		a.out.raw(text)
	}
	if o.json || o.github {
		return sum.OK
	}
	if sum.OK {
		a.tellPlaces(ctx, set, path)
		a.out.line("%s: ok: %s", path, readable.Many(sum.Steps, "step"))
	} else if text := compatHint(shelf, path, set.Problems); text != "" {
		a.out.line("hint: %s", text)
	}
	return sum.OK
}

// handed are the variables that a recipe is given by those that call it, when it has the
// name of a shipped one: it stands for that.
func handed(shelf library.Shelf, path string) (names []string) {
	set, err := shelf.LoadShipped(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
	if err != nil || set.Root == nil {
		return nil // it is called by nobody
	}
	for _, v := range set.Root.Context {
		names = append(names, v.Name)
	}
	return names
}

// unread tells of a recipe that could not be looked at.
func (a *app) unread(path string, err error, o validateOptions) {
	switch {
	case o.json:
		a.object(problemLine{Kind: "problem", File: path, Severity: "error", Msg: err.Error(), Hint: hint(typed(err))})
		a.object(fileLine{Kind: "file", File: path, Errors: 1})
	case o.github:
		a.out.raw(recipe.Problem{File: path, Msg: err.Error(), Hint: hint(typed(err))}.GitHub())
	default:
		a.out.line("%s: error: %v", path, err)
		if text := hint(typed(err)); text != "" {
			a.out.line("hint: %s", text)
		}
	}
}

func lineOfProblem(p recipe.Problem) problemLine {
	l := problemLine{Kind: "problem", File: p.File, Line: p.Line, Col: p.Col, Severity: "error", Msg: p.Msg, Hint: p.Hint}
	if p.Warning {
		l.Severity = "warning"
	}
	return l
}

// refusedWords say how many of some recipes are refused.
func refusedWords(bad, all int) string {
	if all == 1 {
		return "the recipe cannot be run"
	}
	return fmt.Sprintf("%d of %d recipes cannot be run", bad, all)
}

// counted is a number of things.
func counted(n int, word string) string { return readable.Many(n, word) }
