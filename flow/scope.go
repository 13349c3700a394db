package flow

import (
	"encoding/json"
	"slices"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/expr"
	"github.com/belay-run/belay/recipe"
)

// A script gets the whole context while it is at most this big; beyond that it
// gets the variables that it mentions. The cost of a step must not grow with
// the number of steps before it.
const (
	scopeVars  = 200
	scopeBytes = 64 << 10
)

// scope is the context of a run.
type scope struct {
	vars  map[string]belay.Value
	env   map[string]string // name in the environment to variable
	known map[string]any    // decoded values
	bytes int
}

func newScope(vars map[string]belay.Value) *scope {
	c := &scope{
		vars:  make(map[string]belay.Value, len(vars)),
		env:   make(map[string]string, 2*len(vars)),
		known: map[string]any{},
	}
	for name, v := range vars {
		c.set(name, v)
	}
	return c
}

func (c *scope) set(name string, v belay.Value) {
	c.bytes += len(v.JSON) - len(c.vars[name].JSON)
	c.vars[name] = v
	delete(c.known, name)
	long, short := recipe.EnvNames(name)
	c.env[long] = name
	if short != "" {
		c.env[short] = name
	}
}

// big tells whether one of the names stands for a value that is not in the
// records.
func (c *scope) big(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return !c.vars[n].Inline() })
}

// lookup gives the expr package its values; only inline ones are asked for.
func (c *scope) lookup() expr.Lookup {
	return func(name string) (any, bool) {
		if v, ok := c.known[name]; ok {
			return v, true
		}
		raw, ok := c.vars[name]
		if !ok {
			return nil, false
		}
		var v any
		if err := json.Unmarshal(raw.JSON, &v); err != nil {
			return nil, false // not a value: as good as absent
		}
		c.known[name] = v
		return v, true
	}
}

// pick is a copy of the named variables.
func (c *scope) pick(names []string) map[string]belay.Value {
	out := make(map[string]belay.Value, len(names))
	for _, n := range names {
		if v, ok := c.vars[n]; ok {
			out[n] = v
		}
	}
	return out
}

// visible is what a script may read.
func (c *scope) visible(script string) map[string]belay.Value {
	if len(c.vars) <= scopeVars && c.bytes <= scopeBytes {
		out := make(map[string]belay.Value, len(c.vars))
		for n, v := range c.vars {
			out[n] = v
		}
		return out
	}
	out := map[string]belay.Value{}
	words(script, func(w string) {
		if n, ok := c.env[w]; ok {
			out[n] = c.vars[n]
		}
		const file = "_FILE"
		if len(w) > len(file) && w[len(w)-len(file):] == file {
			if n, ok := c.env[w[:len(w)-len(file)]]; ok {
				out[n] = c.vars[n]
			}
		}
	})
	return out
}

// words calls f for every run of letters, digits and underscores in a text.
func words(text string, f func(string)) {
	start := -1
	for i := 0; i <= len(text); i++ {
		if i < len(text) && wordByte(text[i]) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			f(text[start:i])
			start = -1
		}
	}
}

func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}
