package recipe

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay/internal/pattern"
)

// unquoted reports {{name}} without quotes, which is a mapping to YAML, and goes
// on as if it had them.
func (p *parser) unquoted(n *yaml.Node) {
	if n.Kind != yaml.MappingNode || len(n.Content) != 2 || n.Content[0].Kind != yaml.MappingNode {
		return
	}
	rest := p.src.text[p.src.offset(posOf(n)):]
	end := bytes.Index(rest, []byte("}}"))
	if !bytes.HasPrefix(rest, []byte("{{")) || end < 0 || bytes.ContainsAny(rest[:end], "\r\n") {
		return
	}
	text := string(rest[:end+2])
	hint := "put it in quotes"
	switch {
	case !bytes.ContainsAny(rest[:end], `"\`):
		hint = fmt.Sprintf(`put it in quotes: "%s"`, clip(text))
	case !bytes.ContainsAny(rest[:end], "'"):
		hint = fmt.Sprintf("put it in quotes: '%s'", clip(text))
	}
	p.fail(posOf(n), hint, "without quotes %s is a mapping of YAML, not a text", clip(text))
	n.Kind, n.Style, n.Tag, n.Value, n.Content = yaml.ScalarNode, 0, "!!str", text, nil
}

var bareBrace = pattern.Lazy(`(?:^|[:,\[-]) +(\{\{)`)

// bareBraces is the column of a value in a line that begins with {{, 0 when
// there is none.
func bareBraces(line string) int {
	m := bareBrace().FindStringSubmatchIndex(line)
	if m == nil {
		return 0
	}
	return 1 + utf8.RuneCountInString(line[:m[2]])
}

// insideValue is the byte of a line at which a bracket opens behind other text of a value,
// where the value stands in a list or a mapping of the same line: only in quotes it can
// have one. -1 when there is none.
func insideValue(line string) int {
	depth, begun := 0, false // begun: text of a value was passed
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == ' ' || c == '\t':
		case c == '#' && i > 0 && line[i-1] == ' ':
			return -1
		case (c == '"' || c == '\'') && !begun:
			i, begun = quoteEnd([]byte(line), i), true
		case (c == '{' || c == '[') && begun && depth > 0:
			return i
		case c == '{' || c == '[':
			depth++
			begun = false
		case c == '}' || c == ']':
			depth--
			begun = true
		case c == ',', c == ':' && (i+1 == len(line) || line[i+1] == ' '), c == '-' && depth == 0:
			begun = false
		default:
			begun = true
		}
	}
	return -1
}
