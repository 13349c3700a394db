package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/redact"
)

// secretFlag is the flag that names secrets of the environment.
func secretFlag(cmd *cobra.Command, names *[]string) {
	cmd.Flags().StringArrayVar(names, "secret", nil, "an environment variable whose value is hidden in all output and records")
}

// hide adds names of secrets to those that the configuration has. A name that
// hides nothing is likely a slip, and is said.
func (a *app) hide(cmd *cobra.Command, ws *workshop, names []string) error {
	for _, n := range names {
		if !variableForm().MatchString(n) {
			return usage(cmd, fmt.Errorf("--secret %q: it takes the name of a variable, not its value", n))
		}
		if a.env(n) == "" {
			a.say("warning: --secret %s hides nothing: the environment has no value of that name", n)
		}
	}
	ws.local.Secrets = append(slices.Clone(ws.local.Secrets), names...)
	return nil
}

// secretSets refuses values of --set that are secrets, by name or by value: the
// values that a run starts with are written down, and a secret must not be.
func (a *app) secretSets(vars map[string]json.RawMessage, set *library.Set, names []string) error {
	names = slices.Clone(names)
	for _, r := range set.Library.Recipes {
		names = append(names, r.Secrets...)
	}
	slices.Sort(names)
	for _, v := range slices.Sorted(maps.Keys(vars)) {
		for _, n := range names {
			if sameVariable(v, n) {
				return secretSet(v, n+" is a secret", strings.ToUpper(n))
			}
		}
		if why := a.secretIn(vars[v], names); why != "" {
			return secretSet(v, why, "NAME")
		}
	}
	return nil
}

func secretSet(name, why, env string) error {
	return exit.New(exit.Invalid, "", fmt.Errorf("--set %s: %s, and what is set is written to the journal", name, why),
		fmt.Sprintf("put it into the environment instead: export %s=… and read $%s in the script", env, env))
}

// secretIn says which secret a value holds; "" when it holds none.
func (a *app) secretIn(value json.RawMessage, names []string) string {
	for _, kv := range a.environ {
		name, _, _ := strings.Cut(kv, "=")
		values := redact.FromEnv([]string{kv}, names)
		if _, hid := redact.Values(values).Hide(value); hid {
			return "the value holds that of the secret $" + name
		}
	}
	if _, hid := redact.New(nil).Hide(value); hid {
		return "the value holds a token or a password"
	}
	return ""
}

// secretOf is the value that the steps of a run would have for a secret.
func (a *app) secretOf(name string) (string, bool) {
	_, short := recipe.EnvNames(name)
	value, ok := "", false
	for _, kv := range a.environ {
		if n, v, _ := strings.Cut(kv, "="); n == name || n == short {
			value, ok = v, true
		}
	}
	return value, ok
}

// sameVariable tells whether two names are one variable for a script.
func sameVariable(a, b string) bool {
	if a == b {
		return true
	}
	_, x := recipe.EnvNames(a)
	_, y := recipe.EnvNames(b)
	return x != "" && x == y
}
