package expr

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// found is a value on its way through the filters. missing says why there is
// none; a filter that fills may still provide it.
type found struct {
	value   any
	missing string
}

// filter changes a value before it is put in. One that fills takes an argument
// and stands in for a value that is missing or null.
type filter struct {
	takes string
	fills bool
	do    func(v any) any
}

// filters are written after the name: {{ name | filter }}.
var filters = map[string]*filter{
	"default": {takes: "a text in quotes, a number, true or false, as in default('x')", fills: true},
	"json":    {takes: "no argument", do: func(v any) any { return jsonOf(v) }},
	"lines":   {takes: "no argument", do: linesOf},
	"short":   {takes: "no argument", do: shortened},
	"trim":    {takes: "no argument", do: trimmed},
}

// trimmed leaves null alone: a default that follows may still fill it.
func trimmed(v any) any {
	if v == nil {
		return nil
	}
	return strings.TrimSpace(TextOf(v))
}

// maxShort is how many bytes of a text are left where it is made short.
const maxShort = 64 << 10

// shortened leaves the beginning and the end of a long text, and says how much it left
// out. null is left alone.
func shortened(v any) any {
	if v == nil {
		return nil
	}
	text := TextOf(v)
	if len(text) <= maxShort {
		return text
	}
	from, to := maxShort/2, len(text)-maxShort/2
	for !utf8.RuneStart(text[from]) {
		from--
	}
	for !utf8.RuneStart(text[to]) {
		to++
	}
	return fmt.Sprintf("%s\n[%d bytes are left out]\n%s", text[:from], to-from, text[to:])
}

// linesOf makes a list of the lines of a text, without those that hold only
// blanks. A list is one already, and null is left alone.
func linesOf(v any) any {
	switch v.(type) {
	case nil, []any:
		return v
	}
	list := []any{}
	for line := range strings.Lines(TextOf(v)) {
		if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) != "" {
			list = append(list, line)
		}
	}
	return list
}

// value finds the value and takes it through the filters.
func (p *placeholder) value(l Lookup) (v any, problem string) {
	f := found{value: p.text}
	if p.name != "" {
		if f, problem = p.find(l); problem != "" {
			return nil, problem
		}
	}
	for _, c := range p.filters {
		switch {
		case c.fills && (f.missing != "" || f.value == nil):
			f = found{value: c.arg}
		case !c.fills && f.missing == "":
			f.value = c.do(f.value)
		}
	}
	return f.value, f.missing
}

// find walks from the variable into its value. What is not there may be
// provided by a default; a value of the wrong kind is a mistake all the same.
func (p *placeholder) find(l Lookup) (f found, problem string) {
	v, ok := l(p.name)
	if !ok {
		return found{missing: fmt.Sprintf("no variable named %q", p.name)}, ""
	}
	if kindOf(v) == "" {
		return f, fmt.Sprintf("the variable %q holds a %T, which the language does not know", p.name, v)
	}
	for i, w := range p.path {
		next, ok := w.from(v)
		if ok {
			v = next
			continue
		}
		problem := w.absent(p.shown(i), v)
		if v == nil || w.fits(v) {
			return found{missing: problem}, ""
		}
		return f, problem
	}
	return found{value: v}, ""
}

// shown is the placeholder up to step n of its path, as a message names it.
func (p *placeholder) shown(n int) string {
	var b strings.Builder
	b.WriteString(p.name)
	for _, w := range p.path[:n] {
		b.WriteString(w.String())
	}
	return b.String()
}

// from takes the step from v; items count from the end when negative.
func (w way) from(v any) (any, bool) {
	if !w.isItem {
		o, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		next, ok := o[w.key]
		return next, ok
	}
	list, ok := v.([]any)
	i := w.index
	if i < 0 {
		i += len(list)
	}
	if !ok || i < 0 || i >= len(list) {
		return nil, false
	}
	return list[i], true
}

// fits tells whether v is of the kind that the step is for.
func (w way) fits(v any) bool {
	switch v.(type) {
	case map[string]any:
		return !w.isItem
	case []any:
		return w.isItem
	}
	return false
}

// absent says why the step cannot be taken from v.
func (w way) absent(of string, v any) string {
	list, isList := v.([]any)
	switch {
	case w.isItem && isList:
		return fmt.Sprintf("%q has %d items, so it has no item %d", of, len(list), w.index)
	case w.isItem:
		return fmt.Sprintf("%q is not a list, so it has no item %d", of, w.index)
	case w.fits(v):
		return fmt.Sprintf("%q has no field %q", of, w.key)
	}
	return fmt.Sprintf("%q is not an object, so it has no field %q", of, w.key)
}
