package task

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// inputs are the values that a function is called with, each of its type.
type inputs struct {
	of     Function
	values map[string]any
	wrong  *InputError // the first thing that is wrong with what is in them
}

func (in *inputs) text(name string) string {
	s, _ := in.values[name].(string) // nil where it is left out
	return s
}

func (in *inputs) flag(name string) bool {
	b, _ := in.values[name].(bool)
	return b
}

// number is a number, or what stands for one that is left out.
func (in *inputs) number(name string, without int) int {
	if n, ok := in.values[name].(int); ok {
		return n
	}
	return without
}

func (in *inputs) list(name string) []any {
	l, _ := in.values[name].([]any)
	return l
}

func (in *inputs) object(name string) map[string]any {
	o, _ := in.values[name].(map[string]any)
	return o
}

func (in *inputs) any(name string) any { return in.values[name] }

// fail keeps what is wrong with an input.
func (in *inputs) fail(name, format string, args ...any) {
	if in.wrong == nil {
		in.wrong = &InputError{Function: in.of.Name, Input: name, Msg: fmt.Sprintf(format, args...)}
	}
}

// Fits says why a value cannot be the input; nil when it can.
func (f Field) Fits(raw json.RawMessage) error {
	_, err := f.read(raw)
	return err
}

// read is a value as its field has it: JSON that lies in a text is read as if it
// did not. null, and a text without anything in it where something else is wanted,
// is as good as left out.
func (f Field) read(raw json.RawMessage) (any, error) {
	v, err := decode(raw)
	if err != nil {
		return nil, fmt.Errorf("it is no JSON: %w", err)
	}
	text, isText := v.(string)
	if v == nil || isText && f.Type != TypeText && f.Type != TypeAny && strings.TrimSpace(text) == "" {
		return nil, nil //nolint:nilnil // nothing is a value of every type
	}
	switch f.Type {
	case TypeText:
		return textOf(v), nil
	case TypeAny:
		return v, nil
	case TypeFlag:
		if b, ok := v.(bool); ok {
			return b, nil
		}
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
	case TypeNumber:
		if n, err := strconv.Atoi(strings.TrimSpace(textOf(v))); err == nil {
			return n, nil
		}
	case TypeList:
		if l, ok := unwrapped(v).([]any); ok {
			return l, nil
		}
	case TypeObject:
		if o, ok := unwrapped(v).(map[string]any); ok {
			return o, nil
		}
	}
	return nil, fmt.Errorf("%s is wanted, found %s", f.Type.wanted(), found(v))
}

func (t Type) wanted() string {
	switch t {
	case TypeFlag:
		return "true or false"
	case TypeNumber:
		return "a whole number"
	case TypeObject:
		return "an object"
	case TypeList, TypeText, TypeAny:
	}
	return "a " + string(t)
}

// found says what a value is.
func found(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case string:
		return "the text " + strconv.Quote(cut(v, 60))
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return "the number " + v.String()
	case []any:
		return "a list"
	}
	return "an object"
}

// unwrapped is the value that lies in a text as JSON, or the value itself.
func unwrapped(v any) any {
	s, ok := v.(string)
	if !ok {
		return v
	}
	in, err := decode(json.RawMessage(strings.TrimSpace(s)))
	if err != nil {
		return v
	}
	return in
}

// decode reads one value, with numbers as they are written.
func decode(raw json.RawMessage) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after it")
	}
	return v, nil
}

// textOf is a value as a text.
func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	}
	raw, err := encode(v)
	if err != nil { // it was read from JSON
		return ""
	}
	return string(raw)
}

// cut is a text of at most so many characters.
func cut(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
