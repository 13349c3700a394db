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
	known := a.secretsIn(names)
	for _, v := range slices.Sorted(maps.Keys(vars)) {
		for _, n := range names {
			if sameVariable(v, n) {
				return secretSet(v, n+" is a secret", strings.ToUpper(n))
			}
		}
		if why := known.in(vars[v]); why != "" {
			return secretSet(v, why, "NAME")
		}
	}
	return nil
}

func secretSet(name, why, env string) error {
	return exit.New(exit.Invalid, "", fmt.Errorf("--set %s: %s, and what is set is written to the journal", name, why),
		fmt.Sprintf("put it into the environment instead: export %s=… and read $%s in the script", env, env))
}

// knownSecrets finds secrets in values. It is made once: there may be many values.
type knownSecrets struct {
	names []string // of variables of the environment, and what finds each
	by    []*redact.Redactor
	all   *redact.Redactor // finds any of them, and tokens and passwords wherever they are from
}

// secretsIn are those that the environment holds.
func (a *app) secretsIn(names []string) knownSecrets {
	var known knownSecrets
	var all []string
	for _, kv := range a.environ {
		if values := redact.FromEnv([]string{kv}, names); len(values) > 0 {
			name, _, _ := strings.Cut(kv, "=")
			known.names, known.by = append(known.names, name), append(known.by, redact.Values(values))
			all = append(all, values...)
		}
	}
	known.all = redact.New(all)
	return known
}

// in says which secret a value holds; "" when it holds none.
func (k knownSecrets) in(value json.RawMessage) string {
	if _, hid := k.all.Hide(value); !hid {
		return ""
	}
	for i, r := range k.by {
		if _, hid := r.Hide(value); hid {
			return "the value holds that of the secret $" + k.names[i]
		}
	}
	return "the value holds a token or a password"
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
