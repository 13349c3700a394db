package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/roster"
)

// recoveryOptions are the flags about recoveries from failures.
type recoveryOptions struct {
	policy     string
	recovery   string
	maxRetries int
	maxReplans int
	staff      []string
}

func recoveryFlags(cmd *cobra.Command, o *recoveryOptions) {
	f := cmd.Flags()
	f.StringVar(&o.policy, "policy", "", "the policy that chooses recoveries from failures: belay or classic (default: the policy of the recipe, else the setting recovery.policy, else belay)")
	f.IntVar(&o.maxRetries, "max-retries", 0, "how often the classic policy retries before it looks at the error (default: the setting recovery.max_retries, 3)")
	f.IntVar(&o.maxReplans, "max-replans", 0, "the maximum number of recoveries, including those of nested runs; 0 = only those of the recipe itself (default: the setting limits.max_replans, 12)")
	f.StringVar(&o.recovery, "recovery", "", "whether an agent finishes the work of a failed sub-recipe: on, off or classic (default: the value of the recipe, else on)")
	f.StringSliceVar(&o.staff, "staff", nil, "agents that may take over from another, in this order; \"\" for none (default: the setting recovery.staff, else all that are installed and logged in)")
}

// apply gives a run what the flags say about recoveries, over the recipe, over
// the settings.
func (o recoveryOptions) apply(cmd *cobra.Command, spec *engine.Spec, cfg *config.Config) error {
	for _, w := range []struct {
		flag, word string
		words      []string
	}{{"policy", o.policy, []string{"belay", "classic"}}, {"recovery", o.recovery, []string{"on", "off", "classic"}}} {
		if cmd.Flags().Changed(w.flag) && !slices.Contains(w.words, w.word) {
			return usage(cmd, fmt.Errorf("--%s %q: must be one of %s", w.flag, w.word, strings.Join(w.words, ", ")))
		}
	}
	spec.Policy = cmp.Or(o.policy, spec.Set.Root.Policy, cfg.Recovery.Policy.Value)
	spec.Recovery = cmp.Or(o.recovery, spec.Set.Root.Recovery)
	for _, n := range []struct {
		flag     string
		value    int
		to       *int
		fallback config.Setting[int]
	}{
		{"max-retries", o.maxRetries, &spec.MaxRetries, cfg.Recovery.MaxRetries},
		{"max-replans", o.maxReplans, &spec.MaxReplans, cfg.Recovery.MaxReplans},
	} {
		switch {
		case cmd.Flags().Changed(n.flag) && n.value == 0 && n.flag == "max-replans":
			*n.to = -1
		case cmd.Flags().Changed(n.flag) && n.value < 1:
			return usage(cmd, fmt.Errorf("--%s %d: must be at least 1", n.flag, n.value))
		case n.value > 0:
			*n.to = n.value
		case n.fallback.Origin != config.OriginDefault:
			*n.to = n.fallback.Value
		}
	}
	return nil
}

// relief are the agents that may take over from another: those that the flag
// names, which must all be there; else those of the settings that are; else all
// that are installed and logged in. Nobody takes over from a scripted agent by
// default: a rehearsal must not end with one that costs money.
func (o recoveryOptions) relief(cmd *cobra.Command, cfg *config.Config, r *roster.Roster, chosen string) ([]string, error) {
	asked := cmd.Flags().Changed("staff")
	names := o.staff
	if !asked {
		names = cfg.Recovery.Staff.Value
	}
	if !asked && cfg.Recovery.Staff.Origin == config.OriginDefault {
		return everyone(r, chosen), nil
	}
	var staff []string
	for _, name := range names {
		name, err := wholeScript(name)
		if err != nil {
			return nil, err
		}
		e, err := r.Find(name)
		var unknown *roster.Unknown
		switch {
		case err != nil && (asked || errors.As(err, &unknown)):
			return nil, noAgent(err)
		case err != nil: // not on this machine
			continue
		}
		if err := checkScript(e); err != nil {
			return nil, err
		}
		if !slices.Contains(staff, name) {
			staff = append(staff, name)
		}
	}
	return staff, nil
}

// everyone is who can work on this machine, in the order of the roster.
func everyone(r *roster.Roster, chosen string) []string {
	if e, err := r.Get(chosen); err == nil && e.Kind == agent.Scripted {
		return nil
	}
	var names []string
	for _, name := range r.Names() {
		e, err := r.Find(name)
		if err == nil && e.Kind != agent.Scripted && r.LoggedIn(e) {
			names = append(names, name)
		}
	}
	return names
}

// profiles are the roles of the settings. One whose agent is not on this
// machine cannot be taken: it is left out, and refused when a step has it.
func (a *app) profiles(cfg *config.Config, r *roster.Roster, who cast) (map[string]event.Profile, error) {
	roles := map[string]event.Profile{}
	for _, role := range slices.Sorted(maps.Keys(cfg.Recovery.Roles)) {
		p := cfg.Recovery.Roles[role]
		if p.Agent != "" {
			name, err := wholeScript(p.Agent)
			if err != nil {
				return nil, err
			}
			p.Agent = name
			e, err := r.Find(name)
			var unknown *roster.Unknown
			switch {
			case err != nil && (slices.Contains(who.roles, role) || errors.As(err, &unknown)):
				return nil, noAgent(fmt.Errorf("role %s: %w", role, err))
			case err != nil:
				a.say("warning: role %s cannot be taken here: %v", role, err)
				continue
			}
			if err := checkScript(e); err != nil {
				return nil, err
			}
		}
		roles[role] = p
	}
	for _, role := range who.roles {
		_, known := cfg.Recovery.Roles[role]
		if name, custom := strings.CutPrefix(role, "custom:"); custom && !known {
			a.say("warning: nothing is set for role %s; a profile is made with roles.%s in the settings", role, name)
		}
	}
	return roles, nil
}
