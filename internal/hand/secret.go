package hand

import (
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/step"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/redact"
)

// Secrets are the variables that the recipes call secret. Their values never
// become part of a record: they are in the environment of the steps, and
// whoever resumes the run must have them in his.
func Secrets(lib flow.Library) []string {
	var names []string
	for _, r := range lib.Recipes {
		names = append(names, r.Secrets...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// envSecrets tells a belay inside a step whose values it hides: what is a secret
// of the outer run must not be in the records of an inner one, or in a name that
// it makes.
const envSecrets = "BELAY_SECRETS"

// WithSecrets is the environment in which every secret that there is has all
// the names that a script may use for it, and in which a belay finds the names
// of all secrets.
func WithSecrets(env []string, lib flow.Library, more ...string) []string {
	for _, name := range Secrets(lib) {
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
	names := slices.DeleteFunc(append(Hidden(lib), more...), func(n string) bool { return !isVariable(n) })
	if len(names) == 0 {
		return env
	}
	slices.Sort(names)
	env = slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, envSecrets+"=") })
	return append(env, envSecrets+"="+strings.Join(slices.Compact(names), ","))
}

// isVariable tells whether an environment can have the name.
func isVariable(name string) bool {
	for i, r := range name {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// Hidden are the names in an environment whose values are secrets of recipes.
func Hidden(lib flow.Library) []string {
	var names []string
	for _, name := range Secrets(lib) {
		long, short := recipe.EnvNames(name)
		names = append(names, name, long, short)
	}
	return names
}

// mask are the values that must not be seen of a job: those of the run, and
// those of its own context and environment whose names say what they are.
func (h *Hand) mask(j effect.Job) []string {
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
		return h.Mask
	}
	return append(own, h.Mask...)
}

// Clean is a text without the secrets of the run. It comes before anything is
// made of the text: in a name, with small letters and hyphens, nobody would know
// a secret again.
func (h *Hand) Clean(text string) string {
	if text == "" {
		return ""
	}
	return redact.New(append(given(h.Tree), h.Mask...)).String(text)
}

// secretIn finds the values of the run's secrets in files, nil when there are none.
func (h *Hand) secretIn() func(io.Reader) bool {
	return redact.Values(append(given(h.Tree), h.Mask...)).Finder()
}

// given are the secrets among the values that a run was started with.
func given(t *flow.Tree) []string {
	var env []string
	vars := t.Started().Vars
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if v := vars[name]; v.Inline() && redact.Surely(name) {
			env = append(env, name+"="+step.Plain(v.JSON))
		}
	}
	return redact.FromEnv(env, nil)
}
