package expr

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// anyCount is the number of arguments of a function that takes any number.
const anyCount = MaxLen

// function is a function or method; min and max count the arguments between
// its brackets.
type function struct {
	min, max int
	do       func(s *site, args []any) (any, error)
}

// site is where a call stands, for its errors and its share of the work.
type site struct {
	*machine
	col int
}

func (s *site) fail(format string, args ...any) error { return s.machine.fail(s.col, format, args...) }

// room refuses a text of n bytes that would be over the bound, before it is built.
func (s *site) room(n int) error {
	if n > MaxResult {
		return s.fail("the result would have more than %d bytes", MaxResult)
	}
	return s.work(s.col, n>>14)
}

// functions are called as name(value).
var functions = map[string]*function{
	"bool":  {1, 1, toBoolean},
	"float": {1, 1, toNumber},
	"int":   {1, 1, toWhole},
	"len":   {1, 1, toLength},
	"max":   {2, anyCount, func(s *site, a []any) (any, error) { return extreme(s, a, 1) }},
	"min":   {2, anyCount, func(s *site, a []any) (any, error) { return extreme(s, a, -1) }},
	"str":   {1, 1, toText},
}

// methods are called as text.name(value).
var methods = map[string]*function{
	"count":      {1, 1, onTexts(func(_ *site, t []string) (any, error) { return count(strings.Count(t[0], t[1])), nil })},
	"endswith":   {1, 1, onTexts(func(_ *site, t []string) (any, error) { return strings.HasSuffix(t[0], t[1]), nil })},
	"find":       {1, 1, onTexts(find)},
	"join":       {1, 1, join},
	"lower":      {0, 0, onTexts(func(s *site, t []string) (any, error) { return strings.ToLower(t[0]), s.room(len(t[0])) })},
	"lstrip":     {0, 1, onTexts(func(_ *site, t []string) (any, error) { return strip(t, true, false), nil })},
	"replace":    {2, 2, onTexts(replace)},
	"rstrip":     {0, 1, onTexts(func(_ *site, t []string) (any, error) { return strip(t, false, true), nil })},
	"split":      {0, 1, onTexts(split)},
	"startswith": {1, 1, onTexts(func(_ *site, t []string) (any, error) { return strings.HasPrefix(t[0], t[1]), nil })},
	"strip":      {0, 1, onTexts(func(_ *site, t []string) (any, error) { return strip(t, true, true), nil })},
	"title":      {0, 0, onTexts(func(s *site, t []string) (any, error) { return title(t[0]), s.room(len(t[0])) })},
	"upper":      {0, 0, onTexts(func(s *site, t []string) (any, error) { return strings.ToUpper(t[0]), s.room(len(t[0])) })},
}

// onTexts makes a method of which receiver and arguments are all texts.
func onTexts(f func(s *site, texts []string) (any, error)) func(*site, []any) (any, error) {
	return func(s *site, args []any) (any, error) {
		texts := make([]string, len(args))
		for i, a := range args {
			t, err := s.text(a)
			if err != nil {
				return nil, err
			}
			texts[i] = t
		}
		return f(s, texts)
	}
}

func (s *site) text(v any) (string, error) {
	t, ok := v.(string)
	if !ok {
		return "", s.fail("expected a text, found %s", kindOf(v))
	}
	return t, s.read(s.col, t)
}

// toBoolean reads a text that is a boolean, as int() reads a number: 'false' is
// false. Any other text tells whether there is something in it.
func toBoolean(_ *site, args []any) (any, error) {
	if t, ok := args[0].(string); ok {
		if b, ok := boolean(strings.TrimSpace(t)); ok {
			return b, nil
		}
	}
	return truth(args[0]), nil
}

func toNumber(s *site, args []any) (any, error) {
	switch v := args[0].(type) {
	case float64, json.Number:
		return v, nil
	case bool:
		return count(rank(v)), nil
	case string:
		text := strings.TrimSpace(v)
		if _, ok := numeric(text); ok {
			if len(text) > MaxDigits {
				return nil, s.fail("the number has %d characters, at most %d are allowed", len(text), MaxDigits)
			}
			return literal(text), nil
		}
		return nil, s.fail("the text is not a number")
	}
	return nil, s.fail("%s cannot be made a number", kindOf(args[0]))
}

// toWhole cuts a number towards zero; a text must be whole already, as a
// fraction in it is more likely a mistake.
func toWhole(s *site, args []any) (any, error) {
	v, err := toNumber(s, args)
	if err != nil {
		return nil, err
	}
	d, _ := number(v) // toNumber gives nothing else
	if _, ok := args[0].(string); ok && !d.isWhole() {
		return nil, s.fail("the text is not a whole number")
	}
	whole, ok := d.whole()
	if !ok {
		return nil, s.fail("the number has %d digits, at most %d are allowed", d.point, MaxDigits)
	}
	return whole, nil
}

func toLength(s *site, args []any) (any, error) {
	n, ok := length(args[0])
	if !ok {
		return nil, s.fail("%s has no length", kindOf(args[0]))
	}
	if t, ok := args[0].(string); ok {
		return count(n), s.read(s.col, t)
	}
	return count(n), nil
}

func toText(s *site, args []any) (any, error) {
	switch v := args[0].(type) {
	case string:
		return v, nil
	case []any, map[string]any:
		size, err := s.size(v)
		if err != nil {
			return nil, err
		}
		if err := s.room(size); err != nil {
			return nil, err
		}
	}
	return TextOf(args[0]), nil
}

// size is a lower bound of the bytes of v's text; it counts work per item, so
// that a huge value is refused before its text is made.
func (s *site) size(v any) (int, error) {
	if err := s.work(s.col, 0); err != nil {
		return 0, err
	}
	total := 1
	switch v := v.(type) {
	case string:
		return len(v), nil
	case []any:
		for _, item := range v {
			n, err := s.size(item)
			if err != nil {
				return 0, err
			}
			total += n
		}
	case map[string]any:
		for k, item := range v {
			n, err := s.size(item)
			if err != nil {
				return 0, err
			}
			total += n + len(k)
		}
	}
	return total, nil
}

// extreme is the argument that comes last in the direction of sign.
func extreme(s *site, args []any, sign int) (any, error) {
	best := args[0]
	for _, a := range args[1:] {
		c, ok := order(a, best)
		if !ok {
			return nil, s.fail("%s and %s have no order", kindOf(a), kindOf(best))
		}
		if c*sign > 0 {
			best = a
		}
	}
	if _, ok := order(best, best); !ok {
		return nil, s.fail("%s has no order", kindOf(best))
	}
	return best, nil
}

// find is the place of a part in characters, -1 when it is not there.
func find(_ *site, t []string) (any, error) {
	i := strings.Index(t[0], t[1])
	if i < 0 {
		return count(-1), nil
	}
	return count(utf8.RuneCountInString(t[0][:i])), nil
}

func join(s *site, args []any) (any, error) {
	sep, err := s.text(args[0])
	if err != nil {
		return nil, err
	}
	list, ok := args[1].([]any)
	if !ok {
		return nil, s.fail("expected a list, found %s", kindOf(args[1]))
	}
	parts := make([]string, len(list))
	size := 0
	for i, v := range list {
		if parts[i], err = s.text(v); err != nil {
			return nil, err
		}
		size += len(parts[i]) + len(sep)
		if err := s.room(size); err != nil {
			return nil, err
		}
	}
	return strings.Join(parts, sep), nil
}

func replace(s *site, t []string) (any, error) {
	n := strings.Count(t[0], t[1])
	if err := s.room(len(t[0]) + n*(len(t[2])-len(t[1]))); err != nil {
		return nil, err
	}
	return strings.ReplaceAll(t[0], t[1], t[2]), nil
}

func split(s *site, t []string) (any, error) {
	var parts []string
	if len(t) == 1 {
		if err := s.work(s.col, len(t[0])/2); err != nil { // at most so many parts
			return nil, err
		}
		parts = strings.Fields(t[0])
	} else {
		if t[1] == "" {
			return nil, s.fail("the separator is empty")
		}
		if err := s.work(s.col, strings.Count(t[0], t[1])); err != nil {
			return nil, err
		}
		parts = strings.Split(t[0], t[1])
	}
	list := make([]any, len(parts))
	for i, p := range parts {
		list[i] = p
	}
	return list, nil
}

// strip cuts space, or the characters of a second text, off the ends.
func strip(t []string, left, right bool) string {
	cut := unicode.IsSpace
	if len(t) == 2 {
		cut = func(r rune) bool { return strings.ContainsRune(t[1], r) }
	}
	s := t[0]
	if left {
		s = strings.TrimLeftFunc(s, cut)
	}
	if right {
		s = strings.TrimRightFunc(s, cut)
	}
	return s
}

// title makes the first letter of every word large and the others small.
func title(s string) string {
	inside := false
	return strings.Map(func(r rune) rune {
		first := !inside
		inside = unicode.IsLetter(r)
		switch {
		case inside && first:
			return unicode.ToTitle(r)
		case inside:
			return unicode.ToLower(r)
		}
		return r
	}, s)
}
