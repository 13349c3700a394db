package expr

import (
	"cmp"
	"encoding/json"
	"strings"
)

type comparison struct {
	op          string
	left, right node
	col         int
}

func (n *comparison) eval(m *machine) (any, error) {
	a, err := n.left.eval(m)
	if err != nil {
		return nil, err
	}
	b, err := n.right.eval(m)
	if err != nil {
		return nil, err
	}
	if err := m.work(n.col, 0); err != nil {
		return nil, err
	}
	switch n.op {
	case "==":
		return n.same(m, a, b)
	case "!=":
		same, err := n.same(m, a, b)
		return !same, err
	case "in":
		return n.within(m, a, b)
	case "not in":
		within, err := n.within(m, a, b)
		return !within, err
	}
	return n.ordered(m, a, b)
}

func (n *comparison) same(m *machine, a, b any) (bool, error) {
	same, known, err := n.equal(m, a, b)
	if err != nil {
		return false, err
	}
	if !known {
		return false, m.fail(n.col, "%s and %s cannot be compared%s", kindOf(a), kindOf(b), asText(a, b))
	}
	return same, nil
}

// asText helps when a number or a boolean meets a text that is none.
func asText(a, b any) string {
	if _, ok := a.(string); ok {
		a, b = b, a
	}
	if _, ok := b.(string); !ok {
		return ""
	}
	switch a.(type) {
	case float64, json.Number, bool:
		return ": use str() to compare texts"
	}
	return ""
}

// equal compares for equality; known is false where the question makes no
// sense. Null and the empty text may be compared with anything: that is how a
// recipe asks whether something is set.
func (n *comparison) equal(m *machine, a, b any) (same, known bool, err error) {
	if kindOf(a) == kindOf(b) {
		same, err = n.deep(m, a, b)
		return same, true, err
	}
	if a == nil || b == nil {
		return false, true, nil
	}
	if s, ok := a.(string); ok {
		return mixed(s, b)
	}
	if s, ok := b.(string); ok {
		return mixed(s, a)
	}
	return false, false, nil
}

// mixed compares a text with something else.
func mixed(s string, v any) (same, known bool, err error) {
	if s == "" {
		return false, true, nil
	}
	switch v := v.(type) {
	case float64, json.Number:
		d, _ := number(v)
		e, ok := numeric(s)
		return ok && d == e, ok, nil
	case bool:
		b, ok := boolean(s)
		return ok && b == v, ok, nil
	}
	return false, false, nil
}

// deep compares without turning any type into another.
func (n *comparison) deep(m *machine, a, b any) (bool, error) {
	if err := m.work(n.col, 0); err != nil {
		return false, err
	}
	switch a := a.(type) {
	case float64, json.Number:
		d, _ := number(a)
		e, ok := number(b)
		return ok && d == e, m.work(n.col, len(d.digits)>>14)
	case string:
		b, ok := b.(string)
		return ok && a == b, m.read(n.col, a)
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false, nil
		}
		for i := range a {
			if same, err := n.deep(m, a[i], b[i]); err != nil || !same {
				return false, err
			}
		}
		return true, nil
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false, nil
		}
		return n.deepObject(m, a, b)
	}
	switch b.(type) {
	case []any, map[string]any: // Go cannot compare them with ==
		return false, nil
	}
	return a == b, nil
}

func (n *comparison) deepObject(m *machine, a, b map[string]any) (bool, error) {
	for k, v := range a { // all keys must agree, so their order is of no matter
		w, ok := b[k]
		if !ok {
			return false, nil
		}
		if same, err := n.deep(m, v, w); err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

// within is the operator in: part of a text, item of a list, key of an object.
func (n *comparison) within(m *machine, a, b any) (bool, error) {
	switch b := b.(type) {
	case string:
		part, ok := a.(string)
		if !ok {
			return false, m.fail(n.col, "only a text can be in a text, found %s: use str()", kindOf(a))
		}
		return strings.Contains(b, part), m.read(n.col, b)
	case []any:
		for _, v := range b {
			same, known, err := n.equal(m, a, v)
			if err != nil {
				return false, err
			}
			if same && known {
				return true, nil
			}
			if err := m.work(n.col, 0); err != nil {
				return false, err
			}
		}
		return false, nil
	case map[string]any:
		key, ok := a.(string)
		if !ok {
			return false, m.fail(n.col, "the keys of an object are texts, found %s", kindOf(a))
		}
		_, found := b[key]
		return found, nil
	}
	return false, m.fail(n.col, "nothing can be in %s", kindOf(b))
}

func (n *comparison) ordered(m *machine, a, b any) (bool, error) {
	c, ok := order(a, b)
	if !ok {
		return false, m.fail(n.col, "%s and %s have no order", kindOf(a), kindOf(b))
	}
	switch n.op {
	case "<":
		return c < 0, nil
	case "<=":
		return c <= 0, nil
	case ">":
		return c > 0, nil
	}
	return c >= 0, nil
}

// order compares numbers, texts byte by byte, booleans (false first), and a
// text that reads as a number or boolean with one.
func order(a, b any) (int, bool) {
	switch a := a.(type) {
	case float64, json.Number:
		d, _ := number(a)
		e, ok := number(b)
		if s, isText := b.(string); isText {
			e, ok = numeric(s)
		}
		return d.compare(e), ok
	case bool:
		switch b := b.(type) {
		case bool:
			return cmp.Compare(rank(a), rank(b)), true
		case string:
			v, ok := boolean(b)
			return cmp.Compare(rank(a), rank(v)), ok
		}
	case string:
		if s, ok := b.(string); ok {
			return strings.Compare(a, s), true
		}
		if kindOf(b) == "a number" || kindOf(b) == "a boolean" {
			c, ok := order(b, a)
			return -c, ok
		}
	}
	return 0, false
}

func rank(b bool) int {
	if b {
		return 1
	}
	return 0
}
