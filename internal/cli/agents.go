package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/doctor"
	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/internal/roster"
	"github.com/belay-run/belay/internal/scripted"
	"github.com/belay-run/belay/internal/step"
	"github.com/belay-run/belay/internal/supervise"
)

// agentOptions are the flags about agents of commands that start runs.
type agentOptions struct {
	agent     string
	hollow    string
	maxAgents int
	maxTokens int64
	maxUSD    string
	maxWall   time.Duration
	recovery  recoveryOptions
}

func agentFlags(cmd *cobra.Command, o *agentOptions) {
	f := cmd.Flags()
	f.StringVar(&o.agent, "agent", "", "the agent for steps that name none: claude, codex, … or scripted:FILE (default: the setting agent, else the first one that is installed and logged in)")
	f.StringVar(&o.hollow, "hollow", "evidence", "how an agent's result is judged: by evidence, or classic (by its text alone)")
	f.IntVar(&o.maxAgents, "max-agents", 0, "start at most this many agents, including those of nested runs (default: the setting budget.max_agents, else max_agents of the recipe, else 40; belay do: 40 for each workstream, at most 200)")
	f.Int64Var(&o.maxTokens, "max-tokens", 0, "stop starting agents once this many tokens were used")
	f.StringVar(&o.maxUSD, "max-usd", "", "stop starting agents once they reported this cost in dollars")
	f.DurationVar(&o.maxWall, "max-wall", 0, "stop starting agents after this time")
	recoveryFlags(cmd, &o.recovery)
}

// budget is what the flags allow, over the settings.
func (o agentOptions) budget(cfg *config.Config) (belay.Budget, error) {
	b := belay.Budget{
		MaxTokens:   cfg.Agents.MaxTokens.Value,
		MaxMicroUSD: cfg.Agents.MaxMicroUSD.Value, MaxWall: cfg.Agents.MaxWall.Value,
	}
	switch {
	case o.maxAgents > 0:
		b.MaxAgents = o.maxAgents
	case cfg.Agents.MaxAgents.Origin != config.OriginDefault: // else the recipe may say it
		b.MaxAgents = cfg.Agents.MaxAgents.Value
	}
	if o.maxTokens > 0 {
		b.MaxTokens = o.maxTokens
	}
	if o.maxWall > 0 {
		b.MaxWall = o.maxWall
	}
	if o.maxUSD != "" {
		n, err := config.Dollars(o.maxUSD)
		if err != nil {
			return b, fmt.Errorf("--max-usd: %w", err)
		}
		b.MaxMicroUSD = n
	}
	return b, nil
}

// noBudget refuses a budget of nothing: no agent could start, and a run that
// needs none says so in its recipe.
func (o agentOptions) noBudget(flags *pflag.FlagSet) error {
	for _, f := range []struct {
		name string
		none bool
	}{{"max-agents", o.maxAgents <= 0}, {"max-tokens", o.maxTokens <= 0}, {"max-wall", o.maxWall <= 0}} {
		if f.none && flags.Changed(f.name) {
			return fmt.Errorf("--%s: %s is no budget: it must be more than nothing", f.name, flags.Lookup(f.name).Value)
		}
	}
	return nil
}

// rosterOf is the agents of this machine, of its user and of this program.
func (a *app) rosterOf(cfg *config.Config, exe string) (*roster.Roster, error) {
	var own []agent.Agent
	for _, name := range slices.Sorted(maps.Keys(cfg.Agents.Own)) {
		own = append(own, cfg.Agents.Own[name])
	}
	r, err := roster.New([]string{exe}, a.environ, append(own, a.program.Agents...))
	if err != nil {
		return nil, exit.New(exit.Invalid, "read config", err, "")
	}
	return r, nil
}

// hostOf is what agent steps get of this machine. script is that of the run,
// for steps that name the scripted agent and nothing more.
func hostOf(cfg *config.Config, r *roster.Roster, exe string) step.Host {
	return step.Host{
		Self: []string{exe},
		Find: func(name string) (agent.Agent, error) {
			e, err := r.Find(name)
			e.Access = cmp.Or(e.Access, agent.AccessEdit)
			return e, err
		},
		Windows: supervise.Windows{First: cfg.Agents.First.Value, Silence: cfg.Agents.Silence.Value, Tool: cfg.Agents.Tool.Value},
		Contain: containment(cfg.Agents.Containment.Value),
	}
}

func containment(level int) supervise.Containment {
	if level >= 2 {
		return supervise.ContainNamespace
	}
	return supervise.ContainSubreaper
}

// staff gives a run its agents: who does the steps that name nobody, who may
// take over, the texts of their personas, and the budget. Agents that a step
// names and nobody has are refused here, before anything runs.
func (a *app) staff(cmd *cobra.Command, spec *engine.Spec, cfg *config.Config, r *roster.Roster, o agentOptions) error {
	var err error
	if err := o.noBudget(cmd.Flags()); err != nil {
		return usage(cmd, err)
	}
	if spec.Budget, err = o.budget(cfg); err != nil {
		return usage(cmd, err)
	}
	spec.Patience = cfg.Agents.Patience.Value
	switch o.hollow {
	case "evidence":
	case "classic":
		spec.Classic = true
	default:
		return usage(cmd, fmt.Errorf("--hollow %q: evidence or classic", o.hollow))
	}
	if err := o.recovery.apply(cmd, spec, cfg); err != nil {
		return err
	}
	who := rolesIn(spec.Set.Library, cfg.Recovery.Roles)
	if len(who.steps) == 0 && o.agent == "" && cfg.Agents.Default.Value == "" {
		return nil
	}
	if spec.Agent, err = a.chosen(r, cfg, o.agent); err != nil {
		return err
	}
	if len(who.steps) == 0 && o.agent == "" {
		if _, err := r.Find(spec.Agent); err != nil { // it was only there for failures
			spec.Agent = ""
			return nil
		}
	}
	if who.nobody && spec.Agent == "" {
		return exit.New(exit.Infra, "find an agent", errors.New("the recipe has agent steps, and there is no agent on this machine"),
			"install one ("+agent.Installable()+") and log in, or name one with --agent; belay doctor tells what is there")
	}
	if err := present(r, spec.Agent, who); err != nil {
		return err
	}
	spec.Agents = true
	if spec.Roles, err = a.profiles(cfg, r, who); err != nil {
		return err
	}
	if spec.Toolless = toolless(cfg, r); !a.quiet {
		for _, v := range vainTools(cfg, r, spec.Set, spec.Agent) {
			a.say("%s", v.problem.Format(v.text))
		}
	}
	if spec.Staff, err = o.recovery.relief(cmd, cfg, r, spec.Agent); err != nil {
		return err
	}
	for _, p := range spec.Roles {
		if p.Persona != "" {
			who.personas = append(who.personas, p.Persona)
		}
	}
	slices.Sort(who.personas)
	spec.Personas = a.personas(slices.Compact(who.personas), spec.Dir)
	return nil
}

// present checks that everybody is there who must be.
func present(r *roster.Roster, chosen string, who cast) error {
	for _, name := range who.all(chosen) {
		e, err := r.Find(name)
		if err != nil {
			return noAgent(err)
		}
		if err := checkScript(e); err != nil {
			return err
		}
	}
	return nil
}

// chosen is the name of the agent that stands in where a step names nobody.
func (a *app) chosen(r *roster.Roster, cfg *config.Config, flag string) (string, error) {
	name := flag
	if name == "" {
		name = cfg.Agents.Default.Value
	}
	if name == "" {
		return r.Default(), nil
	}
	name, err := wholeScript(name)
	if err != nil {
		return "", err
	}
	if _, err := r.Get(name); err != nil {
		return "", noAgent(err)
	}
	return name, nil
}

// wholeScript is the name of an agent, with the script of a scripted one by its
// whole path: the record of a run is read from other directories.
func wholeScript(name string) (string, error) {
	file, ok := strings.CutPrefix(name, string(agent.Scripted)+":")
	if !ok {
		return name, nil
	}
	abs, err := filepath.Abs(file)
	if err != nil {
		return "", exit.New(exit.Invalid, "find the script", err, "")
	}
	return string(agent.Scripted) + ":" + abs, nil
}

// checkScript reads the script of a scripted agent before anything runs.
func checkScript(e agent.Agent) error {
	if e.Kind != agent.Scripted {
		return nil
	}
	text, err := os.ReadFile(e.Script)
	if err != nil {
		return exit.New(exit.Invalid, "read the script of agent "+e.Name, err, "write it first, or name another with --agent scripted:FILE")
	}
	if err := scripted.Check(text); err != nil {
		return exit.New(exit.Invalid, "agent "+e.Name, fmt.Errorf("%s: %w", e.Script, err), "nothing was started")
	}
	return nil
}

// noAgent says what is wrong with the name of an agent, and what to do.
func noAgent(err error) error {
	var unknown *roster.Unknown
	if errors.As(err, &unknown) {
		return exit.New(exit.Invalid, "", err, "there are "+strings.Join(unknown.All, ", ")+"; an own one is made with agents.NAME in the settings")
	}
	var mute *roster.Unscripted
	if errors.As(err, &mute) {
		return exit.New(exit.Invalid, "", err, "name it with --agent scripted:FILE, or set agents."+mute.Name+".script")
	}
	return exit.New(exit.Infra, "", err, "install it, or set agents.NAME.program; belay doctor tells what is there")
}

// loggedIn refuses a run whose agents are known to be logged out, before
// anything is started. Where others may take over, they do.
func (a *app) loggedIn(ctx context.Context, spec *engine.Spec, cfg *config.Config, r *roster.Roster) error {
	if !spec.Agents || len(spec.Staff) > 0 {
		return nil
	}
	who := rolesIn(spec.Set.Library, cfg.Recovery.Roles)
	p := doctor.Patient{Environ: a.environ, Dir: spec.Dir, Roster: r}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(who.all(spec.Agent)))) {
		e, err := r.Find(name)
		if err != nil || !p.LoggedOut(ctx, e) {
			continue // who is not there was told before
		}
		return exit.New(exit.Infra, "", fmt.Errorf("agent %s is not logged in, and nothing was started", name),
			agent.Known(e.Kind).Login.Cure)
	}
	return nil
}

// cast is who the recipes of a run ask for.
type cast struct {
	steps    []belay.Path
	names    []string // agents by name
	nobody   bool     // a step names none
	personas []string
	roles    []string
}

// all are the agents by name, with the one that stands in where none is named.
func (c cast) all(chosen string) []string {
	names := slices.Clone(c.names)
	if c.nobody || len(c.steps) == 0 {
		names = append(names, chosen)
	}
	for i, name := range names {
		if strings.HasPrefix(chosen, name+":") {
			names[i] = chosen
		}
	}
	return names
}

// rolesIn is who the agent steps of all recipes ask for: by name, by persona, or
// by the profile of their role.
func rolesIn(lib flow.Library, roles map[string]event.Profile) cast {
	var c cast
	for _, r := range lib.Recipes {
		for _, s := range r.Steps {
			if !s.Type.Agent() {
				continue
			}
			c.steps = append(c.steps, s.ID)
			if s.Role != "" {
				c.roles = append(c.roles, s.Role)
			}
			persona := strings.Contains(s.Agent, ":")
			if persona {
				c.personas = append(c.personas, s.Agent)
			}
			switch behind := roles[s.Role].Agent; {
			case s.Agent != "" && !persona:
				c.names = append(c.names, s.Agent)
			case behind == "":
				c.nobody = true
			}
		}
	}
	slices.Sort(c.names)
	c.names = slices.Compact(c.names)
	slices.Sort(c.personas)
	c.personas = slices.Compact(c.personas)
	slices.Sort(c.roles)
	c.roles = slices.Compact(c.roles)
	return c
}

// personas are the texts that are put before prompts. One that is not there is
// said, and the step does without it.
func (a *app) personas(refs []string, dir string) map[string]string {
	configHome := a.env("XDG_CONFIG_HOME")
	if configHome == "" && a.env("HOME") != "" {
		configHome = filepath.Join(a.env("HOME"), ".config")
	}
	places := library.PersonaPlaces(dir, a.env("HOME"), configHome)
	texts := map[string]string{}
	for _, ref := range refs {
		text, file, err := library.Persona(places, ref)
		switch {
		case err != nil:
			a.say("warning: %v", err)
		case file == "":
			a.say("warning: there is no persona %s; looked in %s", ref, strings.Join(places, ", "))
		default:
			texts[ref] = text
		}
	}
	return texts
}
