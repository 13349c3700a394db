package engine

import (
	"io"
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

// envSecrets tells a belay inside a step whose values it hides: what is a secret
// of the outer run must not be in the records of an inner one, or in a name that
// it makes.
const envSecrets = "BELAY_SECRETS"

// withSecrets is the environment in which every secret that there is has all
// the names that a script may use for it, and in which a belay finds the names
// of all secrets.
func withSecrets(env []string, lib flow.Library, more ...string) []string {
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
	names := slices.DeleteFunc(append(hidden(lib), more...), func(n string) bool { return !isVariable(n) })
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

// clean is a text without the secrets of the run. It comes before anything is
// made of the text: in a name, with small letters and hyphens, nobody would know
// a secret again.
func (w *drive) clean(text string) string {
	return redact.New(append(given(w.Tree), w.Mask...)).String(text)
}

// secretIn finds the values of the run's secrets in files, nil when there are none.
func (w *drive) secretIn() func(io.Reader) bool {
	return redact.Values(append(given(w.Tree), w.Mask...)).Finder()
}

// Hide is a text without the secrets that the environment shows by their names.
func (l *Local) Hide(text string) string {
	return redact.New(redact.FromEnv(l.Env, l.Secrets)).String(text)
}

// unsecret takes the secrets out of what people typed, before it becomes a
// record: a reason is free text, and a value that stands in it would be in the
// journal for good.
func unsecret(facts []flow.Fact, mask func() []string) []flow.Fact {
	var hide *redact.Redactor
	clean := func(why string) string {
		if why == "" {
			return ""
		}
		if hide == nil {
			hide = redact.New(mask())
		}
		return hide.String(why)
	}
	out := slices.Clone(facts)
	for i, f := range facts {
		switch e := f.Event.(type) {
		case belay.RequestReceived:
			e.Request.Why = clean(e.Request.Why)
			out[i].Event = e
		case belay.RunReopened:
			e.Why = clean(e.Why)
			out[i].Event = e
		}
	}
	return out
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
