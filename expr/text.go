package expr

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Text is a text with placeholders in it, such as {{name}},
// {{name.field[0]['key']}} and {{name | trim | default('x')}}. What is put in
// is never looked at again.
type Text struct {
	src     string
	parts   []part
	lenient bool
}

// part is a piece of plain text, or a placeholder.
type part struct {
	plain string
	hole  *placeholder
	col   int
	at    int // in bytes
}

// Hole is the place of a placeholder in a text.
type Hole struct {
	Start, End int    // in bytes, brackets included
	Value      *Text  // the placeholder alone; nil when it is wrong
	Err        *Error // what is wrong with it
}

// Holes finds every {{ of a text, right or wrong. A wrong one ends after its
// first two bytes, and the search goes on there.
func Holes(src string) []Hole {
	n := strings.Count(src, "{{")
	if n == 0 {
		return nil
	}
	holes := make([]Hole, 0, min(n, 32))
	col, seen := 1, 0
	for at := strings.Index(src, "{{"); at >= 0; {
		col += utf8.RuneCountInString(src[seen:at])
		p, end, err := readPlaceholder(src, at)
		h := Hole{Start: at, End: end}
		if err != nil {
			err.Col, err.Src = col, src
			h.End, h.Err = at+2, err
		} else {
			h.Value = &Text{src: src[at:end], parts: []part{{hole: p, col: 1}}}
		}
		holes = append(holes, h)
		seen = at
		next := strings.Index(src[h.End:], "{{")
		if next < 0 {
			break
		}
		at = h.End + next
	}
	return holes
}

// ParseText reads a text; the error is an *Error.
func ParseText(src string) (*Text, error) {
	t := &Text{src: src}
	if len(src) > MaxResult {
		return nil, &Error{Col: 1, Msg: fmt.Sprintf("the text has %d bytes, at most %d are allowed", len(src), MaxResult), Src: src}
	}
	t.parts = make([]part, 0, 1+2*min(strings.Count(src, "{{"), 32))
	col, seen := 1, 0
	for at := strings.Index(src, "{{"); at >= 0; {
		col += utf8.RuneCountInString(src[seen:at])
		p, end, err := readPlaceholder(src, at)
		if err != nil {
			err.Col, err.Src = col, src
			return nil, err
		}
		t.plain(src[seen:at])
		t.parts = append(t.parts, part{hole: p, col: col, at: at})
		col += utf8.RuneCountInString(src[at:end])
		seen = end
		next := strings.Index(src[end:], "{{")
		if next < 0 {
			break
		}
		at = end + next
	}
	t.plain(src[seen:])
	return t, nil
}

// Plain is a text in which nothing stands for anything else, whatever is in it.
func Plain(src string) *Text {
	t := &Text{src: src}
	t.plain(src)
	return t
}

func (t *Text) plain(s string) {
	if s != "" {
		t.parts = append(t.parts, part{plain: s})
	}
}

// Lenient makes what is not there nothing instead of an error: a variable, a
// field, an item.
func (t *Text) Lenient() { t.lenient = true }

// Render puts the values in. An unknown variable or field without a default is
// an error, null is nothing; the error is an *Error.
func (t *Text) Render(l Lookup) (string, error) {
	var b strings.Builder
	for _, p := range t.parts {
		s := p.plain
		if p.hole != nil {
			v, problem := p.hole.value(l)
			if problem != "" && !t.lenient {
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

// Value is the value of a text that is one placeholder and nothing else, as it
// is; of any other it is what Render gives.
func (t *Text) Value(l Lookup) (any, error) {
	if len(t.parts) != 1 || t.parts[0].hole == nil {
		return t.Render(l)
	}
	v, problem := t.parts[0].hole.value(l)
	if problem != "" && !t.lenient {
		return nil, &Error{Col: t.parts[0].col, Msg: problem, Src: t.src}
	}
	return v, nil
}

// Reads are the variables that the text reads, each where it is first read
// without a default, or else with one; in the order of the text.
func (t *Text) Reads() []Read {
	var reads []Read
	known := make(map[string]int, min(len(t.parts), 8))
	for i := range t.parts {
		p := &t.parts[i]
		if p.hole == nil || p.hole.name == "" {
			continue
		}
		r := Read{Name: p.hole.name, Offset: p.at, Optional: p.hole.optional()}
		i, again := known[r.Name]
		switch {
		case !again:
			known[r.Name] = len(reads)
			reads = append(reads, r)
		case reads[i].Optional && !r.Optional:
			reads[i] = r
		}
	}
	slices.SortFunc(reads, func(a, b Read) int { return cmp.Compare(a.Offset, b.Offset) })
	return reads
}

// Names are the variables that the text reads, sorted.
func (t *Text) Names() []string {
	var names []string
	for _, r := range t.Reads() {
		names = append(names, r.Name)
	}
	return sorted(names)
}

// Alone tells whether the text is one placeholder and nothing else, and that
// one a variable as it is: then its value need not be rendered to be handed on.
func (t *Text) Alone() (name string, ok bool) {
	if len(t.parts) != 1 || t.parts[0].hole == nil {
		return "", false
	}
	p := t.parts[0].hole
	return p.name, p.name != "" && len(p.path) == 0 && len(p.filters) == 0
}

// String is the source.
func (t *Text) String() string { return t.src }

// Literal tells whether the text has no placeholder at all.
func (t *Text) Literal() bool {
	return !slices.ContainsFunc(t.parts, func(p part) bool { return p.hole != nil })
}
