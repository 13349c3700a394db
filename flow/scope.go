package flow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

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
	known map[string]any    `state:"memo"` // decoded values
	bytes int

	hidden map[string]belay.Path // variables in which a secret was hidden, and the step that made each
	secret map[string]bool       // variables that only the environment of the steps has
	compat bool                  // a missing name is an empty text
	own    string                // the variable that with set; "" = none
	up     *scope                // where most of it comes from: the run's, or its parent's; nil = nowhere
}

func newScope(vars map[string]belay.Value) *scope {
	c := &scope{
		vars:  make(map[string]belay.Value, len(vars)),
		env:   make(map[string]string, 2*len(vars)),
		known: map[string]any{}, hidden: map[string]belay.Path{}, secret: map[string]bool{},
	}
	for name, v := range vars {
		c.vars[name] = v
		c.bytes += len(v.JSON)
		long, short := recipe.EnvNames(name)
		for _, env := range []string{long, short} {
			if env != "" && c.env[env] <= name { // two that share a name there: whatever the order of a map
				c.env[env] = name
			}
		}
	}
	return c
}

func (c *scope) set(name string, v belay.Value) {
	c.bytes += len(v.JSON) - len(c.vars[name].JSON)
	c.vars[name] = v
	delete(c.known, name)
	delete(c.hidden, name)
	long, short := recipe.EnvNames(name)
	c.env[long] = name
	if short != "" {
		c.env[short] = name
	}
}

// unset takes a variable away.
func (c *scope) unset(name string) {
	c.bytes -= len(c.vars[name].JSON)
	delete(c.vars, name)
	delete(c.known, name)
	delete(c.hidden, name)
	long, short := recipe.EnvNames(name)
	for _, env := range []string{long, short} {
		if c.env[env] == name {
			delete(c.env, env)
		}
	}
}

// big tells whether one of the names stands for a value that is not in the
// records.
func (c *scope) big(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return !c.vars[n].Inline() })
}

// lookup gives conditions their values; only inline ones are asked for.
func (c *scope) lookup() expr.Lookup {
	return func(name string) (any, bool) {
		v, ok := c.value(name)
		if !ok && c.compat {
			return "", true
		}
		return v, ok
	}
}

// texts gives texts their values. What is missing is null there when it may be
// missing: nothing, and a default takes its place.
func (c *scope) texts() expr.Lookup {
	return func(name string) (any, bool) {
		v, ok := c.value(name)
		return v, ok || c.compat
	}
}

// exact is the value of a variable with its numbers as they are written: 1.10
// is a version, and an id may have more digits than a float holds.
func (c *scope) exact(name string) (any, bool) {
	raw, ok := c.vars[name]
	if !ok {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(raw.JSON))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, false // not a value: as good as absent
	}
	return v, true
}

// value is the decoded value of a variable. A list or an object is decoded
// once, by the run that it comes from: thousands of others may look at it.
func (c *scope) value(name string) (any, bool) {
	raw := c.vars[name].JSON
	if len(raw) == 0 || raw[0] != '[' && raw[0] != '{' {
		return c.exact(name)
	}
	if c.up != nil && same(raw, c.up.vars[name].JSON) {
		return c.up.value(name)
	}
	if v, ok := c.known[name]; ok {
		return v, true
	}
	v, ok := c.exact(name)
	if ok {
		c.known[name] = v
	}
	return v, ok
}

// same tells whether two values are one, and not just alike.
func same(a, b json.RawMessage) bool {
	return len(a) == len(b) && len(a) > 0 && &a[0] == &b[0]
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
			if c.hidden[n] == "" { // what reads one of these was refused; nobody else must get half a value
				out[n] = v
			}
		}
		return out
	}
	return c.pick(slices.DeleteFunc(c.mentioned(script), func(n string) bool { return c.hidden[n] != "" }))
}

// mentioned are the variables whose names in the environment a script has in
// it: as they are, as files, or as the objects of a field.
func (c *scope) mentioned(script string) []string {
	var names []string
	words(script, func(w string) {
		w = strings.TrimSuffix(w, "_FILE")
		for {
			if n, ok := c.env[w]; ok {
				names = append(names, n)
			}
			at := strings.LastIndex(w, "__")
			if at < 0 {
				return
			}
			w = w[:at]
		}
	})
	return names
}

// with is the scope in which one more variable is set. What was decoded is
// shared with it: the items of a list look at the same big values.
func (c *scope) with(name string, v belay.Value) *scope {
	d := *c
	d.vars, d.env, d.hidden = maps.Clone(c.vars), maps.Clone(c.env), maps.Clone(c.hidden)
	d.known, d.own, d.up = map[string]any{}, name, c
	d.set(name, v)
	return &d
}

// render is the value of a text. One that lies outside the records is handed
// on as it is, and cannot be a part of something else.
func (c *scope) render(t *expr.Text) (belay.Value, error) {
	names := t.Names()
	for _, n := range names {
		if by := c.hidden[n]; by != "" {
			return belay.Value{}, fmt.Errorf("step %s printed a secret in %s, which was hidden", by, n)
		}
	}
	if c.big(names) {
		if name, ok := t.Alone(); ok {
			return c.vars[name], nil
		}
		at := slices.IndexFunc(names, func(n string) bool { return !c.vars[n].Inline() })
		return belay.Value{}, fmt.Errorf("the value of %s is too big (or no text) to be put into %s: use {{%s}} alone, or $NAME_FILE",
			names[at], t, names[at])
	}
	if name, ok := t.Alone(); ok {
		if raw := c.vars[name].JSON; len(raw) > 0 && (raw[0] == '{' || raw[0] == '[') {
			var b bytes.Buffer
			if json.Compact(&b, raw) == nil { // as it was written: its keys keep their order, as in $NAME
				return belay.Text(b.String()), nil
			}
		}
	}
	text, err := t.Render(c.texts())
	if err != nil {
		return belay.Value{}, err
	}
	return belay.Text(text), nil
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
