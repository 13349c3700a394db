package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
)

// taskVar is the value of the recipe of belay do that has the task.
const taskVar = "task_description"

// isTask tells whether a recipe that is to be run is the one of belay do, and not one that
// somebody has put in its place.
func (a *app) isTask(name string, vars map[string]json.RawMessage, o runOptions) (bool, error) {
	if name != doRecipe || vars[taskVar] == nil || o.dry || o.compat || o.isolate || len(o.include)+len(o.exclude) > 0 {
		return false, nil
	}
	return a.isShipped(name, o)
}

// runTask begins a task whose recipe was named as any other. Its values are those of belay
// do, and what was set goes before.
func (a *app) runTask(ctx context.Context, cmd *cobra.Command, vars map[string]json.RawMessage, run runOptions) error {
	o := doOptions{runOptions: run, rounds: doRounds, publish: "none"}
	task := ""
	for name, to := range map[string]any{
		taskVar: &task, "task_type": &o.taskType, "single": &o.single, "publish": &o.publish, "track": &o.track, inPlaceVar: &o.inPlace,
	} {
		if v, set := vars[name]; set && json.Unmarshal(v, to) != nil {
			return usage(cmd, fmt.Errorf("--set %s: %s is no value for it", name, v))
		}
	}
	if err := o.flags(cmd); err != nil {
		return usage(cmd, err)
	}
	task, err := a.shortened(task, &o)
	if err != nil {
		return err
	}
	set := map[string]json.RawMessage{}
	for name, v := range vars {
		if name != taskVar && name != "task_type" && name != inPlaceVar { // these were read
			set[name] = v
		}
	}
	return a.doTask(ctx, cmd, task, json.RawMessage("[]"), set, o)
}
