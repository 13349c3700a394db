package engine

import (
	"maps"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/step"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/redact"
)

// secretsOf are the variables that the recipes call secret. Their values never
// become part of a record: they are in the environment of the steps, and
// whoever resumes the run must have them in his.
func secretsOf(lib flow.Library) []string {
	var names []string
	for _, r := range lib.Recipes {
		names = append(names, r.Secrets...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// withSecrets is the environment in which every secret that there is has all
// the names that a script may use for it.
func withSecrets(env []string, lib flow.Library) []string {
	for _, name := range secretsOf(lib) {
		long, short := recipe.EnvNames(name)
		value, ok := "", false
		for _, kv := range env {
			if n, v, _ := strings.Cut(kv, "="); n == name || n == short {
				value, ok = v, true
			}
		}
		if !ok {
			continue
		}
		env = append(env, long+"="+value)
		if short != "" {
			env = append(env, short+"="+value)
		}
	}
	return env
}

// hidden are the names in an environment whose values are secrets of recipes.
func hidden(lib flow.Library) []string {
	var names []string
	for _, name := range secretsOf(lib) {
		long, short := recipe.EnvNames(name)
		names = append(names, name, long, short)
	}
	return names
}

// mask are the values that must not be seen of a job: those of the run, and
// those of its own context and environment whose names say what they are.
func (w *drive) mask(j belay.Job) []string {
	var env []string
	for _, name := range slices.Sorted(maps.Keys(j.Vars)) {
		if v := j.Vars[name]; v.Inline() && redact.Surely(name) {
			env = append(env, name+"="+step.Plain(v.JSON))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(j.Env)) {
		env = append(env, name+"="+j.Env[name])
	}
	own := redact.FromEnv(env, nil)
	if len(own) == 0 {
		return w.Mask
	}
	return append(own, w.Mask...)
}
