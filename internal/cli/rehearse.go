package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/internal/scripted"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/story"
)

const (
	defaultSpeed = 1000
	maxSpeed     = 100_000
	defaultLimit = 2 * time.Minute
	cellLimit    = time.Minute
)

type rehearseOptions struct {
	run      runOptions
	recovery recoveryOptions
	inject   []string
	answers  []string
	seed     int
	speed    int
	script   string
	keep     bool
	here     bool
	matrix   bool
	sample   int
	limit    time.Duration
}

func (a *app) rehearseCommand() *cobra.Command {
	var o rehearseOptions
	cmd := command("rehearse RECIPE…", "try a recipe with scripted agents and injected faults, without cost", 1, -1,
		func(ctx context.Context, cmd *cobra.Command, args []string) error {
			return a.rehearse(ctx, cmd, args, o)
		})
	cmd.Long = `Run a recipe with scripted agents and injected faults. No model is called, so a
rehearsal costs nothing and needs no network for its agents.

Shell steps really run, in a copy of the directory; what they change outside of it
stays changed. Agent steps are played by the scripted agent. A fault is named with
--inject STEP=FAULT, STEP=FAULT:N for the first N attempts (1 is usual, * is all),
STEP=429:N:SECONDS with what the service asks to wait. An attempt with a fault
` + rehearse.Explained() + `
` + setHelp
	setFlag(cmd, &o.run.sets)
	f := cmd.Flags()
	f.StringArrayVar(&o.inject, "inject", nil, "a fault: STEP=FAULT[:N]")
	f.StringArrayVar(&o.answers, "answer", nil, "what a person answers to a step that asks for approval, or that is held (done, again, fail or skip, once): STEP=CHOICE (default: nobody answers, and the run is held)")
	f.IntVar(&o.seed, "seed", 1, "the same number gives the same rehearsal")
	f.IntVar(&o.speed, "speed", defaultSpeed, "how many times as fast the run's clock is; 1 to 100000")
	f.StringVar(&o.script, "script", "", "what the agents do on a good day (default: made up from the recipe)")
	f.BoolVar(&o.keep, "keep", false, "keep the state and the copy, and say where they are")
	f.BoolVar(&o.here, "here", false, "work in the directory itself and not in a copy")
	f.BoolVar(&o.run.isolate, "isolate", false, "run in a new git worktree of the copy on a new branch, like belay run --isolate")
	f.BoolVar(&o.matrix, "matrix", false, "try every fault at every step of the recipes, or of those in a directory, and print a table")
	f.IntVar(&o.sample, "sample", 0, "of a matrix, play a good day and so many faults of each recipe, chosen by --seed (default: all)")
	f.DurationVar(&o.limit, "limit", 0, "end a rehearsal that takes longer on the clock of this machine (default 2m; each of a matrix 1m)")
	f.BoolVar(&o.run.json, "json", false, "print every record, and what came of it, as lines of JSON")
	f.StringVarP(&o.run.dir, "dir", "C", "", "the directory that is copied (default: here; of a matrix, the folder of each recipe)")
	f.StringArrayVarP(&o.run.shelves, "recipes", "R", nil, "a folder to look for recipes in, before all others")
	compatFlag(cmd, &o.run.compat)
	recoveryFlags(cmd, &o.recovery)
	f.Lookup("staff").Usage = "agents that may take over from another, played as well; \"\" for none (default: the setting recovery.staff, else two of no name)"
	cmd.ValidArgsFunction = completeRecipe
	return cmd
}

func (a *app) rehearse(ctx context.Context, cmd *cobra.Command, args []string, o rehearseOptions) error {
	switch {
	case o.speed < 1 || o.speed > maxSpeed:
		return usage(cmd, fmt.Errorf("--speed %d: 1 to %d is wanted", o.speed, maxSpeed))
	case o.limit < 0:
		return usage(cmd, fmt.Errorf("--limit %s: it cannot end before it begins", o.limit))
	case o.sample < 0 || o.sample > 0 && !o.matrix:
		return usage(cmd, fmt.Errorf("--sample %d: it is how many faults of a --matrix are played", o.sample))
	case !o.matrix && len(args) > 1:
		return usage(cmd, fmt.Errorf("one recipe is rehearsed, and %q is too much; many are with --matrix", args[1]))
	case o.matrix && (len(o.inject) > 0 || o.here || o.keep):
		return usage(cmd, errors.New("--matrix has every fault, works in copies and keeps nothing: no --inject, --here or --keep"))
	}
	ctx, at := attend(ctx, nil)
	err := a.rehearseAll(ctx, cmd, args, o)
	if sig := at.stop(); sig != nil {
		return quietly(sig.ExitCode())
	}
	return err
}

// rehearseAll plays one rehearsal, or a matrix.
func (a *app) rehearseAll(ctx context.Context, cmd *cobra.Command, args []string, o rehearseOptions) error {
	if o.matrix {
		return a.matrix(ctx, cmd, args, o)
	}
	p, err := a.prepareRehearsal(cmd, args[0], o)
	if err != nil {
		return err
	}
	told, err := a.perform(ctx, p, !o.run.json)
	if err != nil {
		return err
	}
	if o.script == "" && len(o.inject) == 0 && told.Code != exit.OK && told.Code != exit.Held && p.hasAgents() {
		a.say("%s", madeUp)
	}
	if text := p.askedWords(&told); text != "" {
		a.say("hint: %s", text)
	}
	return a.toldStory(told, o.run.json)
}

// askedWords say how to answer what a rehearsal is held for; "" when nothing can be
// answered that was not.
func (p *rehearsal) askedWords(s *rehearse.Story) string {
	text := ""
	if s == nil {
		return ""
	}
	for _, q := range s.Asks {
		if s.Code != exit.Held || len(q.Choices) == 0 || p.orders.Answers[q.Step] != "" {
			continue
		}
		text += " --answer " + story.Quote(string(q.Step)) + "=" + story.Quote(q.Choices[0])
		if len(q.Choices) > 1 {
			text += " (or " + strings.Join(q.Choices[1:], ", ") + ")"
		}
	}
	if text == "" {
		return ""
	}
	return "it waits for a person; to say what that person answers:" + text
}

// madeUp is said where a good day fails whose agents nobody has written a script for.
const madeUp = "note: the agents of this rehearsal are made up from the recipe. They leave a file or an answer " +
	"of the right kind and do no real work, so a check of that work may fail here. That is no failure of " +
	"the recipe. Say what its agents do with --script FILE; --keep leaves the script that was made up."

// hasAgents tells whether an agent has a part in it.
func (p *rehearsal) hasAgents() bool {
	return slices.ContainsFunc(p.targets, func(t rehearse.Target) bool { return t.Type.Agent() })
}

// toldStory prints what came of a rehearsal and gives its exit code.
func (a *app) toldStory(s rehearse.Story, asJSON bool) error {
	if asJSON {
		a.object(s)
	} else {
		a.out.lines(s.Lines())
		if s.Kept != "" {
			a.say("kept: %s", s.Kept)
		}
	}
	switch {
	case s.Endless:
		return exit.New(exit.Failed, "rehearse", errors.New("it did not end in its time"), "see where it stands with --keep, or give it more with --limit")
	case s.False():
		return exit.New(exit.Failed, "rehearse", errors.New("the run ended in 0, and no attempt did the work of a step that had a fault"), "give the step a verify: or an expect:")
	}
	return quietly(s.Code)
}

// rehearsal is one rehearsal that is about to be played.
type rehearsal struct {
	recipe   string
	name     string
	orders   rehearsalOrders
	targets  []rehearse.Target
	script   []byte
	here     bool
	shipped  bool   // the recipe is in no folder
	template string // the folder is copied from here, and not from around the recipe; "" = no
	keep     bool
	json     bool
	limit    time.Duration
}

// rehearsalOrders is what the driver of a rehearsal is told, in a file.
type rehearsalOrders struct {
	Recipe  string                     `json:"recipe"`
	Vars    map[string]json.RawMessage `json:"vars,omitempty"`
	Shelves []string                   `json:"shelves,omitempty"`
	Compat  bool                       `json:"compat,omitempty"`
	Isolate bool                       `json:"isolate,omitempty"`
	From    string                     `json:"from"` // the directory that was copied
	Dir     string                     `json:"dir"`  // the copy
	ID      string                     `json:"id"`
	Speed   int                        `json:"speed"`
	Faults  []rehearse.Injection       `json:"faults,omitempty"`
	Answers rehearse.Answers           `json:"answers,omitempty"`

	Policy     string   `json:"policy,omitempty"`
	Recovery   string   `json:"recovery,omitempty"`
	MaxRetries int      `json:"max_retries,omitempty"`
	MaxReplans int      `json:"max_replans,omitempty"`
	Staff      []string `json:"staff,omitempty"`
}

const (
	ordersFile = "orders.json"
	scriptFile = "agents.yaml"
)

// prepareRehearsal checks everything that can be checked before anything is
// started or copied.
func (a *app) prepareRehearsal(cmd *cobra.Command, name string, o rehearseOptions) (*rehearsal, error) {
	vars, err := a.variables(cmd, o.run.sets)
	if err != nil {
		return nil, err
	}
	dir, err := workDir(o.run.dir)
	if err != nil {
		return nil, err
	}
	cfg, err := config.Load(a.environ)
	if err != nil {
		return nil, err
	}
	if name == doRecipe && vars["has_tests"] == nil { // as belay do says it
		tested, err := a.tested(cfg, dir, "")
		if err != nil {
			return nil, err
		}
		vars["has_tests"] = json.RawMessage(strconv.FormatBool(tested))
	}
	spec, err := a.spec(cfg, name, dir, vars, o.run)
	if err == nil {
		err = a.secretSets(vars, spec.Set, cfg.Secrets.Value)
	}
	if err != nil {
		return nil, err
	}
	a.warnUnread(spec.Set, vars)
	if err := a.unmet(spec, name); err != nil {
		return nil, err
	}
	if err := o.recovery.apply(cmd, &spec, cfg); err != nil {
		return nil, err
	}
	p := &rehearsal{
		recipe: name, name: spec.Set.Root.Name, shipped: spec.Set.Root.IsShipped(), targets: rehearse.Targets(spec.Set),
		here: o.here, keep: o.keep, json: o.run.json, limit: o.limit,
		orders: rehearsalOrders{
			Recipe: name, Vars: vars, Shelves: o.run.shelves, Compat: o.run.compat, Isolate: o.run.isolate,
			From: dir, Dir: dir, ID: fmt.Sprintf("rehearsal-%d", o.seed), Speed: o.speed,
			Policy: spec.Policy, Recovery: spec.Recovery, MaxRetries: spec.MaxRetries, MaxReplans: spec.MaxReplans,
			Staff: o.staff(cmd, cfg),
		},
	}
	if p.limit == 0 {
		p.limit = defaultLimit
	}
	if err := p.inject(o.inject); err != nil {
		return nil, usage(cmd, err)
	}
	if p.orders.Answers, err = rehearse.ParseAnswers(o.answers, spec.Set); err != nil {
		return nil, usage(cmd, fmt.Errorf("--answer %w", err))
	}
	p.script, err = a.goodDay(spec, o)
	return p, err
}

// inject gives a rehearsal its faults, if they can happen.
func (p *rehearsal) inject(texts []string) error {
	for _, text := range texts {
		in, err := rehearse.Parse(text)
		if err == nil {
			_, err = rehearse.Find(p.targets, in)
		}
		if err != nil {
			return fmt.Errorf("--inject %q: %w", text, err)
		}
		p.orders.Faults = append(p.orders.Faults, in)
	}
	return nil
}

// staff are the names of those who may take over: nobody's who costs, as they
// are played as well.
func (o rehearseOptions) staff(cmd *cobra.Command, cfg *config.Config) []string {
	switch {
	case cmd.Flags().Changed("staff"):
		return o.recovery.staff
	case cfg.Recovery.Staff.Origin != config.OriginDefault:
		return cfg.Recovery.Staff.Value
	}
	return []string{"understudy", "second-understudy"}
}

// goodDay is what the agents do when nothing is wrong.
func (a *app) goodDay(spec engine.Spec, o rehearseOptions) ([]byte, error) {
	if o.script == "" {
		return rehearse.Script(spec.Set, o.seed)
	}
	text, err := os.ReadFile(o.script)
	if err == nil {
		err = scripted.Check(text)
	}
	if err != nil {
		return nil, exit.New(exit.Invalid, "read the script", err, "nothing was started")
	}
	return text, nil
}

// perform plays a rehearsal in a folder of its own, which goes away with it.
func (a *app) perform(ctx context.Context, p *rehearsal, aloud bool) (story rehearse.Story, err error) {
	folder, err := os.MkdirTemp("", "belay-rehearsal-")
	if err != nil {
		return story, exit.New(exit.Infra, "make a folder for the rehearsal", err, "")
	}
	if !p.keep {
		defer closing(&err, "remove the rehearsal", func() error { return journal.RemoveAll(folder) })
	}
	if err := p.furnish(ctx, folder); err != nil {
		return story, exit.New(exit.Infra, "rehearse", err, "work in the directory itself with --here, or name another with -C")
	}
	show, err := a.players(p, folder, aloud)
	if err != nil {
		return story, err
	}
	end, err := a.play(ctx, p, show, aloud)
	if err != nil {
		return story, exit.New(exit.Infra, "rehearse", err, "")
	}
	told, err := rehearse.Read(show.Run)
	if err != nil && (end.Code == exit.OK || end.Endless) {
		return story, exit.New(exit.Infra, "read the journal of the rehearsal", err, "")
	}
	story = rehearse.Tell(p.name, told, p.targets, p.orders.Faults, end)
	if p.keep {
		story.Kept = folder
	}
	return story, nil
}

// play plays a show. What its driver says at the end is kept apart: some of it
// leads to a state that is about to go away.
func (a *app) play(ctx context.Context, p *rehearsal, show rehearse.Show, aloud bool) (end rehearse.Ended, err error) {
	if p.json || !aloud {
		return show.Play(ctx)
	}
	said, err := os.Create(filepath.Join(show.Folder, "said.txt"))
	if err != nil {
		return end, err
	}
	defer closing(&err, "close the rehearsal", said.Close)
	show.Out = said
	end, err = show.Play(ctx)
	if err != nil {
		return end, err
	}
	text, err := os.ReadFile(said.Name())
	if err != nil {
		return end, err
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if p.keep || !strings.HasPrefix(line, "why: ") && !strings.HasPrefix(line, "next: ") && !strings.HasPrefix(line, "receipt: ") {
			a.out.line("%s", line)
		}
	}
	return end, nil
}

// furnish puts everything into the folder that the driver needs.
func (p *rehearsal) furnish(ctx context.Context, folder string) error {
	copied := filepath.Join(folder, "work")
	var err error
	switch {
	case p.here:
	case p.template != "":
		p.orders.Dir, err = copied, rehearse.CopyTemplate(ctx, p.template, copied)
	default:
		p.orders.Dir, err = rehearse.Copy(ctx, p.orders.From, copied)
	}
	if err != nil {
		return err
	}
	stage := rehearse.Stage{Folder: folder, Faults: p.orders.Faults}
	if err := stage.Write(filepath.Join(folder, scriptFile)); err != nil {
		return err
	}
	orders, err := json.Marshal(p.orders)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, ordersFile), orders, 0o600)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, scriptFile), p.script, 0o600)
	}
	return err
}

// players is how the drivers of a rehearsal are started.
func (a *app) players(p *rehearsal, folder string, aloud bool) (rehearse.Show, error) {
	exe, err := a.self()
	if err != nil {
		return rehearse.Show{}, err
	}
	state := filepath.Join(folder, "state")
	argv := []string{exe, "--state", state, "--color", a.color}
	if a.quiet {
		argv = append(argv, "--quiet")
	}
	if a.verbose {
		argv = append(argv, "--verbose")
	}
	argv = append(argv, "rehearsal", folder)
	s := rehearse.Show{Folder: folder, Run: runFolder(state, p.orders.ID), Env: a.environ, Limit: p.limit}
	if p.json {
		argv = append(argv, "--json")
	}
	if aloud && sameFile(a.std.Out, a.std.Err) {
		argv = append(argv, "--together")
	}
	if p.json {
		s.Out = a.out
	}
	if aloud || p.json {
		s.Err = a.std.Err
	}
	s.Argv, s.Again = argv, append(append([]string{}, argv...), "--resume")
	return s, nil
}
