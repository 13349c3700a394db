package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/task"
)

// planFile is the file in the folder of a run in which the review of a plan leaves one
// that nobody approved.
const planFile = "plan.json"

// planIn is that file.
func planIn(folder journal.Folder) string { return filepath.Join(string(folder), planFile) }

// stuck prints the line for programs of a run that ended in a stalemate.
func (a *app) stuck(tree *flow.Tree, status belay.Status) {
	if status != belay.Stalemate {
		return
	}
	if end := story.ReviewOf(tree); end != nil && end.Event != nil {
		a.object(end.Event)
		return
	}
	a.object(story.StalemateOf(tree))
}

// unreviewed says what a person can do about a review that came to no approved plan.
func (a *app) unreviewed(acc *story.Account, folder journal.Folder) {
	if acc == nil || acc.Refused == nil {
		return
	}
	end := acc.Refused
	text := fmt.Sprintf("the plan is not approved: %s\n", end.Why)
	for _, f := range end.Open {
		where := ""
		if f.Where != "" {
			where = " (" + f.Where + ")"
		}
		text += fmt.Sprintf("  %-8s  %s%s\n", f.Severity, f.Title, where)
	}
	clears, resume, anew := acc.Next.Commands[0].Text(a.name()), acc.Next.Commands[1].Text(a.name()), acc.Next.Commands[2].Text(a.name())
	a.talkLines(text + fmt.Sprintf(`do one of these:
  edit the plan in %[1]s, then %[2]s
  start again without a review: %[3]s
  have the same plan reviewed again: %[4]s, then %[2]s
`, filepath.Join(string(folder), planFile), resume, anew, clears))
}

// editedPlan prints the plan of a run, where somebody made another one of that which was
// reviewed. Blanks and the order of keys make no other plan; an empty one is no plan.
func (a *app) editedPlan(folder string) error {
	now, err := os.ReadFile(filepath.Join(folder, planFile))
	if err != nil {
		return exit.New(exit.Infra, "read the plan", err, "")
	}
	var is, was any
	before, _ := os.ReadFile(filepath.Join(folder, "."+planFile)) // none: it is another one
	switch {
	case len(bytes.TrimSpace(now)) == 0:
		a.out.line("(%s is empty)", planFile)
	case json.Unmarshal(now, &is) == nil && json.Unmarshal(before, &was) == nil && reflect.DeepEqual(is, was):
	default:
		a.out.raw(string(now))
	}
	return nil
}

// reviewed says whether the plan is reviewed: always, never, or where there is more
// than one workstream.
func (o doOptions) reviewed(cfg *config.Config) string {
	switch {
	case o.review:
		return config.ReviewAlways
	case o.noReview, o.planOnly:
		return config.ReviewNever
	}
	return cfg.PlanReview.Value
}

// readablePlan refuses a run of one round of a review whose plan nobody could read.
func (a *app) readablePlan(name string, vars map[string]json.RawMessage, o runOptions) error {
	plan, set := vars[story.PlanVar]
	if name != story.ReviewRecipe || !set || vars[taskVar] == nil || o.compat {
		return nil
	}
	if shipped, err := a.isShipped(name, o); err != nil || !shipped {
		return err
	}
	raw, err := task.Call("task-type", map[string]json.RawMessage{"task": vars[taskVar], "decomposition": plan, "whole": json.RawMessage("true")})
	var read struct{ Fallback bool }
	if err != nil || json.Unmarshal(raw, &read) != nil || !read.Fallback {
		return nil //nolint:nilerr // the run says what is wrong with the task
	}
	return exit.New(exit.Invalid, "", fmt.Errorf("--set plan: the plan cannot be read: %s", noPlan(plan)),
		"nothing was started; a plan is a JSON object with goal, criteria and streams, as belay show RUN --output plan prints that of a task")
}

// noPlan says what a value lacks to be a plan.
func noPlan(plan json.RawMessage) string {
	var text string
	if json.Unmarshal(plan, &text) == nil {
		plan = json.RawMessage(text)
	}
	var has map[string]any
	if json.Unmarshal(plan, &has) != nil {
		return "it is no JSON object"
	}
	var lacks []string
	for _, names := range [][]string{{"goal"}, {"criteria", "success_criteria"}, {"streams", "workstreams"}} {
		if !slices.ContainsFunc(names, func(name string) bool {
			list, isList := has[name].([]any)
			return has[name] != nil && has[name] != "" && (!isList || len(list) > 0)
		}) {
			lacks = append(lacks, names[0])
		}
	}
	if len(lacks) == 0 {
		return "it needs a goal, and lists of criteria and streams"
	}
	return "it has no " + strings.Join(lacks, ", ")
}
