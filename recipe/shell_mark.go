package recipe

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/belay-run/belay/expr"
)

// form is how a reference is written in place of a placeholder.
type form int

const (
	formNone    form = iota // nobody knows where it stands
	formComment             // left as it is
	formQuoted              // "${X}": a word, or a part of one
	formOpen                // ${X}: in double quotes, a here-document or arithmetic
	formEscaped             // \${X}: the same after a backslash, which is thereby doubled
	formSingle              // '"${X}"': out of single quotes and back
	formAnsi                // '"${X}"$': out of $'…' and back
)

func (f form) write(env string) string {
	ref := "${" + env + "}"
	switch f {
	case formQuoted:
		return `"` + ref + `"`
	case formEscaped:
		return `\` + ref
	case formSingle:
		return `'"` + ref + `"'`
	case formAnsi:
		return `'"` + ref + `"$'`
	case formOpen, formNone, formComment:
	}
	return ref
}

// refusal says why a placeholder cannot, or should not, stand somewhere.
type refusal struct{ msg, hint string }

// spot is a placeholder in a marked script.
type spot struct {
	hole       expr.Hole
	start, end int // in the marked text
	form       form
	integer    bool
	reached    bool // it gets to an integer variable by a way around
	env        string
	refused    refusal
	warned     refusal // why it may do harm there
}

// marked is a script in which a plain word stands for every placeholder, so
// that a shell parser can tell where each of them is.
type marked struct {
	src    string
	text   string
	prefix string
	words  []string // the placeholders, by the number in their mark
	spots  []spot   // by place
}

func mark(src string, holes []expr.Hole) *marked {
	m := &marked{src: src, prefix: "__belay_ph_"}
	for n := 0; strings.Contains(src, m.prefix); n++ {
		m.prefix = fmt.Sprintf("__belay_ph%d_", n)
	}
	var b strings.Builder
	b.Grow(len(src) + len(holes)*len(m.prefix))
	m.spots = make([]spot, 0, len(holes))
	from, number := 0, make(map[string]int, min(len(holes), 8))
	for _, h := range holes {
		b.WriteString(src[from:h.Start])
		sp := spot{hole: h, start: b.Len()}
		if word := src[h.Start:h.End]; h.Err != nil {
			b.WriteString(word)
		} else {
			n, known := number[word]
			if !known {
				n = len(m.words)
				number[word], m.words = n, append(m.words, word)
			}
			b.WriteString(m.mark(n))
		}
		sp.end = b.Len()
		m.spots = append(m.spots, sp)
		from = h.End
	}
	b.WriteString(src[from:])
	m.text = b.String()
	return m
}

func (m *marked) mark(n int) string { return m.prefix + strconv.Itoa(n) + "__" }

// in are the spots that begin in a part of the marked text.
func (m *marked) in(start, end int) []spot {
	at := func(sp spot, offset int) int { return cmp.Compare(sp.start, offset) }
	i, _ := slices.BinarySearchFunc(m.spots, start, at)
	j, _ := slices.BinarySearchFunc(m.spots, end, at)
	return m.spots[i:max(i, j)]
}

// origin is the place in the source of a place in the marked text.
func (m *marked) origin(offset int) int {
	shift := 0
	for _, sp := range m.spots {
		if offset < sp.start {
			break
		}
		if offset < sp.end {
			return sp.hole.Start
		}
		shift = sp.hole.End - sp.end
	}
	return offset + shift
}

// unmarked gives the placeholders back to a message.
func (m *marked) unmarked(msg string) string {
	for n := len(m.words) - 1; n >= 0 && strings.Contains(msg, m.prefix); n-- {
		msg = strings.ReplaceAll(msg, m.mark(n), m.words[n])
	}
	return msg
}

// edit replaces a part of the marked text.
type edit struct {
	start, end int
	text       string
}

// rewritten is the script that bash gets.
func (m *marked) rewritten(edits []edit) string {
	edits = slices.Grow(edits, len(m.spots))
	for i := range m.spots {
		sp := &m.spots[i]
		text := m.src[sp.hole.Start:sp.hole.End]
		if sp.form != formComment {
			text = sp.form.write(sp.env)
		}
		edits = append(edits, edit{sp.start, sp.end, text})
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	var b strings.Builder
	b.Grow(len(m.text) + 8*len(edits))
	from := 0
	for _, e := range edits {
		b.WriteString(m.text[from:e.start])
		b.WriteString(e.text)
		from = e.end
	}
	b.WriteString(m.text[from:])
	return b.String()
}
