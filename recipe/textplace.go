package recipe

import (
	"strings"
	"unicode/utf8"

	"github.com/belay-run/belay/expr"
)

// At is the position in the file of a character of the argument's text.
func (a Arg) At(col int) Pos { return a.place.after(0, col-1) }

// DirAt is the position in the file of a character of working_dir.
func (s *Step) DirAt(col int) Pos { return s.dirPlace.after(0, col-1) }

// ConditionAt is the position in the file of a character of the condition.
func (s *Step) ConditionAt(col int) Pos { return s.condPlace.after(0, col-1) }

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
