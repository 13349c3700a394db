package recipe

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// textLine is a line of a source and what is known about it.
type textLine struct {
	text   string
	block  *textBlock // it is part of a block of text
	quoted bool       // it goes on with a text in quotes
}

// textBlock is a text written with | or >.
type textBlock struct {
	indent int  // of its lines
	keep   bool // empty lines at its end are part of it
	fixed  bool // its header says how far it is indented
}

func (l *textLine) indent() int { return len(l.text) - len(strings.TrimLeft(l.text, " ")) }

// loose tells of an empty line and of one that is only a comment.
func (l *textLine) loose() bool { return l.empty() || l.comment() }

func (l *textLine) empty() bool {
	return l.block == nil && !l.quoted && strings.Trim(l.text, " \t") == ""
}

func (l *textLine) comment() bool {
	return l.block == nil && !l.quoted && strings.HasPrefix(strings.TrimLeft(l.text, " \t"), "#")
}

// newFormatter cuts a source into lines and finds those that are part of texts.
func newFormatter(src string, root *yaml.Node) (*formatter, error) {
	src = strings.ReplaceAll(src, "\r\n", "\n")
	if strings.ContainsAny(src, "\r\u0085\u2028\u2029") {
		return nil, fmt.Errorf("%w: it has line breaks of an unusual kind", ErrFormat)
	}
	f := &formatter{}
	for _, text := range strings.Split(strings.TrimSuffix(src, "\n"), "\n") {
		f.lines = append(f.lines, textLine{text: text})
	}
	f.mark(root, 0)
	return f, nil
}

// line is line n of the source, counted from 1.
func (f *formatter) line(n int) *textLine { return &f.lines[n-1] }

// mark finds the texts below a node; col is the column of what holds it.
func (f *formatter) mark(n *yaml.Node, col int) {
	switch {
	case n.Kind != yaml.ScalarNode:
		for _, c := range n.Content {
			f.mark(c, n.Column-1)
		}
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		f.markBlock(n, col)
	case n.Style&yaml.DoubleQuotedStyle != 0:
		f.markQuoted(n, '"')
	case n.Style&yaml.SingleQuotedStyle != 0:
		f.markQuoted(n, '\'')
	}
}

// markBlock marks the lines of a block of text.
func (f *formatter) markBlock(n *yaml.Node, col int) {
	b := f.header(n, col)
	last := n.Line
	for i := n.Line + 1; i <= len(f.lines); i++ {
		l := f.line(i)
		if strings.Trim(l.text, " ") == "" && (b.indent < 0 || len(l.text) <= b.indent) {
			continue // blanks beyond the indent are text
		}
		if b.indent < 0 && l.indent() > col {
			b.indent = l.indent()
		}
		if b.indent < 0 || l.indent() < b.indent {
			break
		}
		last = i
	}
	if b.keep {
		for last < len(f.lines) && strings.Trim(f.line(last+1).text, " ") == "" {
			last++
		}
	}
	for i := n.Line + 1; i <= last; i++ {
		f.line(i).block = b
	}
}

// header reads the first line of a block of text. One that ends with the file,
// without a line break, says so from now on.
func (f *formatter) header(n *yaml.Node, col int) *textBlock {
	b := &textBlock{indent: -1}
	l := f.line(n.Line)
	at := strings.LastIndexAny(beforeComment(l.text), "|>")
	if at < 0 {
		return b
	}
	signs := strings.TrimRight(beforeComment(l.text)[at+1:], " \t")
	if n.Value != "" && !strings.HasSuffix(n.Value, "\n") && !strings.Contains(signs, "-") {
		rest := l.text[at+1+len(signs):]
		signs = strings.ReplaceAll(signs, "+", "") + "-"
		l.text = l.text[:at+1] + signs + rest
	}
	for _, c := range signs {
		switch {
		case c >= '1' && c <= '9':
			b.indent, b.fixed = col+int(c-'0'), true
		case c == '+':
			b.keep = true
		}
	}
	return b
}

func beforeComment(text string) string {
	if i := strings.Index(text, " #"); i >= 0 {
		return text[:i]
	}
	return text
}

// markQuoted marks the lines on which a text in quotes goes on.
func (f *formatter) markQuoted(n *yaml.Node, quote byte) {
	row := n.Line
	text := []rune(f.line(row).text)
	rest := string(text[min(n.Column-1, len(text)):])
	at := strings.IndexByte(rest, quote)
	if at < 0 {
		return // what it means is compared at the end
	}
	for rest = rest[at+1:]; ; rest = f.line(row).text {
		if closes(rest, quote) || row == len(f.lines) {
			return
		}
		row++
		f.line(row).quoted = true
	}
}

// closes tells whether a text in quotes ends on a line.
func closes(line string, quote byte) bool {
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && quote == '"':
			i++
		case line[i] == quote && quote == '\'' && i+1 < len(line) && line[i+1] == quote:
			i++
		case line[i] == quote:
			return true
		}
	}
	return false
}

// trimmed is a line without blanks at its end; one that is escaped is none.
func trimmed(text string) string {
	if t := strings.TrimRight(text, " \t"); !strings.HasSuffix(t, `\`) {
		return t
	}
	return text
}
