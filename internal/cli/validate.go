package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/recipe"
)

type validateOptions struct {
	dir     string
	shelves []string
	json    bool
}

func (a *app) validateCommand() *cobra.Command {
	var o validateOptions
	cmd := command("validate RECIPE…", "check recipes and all they call; start nothing", 1, -1,
		func(_ context.Context, _ *cobra.Command, args []string) error { return a.validate(args, o) })
	cmd.Flags().StringVarP(&o.dir, "dir", "C", "", "the directory that steps would run in (default: here)")
	cmd.Flags().StringArrayVarP(&o.shelves, "recipes", "R", nil, "a folder to look for recipes in, before all others")
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON object per problem and one per file")
	cmd.ValidArgsFunction = completeFiles("yaml", "yml")
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

func (a *app) validate(paths []string, o validateOptions) error {
	cfg, err := config.Load(a.environ)
	if err != nil {
		return err
	}
	dir, err := workDir(o.dir)
	if err != nil {
		return err
	}
	shelf := a.shelf(o.shelves, dir, cfg.RecipeBytes.Value)
	bad := 0
	for _, path := range paths {
		if !a.validateOne(shelf, path, o.json) {
			bad++
		}
	}
	if bad > 0 {
		return belay.Exit(belay.ExitInvalid, "", fmt.Errorf("%d of %d recipes cannot be run", bad, len(paths)), "")
	}
	return nil
}

// validateOne prints what is wrong with one recipe, which is the answer, and
// tells whether it could be run.
func (a *app) validateOne(shelf library.Shelf, path string, asJSON bool) bool {
	set, err := shelf.Load(path)
	sum := fileLine{Kind: "file", File: path}
	if err != nil {
		sum.Errors = 1
		if asJSON {
			a.object(problemLine{Kind: "problem", File: path, Severity: "error", Msg: err.Error(), Hint: hint(typed(err))})
			a.object(sum)
		} else {
			a.out.line("%s: error: %v", path, err)
		}
		return false
	}
	for _, p := range set.Problems {
		if p.Warning {
			sum.Warnings++
		} else {
			sum.Errors++
		}
		if asJSON {
			a.object(lineOfProblem(p))
		}
	}
	sum.OK = sum.Errors == 0 && set.Root != nil
	if set.Root != nil {
		sum.Steps = len(set.Root.Steps)
	}
	switch text := set.Text(); {
	case asJSON:
		a.object(sum)
	case text != "":
		a.out.line("%s", text)
	}
	if sum.OK && !asJSON {
		a.out.line("%s: ok: %d %s", path, sum.Steps, plural(sum.Steps, "step"))
	}
	return sum.OK
}

func lineOfProblem(p recipe.Problem) problemLine {
	l := problemLine{Kind: "problem", File: p.File, Line: p.Line, Col: p.Col, Severity: "error", Msg: p.Msg, Hint: p.Hint}
	if p.Warning {
		l.Severity = "warning"
	}
	return l
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
