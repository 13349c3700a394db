package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/readable"
)

// dryRun says what a run would do, as far as that can be known without the
// outputs of its steps. It opens no state, starts nothing and records nothing.
func (a *app) dryRun(cmd *cobra.Command, name, dir string, vars map[string]json.RawMessage, o runOptions) error {
	cfg, err := config.Load(a.environ)
	if err != nil {
		return err
	}
	spec, err := a.spec(cfg, name, dir, vars, o)
	if err == nil {
		err = a.secretSets(vars, spec.Set, slices.Concat(cfg.Secrets.Value, o.secrets))
	}
	if err != nil {
		return err
	}
	a.warnUnread(spec.Set, vars)
	exe, err := a.self()
	if err != nil {
		return err
	}
	agents, err := a.rosterOf(cfg, exe)
	if err == nil {
		err = a.staff(cmd, &spec, cfg, agents, o.agents)
	}
	if err == nil {
		err = engine.Precheck(spec)
	}
	if err != nil {
		return err
	}
	steps, err := flow.Rehearse(spec.Set.Library, spec.First(), a.secretOf)
	if err != nil {
		return err
	}
	problems := 0
	for _, s := range steps {
		if s.Problem != "" && !s.Spared {
			problems++
		}
		if o.json {
			a.object(s)
			continue
		}
		a.out.line("%s", rehearsedLine(s, dir))
	}
	if problems > 0 {
		return exit.New(exit.Invalid, "", fmt.Errorf("%s of %s would be refused", readable.Many(problems, "step"), spec.Set.Root.Name),
			"nothing was started")
	}
	if !o.json {
		a.say("nothing was started")
	}
	return nil
}

// rehearsedLine is a step of a dry run on one line.
func rehearsedLine(s flow.Rehearsed, dir string) string {
	word, text := string(s.Take), s.Why
	switch {
	case s.Problem != "" && s.Spared:
		word, text = "refused", "(optional) "+s.Problem
	case s.Problem != "":
		word, text = "refused", s.Problem
	case s.Dir != "" && s.Dir != dir:
		text = strings.TrimSpace(text + " in " + s.Dir)
	}
	return strings.TrimRight(fmt.Sprintf("%-9s  %s%-20s %s", word, strings.Repeat("  ", s.Depth), s.Step, text), " ")
}
