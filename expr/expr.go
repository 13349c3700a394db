// Package expr is the little language: conditions and {{names}} in text. It is
// total and bounded: every input gives a value or an error with a column, in
// time that grows with its length. It has no clock, no files and no effects.
// It refuses to guess: left-over words, unknown names and mixed-up types are
// errors, never false.
package expr

import (
	"errors"
	"fmt"
	"slices"
)

// The bounds of the language.
const (
	MaxLen    = 8192    // bytes of one expression
	MaxDepth  = 32      // nested parentheses, lists, calls and nots
	MaxSteps  = 100_000 // units of work of one evaluation
	MaxResult = 1 << 20 // bytes of a text that an evaluation builds
)

// Lookup gives the value of a variable: nil, bool, json.Number, string, []any
// or map[string]any; false when there is no such name. A json.Number keeps all
// its digits and is rendered as it is written; a float64 is a number too, with
// the digits that were left of it.
type Lookup func(name string) (any, bool)

// Error is what is wrong with an expression or a text, and where.
type Error struct {
	Col int // in characters, from 1
	Msg string
	Src string

	// Named says that the text is a placeholder, with a filter that is wrong;
	// its braces are no accident.
	Named bool
}

func (e *Error) Error() string { return fmt.Sprintf("col %d: %s", e.Col, e.Msg) }

// Expr is a parsed expression.
type Expr struct {
	src     string
	root    node
	reads   []Read
	lenient bool
}

// Read is a variable that an expression or a text reads.
type Read struct {
	Name     string
	Offset   int  // where it does so, in bytes
	Optional bool // there is a default for it
}

// Parse reads an expression; the error is an *Error.
func Parse(src string) (*Expr, error) {
	if len(src) > MaxLen {
		return nil, &Error{Col: 1, Msg: fmt.Sprintf("the expression has %d bytes, at most %d are allowed", len(src), MaxLen), Src: src}
	}
	toks, err := scan(src)
	if err != nil {
		return nil, err
	}
	p := &parser{src: src, toks: toks}
	root, err := p.whole()
	if err != nil {
		return nil, err
	}
	return &Expr{src: src, root: root, reads: p.reads}, nil
}

// Eval gives the value of the expression; the error is an *Error.
func (e *Expr) Eval(l Lookup) (any, error) {
	return e.root.eval(&machine{look: l, src: e.src, lenient: e.lenient})
}

// Lenient makes a field or an item of what is no object or list null instead of
// an error.
func (e *Expr) Lenient() { e.lenient = true }

// Truth tells whether the value counts as true: null, false, 0 and whatever is
// empty do not.
func (e *Expr) Truth(l Lookup) (bool, error) {
	v, err := e.Eval(l)
	if err != nil {
		return false, err
	}
	return truth(v), nil
}

// Names are the variables that the expression may read, sorted.
func (e *Expr) Names() []string {
	names := make([]string, len(e.reads))
	for i, r := range e.reads {
		names[i] = r.Name
	}
	return sorted(names)
}

// Reads are the same variables, each where it stands first.
func (e *Expr) Reads() []Read { return slices.Clone(e.reads) }

// String is the source.
func (e *Expr) String() string { return e.src }

// Column is the column that err names, 1 when it names none.
func Column(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.Col
	}
	return 1
}

func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
