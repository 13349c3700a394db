package recipe

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const viaVariable = "put the value in a variable first: value={{name}}, and use \"$value\""

var (
	notName     = refusal{"it would name a variable or a function, and a value is no name", `put it in an associative array, or choose the name with case`}
	notElement  = refusal{"bash would read the key a second time", "put the key in a variable, key={{name}}, and let bash read that: 'array[$key]' in single quotes"}
	notDollar   = refusal{"with the $ its value would name a variable, and a value is no name", `leave the $ out; a $ that is only a character is written \$`}
	notAssigned = refusal{"a value cannot be assigned to", ""}
	backslashed = refusal{"there is a backslash right before it", "leave the backslash out, or put it in quotes"}
)

// place tells the spots of a node how they are written.
func (w *walker) place(n syntax.Node, s setting, of func(start int, sp *spot) form) {
	start := int(n.Pos().Offset())
	spots := w.in(start, int(n.End().Offset()))
	for i := range spots {
		sp := &spots[i]
		sp.integer = s.integer
		switch {
		case s.locked.msg != "":
			sp.refused = s.locked
		case s.refused.msg != "":
			sp.refused = s.refused
		default:
			sp.form = of(start, sp)
		}
	}
}

// literal places what stands in text that bash reads.
func (w *walker) literal(n *syntax.Lit, s setting) {
	w.place(n, s, func(start int, sp *spot) form { return w.open(start, sp, s) })
}

func (w *walker) open(start int, sp *spot, s setting) form {
	escaped := w.backslashes(start, sp.start)%2 == 1
	quoted := s.quote == double || s.quote == document
	switch {
	case escaped && quoted && !s.math:
		return formEscaped
	case escaped:
		sp.refused = backslashed
		return formNone
	case quoted || s.math:
		return formOpen
	}
	return formQuoted
}

// backslashes is how many of them stand right before end.
func (w *walker) backslashes(start, end int) int {
	before := w.text[start:end]
	return len(before) - len(strings.TrimRight(before, `\`))
}

// single places what stands in single quotes.
func (w *walker) single(n *syntax.SglQuoted, s setting) {
	if s.quote != bare {
		s.refused = refusal{"single quotes are plain characters here", "leave the single quotes out"}
		if strings.ContainsAny(n.Value, "\"}$`\\") && w.doubt == 0 {
			w.doubt = int(n.Pos().Offset()) + 1
		}
	}
	w.place(n, s, func(start int, sp *spot) form {
		if !n.Dollar {
			return formSingle
		}
		before := w.text[start:sp.start]
		if trimmed := strings.TrimSuffix(before, "c"); w.backslashes(0, start+len(trimmed))%2 == 1 {
			sp.refused = backslashed
			return formNone
		}
		return formAnsi
	})
}

func (w *walker) comment(n *syntax.Comment) {
	w.place(n, setting{}, func(int, *spot) form { return formComment })
}

// parameterName places what was taken for the end of a name: $x{{v}} is $x and
// a value, while ${{v}} and ${x{{v}}} would make a name of the value.
func (w *walker) parameterName(n *syntax.ParamExp, s setting) {
	if strings.HasPrefix(n.Param.Value, argName) {
		if s.quote == bare && !s.math {
			w.unsafe++
		}
		w.safe++
	}
	if w.again {
		return
	}
	w.roles[n.Param] = func(inner *setting) { inner.locked = s.locked }
	start := int(n.Param.Pos().Offset())
	if n.Short && n.Dollar.IsValid() && len(w.in(start, start+1)) == 0 {
		return
	}
	w.role(n.Param, refuse(notDollar))
}

// redirect knows the places of a redirection: a target is a word like others,
// a here-document is text.
func (w *walker) redirect(n *syntax.Redirect, s setting) {
	if n.N != nil {
		w.role(n.N, refuse(notName))
	}
	if n.Op != syntax.Hdoc && n.Op != syntax.DashHdoc {
		if n.Op != syntax.WordHdoc {
			w.splits(n.Word)
		}
		return
	}
	w.role(n.Word, refuse(refusal{"it is the word that ends a here-document", "write a fixed word"}))
	if n.Hdoc == nil {
		return
	}
	end, quoted := delimiter(n.Word)
	if !quoted {
		w.role(n.Hdoc, func(inner *setting) { *inner = s.inner(); inner.quote = document })
		return
	}
	w.verbatim(n, end, s)
}

// delimiter is the word that ends a here-document, without its quotes.
func delimiter(word *syntax.Word) (end string, quoted bool) {
	var b strings.Builder
	for _, part := range word.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			plain := strings.ReplaceAll(part.Value, `\`, "")
			quoted = quoted || plain != part.Value
			b.WriteString(plain)
		case *syntax.SglQuoted:
			quoted = true
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			quoted = true
			for _, inner := range part.Parts {
				if lit, ok := inner.(*syntax.Lit); ok {
					b.WriteString(lit.Value)
				} else {
					b.WriteByte(' ') // no plain word
				}
			}
		default:
			b.WriteByte(' ')
		}
	}
	return b.String(), quoted
}

// verbatim turns a here-document with a quoted end into one that bash expands,
// with a backslash before everything else that bash would expand in it.
func (w *walker) verbatim(n *syntax.Redirect, end string, s setting) {
	w.roles[n.Hdoc] = nil // marks it as done
	if len(w.in(int(n.Hdoc.Pos().Offset()), int(n.Hdoc.End().Offset()))) == 0 {
		return
	}
	s = s.inner()
	switch {
	case s.ticks && s.locked.msg == "":
		s.refused = refusal{"it is in a here-document inside `…`", "write $(…) instead of `…`"}
	case !plainWord().MatchString(end):
		s.refused = refusal{"the here-document ends with an unusual word", "end it with a plain word such as 'EOF'"}
	}
	w.place(n.Hdoc, s, func(int, *spot) form { return formOpen })
	w.edits = append(w.edits, edit{int(n.Word.Pos().Offset()), int(n.Word.End().Offset()), end})
	w.escape(int(n.Hdoc.Pos().Offset()), int(n.Hdoc.End().Offset()))
}

func (w *walker) escape(start, end int) {
	spots := w.in(start, end)
	for i := start; i < end; i++ {
		if len(spots) > 0 && i == spots[0].start {
			i = spots[0].end - 1
			spots = spots[1:]
			continue
		}
		if strings.IndexByte("\\$`", w.text[i]) >= 0 {
			w.edits = append(w.edits, edit{i, i, `\`})
		}
	}
}

// done tells that a here-document was dealt with as a whole.
func (w *walker) done(n *syntax.Word) bool {
	role, known := w.roles[n]
	return known && role == nil
}
