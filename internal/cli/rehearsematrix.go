package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/story"
)

// maxCells bounds a matrix: more would not be read by anybody.
const maxCells = 20_000

// matrix tries every fault at every step of recipes.
func (a *app) matrix(ctx context.Context, cmd *cobra.Command, args []string, o rehearseOptions) (err error) {
	began := time.Now()
	names, err := a.recipesIn(args, o)
	if err != nil {
		return err
	}
	var cells []rehearse.Cell
	plays := map[string]*rehearsal{}
	templates, err := os.MkdirTemp("", "belay-rehearsal-")
	if err != nil {
		return exit.New(exit.Infra, "make a folder for the rehearsals", err, "")
	}
	defer closing(&err, "remove the rehearsals", func() error { return journal.RemoveAll(templates) })
	for i, name := range names {
		one := o
		one.run.json = false
		alone := o.run.dir == ""
		if alone {
			one.run.dir = filepath.Dir(name)
		}
		p, err := a.prepareRehearsal(cmd, name, one)
		if err != nil {
			return err
		}
		if alone && !p.here {
			if p.template, err = p.makeTemplate(ctx, filepath.Join(templates, strconv.Itoa(i))); err != nil {
				return err
			}
		}
		if o.limit == 0 {
			p.limit = cellLimit
		}
		plays[name] = p
		list := rehearse.Cells(name, p.targets)
		if o.sample > 0 {
			rehearse.Sample(list, o.sample, o.seed)
		}
		cells = append(cells, list...)
	}
	if len(cells) > maxCells {
		return usage(cmd, fmt.Errorf("%d rehearsals are too many: at most %d", len(cells), maxCells))
	}
	played, total := 0, 0
	for _, c := range cells {
		if c.Run {
			total++
		}
	}
	rehearse.Fill(ctx, cells, 2*runtime.GOMAXPROCS(0), func(ctx context.Context, c rehearse.Cell) (rehearse.Story, error) {
		p := *plays[c.Recipe]
		if c.Fault != "" {
			in, err := rehearse.Parse(fmt.Sprintf("%s=%s", c.Step, c.Fault))
			if err != nil {
				return rehearse.Story{}, err
			}
			p.orders.Faults = []rehearse.Injection{in}
		}
		return a.perform(ctx, &p, false)
	}, func(c rehearse.Cell) {
		played++
		if tenth := (total + 9) / 10; !a.verbose && (played%tenth == 0 || played == total) {
			a.say("%d of %s played", played, counted(total, "rehearsal"))
		}
		if a.verbose {
			bad := ""
			if c.Bad {
				bad = ", bad: " + c.Why
			}
			a.say("%s %s %s: %s, %s%s", c.Recipe, c.Step, c.Fault, c, c.Took.Round(time.Millisecond), bad)
		}
	})
	if ctx.Err() != nil {
		return exit.New(exit.Terminated, "rehearse", context.Cause(ctx), "")
	}
	return a.matrixTold(cmd, cells, plays, played, time.Since(began), o)
}

// makeTemplate makes what the folders of its cells are copied from.
func (p *rehearsal) makeTemplate(ctx context.Context, to string) (string, error) {
	from := p.orders.From
	if p.shipped {
		from = ""
	}
	if err := rehearse.Template(ctx, from, to); err != nil {
		return "", exit.New(exit.Infra, "rehearse", err, "work in the directory itself with --here, or name another with -C")
	}
	return to, nil
}

// playsAgents tells whether a recipe has agents: only they can end in a bare claim.
func playsAgents(cells []rehearse.Cell, recipe string) bool {
	return slices.ContainsFunc(cells, func(c rehearse.Cell) bool { return c.Recipe == recipe && c.Fault == rehearse.HollowClaim && c.Run })
}

// matrixTold prints a matrix and says how the command ends.
func (a *app) matrixTold(cmd *cobra.Command, cells []rehearse.Cell, plays map[string]*rehearsal, played int, took time.Duration, o rehearseOptions) error {
	asJSON := o.run.json
	bad, open, missed := 0, 0, 0
	hint := ""
	for _, c := range cells {
		if c.Bad {
			bad++
		}
		if c.Bad && c.Fault == "" && c.Word != "error" {
			hint = "first make the run without faults succeed: see it with " + a.aRehearsal(cmd, c.Recipe) + "; " + cmp.Or(o.script, "--script FILE") + " says what simulated agents do"
			if text := plays[c.Recipe].askedWords(c.Story); text != "" {
				hint = text
			} else if o.script == "" && !asJSON && playsAgents(cells, c.Recipe) {
				a.say("%s", madeUp)
			}
		}
		if c.Word == rehearse.NotHit {
			missed++
		}
		if !c.Run && c.Word == "endless" {
			open++
		}
	}
	if asJSON {
		for _, c := range cells {
			a.object(c)
		}
	} else {
		a.out.lines(rehearse.Table(cells, a.outWidth()))
		a.out.line("")
		a.out.line("%s in %s: %s", counted(played, "rehearsal"), took.Round(time.Second), matrixWords(bad, missed))
		if open > 0 {
			a.out.line("%s without a timeout: a hang there would never end, and was not tried", counted(open, "step"))
		}
		for _, c := range cells {
			if c.Bad {
				a.out.line("%s: %s", c.Name(), c.Why)
			}
		}
	}
	if bad > 0 {
		return exit.New(exit.Failed, "rehearse", fmt.Errorf("%d of %s %s bad", bad, counted(played, "rehearsal"), isAre(bad)), hint)
	}
	return nil
}

// aRehearsal is the command that rehearses a recipe alone, with the flags that were typed;
// the values of variables are left to the person, for they may be secrets.
func (a *app) aRehearsal(cmd *cobra.Command, recipe string) string {
	words := []string{a.name(), "rehearse", story.Quote(recipe)}
	for _, f := range givenFlags(cmd, "matrix", "sample", "limit", "json", "inject") {
		name, value, ok := strings.Cut(f, "=")
		if name == "--set" {
			value, _, _ = strings.Cut(value, "=")
			value += "=VALUE"
		}
		if words = append(words, name); ok {
			words = append(words, story.Quote(value))
		}
	}
	return strings.Join(words, " ")
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// matrixWords say what a matrix showed.
func matrixWords(bad, missed int) string {
	text := "passed: each ended, and none reported a false success"
	if bad > 0 {
		text = fmt.Sprintf("%d bad, named below", bad)
	}
	if missed > 0 {
		text += fmt.Sprintf("; in %d the step did not run", missed)
	}
	return text
}

// recipesIn are the recipes of a command line: files, and those in directories
// that no other one there calls.
func (a *app) recipesIn(args []string, o rehearseOptions) ([]string, error) {
	var files []string
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil || !info.IsDir() {
			files = append(files, arg)
			continue
		}
		found, err := a.recipesBelow(arg, o)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, exit.New(exit.Invalid, "find recipes", fmt.Errorf("there is none in %s", arg), "")
		}
		files = append(files, found...)
	}
	return files, nil
}

func (a *app) recipesBelow(dir string, o rehearseOptions) ([]string, error) {
	cfg, err := config.Load(a.environ)
	if err != nil {
		return nil, err
	}
	var files []string
	called := map[string]bool{}
	digest := map[string]string{}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(path)) || !looksLikeRecipe(path) {
			return err
		}
		set, err := a.shelf(o.run.shelves, filepath.Dir(path), cfg.RecipeBytes.Value).Load(path)
		if err != nil || set.Root == nil {
			return err
		}
		files = append(files, path)
		digest[path] = set.Root.Digest
		for d := range set.Library.Recipes {
			called[d] = called[d] || d != set.Root.Digest
		}
		return nil
	})
	if err != nil {
		return nil, exit.New(exit.Invalid, "find recipes", err, "")
	}
	return slices.DeleteFunc(files, func(f string) bool { return called[digest[f]] }), nil
}

// looksLikeRecipe tells a recipe from other YAML: it has a name and a list of steps.
func looksLikeRecipe(path string) bool {
	text, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	named, steps := false, false
	lines := bytes.Split(text, []byte("\n"))
	for i, line := range lines {
		named = named || bytes.HasPrefix(line, []byte("name:"))
		if !bytes.HasPrefix(line, []byte("steps:")) {
			continue
		}
		for _, next := range lines[i+1:] {
			if t := strings.TrimSpace(string(next)); t != "" && t[0] != '#' {
				steps = strings.HasPrefix(t, "- ")
				break
			}
		}
	}
	return named && steps
}
