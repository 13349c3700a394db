package expr

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/belay-run/belay/internal/spelling"
)

// parser reads tokens by recursive descent, one method per level of binding:
// or, and, not, comparison, value.
type parser struct {
	src   string
	toks  []token // ends with tokEnd
	pos   int
	depth int
	reads []Read
}

func (p *parser) fail(col int, format string, args ...any) error {
	return &Error{Col: col, Msg: fmt.Sprintf(format, args...), Src: p.src}
}

func (p *parser) peek() token { return p.toks[p.pos] }

func (p *parser) next() token {
	t := p.toks[p.pos]
	if t.kind != tokEnd {
		p.pos++
	}
	return t
}

// is tells whether the next token is one of these words or marks.
func (p *parser) is(words ...string) bool {
	t := p.peek()
	if t.kind != tokName && t.kind != tokMark {
		return false
	}
	for _, w := range words {
		if t.text == w {
			return true
		}
	}
	return false
}

// nested runs f one level deeper.
func (p *parser) nested(f func() (node, error)) (node, error) {
	if p.depth == MaxDepth {
		return nil, p.fail(p.peek().col, "nested more than %d deep", MaxDepth)
	}
	p.depth++
	defer func() { p.depth-- }()
	return f()
}

func (p *parser) whole() (node, error) {
	if p.peek().kind == tokEnd {
		return nil, p.fail(1, "the expression is empty")
	}
	n, err := p.or()
	if err != nil {
		return nil, err
	}
	if t := p.peek(); t.kind != tokEnd {
		return nil, p.fail(t.col, "unexpected %s after a complete expression%s", t.shown(), leftOver(t))
	}
	return n, nil
}

// leftOver guesses what was meant by a word that has no place.
func leftOver(t token) string {
	if t.kind != tokName {
		return ""
	}
	switch w := strings.ToLower(t.text); w {
	case "and", "or", "in":
		return fmt.Sprintf(", did you mean %q?", w)
	case "is", "eq", "equals":
		return `, did you mean "=="?`
	}
	return ""
}

func (p *parser) or() (node, error) {
	return p.joined(p.and, true, "or", "||")
}

func (p *parser) and() (node, error) {
	return p.joined(p.not, false, "and", "&&")
}

// joined reads one or more parts with a word between them. The first part
// whose truth is stop decides.
func (p *parser) joined(part func() (node, error), stop bool, words ...string) (node, error) {
	first, err := part()
	if err != nil || !p.is(words...) {
		return first, err
	}
	parts := []node{first}
	for p.is(words...) {
		p.next()
		n, err := part()
		if err != nil {
			return nil, err
		}
		parts = append(parts, n)
	}
	return &logic{parts: parts, stop: stop}, nil
}

func (p *parser) not() (node, error) {
	if !p.is("not") {
		return p.comparison()
	}
	p.next()
	of, err := p.nested(p.not)
	if err != nil {
		return nil, err
	}
	return &negation{of: of}, nil
}

func (p *parser) comparison() (node, error) {
	left, err := p.value()
	if err != nil {
		return nil, err
	}
	op, col := p.operator()
	if op == "" {
		return left, nil
	}
	right, err := p.value()
	if err != nil {
		return nil, err
	}
	if op, col := p.operator(); op != "" {
		return nil, p.fail(col, "comparisons cannot be chained: join two of them with \"and\"")
	}
	return &comparison{op: op, left: left, right: right, col: col}, nil
}

// operator takes a comparison operator when one is next.
func (p *parser) operator() (string, int) {
	col := p.peek().col
	if p.is("==", "!=", "<", "<=", ">", ">=", "in") {
		return p.next().text, col
	}
	if after := p.toks[min(p.pos+1, len(p.toks)-1)]; p.is("not") && after.kind == tokName && after.text == "in" {
		p.pos += 2
		return "not in", col
	}
	return "", col
}

func (p *parser) value() (node, error) {
	n, err := p.atom()
	for err == nil {
		switch {
		case p.is("."):
			n, err = p.dotted(n)
		case p.is("["):
			n, err = p.indexed(n)
		default:
			return n, nil
		}
	}
	return nil, err
}

func (p *parser) atom() (node, error) {
	t := p.next()
	switch t.kind {
	case tokEnd:
		return nil, p.fail(t.col, "the expression ends where a value should be")
	case tokString:
		return &constant{t.text}, nil
	case tokNumber:
		return &constant{t.num}, nil
	case tokName:
		return p.word(t)
	case tokMark:
		if t.text == "(" {
			return p.group(t)
		}
		if t.text == "[" {
			items, err := p.list("]", t)
			return &listing{items: items}, err
		}
	}
	return nil, p.fail(t.col, "unexpected %s where a value should be", t.shown())
}

// word reads a name: a literal, a function call or a variable.
func (p *parser) word(t token) (node, error) {
	switch t.text {
	case "true", "True":
		return &constant{true}, nil
	case "false", "False":
		return &constant{false}, nil
	case "null", "None":
		return &constant{nil}, nil
	case "and", "or", "not", "in":
		return nil, p.fail(t.col, "unexpected %q where a value should be", t.text)
	}
	if !p.is("(") {
		p.note(t)
		return &variable{name: t.text, col: t.col}, nil
	}
	f, ok := functions[t.text]
	if !ok {
		return nil, p.fail(t.col, "no function named %q%s", t.text, guess(t.text, keys(functions)))
	}
	args, err := p.args(t, f.min, f.max)
	if err != nil {
		return nil, err
	}
	return &call{fn: f, args: args, col: t.col}, nil
}

// note keeps the first place of a variable.
func (p *parser) note(t token) {
	if !slices.ContainsFunc(p.reads, func(r Read) bool { return r.Name == t.text }) {
		p.reads = append(p.reads, Read{Name: t.text, Offset: t.at})
	}
}

func (p *parser) group(open token) (node, error) {
	n, err := p.nested(p.or)
	if err != nil {
		return nil, err
	}
	if !p.is(")") {
		return nil, p.fail(p.peek().col, "expected \")\" for the \"(\" in column %d, found %s", open.col, p.peek().shown())
	}
	p.next()
	return n, nil
}

// list reads items up to the closing mark; a comma may end the last one.
func (p *parser) list(closing string, open token) ([]node, error) {
	var items []node
	for !p.is(closing) {
		n, err := p.nested(p.or)
		if err != nil {
			return nil, err
		}
		items = append(items, n)
		if p.is(",") {
			p.next()
			continue
		}
		if !p.is(closing) {
			return nil, p.fail(p.peek().col, "expected \",\" or %q for the %q in column %d, found %s",
				closing, open.text, open.col, p.peek().shown())
		}
	}
	p.next()
	return items, nil
}

// args reads the arguments of name, whose opening bracket is next.
func (p *parser) args(name token, least, most int) ([]node, error) {
	args, err := p.list(")", p.next())
	if err != nil {
		return nil, err
	}
	if len(args) < least || len(args) > most {
		return nil, p.fail(name.col, "%s takes %s, found %d", name.text, counted(least, most), len(args))
	}
	return args, nil
}

func counted(least, most int) string {
	noun := "arguments"
	if most == 1 {
		noun = "argument"
	}
	switch {
	case most == 0:
		return "no arguments"
	case least == most:
		return fmt.Sprintf("%d %s", least, noun)
	case most == anyCount:
		return fmt.Sprintf("at least %d %s", least, noun)
	}
	return fmt.Sprintf("%d to %d %s", least, most, noun)
}

// dotted reads .field or .method(args).
func (p *parser) dotted(of node) (node, error) {
	p.next()
	t := p.next()
	if t.kind != tokName {
		return nil, p.fail(t.col, "expected a name after \".\", found %s", t.shown())
	}
	if !p.is("(") {
		return &field{of: of, key: t.text, col: t.col}, nil
	}
	m, ok := methods[t.text]
	if !ok {
		return nil, p.fail(t.col, "no method named %q%s", t.text, guess(t.text, keys(methods)))
	}
	args, err := p.args(t, m.min, m.max)
	if err != nil {
		return nil, err
	}
	return &call{fn: m, args: append([]node{of}, args...), col: t.col}, nil
}

// indexed reads ['key'] or [number].
func (p *parser) indexed(of node) (node, error) {
	p.next()
	t := p.next()
	if !p.is("]") && (t.kind == tokString || t.kind == tokNumber) {
		return nil, p.fail(p.peek().col, "expected \"]\", found %s", p.peek().shown())
	}
	switch t.kind {
	case tokString:
		p.next()
		return &field{of: of, key: t.text, col: t.col}, nil
	case tokNumber:
		i, err := strconv.ParseInt(string(t.num), 10, 32)
		if err != nil {
			return nil, p.fail(t.col, "an index is a whole number")
		}
		p.next()
		return &item{of: of, index: int(i), col: t.col}, nil
	case tokEnd, tokName, tokMark:
	}
	return nil, p.fail(t.col, "an index is a whole number or a text in quotes, found %s", t.shown())
}

// guess is the word that was likely meant, as the end of a message.
func guess(word string, known []string) string {
	if k := spelling.Near(word, known); k != "" {
		return fmt.Sprintf(", did you mean %q?", k)
	}
	return ""
}

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
