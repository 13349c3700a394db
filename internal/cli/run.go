package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/internal/pattern"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/worktree"
)

type runOptions struct {
	sets        setOptions
	dir         string
	shelves     []string
	maxParallel int
	id          string
	detach      bool
	json        bool
	secrets     []string
	include     []string
	exclude     []string
	compat      bool
	dry         bool
	agents      agentOptions
	isolate     bool
	ownRecipes  bool   // one that replaces a shipped one is the user's, not the project's
	alone       string // the directory that no other task may change in place; "" = it has none

	like *event.RunStarted // the run whose agents, budget and recoveries this one has; nil = the flags say it
	made func() error      // called when the folder of the run is there; nil = nobody waits for it
}

func (a *app) runCommand() *cobra.Command {
	var o runOptions
	cmd := command("run RECIPE", "run a recipe", 1, 1,
		func(ctx context.Context, cmd *cobra.Command, args []string) error {
			return a.run(ctx, cmd, args[0], o)
		})
	cmd.Long = "Run a recipe, and wait for its end.\n\n" + setHelp
	setFlag(cmd, &o.sets)
	f := cmd.Flags()
	startFlags(cmd, &o)
	f.StringSliceVar(&o.include, "include-tags", nil, "of the steps with when_tags, run only those with one of these")
	f.StringSliceVar(&o.exclude, "exclude-tags", nil, "run no step with one of these when_tags")
	compatFlag(cmd, &o.compat)
	f.BoolVar(&o.isolate, "isolate", false, "run in a new git worktree on a new branch, like isolate: worktree in the recipe")
	outputFlag(cmd, &a.wants)
	f.BoolVar(&o.dry, "dry-run", false, "check everything with the given values and say what would run; run nothing")
	cmd.ValidArgsFunction = completeRecipe
	return cmd
}

// startFlags are those of every command that starts a run.
func startFlags(cmd *cobra.Command, o *runOptions) {
	f := cmd.Flags()
	f.StringVarP(&o.dir, "dir", "C", "", "the directory that steps run in (default: here)")
	f.StringArrayVarP(&o.shelves, "recipes", "R", nil, "a folder with recipes, searched before all others")
	f.IntVar(&o.maxParallel, "max-parallel", 0, "the maximum number of processes at the same time (default: the setting limits.max_parallel, 8)")
	f.StringVar(&o.id, "id", "", "the id of the run (default: a short random one)")
	f.BoolVar(&o.detach, "detach", false, "run in the background; print the id and return")
	f.BoolVar(&o.json, "json", false, "print every record as a line of JSON")
	secretFlag(cmd, &o.secrets)
	agentFlags(cmd, &o.agents)
}

// idForm is the form of ids that the journal takes. It is asked here as well,
// because a name that was given is input (65) and refused before a recipe is read.
var idForm = pattern.Lazy(`^[a-z0-9][a-z0-9_-]{0,39}$`)

func (a *app) run(ctx context.Context, cmd *cobra.Command, name string, o runOptions) error {
	if err := onlyOutput(cmd, "json", "detach", "dry-run"); err != nil {
		return err
	}
	vars, err := a.variables(cmd, o.sets)
	if err != nil {
		return err
	}
	for n, v := range a.program.Vars {
		if err := variableName(n); err != nil {
			return usage(cmd, err)
		}
		vars[n] = v
	}
	if task, err := a.isTask(name, vars, o); err != nil {
		return err
	} else if task {
		return a.runTask(ctx, cmd, vars, o)
	}
	if work, err := a.isWork(name, vars, o); err != nil {
		return err
	} else if work {
		return a.runWork(ctx, cmd, vars, o)
	}
	if err := a.readablePlan(name, vars, o); err != nil {
		return err
	}
	return a.begin(ctx, cmd, name, vars, o)
}

// begin starts a run with its variables and drives it.
func (a *app) begin(ctx context.Context, cmd *cobra.Command, name string, vars map[string]json.RawMessage, o runOptions) (err error) {
	if err := a.canBegin(cmd, o); err != nil {
		return err
	}
	dir, err := workDir(o.dir)
	if err != nil {
		return err
	}
	if o.isolate {
		if _, err := worktree.Top(ctx, dir); err != nil {
			return exit.New(exit.Invalid, "", fmt.Errorf("--isolate makes a git worktree, and %s is in no repository that git can use: %w", dir, err),
				"nothing was started; make a repository there with git init and a first commit, or leave out --isolate")
		}
	}
	if o.dry {
		return a.dryRun(cmd, name, dir, vars, o)
	}
	ws, err := a.open()
	if err != nil {
		return err
	}
	defer closing(&err, "close state", ws.close)
	if o.alone != "" {
		release, err := a.alone(ws.state.Dir(), o.alone)
		if err != nil {
			return err
		}
		if o.detach {
			release() // its driver takes it
		} else {
			defer release()
		}
	}
	spec, err := a.specOf(ctx, cmd, ws, name, dir, vars, o)
	if err != nil {
		return err
	}
	spec.Drives = !o.detach
	open, err := ws.local.Create(spec)
	if err != nil {
		return a.beginAgain(ws, cmd, name, o, err)
	}
	a.subject = open.ID
	if o.made != nil {
		if err := o.made(); err != nil {
			return errors.Join(err, open.Close())
		}
	}
	if spec.Set.Root.Name == doRecipe {
		keepTitle(ws.state.Folder(open.ID), vars, slices.Contains(o.exclude, workTag))
	}
	if slices.Contains([]string{doRecipe, workRecipe}, spec.Set.Root.Name) {
		if err := keepGit(ctx, dir, ws.state.Folder(open.ID)); err != nil {
			return errors.Join(err, open.Close())
		}
	}
	if o.detach {
		err = a.detach(ctx, ws, open, o.json)
	} else {
		if !o.json {
			open.WhenTaken(func() { a.say("run %s of %s", open.ID, recipeWords(spec.Set.Root)) })
		}
		err = a.drive(ctx, ws, open, o.json)
	}
	if err != nil && !open.Begun() {
		return a.beginAgain(ws, cmd, name, o, err)
	}
	return err
}

// specOf is the run that is asked for, once its recipe, its values and its agents are
// known to be good.
func (a *app) specOf(ctx context.Context, cmd *cobra.Command, ws *workshop, name, dir string, vars map[string]json.RawMessage, o runOptions) (engine.Spec, error) {
	if o.maxParallel > 0 {
		if err := ws.cfg.SetMaxParallel(o.maxParallel, "--max-parallel"); err != nil {
			return engine.Spec{}, usage(cmd, err)
		}
	}
	if err := a.hide(cmd, ws, o.secrets); err != nil {
		return engine.Spec{}, err
	}
	spec, err := a.spec(ws.cfg, name, dir, vars, o)
	if err == nil {
		err = a.secretSets(vars, spec.Set, ws.local.Secrets)
	}
	if err == nil {
		err = givesOutput(spec.Set.Library, spec.Set.Root, a.wants)
	}
	if err != nil {
		return spec, err
	}
	a.sayReplaced(spec.Set)
	a.warnUnread(spec.Set, vars)
	if cmd.Name() == "run" { // others choose them by themselves
		a.warnTags(spec.Set, "--include-tags", o.include)
		a.warnTags(spec.Set, "--exclude-tags", o.exclude)
	}
	if err := a.unmet(spec, name); err != nil {
		return spec, err
	}
	if err := a.staff(cmd, &spec, ws.cfg, a.agents, o.agents); err != nil {
		return spec, err
	}
	if o.like != nil {
		a.sameAs(*o.like, &spec)
	}
	return spec, a.loggedIn(ctx, &spec, ws.cfg, a.agents)
}

func isFull(err error) bool {
	var full *journal.Full
	return errors.As(err, &full)
}

// beginAgain is the error of a run that never began because a disk is full: nothing is
// there to go on with.
func (a *app) beginAgain(ws *workshop, cmd *cobra.Command, name string, o runOptions, err error) error {
	if !isFull(err) && !ws.state.Full() {
		return err
	}
	again := "the same command"
	if cmd.Name() == "run" {
		c := story.Command{"run", name}
		if o.id != "" {
			c = append(c, "--id", o.id)
		}
		again = c.Text(a.name())
		if len(o.sets.sets)+len(o.sets.files)+len(o.sets.envs) > 0 {
			again += " with the same values"
		}
	}
	return exit.New(exit.Code(err), "", err, fmt.Sprintf("free space on %s (or raise the quota or file size limit), then start it again: %s", ws.state.Dir(), again))
}

// canBegin refuses flags that no run can begin with.
func (a *app) canBegin(cmd *cobra.Command, o runOptions) error {
	if cmd.Flags().Changed("max-parallel") && o.maxParallel < 1 {
		return usage(cmd, fmt.Errorf("--max-parallel %d: must be at least 1", o.maxParallel))
	}
	if lastWord().MatchString(o.id) {
		return exit.New(exit.Invalid, "", fmt.Errorf("--id %q cannot be the id of a run: it names the newest run of a directory", o.id),
			"give the run another id")
	}
	if cmd.Flags().Changed("id") && !idForm().MatchString(o.id) {
		return exit.New(exit.Invalid, "", fmt.Errorf("--id %q cannot be the id of a run", o.id),
			"use 1 to 40 of a-z, 0-9, - and _, with a letter or digit first")
	}
	if o.detach && o.id == "" && a.out.closed {
		return exit.New(exit.Infra, "", fmt.Errorf("the id of the run could not be told: %w", errShut),
			"nothing was started; name the run with --id, or give it a standard output")
	}
	return nil
}

// spec is the run that a command line asks for.
func (a *app) spec(cfg *config.Config, name, dir string, vars map[string]json.RawMessage, o runOptions) (engine.Spec, error) {
	shelf := a.shelf(o.shelves, dir, cfg.RecipeBytes.Value)
	if o.ownRecipes {
		shelf.Own = append([]string{}, library.OwnPlaces(a.env)...)
	}
	shelf.Compat, shelf.Given = o.compat, slices.Sorted(maps.Keys(vars))
	set, err := a.load(shelf, name)
	shelves := slices.Clone(o.shelves)
	for i := range shelves {
		shelves[i], err = absolute(shelves[i], err)
	}
	return engine.Spec{
		Set: set, Vars: vars, Dir: dir, ID: belay.RunID(o.id), MaxParallel: cfg.MaxParallel.Value,
		Include: o.include, Exclude: o.exclude, Isolate: o.isolate, Tests: cfg.Tests.Value, Shelves: shelves,
	}, err
}

// absolute is the whole path of a folder, unless something is wrong already.
func absolute(dir string, err error) (string, error) {
	if err != nil {
		return dir, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return dir, nowhere(err)
	}
	return dir, nil
}

// nowhere is the error of a process whose working directory cannot be told, for which there
// is hardly another reason than that it was deleted.
func nowhere(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("the working directory was deleted")
	}
	return exit.New(exit.Invalid, "find directory", err, "cd to a directory that is there, or name it whole with -C where the command has that")
}

// workDir is the absolute directory of a run.
func workDir(dir string) (string, error) {
	if dir == "" {
		dir = "."
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", nowhere(err)
	}
	if !utf8.ValidString(abs) {
		return "", exit.New(exit.Invalid, "find directory", fmt.Errorf("the name of %q is not valid UTF-8", abs),
			"a journal holds text only; rename the directory, or reach it through a link with another name")
	}
	info, err := os.Stat(abs)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a directory", abs)
	}
	if err != nil {
		return "", exit.New(exit.Invalid, "find directory", err, "make it first, or name another with -C")
	}
	return abs, nil
}

// shelf is where recipes are looked for.
func (a *app) shelf(first []string, dir string, most int64) library.Shelf {
	return library.Shelf{Dirs: first, Work: dir, More: library.Places(dir, a.env), MaxBytes: most}
}

// load reads a recipe with all it calls; what is wrong with it is talk.
func (a *app) load(shelf library.Shelf, name string) (*library.Set, error) {
	set, err := shelf.Load(name)
	if err != nil {
		return nil, invalid("", typed(err), "")
	}
	if text := problemText(set, set.Problems, a.errWidth(), a.verbose); text != "" && (set.Errors() || !a.quiet) {
		fmt.Fprintln(a.std.Err, text)
	}
	if set.Errors() || set.Root == nil {
		return nil, exit.New(exit.Invalid, "", errors.New("the recipe "+name+" cannot be run"), joined([]string{"nothing was started", compatHint(shelf, name, set.Problems)}, "; "))
	}
	return set, nil
}

// recipeWords name a recipe, and tell one that nobody wrote here.
func recipeWords(r *recipe.Recipe) string {
	if r.IsShipped() {
		return "the built-in recipe " + r.Name
	}
	return "recipe " + r.Name
}
