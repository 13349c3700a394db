package recipe

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// formatter writes the lines of a source anew.
type formatter struct {
	lines  []textLine
	out    []string
	block  *textBlock // the last line that was written is part of it
	wanted bool       // an empty line comes before the next one
	err    error
}

// part is a key with its value, or an item of a list: the lines above it that
// belong to it, those it is written on, and comments below that are indented
// as if they were in it. All are numbers of lines; the ends are included.
type part struct {
	lead, at, end, foot int
	key, value          *yaml.Node
}

func (f *formatter) recipe(root *yaml.Node) ([]byte, error) {
	if root.Style&yaml.FlowStyle != 0 {
		return nil, fmt.Errorf("%w: it is in braces as a whole", ErrFormat)
	}
	first := f.top(root.Line, moves(root))
	f.mapping(root, first, len(f.lines), 0, "", usualOrder())
	return []byte(strings.Join(f.out, "\n") + "\n"), f.err
}

// top writes what stands above everything and gives the line after it: all up
// to the last empty line before the first key, and the line for editors. When
// the first key moves down, the comment above it stays: it heads the file.
func (f *formatter) top(key int, moves bool) int {
	first := 1
	for i := 1; i < key; i++ {
		l := f.line(i)
		if !l.comment() || strings.HasPrefix(l.text, "# yaml-language-server:") || moves {
			first = i + 1
		}
	}
	for i := 1; i < first; i++ {
		if l := f.line(i); l.empty() {
			f.gap()
		} else {
			f.write(trimmed(l.text))
		}
	}
	return first
}

// moves tells whether the first key of a recipe is not the first any more.
func moves(root *yaml.Node) bool {
	o := usualOrder()
	for i := 2; i < len(root.Content); i += 2 {
		if o.rank(root.Content[i].Value) < o.rank(root.Content[0].Value) {
			return true
		}
	}
	return false
}

// split gives the lines from first to last to the parts that begin at the
// given ones. A comment that is indented deeper than they are belongs to the
// part above it, any other to the one below; rest are those below the last.
func (f *formatter) split(parts []part, first, last, col int) (rest int) {
	next := first
	for i := range parts {
		p := &parts[i]
		p.lead = next
		limit := last
		if i+1 < len(parts) {
			limit = parts[i+1].at - 1
		}
		for p.end = limit; p.end > p.at && f.line(p.end).loose(); p.end-- {
		}
		p.foot = p.end
		for k := p.end + 1; k <= limit; k++ {
			l := f.line(k)
			if l.comment() && l.indent() <= col {
				break
			}
			if l.comment() {
				p.foot = k
			}
		}
		next = p.foot + 1
	}
	return next
}

func (f *formatter) mapping(n *yaml.Node, first, last, col int, prefix string, o *keyOrder) {
	var parts []part
	for i := 0; i+1 < len(n.Content); i += 2 {
		parts = append(parts, part{at: n.Content[i].Line, key: n.Content[i], value: n.Content[i+1]})
	}
	old := n.Column - 1
	rest := f.split(parts, first, last, old)
	slices.SortStableFunc(parts, func(a, b part) int { return o.rank(a.key.Value) - o.rank(b.key.Value) })
	for i, p := range parts {
		start := indented(col)
		if i == 0 && prefix != "" {
			start = prefix
			f.notes(p.lead, p.at-1, len(prefix)-len(strings.TrimLeft(prefix, " ")), false)
		} else {
			f.notes(p.lead, p.at-1, col, true)
		}
		text, ok := keyLine(f.line(p.at).text, old, p.key)
		if !ok {
			f.refuse(p.at)
			return
		}
		f.value(p, start+text, old, col, o.of(p.key.Value))
	}
	f.notes(rest, last, col, true)
}

// keyLine is the line of a key without what stands before it.
func keyLine(text string, col int, key *yaml.Node) (string, bool) {
	if len(text) <= col || strings.Trim(text[:col], " \t-") != "" {
		return "", false
	}
	text = trimmed(text[col:])
	if key.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		return text, text[0] == '"' || text[0] == '\''
	}
	rest, ok := strings.CutPrefix(text, key.Value)
	rest, colon := strings.CutPrefix(strings.TrimLeft(rest, " \t"), ":")
	return strings.TrimRight(key.Value+": "+strings.TrimLeft(rest, " \t"), " "), ok && colon
}

func (f *formatter) sequence(n *yaml.Node, first, last, col int, prefix string, o *keyOrder) {
	old := n.Column - 1
	parts := f.items(n, last)
	if len(parts) != len(n.Content) {
		f.refuse(n.Line)
		return
	}
	rest := f.split(parts, first, last, old)
	for i, p := range parts {
		p.value = n.Content[i]
		start := indented(col)
		if i == 0 && prefix != "" {
			start = prefix
		} else {
			f.notes(p.lead, p.at-1, col, true)
		}
		f.item(p, start, old, col, o.each())
	}
	f.notes(rest, last, col, true)
}

// items finds the dashes of a list.
func (f *formatter) items(n *yaml.Node, last int) []part {
	var parts []part
	for i := n.Line; i <= last; i++ {
		l, old := f.line(i), n.Column-1
		if l.block != nil || l.quoted || len(l.text) <= old || l.text[old] != '-' {
			continue
		}
		if next := l.text[old+1:]; next != "" && next[0] != ' ' && next[0] != '\t' {
			continue
		}
		if i == n.Line || strings.Trim(l.text[:old], " ") == "" {
			parts = append(parts, part{at: i})
		}
	}
	return parts
}

// item writes an item of a list. What it holds begins behind its dash.
func (f *formatter) item(p part, start string, old, col int, o *keyOrder) {
	text := strings.TrimLeft(trimmed(f.line(p.at).text[old+1:]), " \t")
	switch {
	case !isBlock(p.value):
		f.value(p, strings.TrimRight(start+"- "+text, " "), old, col, nil)
	case !f.movable(p.value, p.at+1, p.foot) || p.value.Line > p.at && text != "" && text[0] != '#':
		f.write(start + trimmed(f.line(p.at).text[old:]))
		f.shift(p.at+1, p.foot, col-old)
	case p.value.Line == p.at:
		f.inner(p.value, p.at, p.foot, col+2, start+"- ", o)
	default:
		if text != "" {
			f.write(indented(len(start)-len(strings.TrimLeft(start, " "))) + text)
		}
		f.inner(p.value, p.at+1, p.foot, col+2, start+"- ", o)
	}
}

// value writes a part from its first line on.
func (f *formatter) value(p part, text string, old, col int, o *keyOrder) {
	f.write(text)
	switch {
	case isBlock(p.value) && f.movable(p.value, p.at+1, p.foot):
		f.inner(p.value, p.at+1, p.foot, col+2, "", o)
		return
	case isBlock(p.value):
		f.shift(p.at+1, p.foot, col-old)
		return
	}
	for i := p.at + 1; i <= p.end; i++ {
		f.more(f.line(i), old, col)
	}
	if f.block == nil {
		col += 2
	}
	f.notes(p.end+1, p.foot, col, true)
}

func (f *formatter) inner(n *yaml.Node, first, last, col int, prefix string, o *keyOrder) {
	if n.Kind == yaml.MappingNode {
		f.mapping(n, first, last, col, prefix, o)
		return
	}
	if prefix != "" {
		f.notes(first, n.Line-1, len(prefix)-len(strings.TrimLeft(prefix, " ")), false)
	}
	f.sequence(n, first, last, col, prefix, o)
}

// isBlock tells of a mapping or a list with a line for each part.
func isBlock(n *yaml.Node) bool {
	return n.Kind != yaml.ScalarNode && n.Style&yaml.FlowStyle == 0
}

// movable tells whether all parts of a mapping or list, which may have loose
// lines from first on above it, are written in a way that is understood.
func (f *formatter) movable(n *yaml.Node, first, last int) bool {
	for i := first; i < n.Line; i++ {
		if !f.line(i).loose() {
			return false
		}
	}
	if n.Kind == yaml.SequenceNode {
		return len(f.items(n, last)) == len(n.Content)
	}
	for i := 0; i < len(n.Content); i += 2 {
		if _, ok := keyLine(f.line(n.Content[i].Line).text, n.Column-1, n.Content[i]); !ok {
			return false
		}
	}
	return true
}

// shift writes lines as they are, only further to the right or left.
func (f *formatter) shift(first, last, by int) {
	for i := first; i <= last; i++ {
		l := f.line(i)
		text := strings.TrimLeft(l.text, " ")
		if text != "" || l.block != nil && len(l.text) > l.block.indent {
			text = indented(len(l.text)-len(text)+by) + text
		}
		f.write(text)
		f.block = l.block
	}
}

// more writes a line on which a value goes on.
func (f *formatter) more(l *textLine, old, col int) {
	text := strings.TrimLeft(l.text, " \t")
	switch {
	case l.block != nil && l.block.fixed:
		text = behind(l, col+l.block.indent-old)
	case l.block != nil:
		text = behind(l, col+2)
	case text != "":
		text = indented(max(col, col+l.indent()-old)) + trimmed(text)
	}
	f.write(text)
	f.block = l.block
}

// behind is a line of a block of text with another indent.
func behind(l *textLine, col int) string {
	if len(l.text) <= l.block.indent {
		return ""
	}
	return indented(col) + l.text[l.block.indent:]
}

// notes writes comments and the gaps between them.
func (f *formatter) notes(first, last, col int, gaps bool) {
	for i := first; i <= last; i++ {
		l := f.line(i)
		switch {
		case l.comment():
			f.write(indented(col) + trimmed(strings.TrimLeft(l.text, " \t")))
			gaps = true
		case !l.empty():
			f.refuse(i)
		case gaps:
			f.gap()
		}
	}
}

// gap asks for an empty line before the next one that is written.
func (f *formatter) gap() { f.wanted = true }

func (f *formatter) write(line string) {
	if f.wanted && len(f.out) > 0 && (f.block == nil || !f.block.keep) {
		f.out = append(f.out, "")
	}
	f.out = append(f.out, line)
	f.wanted, f.block = false, nil
}

func (f *formatter) refuse(line int) {
	if f.err == nil {
		f.err = fmt.Errorf("%w: line %d is written in a way that cannot be moved", ErrFormat, line)
	}
}
