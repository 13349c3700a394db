package recipe

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
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
var (
	wholeForm = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)$`)
	baseForm  = regexp.MustCompile(`^(0o[0-7]+|0x[0-9a-fA-F]+)$`)
	floatForm = regexp.MustCompile(`^[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	noNumber  = regexp.MustCompile(`^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$`)
)

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
	case noNumber.MatchString(n.Value):
		p.fail(posOf(n), "put it in quotes to make it a text", "%s is not a number that a value can hold", n.Value)
	case baseForm.MatchString(n.Value):
		if i, err := strconv.ParseInt(n.Value, 0, 64); err == nil {
			return json.Number(strconv.FormatInt(i, 10))
		}
		p.fail(posOf(n), "put it in quotes to make it a text", "the number %s is too large", n.Value)
	case floatForm.MatchString(n.Value):
		f, err := strconv.ParseFloat(n.Value, 64)
		if err != nil || math.IsInf(f, 0) {
			p.fail(posOf(n), "put it in quotes to make it a text", "the number %.40s is too large", n.Value)
			return nil
		}
		if wholeForm.MatchString(n.Value) && f != 0 {
			return json.Number(strings.TrimPrefix(n.Value, "+")) // all its digits
		}
		if f == 0 { // no -0
			return 0.0
		}
		return f
	}
	return n.Value
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
