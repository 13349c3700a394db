package expr

import "fmt"

// node is a part of a parsed expression.
type node interface {
	eval(m *machine) (any, error)
}

// machine is one evaluation.
type machine struct {
	look    Lookup
	src     string
	steps   int
	lenient bool // what has no parts has null ones
}

func (m *machine) fail(col int, format string, args ...any) error {
	return &Error{Col: col, Msg: fmt.Sprintf(format, args...), Src: m.src}
}

// work counts n units and refuses when the evaluation has become too much.
func (m *machine) work(col, n int) error {
	m.steps += n + 1
	if m.steps > MaxSteps {
		return m.fail(col, "the evaluation takes more than %d steps", MaxSteps)
	}
	return nil
}

// read counts the work of going through s once.
func (m *machine) read(col int, s string) error { return m.work(col, len(s)>>14) }

type constant struct{ value any }

func (n *constant) eval(*machine) (any, error) { return n.value, nil }

type variable struct {
	name string
	col  int
}

func (n *variable) eval(m *machine) (any, error) {
	if err := m.work(n.col, 0); err != nil {
		return nil, err
	}
	v, ok := m.look(n.name)
	if !ok {
		return nil, m.fail(n.col, "no variable named %q", n.name)
	}
	if kindOf(v) == "" {
		return nil, m.fail(n.col, "the variable %q holds a %T, which the language does not know", n.name, v)
	}
	return v, nil
}

type listing struct{ items []node }

func (n *listing) eval(m *machine) (any, error) {
	list := make([]any, 0, len(n.items))
	for _, it := range n.items {
		v, err := it.eval(m)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// logic is and/or: the first part whose truth is stop decides, and the parts
// after it are not looked at.
type logic struct {
	parts []node
	stop  bool
}

func (n *logic) eval(m *machine) (any, error) {
	for _, p := range n.parts {
		v, err := p.eval(m)
		if err != nil {
			return nil, err
		}
		if truth(v) == n.stop {
			return n.stop, nil
		}
	}
	return !n.stop, nil
}

type negation struct{ of node }

func (n *negation) eval(m *machine) (any, error) {
	v, err := n.of.eval(m)
	if err != nil {
		return nil, err
	}
	return !truth(v), nil
}

// field is a key of an object: null when the object has no such key.
type field struct {
	of  node
	key string
	col int
}

func (n *field) eval(m *machine) (any, error) {
	v, err := n.of.eval(m)
	if err != nil {
		return nil, err
	}
	if err := m.work(n.col, 0); err != nil {
		return nil, err
	}
	o, ok := v.(map[string]any)
	if !ok && !m.lenient {
		return nil, m.fail(n.col, "%s has no field %q", kindOf(v), n.key)
	}
	return o[n.key], nil
}

// item is a place in a list, from the end when negative.
type item struct {
	of    node
	index int
	col   int
}

func (n *item) eval(m *machine) (any, error) {
	v, err := n.of.eval(m)
	if err != nil {
		return nil, err
	}
	if err := m.work(n.col, 0); err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	switch {
	case !ok && m.lenient:
		return nil, nil
	case !ok:
		return nil, m.fail(n.col, "%s has no item %d", kindOf(v), n.index)
	}
	i := n.index
	if i < 0 {
		i += len(list)
	}
	if i < 0 || i >= len(list) {
		return nil, m.fail(n.col, "the list has %d items, so it has no item %d", len(list), n.index)
	}
	return list[i], nil
}

// call is a function or a method; a method's receiver is its first argument.
type call struct {
	fn   *function
	args []node
	col  int
}

func (n *call) eval(m *machine) (any, error) {
	args := make([]any, len(n.args))
	for i, a := range n.args {
		v, err := a.eval(m)
		if err != nil {
			return nil, err
		}
		args[i] = v
	}
	if err := m.work(n.col, 0); err != nil {
		return nil, err
	}
	return n.fn.do(&site{machine: m, col: n.col}, args)
}
