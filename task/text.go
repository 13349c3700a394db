package task

import (
	"strings"
	"unicode"

	"github.com/belay-run/belay/internal/output"
	"github.com/belay-run/belay/internal/pattern"
)

// How much of a text is looked at, and how much of one is kept.
const (
	maxLook = 1 << 20 // bytes of an answer that are searched for JSON
	maxGoal = 300     // characters of a goal
	maxLine = 1000    // characters of a line that is shown
)

// objectIn is the object that an answer is: by itself, as a text, in a fence or
// among words, with one of the keys. Of several that differ none is.
func objectIn(v any, keys ...string) (map[string]any, bool) {
	o, _ := unwrapped(v).(map[string]any)
	if text, isText := unwrapped(v).(string); isText {
		for _, raw := range output.All(text[:min(len(text), maxLook)]) {
			in, err := decode(raw)
			is, _ := in.(map[string]any)
			if err != nil || !hasAny(is, keys) {
				continue
			}
			if o != nil {
				return nil, false
			}
			o = is
		}
	}
	return o, hasAny(o, keys)
}

// differs tells whether a text has several answers that are not the same.
func differs(text string, keys ...string) bool {
	_, fit := output.Formed(text[:min(len(text), maxLook)], keys...)
	return fit == output.Differs
}

func hasAny(o map[string]any, keys []string) bool {
	for _, k := range keys {
		if _, ok := o[k]; ok {
			return true
		}
	}
	return false
}

// line is a text as one line without anything that a terminal would act on.
func line(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return cut(strings.Join(strings.Fields(text), " "), most)
}

// plain is a text of many lines without anything that a terminal would act on.
func plain(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD")))
}

// texts are the values of a list as texts; one value stands for a list of one.
func texts(v any) []string {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		var list []string
		for _, x := range v {
			if s := strings.TrimSpace(textOf(x)); s != "" {
				list = append(list, s)
			}
		}
		return list
	}
	if s := strings.TrimSpace(textOf(v)); s != "" {
		return []string{s}
	}
	return nil
}

// first is the first of the fields that holds a text.
func first(o map[string]any, keys ...string) string {
	for _, k := range keys {
		if v := o[k]; v != nil {
			if s := strings.TrimSpace(textOf(v)); s != "" {
				return s
			}
		}
	}
	return ""
}

var idForm = pattern.Lazy(`^[A-Za-z0-9_][A-Za-z0-9_-]{0,39}$`)

// ids gives things names that are there once.
type ids map[string]bool

// take is the wished id, or one with a number, as long as nobody has it.
func (all ids) take(wish, otherwise string, number func(int) string) string {
	for _, id := range []string{wish, otherwise} {
		if idForm().MatchString(id) && !all[id] {
			all[id] = true
			return id
		}
	}
	for n := 1; ; n++ {
		if id := number(n); !all[id] {
			all[id] = true
			return id
		}
	}
}
