package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/check"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/verdict"
	"github.com/belay-run/belay/worktree"
)

const (
	doRecipe = "smart-orchestrator"
	workTag  = "work" // of the steps that come after the plan

	maxTask  = 16 << 20  // bytes of a task
	taskHead = 256 << 10 // what of it goes into prompts

	doRounds   = 3
	mostRounds = 9
)

type doOptions struct {
	runOptions
	file     string
	taskType string
	single   bool
	criteria string
	expect   string
	rounds   int
	publish  string
	review   bool
	noReview bool
	reviews  int
	noAdapt  bool
	planOnly bool
	trust    bool
	inPlace  bool
	track    bool

	title string // of a long task: its first line
	whole string // the file that has all of it
	bytes int    // how long that is
	text  string // all of it, where that file is to lie in the folder of the run

	given []string // flags of the command that began the task

	decided *madePlan // the plan of an earlier run, which is carried out; nil = one is made
}

func (a *app) doCommand() *cobra.Command {
	var o doOptions
	cmd := command("do [TASK]", "carry out a task from a sentence: plan, work in rounds, judge each round by evidence", 0, 1,
		func(ctx context.Context, cmd *cobra.Command, args []string) error { return a.do(ctx, cmd, args, o) })
	cmd.Args = oneTask
	cmd.Long = `Carry out a task described in plain words.

An agent classifies the task, names success criteria and divides the work into
workstreams; the plan is shown. Then agents work in rounds, on a new branch. In each round
Belay checks the criteria, and an agent that did not do the work (the reflecting agent)
reviews the result. If something is missing, another round follows. The result is
ACHIEVED only if Belay has evidence for every criterion. Belay pushes nothing unless
--publish is given.

The answer to a question and the report of an investigation are printed on standard output.

belay do runs the recipe smart-orchestrator. To copy it:
belay new smart-orchestrator --from smart-orchestrator`
	cmd.Example = `  belay do "add rate limiting to the API, with tests"
  belay do --file task.md --plan
  echo "why is the build slow?" | belay do -`
	f := cmd.Flags()
	f.StringVar(&o.file, "file", "", "read the task from a file; - is standard input")
	f.StringVar(&o.taskType, "type", "", "the type of the task: qa, operations, investigation or development (default: detected)")
	f.BoolVar(&o.single, "single", false, "do everything in one workstream")
	f.StringVar(&o.criteria, "criteria", "", "a file with the success criteria: a JSON list, or one per line; a criterion without a check cannot be proven")
	f.StringVar(&o.expect, "expect", "", "what a Development task must produce: change, or tests that pass (default: tests if Belay finds a test command)")
	f.IntVar(&o.rounds, "rounds", doRounds, "the maximum number of rounds, 1 to 9; the limit on agent starts can end them before (40 for each workstream; --max-agents)")
	f.StringVar(&o.publish, "publish", "none", "what to publish: none, branch (push it) or pr (open a pull request)")
	f.BoolVar(&o.review, "plan-review", false, "review the plan before the work (default: if there is more than one workstream)")
	f.BoolVar(&o.noReview, "no-plan-review", false, "skip the plan review")
	f.IntVar(&o.reviews, "plan-review-rounds", 0, "the maximum number of plan review rounds (default: the setting plan_review_rounds, 5)")
	f.BoolVar(&o.noAdapt, "no-adaptive-cap", false, "never stop a plan review early; use all rounds")
	f.BoolVar(&o.planOnly, "plan", false, "print the plan and stop; belay resume RUN then carries out this plan")
	f.BoolVar(&o.trust, "trust-reflection", false, "accept a criterion without evidence if the reflecting agent says that it is met")
	f.BoolVar(&o.inPlace, "in-place", false, "work in the directory itself, not in a worktree")
	f.BoolVar(&o.track, "issue", false, "file an issue for a Development task, unless it names one (#12)")
	startFlags(cmd, &o.runOptions)
	return cmd
}

var taskTypes = map[string]string{
	"": "", "qa": "Q&A", "q&a": "Q&A", "operations": "Operations", "investigation": "Investigation", "development": development,
}

func (a *app) do(ctx context.Context, cmd *cobra.Command, args []string, o doOptions) error {
	if err := o.flags(cmd); err != nil {
		return usage(cmd, err)
	}
	if o.decided == nil {
		o.given = givenFlags(cmd, onlyHere...)
	}
	task, criteria, err := a.wanted(args, &o)
	if err != nil {
		return err
	}
	return a.doTask(ctx, cmd, task, criteria, nil, o)
}

// doTask looks at the place of a task and begins it. What is in set goes before what is
// found or was asked for.
func (a *app) doTask(ctx context.Context, cmd *cobra.Command, task string, criteria json.RawMessage, set map[string]json.RawMessage, o doOptions) error {
	kind := taskTypes[strings.ToLower(o.taskType)]
	dir, err := workDir(o.dir)
	if err != nil {
		return err
	}
	cfg, err := config.Load(a.environ)
	if err != nil {
		return err
	}
	tested, err := a.tested(cfg, dir, o.expect)
	if err != nil {
		return err
	}
	if kind == "" && o.onlyDevelopment() != "" {
		kind = development // who asks for a branch or for tests asks for a change
	}
	if engine.LastLevel(a.environ) && !o.single {
		o.single = true
		a.say("at the depth limit of nested sessions: one session does all the work, instead of several workstreams")
	}
	if o.planOnly {
		o.exclude = []string{workTag}
	}
	place, err := placeOf(worktree.Survey(ctx, dir, dir), dir, o.inPlace)
	if err != nil {
		return err
	}
	if err := a.settle(place, dir, kind, &o); err != nil {
		return err
	}
	to := ""
	if o.publish != "none" {
		to = check.PushesTo(ctx, dir, a.environ)
		err := check.CanPublish(ctx, dir, a.environ, a.env("PATH"), o.publish == "pr", verdict.Telling)
		if err != nil && (!o.planOnly || exit.Code(err) == exit.Usage) { // who is away now may be back when the plan is carried out
			return err
		}
	}
	vars := map[string]json.RawMessage{"criteria": criteria}
	for name, v := range map[string]any{
		"task_description": task, "task_type": kind, "single": o.single, "max_rounds": o.rounds,
		"has_tests": tested, "publish": o.publish, "plan_review": o.reviewed(cfg), "trust_reflection": o.trust,
		"review_rounds": cmp.Or(o.reviews, cfg.ReviewRounds.Value), "review_adaptive": !o.noAdapt, "track": o.track,
		"flags": o.given, "task_title": o.title, "task_file": o.whole, "task_bytes": o.bytes,
		"publish_to": to, "task_origin": dir, inPlaceVar: o.alone != "" || o.planOnly && o.inPlace,
	} {
		if vars[name], err = json.Marshal(v); err != nil {
			return err
		}
	}
	if o.decided != nil {
		vars["decided"] = o.decided.plan
	}
	maps.Copy(vars, set)
	return a.beginTask(ctx, cmd, vars, dir, o)
}

// wanted is the task and the criteria that the user gave.
func (a *app) wanted(args []string, o *doOptions) (task string, criteria json.RawMessage, err error) {
	if o.decided != nil {
		return o.decided.task, o.decided.criteria, nil
	}
	if task, err = a.task(args, o.file); err != nil {
		return "", nil, err
	}
	if task, err = a.shortened(task, o); err != nil {
		return "", nil, err
	}
	criteria, err = criteriaOf(o.criteria)
	return task, criteria, err
}

// task is the text of the task, from the argument, a file or standard input.
func (a *app) task(args []string, file string) (string, error) {
	text := ""
	switch {
	case len(args) == 1 && file != "":
		return "", exit.New(exit.Usage, "", errors.New("the task is given twice: as an argument and with --file"), "leave one of them out")
	case len(args) == 1 && args[0] != "-":
		text = args[0]
	case len(args) == 0 && file == "":
		return "", exit.New(exit.Usage, "", errors.New("no task was given"), `try: belay do "fix the failing test"`)
	default:
		b, err := a.taskFile(file)
		if err != nil {
			return "", err
		}
		text = string(b)
	}
	switch {
	case strings.ContainsRune(text, 0):
		return "", exit.New(exit.Invalid, "read the task", errors.New("there is a NUL byte in it"), "a task is text")
	case !utf8.ValidString(text):
		return "", exit.New(exit.Invalid, "read the task", errors.New("it is not valid UTF-8"), "a task is text")
	case strings.TrimSpace(text) == "":
		return "", exit.New(exit.Invalid, "read the task", errors.New("there is nothing in it"), "say what is to be done")
	}
	return text, nil
}

func (a *app) taskFile(file string) ([]byte, error) {
	var in io.Reader = os.Stdin
	if file != "" && file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, exit.New(exit.Invalid, "read the task", err, "")
		}
		defer func() { _ = f.Close() }() // only read
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, maxTask+1))
	if err != nil {
		return nil, exit.New(exit.Invalid, "read the task", err, "")
	}
	if len(b) > maxTask {
		return nil, exit.New(exit.Invalid, "read the task", fmt.Errorf("it has more than %d bytes", maxTask), "name the files that belong to it instead")
	}
	return b, nil
}

// shortened is what of a long task goes into prompts, with the place of the rest.
func (a *app) shortened(text string, o *doOptions) (string, error) {
	if len(text) > belay.MaxInline/2 { // in a record it may be longer
		o.title = tui.Title(firstLine(text))
	}
	if len(text) <= taskHead {
		return text, nil
	}
	abs, err := a.wholeTask(text, o)
	if err != nil {
		return "", err
	}
	cut := taskHead
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	o.whole, o.bytes = abs, len(text)
	a.say("the task has %d bytes: its first %d go into prompts, all of it is in %s", len(text), cut, abs)
	return fmt.Sprintf("%s\n\n(This is the beginning; the whole task has %d bytes and is in the file %s.)", text[:cut], len(text), abs), nil
}

// tested tells whether there are tests that Belay can run.
func (a *app) tested(cfg *config.Config, dir, expect string) (bool, error) {
	if expect == string(belay.ExpectChange) {
		return false, nil
	}
	found := cfg.Tests.Value != "" || len(check.Find(dir, check.Top(dir, dir), a.env("PATH")).Commands) > 0
	if !found && expect != "" {
		return false, exit.New(exit.Invalid, "", errors.New("--expect tests: no test command was found here"), "set tests: in the settings, or leave --expect out")
	}
	return found, nil
}
