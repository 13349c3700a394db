package recipe

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// MaxProblems is how many problems of one source are reported.
const MaxProblems = 50

// Problem is what is wrong with a recipe, and where.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"` // from 1
	Col     int    `json:"col"`  // from 1, in characters
	Msg     string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Warning bool   `json:"warning"` // the recipe works all the same
}

// String is the problem on one line.
func (p Problem) String() string {
	kind := "error"
	if p.Warning {
		kind = "warning"
	}
	if p.Line == 0 { // it has no place in the file
		return fmt.Sprintf("%s: %s: %s", p.File, kind, p.Msg)
	}
	return fmt.Sprintf("%s:%d:%d: %s: %s", p.File, p.Line, p.Col, kind, p.Msg)
}

// Format is the problem with the line of src it is about, a caret under the
// column, and the hint.
func (p Problem) Format(src []byte) string { return p.FormatIn(src, 0) }

// FormatIn is Format with so much of the line as a terminal of that width has room for; 0
// for any other.
func (p Problem) FormatIn(src []byte, width int) string {
	var b strings.Builder
	b.WriteString(p.String())
	if line, ok := lineOf(bytes.TrimPrefix(src, bom), p.Line); ok {
		most := maxShown
		if width > 0 {
			most = max(min(most, width-4), leastShown)
		}
		shown, caret := excerpt([]rune(line), p.Col, most)
		fmt.Fprintf(&b, "\n  %s\n  %s^", shown, caret)
	}
	if p.Hint != "" {
		b.WriteString("\nhint: " + p.Hint)
	}
	return b.String()
}

// GitHub is the problem as a line of a workflow's log that becomes an annotation
// in the file.
func (p Problem) GitHub() string {
	kind, msg := "error", p.Msg
	if p.Warning {
		kind = "warning"
	}
	if p.Hint != "" {
		msg += "\nhint: " + p.Hint
	}
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	at := ""
	if p.Line > 0 {
		at = fmt.Sprintf(",line=%d,col=%d", p.Line, p.Col)
	}
	return fmt.Sprintf("::%s file=%s%s::%s", kind, property.Replace(p.File), at, data.Replace(msg))
}

// maxShown is how many characters of a line are shown, and leastShown how many are in any
// case.
const (
	maxShown   = 120
	leastShown = 20
)

// excerpt is the part of a line around a column, and the blanks that put a
// caret under it.
func excerpt(line []rune, col, most int) (shown, blanks string) {
	at := min(max(col-1, 0), len(line))
	var before, after string
	if len(line) > most {
		from := max(0, min(at-most/2, len(line)-most))
		if from > 0 {
			before = "…"
		}
		if from+most < len(line) {
			after = "…"
		}
		line, at = line[from:from+most], at-from
	}
	text, lead := make([]rune, len(line)), strings.Repeat(" ", len([]rune(before)))
	for i, r := range line {
		if unicode.IsControl(r) && r != '\t' {
			r = unicode.ReplacementChar // a terminal must not obey a recipe
		}
		text[i] = r
		if i < at {
			lead += blank(r)
		}
	}
	return strings.TrimRight(before+string(text)+after, " \t"), lead
}

// blank is as wide on a screen as r.
func blank(r rune) string {
	switch {
	case r == '\t':
		return "\t"
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return ""
	case unicode.Is(wide, r):
		return "  "
	}
	return " "
}

// wide are the characters that take two places on a screen: East Asian ones
// and pictures.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115f, Stride: 1}, {Lo: 0x2e80, Hi: 0x303e, Stride: 1}, {Lo: 0x3041, Hi: 0xa4cf, Stride: 1},
		{Lo: 0xac00, Hi: 0xd7a3, Stride: 1}, {Lo: 0xf900, Hi: 0xfaff, Stride: 1}, {Lo: 0xfe30, Hi: 0xfe6f, Stride: 1},
		{Lo: 0xff00, Hi: 0xff60, Stride: 1}, {Lo: 0xffe0, Hi: 0xffe6, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x1f300, Hi: 0x1f64f, Stride: 1}, {Lo: 0x1f680, Hi: 0x1f6ff, Stride: 1}, {Lo: 0x1f900, Hi: 0x1f9ff, Stride: 1},
		{Lo: 0x20000, Hi: 0x3fffd, Stride: 1},
	},
}

// report collects problems: errors and warnings up to the limit each, so that
// no flood of warnings hides an error.
type report struct {
	errors, warnings []Problem
}

func (r *report) add(p Problem) {
	switch {
	case p.Warning && len(r.warnings) < MaxProblems:
		r.warnings = append(r.warnings, p)
	case !p.Warning && len(r.errors) < MaxProblems:
		r.errors = append(r.errors, p)
	}
}

// full tells that further errors would not be shown, so need not be looked for.
func (r *report) full() bool { return len(r.errors) >= MaxProblems }

// list is everything by file and place, errors before warnings when there is too much.
func (r *report) list() []Problem {
	all := append(slices.Clone(r.errors), r.warnings...)
	all = all[:min(len(all), MaxProblems)]
	slices.SortStableFunc(all, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return all
}
