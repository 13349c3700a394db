package expr

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Text is a text with {{name}} and {{name.field}} in it. What is put in is
// never looked at again.
type Text struct {
	src   string
	parts []part
	names []string
}

// part is a piece of plain text, or the path of a variable.
type part struct {
	plain string
	path  []string
	col   int
}

// ParseText reads a text; the error is an *Error.
func ParseText(src string) (*Text, error) {
	t := &Text{src: src}
	if len(src) > MaxResult {
		return nil, &Error{Col: 1, Msg: fmt.Sprintf("the text has %d bytes, at most %d are allowed", len(src), MaxResult), Src: src}
	}
	rest, col := src, 1
	for rest != "" {
		plain, after, found := strings.Cut(rest, "{{")
		if plain != "" {
			t.parts = append(t.parts, part{plain: plain})
		}
		if !found {
			break
		}
		col += utf8.RuneCountInString(plain)
		inner, next, closed := strings.Cut(after, "}}")
		if !closed {
			return nil, &Error{Col: col, Msg: "the {{ that starts here is not closed", Src: src}
		}
		path, err := placeholder(inner)
		if err != "" {
			return nil, &Error{Col: col, Msg: err, Src: src}
		}
		t.parts = append(t.parts, part{path: path, col: col})
		t.names = append(t.names, path[0])
		col += len("{{}}") + utf8.RuneCountInString(inner)
		rest = next
	}
	t.names = sorted(t.names)
	return t, nil
}

// placeholder reads what stands between the brackets; problem is "" when it
// is a name with fields.
func placeholder(inner string) (path []string, problem string) {
	name := strings.Trim(inner, " \t")
	if name == "" {
		return nil, "{{ }} names no variable"
	}
	path = strings.Split(name, ".")
	for i, seg := range path {
		if seg == "" || i == 0 && !isLetter(seg[0]) || strings.IndexFunc(seg, notInName) >= 0 {
			return nil, fmt.Sprintf("%s is not the name of a variable: {{ }} holds a name and nothing else", short(name))
		}
	}
	return path, ""
}

func notInName(r rune) bool { return r != '-' && (r >= utf8.RuneSelf || !isWord(byte(r))) }

func short(s string) string {
	if r := []rune(s); len(r) > 40 {
		return fmt.Sprintf("%q", string(r[:40])+"…")
	}
	return fmt.Sprintf("%q", s)
}

// Render puts the values in. An unknown variable or field is an error, null is
// nothing; the error is an *Error.
func (t *Text) Render(l Lookup) (string, error) {
	var b strings.Builder
	for _, p := range t.parts {
		s := p.plain
		if p.path != nil {
			v, problem := p.find(l)
			if problem != "" {
				return "", &Error{Col: p.col, Msg: problem, Src: t.src}
			}
			s = TextOf(v)
		}
		if b.Len()+len(s) > MaxResult {
			return "", &Error{Col: max(p.col, 1), Msg: fmt.Sprintf("the result would have more than %d bytes", MaxResult), Src: t.src}
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

// find walks from the variable through its fields.
func (p part) find(l Lookup) (v any, problem string) {
	v, ok := l(p.path[0])
	if !ok {
		return nil, fmt.Sprintf("no variable named %q", p.path[0])
	}
	if kindOf(v) == "" {
		return nil, fmt.Sprintf("the variable %q holds a %T, which the language does not know", p.path[0], v)
	}
	for i, key := range p.path[1:] {
		o, isObject := v.(map[string]any)
		if v, ok = o[key]; !ok {
			if !isObject {
				return nil, fmt.Sprintf("%q is not an object, so it has no field %q", strings.Join(p.path[:i+1], "."), key)
			}
			return nil, fmt.Sprintf("%q has no field %q", strings.Join(p.path[:i+1], "."), key)
		}
	}
	return v, ""
}

// Names are the variables that the text reads, sorted.
func (t *Text) Names() []string { return slices.Clone(t.names) }

// String is the source.
func (t *Text) String() string { return t.src }

// Literal tells whether the text reads no variable at all.
func (t *Text) Literal() bool { return len(t.names) == 0 }
