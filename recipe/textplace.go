package recipe

import (
	"strings"
	"unicode/utf8"

	"github.com/belay-run/belay/expr"
)

// At is the position in the file of a character of the argument's text.
func (a Arg) At(col int) Pos { return a.place.char(a.Text.String(), col) }

// DirAt is the position in the file of a character of working_dir.
func (s *Step) DirAt(col int) Pos { return s.dirPlace.char(s.Dir.String(), col) }

// ConditionAt is the position in the file of a character of the condition.
func (s *Step) ConditionAt(col int) Pos { return s.condPlace.char(s.Condition.String(), col) }

// char is the position of a character of the value, counted from 1 over all of
// its lines.
func (pl place) char(value string, col int) Pos {
	for n := 1; n < col && value != ""; n++ {
		_, size := utf8.DecodeRuneInString(value)
		if value[0] == '\n' {
			return pl.below(value[1:], col-n)
		}
		value = value[size:]
	}
	return pl.at(Pos{1, max(col, 1)})
}

// below is char for what comes after the first line.
func (pl place) below(rest string, col int) Pos {
	row := 2
	for {
		line, after, more := strings.Cut(rest, "\n")
		n := utf8.RuneCountInString(line)
		if !more || col <= n+1 {
			return pl.at(Pos{row, max(col, 1)})
		}
		rest, col, row = after, col-n-1, row+1
	}
}

// WithDefault is the placeholder of a text that begins at a column, as it is
// written with a default; "" when there is none.
func WithDefault(text string, col int) string {
	for _, h := range expr.Holes(text) {
		if h.Value == nil || 1+utf8.RuneCountInString(text[:h.Start]) != col {
			continue
		}
		hole := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(text[h.Start:h.End], "{{"), "}}"))
		name, filters, _ := strings.Cut(hole, "|")
		hole = strings.TrimSpace(name) + " | default('')"
		if filters = strings.TrimSpace(filters); filters != "" {
			hole += " | " + filters
		}
		return "{{" + hole + "}}"
	}
	return ""
}
