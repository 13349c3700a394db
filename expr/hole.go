package expr

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// placeholder is what stands between {{ and }}: a variable with a way into its
// value, or a text in quotes, and filters.
type placeholder struct {
	name    string // "" for a text in quotes
	text    string
	path    []way
	filters []filterCall
}

// way is one step into a value: the key of an object or the index of a list.
type way struct {
	key    string
	index  int
	isItem bool
}

func (w way) String() string {
	if w.isItem {
		return fmt.Sprintf("[%d]", w.index)
	}
	return "." + w.key
}

type filterCall struct {
	*filter
	arg any
}

// optional tells whether a missing value is provided for.
func (p *placeholder) optional() bool {
	for _, f := range p.filters {
		if f.fills {
			return true
		}
	}
	return p.name == ""
}

// MaxPlaceholder is how many bytes a placeholder has at most. It ends in the
// line in which it begins.
const MaxPlaceholder = 4096

// readPlaceholder reads the placeholder whose {{ is at start; end is after its
// }}. err is nil when it is one.
func readPlaceholder(src string, start int) (p *placeholder, end int, err *Error) {
	line := src[start:min(len(src), start+MaxPlaceholder)]
	if i := strings.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	closing := strings.Index(line, "}}")
	if closing < 0 {
		return nil, 0, &Error{Msg: "the {{ that starts here is not closed"}
	}
	r := &reader{src: line, pos: 2}
	r.blanks()
	if r.take("}}") {
		return nil, 0, &Error{Msg: "{{ }} names no variable"}
	}
	p = &placeholder{}
	named := r.variable(p)
	if named && r.filters(p) && r.take("}}") {
		return p, start + r.pos, nil
	}
	named = named && r.problem != ""

	if r.problem == "" {
		r.problem = short(strings.Trim(line[2:max(closing, 2)], " \t")) + " is not the name of a variable: {{ }} holds a name, and filters after |"
	}
	return nil, 0, &Error{Msg: r.problem, Named: named}
}

func short(s string) string {
	if r := []rune(s[:min(len(s), 200)]); len(r) > 40 {
		return fmt.Sprintf("%q", string(r[:40])+"…")
	}
	return fmt.Sprintf("%q", s)
}

// reader goes through a placeholder. Its methods tell whether they found what
// they look for; problem holds what is known better than "no placeholder".
type reader struct {
	src     string
	pos     int
	problem string
}

func (r *reader) fail(format string, args ...any) bool {
	r.problem = fmt.Sprintf(format, args...)
	return false
}

func (r *reader) at(n int) byte {
	if r.pos+n < len(r.src) {
		return r.src[r.pos+n]
	}
	return 0
}

func (r *reader) take(s string) bool {
	if strings.HasPrefix(r.src[r.pos:], s) {
		r.pos += len(s)
		return true
	}
	return false
}

func (r *reader) blanks() {
	for r.at(0) == ' ' || r.at(0) == '\t' {
		r.pos++
	}
}

// word takes the bytes of a name; hyphens belong to it.
func (r *reader) word() string {
	from := r.pos
	for isWord(r.at(0)) || r.at(0) == '-' {
		r.pos++
	}
	return r.src[from:r.pos]
}

func (r *reader) variable(p *placeholder) bool {
	switch c := r.at(0); {
	case isLetter(c):
		p.name = r.word()
	case c == '\'' || c == '"':
		var ok bool
		if p.text, ok = r.quoted(); !ok {
			return false
		}
		r.blanks()
		return true
	default:
		return false
	}
	for {
		switch {
		case r.take("."):
			key := r.word()
			if key == "" {
				return false
			}
			p.path = append(p.path, way{key: key})
		case r.take("["):
			w, ok := r.index()
			if !ok {
				return false
			}
			p.path = append(p.path, w)
		default:
			r.blanks()
			return true
		}
	}
}

// index reads what stands between [ and ].
func (r *reader) index() (w way, ok bool) {
	r.blanks()
	if c := r.at(0); c == '\'' || c == '"' {
		w.key, ok = r.quoted()
	} else {
		n := numberLen(r.src[r.pos:])
		i, err := strconv.ParseInt(r.src[r.pos:r.pos+n], 10, 32)
		if err != nil {
			return w, r.fail("an index is a whole number or a text in quotes")
		}
		r.pos += n
		w, ok = way{index: int(i), isItem: true}, true
	}
	r.blanks()
	return w, ok && r.take("]")
}

func (r *reader) filters(p *placeholder) bool {
	for r.take("|") {
		r.blanks()
		name := r.word()
		f, ok := filters[name]
		if !ok {
			return r.fail("no filter named %s%s (in {{ }} there are %s)", short(name), guess(name, keys(filters)), strings.Join(keys(filters), ", "))
		}
		call := filterCall{filter: f}
		if r.take("(") {
			if call.arg, ok = r.argument(name); !ok {
				return false
			}
		}
		if (call.arg != nil) != f.fills {
			return r.fail("the filter %s takes %s", name, f.takes)
		}
		p.filters = append(p.filters, call)
		r.blanks()
	}
	return true
}

// argument reads a constant and the ) after it; nil when there is none.
func (r *reader) argument(name string) (v any, ok bool) {
	r.blanks()
	switch c := r.at(0); {
	case c == '\'' || c == '"':
		if v, ok = r.quoted(); !ok {
			return nil, false
		}
	case r.take("true"):
		v = true
	case r.take("false"):
		v = false
	case c != ')':
		n := numberLen(r.src[r.pos:])
		if n == 0 || n > MaxDigits {
			return nil, r.fail("the filter %s takes %s", name, filters[name].takes)
		}
		v = literal(r.src[r.pos : r.pos+n])
		r.pos += n
	}
	r.blanks()
	if !r.take(")") {
		return nil, r.fail("the filter %s takes %s", name, filters[name].takes)
	}
	return v, true
}

// quoted reads a text in quotes, with the escapes that conditions know.
func (r *reader) quoted() (string, bool) {
	open := r.at(0)
	r.pos++
	var b strings.Builder
	for r.pos < len(r.src) {
		c := r.at(0)
		switch {
		case c == open:
			r.pos++
			return b.String(), true
		case c == '\\':
			e, ok := unescape(r.at(1))
			if !ok {
				return "", r.fail(`unknown escape: a backslash stands before \, ', ", n or t, and is itself written \\`)
			}
			b.WriteByte(e)
			r.pos += 2
		default:
			_, size := utf8.DecodeRuneInString(r.src[r.pos:])
			b.WriteString(r.src[r.pos : r.pos+size])
			r.pos += size
		}
	}
	return "", r.fail("a text that starts in this placeholder is not closed")
}
