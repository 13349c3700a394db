package task

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/belay-run/belay/internal/pattern"
)

// What looks like the path of a file in a text: it has an extension, or one of some names. A
// folder and a name are one, too, where a line is written right behind it.
const (
	pathSign = `[\p{L}\p{N}_.@+-]`
	inFolder = `(?:/|(?:\.{1,2}/)+)?(?:` + pathSign + `+/)*`
	fileName = inFolder + `(?:` + pathSign + `*\.[A-Za-z]\w{0,14}|(?:GNUm|[Mm])akefile|(?:Docker|Container|Jenkins|Gem|Rake|Proc|Vagrant|[Jj]ust)file)`
	bareName = `(?:/|(?:\.{1,2}/)+)?(?:` + pathSign + `+/)+[\p{L}\p{N}_@+-]+|README|LICENSE|CHANGELOG|CODEOWNERS`

	beforePath = "(?:^|[\\s(\\[<>\"“'*|,;`])"
	fewLines   = `(\d{1,7})(?:[-–—]L?(\d{1,7}))?`
	saidLines  = `(\d{1,7})(?:[ \t]*(?:[-–—]|to)[ \t]*L?(\d{1,7}))?`
)

// mentions are the ways in which agents name a line of a file: what is the path, the line and
// the last line of each.
var mentions = pattern.Table(func() []mentioned {
	return []mentioned{
		// a.go:12, a.go:12-14, a.go:12:5 (with a column), a.go:L12, `a.go`:12
		{regexp.MustCompile(beforePath + `(` + fileName + `|` + bareName + ")[`*]{0,3}:L?" + fewLines + `(?::\d{1,5}\b)?`), 2, 4, 6},
		// a.go#L12, a.go#L12-L14: what a link leads to
		{regexp.MustCompile(beforePath + `(` + fileName + `|` + bareName + `)#L(\d{1,7})(?:C\d{1,5})?(?:[-–—]L?(\d{1,7})(?:C\d{1,5})?)?`), 2, 4, 6},
		// a.go line 12, a.go, line 12, a.go (lines 12-14), a.go: line 12, a.go L12
		{regexp.MustCompile(beforePath + `(` + fileName + ")[`*\"”')\\]]{0,3}(?:[,:;]?[ \\t]+|[ \\t]+[-–—][ \\t]+|[ \\t]*\\()(?:(?:at|on|in)[ \\t]+)?(?:[Ll]ines?[ \\t]+|L)" + saidLines + `\b\)?`), 2, 4, 6},
		// line 12 of a.go, lines 12-14 in `a.go`
		{regexp.MustCompile(`\b[Ll]ines?[ \t]+` + saidLines + `[ \t]+(?:of|in)[ \t]+(?:the[ \t]+)?(?:file[ \t]+)?(?:\[[^\]\n]{1,200}\]\()?` + "[`*\"“'(]{0,3}(" + fileName + ")[`*\"”')]{0,3}"), 6, 2, 4},
		// `app/[id]/page.tsx:12`: with signs that a path has only in backquotes
		{regexp.MustCompile("`([^\\s`\"“”:]*[\\[\\](){}$~!#&=%][^\\s`\"“”:]*/[^\\s`\"“”:]*\\.[A-Za-z]\\w{0,14}):" + fewLines + "(?::\\d{1,5})?`"), 2, 4, 6},
	}
})

type mentioned struct {
	form            *regexp.Regexp
	path, line, end int // where the submatches begin in the list of their places
}

// mention is where a text names lines of a file.
type mention struct {
	from, to  int
	path      string
	line, end int
}

// hostName is what looks like a file and is a machine: example.com:443.
var hostName = pattern.Lazy(`^[\w.-]+\.(?:com|org|net|io|dev|internal)$`)

// aTarget is the rest of a link whose text names a line, up to its end.
var aTarget = pattern.Lazy("^[`*]{0,3}\\]\\((" + fileName + `|` + bareName + `)(?:#L(\d{1,7})[-LC\d]*)?\)`)

// mentionsIn are the places that a text names, in their order.
func mentionsIn(text string) []mention {
	var list []mention
	for _, f := range mentions() {
		for _, m := range f.form.FindAllStringSubmatchIndex(text, -1) {
			is := mention{from: min(m[f.path], m[f.line]), to: m[1], path: path.Clean(text[m[f.path]:m[f.path+1]])}
			var err error
			if is.line, err = strconv.Atoi(text[m[f.line]:m[f.line+1]]); err != nil || hostName().MatchString(is.path) {
				continue
			}
			if m[f.end] >= 0 {
				if end, err := strconv.Atoi(text[m[f.end]:m[f.end+1]]); err == nil && end > is.line {
					is.end = end
				}
			}
			is.follow(text)
			list = append(list, is)
		}
	}
	slices.SortStableFunc(list, func(a, b mention) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	to := 0
	return slices.DeleteFunc(list, func(m mention) bool {
		if m.from < to { // another one has it
			return true
		}
		to = m.to
		return false
	})
}

// follow takes the path that a link leads to for the name of the file that is its text:
// [page.go:12](web/page.go#L12).
func (m *mention) follow(text string) {
	t := aTarget().FindStringSubmatch(text[m.to:])
	if t == nil || t[2] != "" && t[2] != strconv.Itoa(m.line) {
		return
	}
	if to := path.Clean(t[1]); to == m.path || strings.HasSuffix(to, "/"+m.path) {
		m.path, m.to = to, m.to+len(t[0])
	}
}

// places are the places that a text cites. What leads out of the repository, or to no line, may
// be a mention of something else; with a quote it is a citation that is not so.
func places(text string, criteria []Criterion) []Citation {
	list := []Citation{}
	seen := map[Citation]bool{}
	of := about(text, criteria)
	all := mentionsIn(text)
	quotes := quoter{text: text, before: beforeIt, places: map[int]int{}}
	for _, m := range all {
		quotes.places[m.from] = m.to
	}
	for _, m := range all {
		c := Citation{Path: m.path, Line: m.line, End: m.end, Criterion: of(m.from)}
		backquoted, other := quotes.of(m.from, m.to)
		c.Quote = backquoted + other
		odd := c.Line == 0 || c.Path == ".." || strings.HasPrefix(c.Path, "../") || path.IsAbs(c.Path)
		if odd && c.Quote == "" || seen[c] {
			continue
		}
		seen[c] = true
		list = append(list, c)
	}
	return list
}
