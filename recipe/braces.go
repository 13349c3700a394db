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
