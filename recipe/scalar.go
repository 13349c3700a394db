package recipe

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// isPlain tells whether a scalar is written without quotes: only then can it
// be anything but a text.
func isPlain(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Style&quoted == 0 }

func isNull(n *yaml.Node) bool {
	if !isPlain(n) {
		return false
	}
	switch n.Value {
	case "", "~", "null", "Null", "NULL":
		return true
	}
	return false
}

// boolean reads true and false; yes, no, on and off are texts.
func boolean(n *yaml.Node) (value, ok bool) {
	if !isPlain(n) {
		return false, false
	}
	switch n.Value {
	case "true", "True", "TRUE":
		return true, true
	case "false", "False", "FALSE":
		return false, true
	}
	return false, false
}

// A number with a leading zero is a text: 007 and 0123 are names, post codes
// and modes, and lose something as a number.

// wholeForm tells whether s is a whole number: an optional sign, then digits.
func wholeForm(s string) bool {
	s = unsigned(s)
	return digits(s) && (s == "0" || s[0] != '0')
}

// baseForm tells whether s is a number in base 8 or 16.
func baseForm(s string) bool {
	switch {
	case strings.HasPrefix(s, "0o"):
		return len(s) > 2 && strings.Trim(s[2:], "01234567") == ""
	case strings.HasPrefix(s, "0x"):
		return len(s) > 2 && strings.Trim(s[2:], "0123456789abcdefABCDEF") == ""
	}
	return false
}

// floatForm tells whether s is a number with an optional point and exponent.
func floatForm(s string) bool {
	s = unsigned(s)
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		if !digits(unsigned(s[i+1:])) {
			return false
		}
		s = s[:i]
	}
	whole, part, point := strings.Cut(s, ".")
	switch {
	case whole == "":
		return point && digits(part)
	case !digits(whole) || whole != "0" && whole[0] == '0':
		return false
	}
	return part == "" || digits(part)
}

// noNumber tells whether s is one of the numbers that JSON does not have.
func noNumber(s string) bool {
	switch s {
	case ".nan", ".NaN", ".NAN":
		return true
	}
	switch unsigned(s) {
	case ".inf", ".Inf", ".INF":
		return true
	}
	return false
}

func unsigned(s string) string {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return s[1:]
	}
	return s
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// value turns a node into what JSON can hold, typed as YAML 1.2 does.
func (p *parser) value(n *yaml.Node) any {
	switch n.Kind {
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, c := range n.Content {
			list[i] = p.value(c)
		}
		return list
	case yaml.MappingNode:
		object := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			object[n.Content[i].Value] = p.value(n.Content[i+1])
		}
		return object
	case yaml.ScalarNode:
		return p.scalar(n)
	case yaml.DocumentNode, yaml.AliasNode: // neither gets past the shape check
	}
	return nil
}

func (p *parser) scalar(n *yaml.Node) any {
	if isNull(n) {
		return nil
	}
	if b, ok := boolean(n); ok {
		return b
	}
	if !isPlain(n) {
		return n.Value
	}
	switch {
	case noNumber(n.Value):
		p.fail(posOf(n), "put it in quotes to make it a text", "%s is not a number that a value can hold", n.Value)
	case baseForm(n.Value):
		if i, err := strconv.ParseInt(n.Value, 0, 64); err == nil {
			return p.number(n, json.Number(strconv.FormatInt(i, 10)))
		}
		p.fail(posOf(n), "put it in quotes to make it a text", "the number %s is too large", n.Value)
	case floatForm(n.Value):
		f, err := strconv.ParseFloat(n.Value, 64)
		if err != nil || math.IsInf(f, 0) {
			p.fail(posOf(n), "put it in quotes to make it a text", "the number %.40s is too large", n.Value)
			return nil
		}
		if wholeForm(n.Value) && f != 0 {
			return p.number(n, json.Number(strings.TrimPrefix(n.Value, "+"))) // all its digits
		}
		if f == 0 { // no -0
			return p.number(n, 0.0)
		}
		return p.number(n, f)
	}
	return n.Value
}

// number says so when a number is written otherwise than it was typed: a version
// 1.10 becomes 1.1.
func (p *parser) number(n *yaml.Node, value any) any {
	if text, err := json.Marshal(value); err == nil && string(text) != n.Value {
		p.warn(posOf(n), "put it in quotes to keep it as it is: '"+n.Value+"'", "%s is a number to YAML, and becomes %s", n.Value, text)
	}
	return value
}

// asJSON is a value with sorted keys.
func (p *parser) asJSON(n *yaml.Node, v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // a value goes to scripts, not into a page
	if err := enc.Encode(v); err != nil {
		p.fail(posOf(n), "", "the value cannot be written as JSON: %v", err)
		return json.RawMessage("null")
	}
	return json.RawMessage(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
