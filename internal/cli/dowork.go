package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/internal/check"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/verdict"
	"github.com/belay-run/belay/worktree"
)

// workRecipe does the work of a Development task. By its name it works where belay do has it
// work.
const workRecipe = "default-workflow"

// isWork tells whether a recipe that is to be run is the shipped one for the work of a
// Development task.
func (a *app) isWork(name string, vars map[string]json.RawMessage, o runOptions) (bool, error) {
	if name != workRecipe || vars[taskVar] == nil || o.dry || o.compat {
		return false, nil
	}
	return a.isShipped(name, o)
}

// isShipped tells whether a name leads to the recipe that Belay has, and not to one that
// somebody has put in its place.
func (a *app) isShipped(name string, o runOptions) (bool, error) {
	dir, err := workDir(o.dir)
	if err != nil {
		return false, err
	}
	cfg, err := config.Load(a.environ)
	if err != nil {
		return false, err
	}
	set, err := a.shelf(o.shelves, dir, cfg.RecipeBytes.Value).Load(name)
	return err == nil && set.Root != nil && set.Root.IsShipped(), nil // what is wrong with it is said when it is begun
}

// runWork begins the work of a task without its rounds: in a worktree, with the tests that are
// found, and with a branch that can be published. What was set goes before.
func (a *app) runWork(ctx context.Context, cmd *cobra.Command, vars map[string]json.RawMessage, run runOptions) error {
	o := doOptions{runOptions: run, publish: "none"}
	for name, to := range map[string]any{"publish": &o.publish, inPlaceVar: &o.inPlace} {
		if v, set := vars[name]; set && json.Unmarshal(v, to) != nil {
			return usage(cmd, fmt.Errorf("--set %s: %s is no value for it", name, v))
		}
	}
	if !slices.Contains([]string{"none", "branch", "pr"}, o.publish) {
		return usage(cmd, fmt.Errorf("--set publish=%s: must be one of none, branch, pr", o.publish))
	}
	dir, err := workDir(o.dir)
	if err != nil {
		return err
	}
	cfg, err := config.Load(a.environ)
	if err != nil {
		return err
	}
	tested, err := a.tested(cfg, dir, "")
	if err != nil {
		return err
	}
	place, err := placeOf(worktree.Survey(ctx, dir, dir), dir, o.inPlace)
	if err == nil {
		err = a.settle(place, dir, development, &o)
	}
	if err != nil {
		return err
	}
	to := ""
	if o.publish != "none" {
		to = check.PushesTo(ctx, dir, a.environ)
		if err := check.CanPublish(ctx, dir, a.environ, a.env("PATH"), o.publish == "pr", verdict.Telling); err != nil {
			return err
		}
	}
	all := map[string]json.RawMessage{}
	for name, v := range map[string]any{"has_tests": tested, "publish_to": to, "task_origin": dir} {
		if all[name], err = json.Marshal(v); err != nil {
			return err
		}
	}
	maps.Copy(all, vars)
	delete(all, inPlaceVar) // it was read
	o.runOptions.isolate = o.runOptions.isolate || run.isolate
	return a.begin(ctx, cmd, workRecipe, all, o.runOptions)
}

// warningVar is the value of the recipe for the work with what lowers nothing.
const warningVar = "work_warning"

// workWarning says what a person is to look at in work that was begun by its name.
func (a *app) workWarning(o *engine.Open) {
	root := o.Tree.Run(o.ID.Root())
	if root == nil || root.Recipe() == nil || root.Recipe().Name != workRecipe || !root.Recipe().IsShipped() {
		return
	}
	var text string
	if json.Unmarshal(root.Vars()[warningVar].JSON, &text) == nil && text != "" {
		a.warn(text)
	}
}
