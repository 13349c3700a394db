package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/recipe"
)

// secretFlag is the flag that names secrets of the environment.
func secretFlag(cmd *cobra.Command, names *[]string) {
	cmd.Flags().StringArrayVar(names, "secret", nil, "a variable of the environment whose value is hidden everywhere")
}

// hide adds names of secrets to those that the configuration has. A name that
// hides nothing is likely a slip, and is said.
func (a *app) hide(cmd *cobra.Command, ws *workshop, names []string) error {
	for _, n := range names {
		if !variableForm.MatchString(n) {
			return usage(cmd, fmt.Errorf("--secret %q: it takes the name of a variable, not its value", n))
		}
		if a.env(n) == "" {
			a.say("warning: --secret %s hides nothing: the environment has no value of that name", n)
		}
	}
	ws.local.Secrets = append(slices.Clone(ws.local.Secrets), names...)
	return nil
}

// secretSets refuses values of --set for secrets: the values that a run starts
// with are written down, and a secret must not be.
func secretSets(vars map[string]json.RawMessage, set *library.Set, names []string) error {
	names = slices.Clone(names)
	for _, r := range set.Library.Recipes {
		names = append(names, r.Secrets...)
	}
	slices.Sort(names)
	for _, n := range names {
		for v := range vars {
			if !sameVariable(v, n) {
				continue
			}
			return belay.Exit(belay.ExitInvalid, "", fmt.Errorf("--set %s: %s is a secret, and what is set is written to the journal", v, n),
				fmt.Sprintf("put it into the environment instead: export %s=… and read $%s in the script", strings.ToUpper(n), strings.ToUpper(n)))
		}
	}
	return nil
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
