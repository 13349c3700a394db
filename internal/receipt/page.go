package receipt

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/belay-run/belay/internal/readable"
)

// page is Markdown in the making.
type page struct {
	lines []string
	named func(step, text string) string // names of items in a text, by their values; nil = as they are on record
}

// plain is text from outside, with the names of items that people know.
func (p *page) plain(s string) string { return p.about("", s) }

// about is such a text about a step.
func (p *page) about(step, s string) string { return plain(p.shown(step, s)) }

func (p *page) shown(step, s string) string {
	if p.named == nil {
		return s
	}
	return p.named(step, s)
}

func (p *page) line(format string, args ...any) {
	p.lines = append(p.lines, fmt.Sprintf(format, args...))
}

func (p *page) head(title string) { p.lines = append(p.lines, "", "## "+title, "") }

// table is a table of cells that are Markdown already.
func (p *page) table(rows [][]string) {
	for i, row := range rows {
		p.line("| %s |", strings.Join(row, " | "))
		if i == 0 {
			p.line("|%s", strings.Repeat("---|", len(row)))
		}
	}
}

// commands is a block to be copied from. A command that is not one clean line
// cannot be copied, and is left out.
func (p *page) commands(list []Command) {
	p.line("```sh")
	for _, c := range list {
		if readable.Clean(c.Type) == c.Type {
			p.line("%s   # %s", c.Type, readable.Clean(p.shown("", c.For)))
		}
	}
	p.line("```")
}

// maxText is how much of one text from outside is shown.
const maxText = 400

// special are the characters with which text could become more than text.
const special = "\\`*_[]<>|~"

// plain is text from outside as Markdown that says the same and does nothing: one
// line, no escape sequences, no code, no links, no HTML, no cells. What would call
// somebody's name is code, where nobody is called.
func plain(s string) string {
	s = readable.Cut(readable.Clean(s), maxText)
	if strings.Contains(s, "@") {
		return code(s)
	}
	var b strings.Builder
	for i, r := range s {
		if strings.ContainsRune(special, r) && !inWord(s, i, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// inWord tells whether a character is an underscore between two letters, which
// means nothing in Markdown and is easier to read as it is.
func inWord(s string, i int, r rune) bool {
	if r != '_' || i == 0 || i+1 >= len(s) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+1:])
	letter := func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' }
	return letter(before) && letter(after)
}

// code is text from outside as a span of code, which no backtick in it can end.
func code(s string) string {
	s = readable.Cut(readable.Clean(s), maxText)
	if s == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	s = strings.ReplaceAll(strings.ReplaceAll(s, `\|`, `\ |`), "|", `\|`) // a table finds its cells before its code
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// codes are names as code, with how many there are besides.
func codes(names []string, more int) string {
	const most = 10
	more += max(0, len(names)-most)
	var list []string
	for _, n := range names[:min(len(names), most)] {
		list = append(list, code(n))
	}
	text := strings.Join(list, ", ")
	if more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func inBrackets(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }
