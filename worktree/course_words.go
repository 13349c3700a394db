package worktree

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	maxValues = 50       // that a variable of a shell is followed with
	maxValue  = 16 << 10 // bytes of one that is followed
	maxSpent  = 4 << 20  // bytes of words that are put together for one command
	parseCost = 8        // bytes that a byte of a script inside of one counts
	varCost   = 16       // bytes that a variable counts where a shell begins
)

// text is a piece of a script as it stands there.
func (c *course) text(n syntax.Node) string {
	from, to := n.Pos().Offset(), n.End().Offset()
	if int(to) > len(c.src) || from > to {
		return ""
	}
	return c.src[from:to]
}

// document is the text of a here-document.
func (c *course) document(w *syntax.Word) string {
	var b strings.Builder
	for _, p := range w.Parts {
		if lit, ok := p.(*syntax.Lit); ok {
			b.WriteString(lit.Value)
			continue
		}
		b.WriteString(c.text(p))
	}
	return b.String()
}

// assign takes in the value of a variable.
func (c *course) assign(a *syntax.Assign) {
	switch {
	case a.Name == nil:
	case a.Value == nil || a.Append || a.Index != nil:
		c.adrift = c.adrift || a.Name.Value == "CDPATH" && a.Append
		delete(c.vars, a.Name.Value)
	default:
		c.know(a.Name.Value, c.values(a.Value))
	}
}

// know keeps what a variable can be. A long value is not followed: one that is
// made of itself twice, and that again, is soon longer than all memory. Nor is
// one that the variable may not have been given.
func (c *course) know(name string, values []string) {
	c.adrift = c.adrift || name == "CDPATH" && slices.ContainsFunc(values, func(v string) bool { return v != "" })
	if !c.sure() || slices.ContainsFunc(values, func(v string) bool { return len(v) > maxValue }) {
		values = nil
	}
	c.vars[name] = values
}

// spend tells whether so many bytes more may be put together. Where they may
// not, the command is one of which nobody knows what it does.
func (c *course) spend(n int) bool {
	c.spent += n
	if c.spent > maxSpent {
		c.ask.unknown()
	}
	return c.spent <= maxSpent
}

// values are what a word can be: one text, or one for each value of the
// variable in it. What is not known stays as it is written.
func (c *course) values(w *syntax.Word) []string {
	list, ok := c.joined(w.Parts, c.part)
	if !ok {
		return []string{c.text(w)}
	}
	return list
}

// joined puts the parts of a word together, if that is not too much.
func (c *course) joined(parts []syntax.WordPart, values func(syntax.WordPart) []string) ([]string, bool) {
	list := [][]byte{nil}
	for _, p := range parts {
		tails := values(p)
		if len(tails) == 1 { // in place: a long word of many parts is not copied for each
			for i := range list {
				if !c.spend(len(tails[0])) {
					return nil, false
				}
				list[i] = append(list[i], tails[0]...)
			}
			continue
		}
		var out [][]byte
		for _, h := range list {
			for _, t := range tails[:min(len(tails), maxValues-len(out))] {
				if !c.spend(len(h) + len(t)) {
					return nil, false
				}
				out = append(out, slices.Concat(h, []byte(t)))
			}
		}
		list = out
	}
	texts := make([]string, 0, len(list))
	for _, b := range list {
		if !c.spend(len(b) + 1) {
			return nil, false
		}
		texts = append(texts, string(b))
	}
	return texts, true
}

var (
	escaped = regexp.MustCompile(`\\(.)`)
	quotes  = strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\$`, `$`, "\\`", "`", "\\\n", "") // what a backslash hides between them
)

func (c *course) part(p syntax.WordPart) []string {
	switch p := p.(type) {
	case *syntax.Lit:
		return []string{escaped.ReplaceAllString(strings.ReplaceAll(p.Value, "\\\n", ""), "$1")}
	case *syntax.SglQuoted:
		return []string{p.Value}
	case *syntax.DblQuoted:
		list, ok := c.joined(p.Parts, func(in syntax.WordPart) []string {
			if lit, ok := in.(*syntax.Lit); ok {
				return []string{quotes.Replace(lit.Value)}
			}
			return c.part(in)
		})
		if ok {
			return list
		}
	case *syntax.ParamExp:
		if p.Param == nil || p.Exp != nil || p.Repl != nil || p.Slice != nil || p.Index != nil {
			break
		}
		if known := c.vars[p.Param.Value]; len(known) > 0 {
			return known
		}
	case *syntax.BraceExp:
		return c.braces(p)
	}
	return []string{c.text(p)}
}

// braces are the words that {a,b} or {1..3} stands for.
func (c *course) braces(b *syntax.BraceExp) []string {
	if b.Sequence {
		return sequence(b)
	}
	var list []string
	for _, w := range b.Elems {
		if len(list) < maxValues {
			list = append(list, c.values(w)...)
		}
	}
	return list[:min(len(list), maxValues)]
}

// sequence are the numbers of {1..3}. Any other sequence is a word that only the
// shell knows.
func sequence(b *syntax.BraceExp) []string {
	unknown := []string{"$"}
	if len(b.Elems) != 2 {
		return unknown
	}
	from, err := strconv.Atoi(b.Elems[0].Lit())
	to, bad := strconv.Atoi(b.Elems[1].Lit())
	if err != nil || bad != nil || to < from || from < 0 || to-from >= maxValues {
		return unknown
	}
	var list []string
	for i := from; i <= to; i++ {
		list = append(list, strconv.Itoa(i))
	}
	return list
}
