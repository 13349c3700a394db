package recipe

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// tree reads the source as one YAML document and checks its shape; nil when
// there is nothing that could be read on.
func (p *parser) tree() *yaml.Node {
	dec := yaml.NewDecoder(bytes.NewReader(p.src.text))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			p.fail(Pos{1, 1}, "", "%s is empty", p.src.what())
			return nil
		}
		p.syntax(err)
		return nil
	}
	var second yaml.Node
	switch err := dec.Decode(&second); {
	case err == nil:
		p.fail(posOf(&second), strings.Replace(p.src.what(), "the", "a", 1)+" is one document", "a second document starts here")
		return nil
	case !errors.Is(err, io.EOF):
		p.syntax(err)
		return nil
	}
	if len(doc.Content) != 1 || isNull(doc.Content[0]) {
		p.fail(posOf(&doc), "", "%s is empty", p.src.what())
		return nil
	}
	root := doc.Content[0]
	if !p.shape(nil, root, 1) {
		return nil
	}
	if root.Kind != yaml.MappingNode && p.src.values {
		p.fail(posOf(root), "write NAME: VALUE on each line", "a file of values is a mapping, found %s", kindOf(root))
		return nil
	}
	if root.Kind != yaml.MappingNode {
		p.fail(posOf(root), "a recipe has name: and steps: at its top", "a recipe is a mapping, found %s", kindOf(root))
		return nil
	}
	return root
}

// shape checks what holds for every node, whatever it means: no anchors, no
// tags, not too deep, no key twice. False when reading on would only repeat
// the problem in other words. The node is the value of the key k; nil when it is not.
func (p *parser) shape(k, n *yaml.Node, depth int) bool {
	good := true
	p.unquoted(n)
	switch {
	case depth == MaxDepth && len(n.Content) > 0: // said once for all that it holds
		p.fail(posOf(n.Content[0]), "", "nested more than %d deep", MaxDepth)
		return false
	case n.Kind == yaml.AliasNode:
		p.fail(posOf(n), "write the value out", "aliases are not supported")
		return false
	case n.Anchor != "":
		p.fail(posOf(n), "write the value out where it is needed", "anchors are not supported")
		good = false
	case p.tagged(n):
		p.tag(k, n)
		good = false
	case n.Kind == yaml.ScalarNode && strings.ContainsRune(n.Value, 0):
		p.fail(posOf(n), "", "the value has a NUL character in it")
		good = false
	}
	if n.Kind == yaml.MappingNode {
		good = p.keys(n) && good
	}
	for i, c := range n.Content {
		var key *yaml.Node
		if n.Kind == yaml.MappingNode && i%2 == 1 {
			key = n.Content[i-1]
		}
		good = p.shape(key, c, depth+1) && good
	}
	return good
}

// keys checks the keys of one mapping.
func (p *parser) keys(n *yaml.Node) bool {
	good := true
	lines := newSeen(len(n.Content) / 2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind == yaml.AliasNode {
			continue // shape says so
		}
		if k.Kind != yaml.ScalarNode {
			p.fail(posOf(k), "", "a key is a text, found %s", kindOf(k))
			good = false
			continue
		}
		if k.Value == "<<" && k.Style&quoted == 0 {
			p.fail(posOf(k), "write the keys out", "merge keys are not supported")
			good = false
		}
		if line := lines.first(n, i); line > 0 {
			p.fail(posOf(k), "", "the key %q is given twice, first in line %d", k.Value, line)
			if p.twice == nil {
				p.twice = map[*yaml.Node]bool{}
			}
			p.twice[k] = true
		}
	}
	return good
}

// seen finds keys that come twice: by looking back in a small mapping, in a map
// of a large one.
type seen map[string]int

func newSeen(keys int) seen {
	if keys <= 16 {
		return nil
	}
	return make(seen, keys)
}

// first is the line of an earlier key with the text of key i, 0 when there is none.
func (s seen) first(n *yaml.Node, i int) int {
	k := n.Content[i]
	if s != nil {
		if line, twice := s[k.Value]; twice {
			return line
		}
		s[k.Value] = k.Line
		return 0
	}
	for j := 0; j < i; j += 2 {
		if n.Content[j].Kind == yaml.ScalarNode && n.Content[j].Value == k.Value {
			return n.Content[j].Line
		}
	}
	return 0
}

const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

func posOf(n *yaml.Node) Pos { return Pos{n.Line, n.Column} }

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		if isNull(n) {
			return "nothing"
		}
		return "a plain value"
	case yaml.AliasNode:
		return "an alias"
	case yaml.DocumentNode:
		return "a document"
	}
	return "nothing"
}

// syntax reports an error of the YAML parser, which tells its line in words
// only.
func (p *parser) syntax(err error) {
	msg := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if rest, ok := strings.CutPrefix(msg, "line "); ok {
		if num, text, ok := strings.Cut(rest, ": "); ok {
			if n, err := strconv.Atoi(num); err == nil {
				line, msg = n, text
			}
		}
	}
	if name, ok := strings.CutPrefix(msg, "unknown anchor '"); ok {
		name, _, _ = strings.Cut(name, "'")
		at := max(bytes.Index(p.src.text, []byte("*"+name)), 0)
		p.fail(p.src.at(at), "quote a value that starts with *", "aliases are not supported")
		return
	}
	switch {
	case strings.HasPrefix(msg, "exceeded max depth"):
		at := Pos{line, 1}
		if i := p.src.tooDeepAt(); i >= 0 {
			at = p.src.at(i)
		}
		p.fail(at, "", "nested more than %d deep", MaxDepth)
		return
	case msg == noKey || msg == noItem:
		line = p.firstBad(msg, line)
	case strings.HasPrefix(msg, "did not find expected"):
		line++ // the parser's own errors count lines from 0
	}
	p.fault(p.src.clamp(Pos{line, 1}).Line, msg)
}

// fault reports that a line is no YAML, with the caret where the eye should go.
func (p *parser) fault(line int, msg string) {
	if strings.Contains(msg, "tab character") || msg == noToken { // the tab may stand in the line below
		for _, at := range []int{line, line + 1} {
			if col := p.src.tabAt(at); col > 0 {
				p.fail(Pos{at, col}, noTabs, "not valid YAML: %s", msg)
				return
			}
		}
	}
	for line > 1 && strings.HasPrefix(msg, "did not find expected") && strings.TrimSpace(p.src.line(line)) == "" {
		line-- // the source ended before what was expected
	}
	text := p.src.line(line)
	col, hint := utf8.RuneCountInString(text[:len(text)-len(strings.TrimLeft(text, " \t"))])+1, syntaxHints[msg]
	if msg == noStart {
		hint = p.src.what() + " is over before this line; check the indentation"
	}
	cure, begins, whole := wholeCure(text)
	if placed := p.src.placedCure(line, msg); placed != "" {
		hint = placed
	} else if at := strayColon(text); at >= 0 && msg == noValues {
		col, hint = utf8.RuneCountInString(text[:at])+1, colonHint(text)
	} else if at >= 0 && (msg == noBrace || msg == noBracket) {
		col, hint = utf8.RuneCountInString(text[:at])+1, colonInFlow(text, at)
	} else if at := bareBraces(text); at > 0 && strings.HasPrefix(msg, "did not find expected") {
		col, hint = at, `put the whole value in quotes, or write it below a "|": it starts with {{`
	} else if at := insideValue(text); at >= 0 && strings.HasPrefix(msg, "did not find expected") {
		col, hint = utf8.RuneCountInString(text[:at])+1, fmt.Sprintf("put the whole value in quotes: inside { } and [ ] a value without quotes ends before a %c", text[at])
	} else if whole {
		col, hint = utf8.RuneCountInString(text[:begins])+1, cure
	} else if open := p.src.unclosed(line); open != nil && strings.HasPrefix(msg, "did not find expected") {
		col, hint = p.src.at(open.at).Col, fmt.Sprintf("a %c that starts here is not closed", open.char)
		if open.char == '{' {
			hint += "; put a value in quotes when it starts with {"
		}
	}
	p.fail(Pos{line, col}, hint, "not valid YAML: %s", msg)
}

const (
	noKey   = "did not find expected key"
	noItem  = "did not find expected '-' indicator"
	noToken = "found character that cannot start any token"
	noTabs  = "indent with spaces, not tabs"

	noColon  = "could not find expected ':'"
	noValues = "mapping values are not allowed in this context"
	noBrace  = "did not find expected ',' or '}'"

	noStart   = "did not find expected <document start>"
	noBracket = "did not find expected ',' or ']'"
)

var syntaxHints = map[string]string{
	noKey:    "check how far this line and the one before it are indented; put a value in quotes when it starts with { or [",
	noItem:   "check how far this line and the one before it are indented",
	noValues: "put a value in quotes when it has a colon and a space in it; check the indentation",
	noToken:  noTabs + "; put a value in quotes when it starts with @, ` or %",
	"found a tab character that violates indentation":        noTabs,
	"found unexpected end of stream":                         "a quote that starts here is not closed",
	noColon:                                                  "a key needs a colon and a space after it",
	"found unknown escape character":                         "use single quotes, or write \\\\ for a backslash",
	"block sequence entries are not allowed in this context": "start the list on a line of its own",
	"did not find expected alphabetic or numeric character":  "put a value in quotes when it starts with *, & or [",
	noBracket:                            "a [ that starts here is not closed",
	noBrace:                              "a { that starts here is not closed; put a value in quotes when it starts with {",
	"did not find expected node content": "put a value in quotes when it starts with a bracket or a comma",
	"found invalid Unicode character escape code":                  "use single quotes, or write \\\\ for a backslash",
	"did not find expected hexdecimal number":                      "use single quotes, or write \\\\ for a backslash",
	"found a tab character where an indentation space is expected": noTabs,
}

// firstBad is the line at which msg arises. For these errors the YAML parser
// names the line where the whole block began; but as it reads from the front,
// the first lines up to n give the error if and only if the bad line is among
// them, so the place can be found by halving.
func (p *parser) firstBad(msg string, told int) int {
	if len(p.src.text) > 1<<20 {
		return told + 1 // halving would take too long
	}
	lo, hi := 1, len(p.src.starts)
	for lo < hi {
		mid := (lo + hi) / 2
		var doc yaml.Node
		err := yaml.Unmarshal(p.src.text[:p.src.starts[mid]], &doc)
		if err != nil && strings.HasSuffix(err.Error(), msg) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}
