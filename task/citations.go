package task

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/belay-run/belay/internal/pattern"
)

// maxCitations is how many citations of a text are looked at.
const maxCitations = 200

// Citation is a place in a file that a text refers to.
type Citation struct {
	Path  string `json:"path"`
	Line  int    `json:"line"`
	End   int    `json:"end,omitempty"`   // the last line, of several
	Quote string `json:"quote,omitempty"` // what the text says is there

	Criterion string `json:"criterion,omitempty"` // whose id its paragraph begins with
}

// CitedCommit is a commit that a text refers to.
type CitedCommit struct {
	Commit string `json:"commit"`
	Quote  string `json:"quote,omitempty"` // what the text says that the commit says or changes
	Sure   bool   `json:"sure,omitempty"`  // the text calls it a commit; else it may be something else

	Criterion string `json:"criterion,omitempty"` // whose id its paragraph begins with
}

func callCitations() Function {
	return Function{
		Name: "citations",
		Does: "Which places in files and which commits a text cites; whether they are there is for another step to look.",
		Inputs: []Field{
			{"text", TypeText, true, "An answer or a report."},
			{"criteria", TypeAny, false, "The criteria, as task-type gives them: a paragraph that begins with the id of one and a colon is about that one."},
		},
		Outputs: []Field{
			{"places", TypeList, true, "Objects with `path` and `line`, with `end`, `quote` and `criterion` where they are given; each once, only paths inside of the repository."},
			{"commits", TypeList, true, "Commits, as they are written; each once."},
			{"count", TypeNumber, true, "How many there are of both."},
			{"all", TypeList, true, "The places, and after them objects with `commit`, with `sure` where the text says that it is one, and with `quote` and `criterion` where they are given."},
		},
		Example: Example{
			With: json.RawMessage("{\"text\": \"The limit is read in config/limit.go:12-14 (`max := 3`), since commit 1f0e9d8c.\"}"),
			Gives: json.RawMessage(`{"places": [{"path": "config/limit.go", "line": 12, "end": 14, "quote": "max := 3"}], "commits": ["1f0e9d8c"], "count": 2,
				"all": [{"path": "config/limit.go", "line": 12, "end": 14, "quote": "max := 3"}, {"commit": "1f0e9d8c", "sure": true}]}`),
		},
		do: func(in *inputs) any {
			var out struct {
				Places  []Citation `json:"places"`
				Commits []string   `json:"commits"`
				Count   int        `json:"count"`
				All     []any      `json:"all"`
			}
			text := in.text("text")
			text = text[:min(len(text), maxLook)]
			list, _ := readCriteria(in.any("criteria"))
			out.Places, out.Commits, out.All = places(text, list), []string{}, []any{}
			for _, p := range out.Places {
				out.All = append(out.All, p)
			}
			for _, c := range commits(text, list) {
				if out.All = append(out.All, c); !slices.Contains(out.Commits, c.Commit) {
					out.Commits = append(out.Commits, c.Commit)
				}
			}
			out.Count = len(out.Places) + len(out.Commits)
			return out
		},
	}
}

var (
	aCitation  = pattern.Lazy(`(?:^|[\s(\[<"'` + "`" + `,;])((?:\./)?(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.[A-Za-z]\w{0,9}|(?:[\w.@+-]+/)+[\w@+-]+|Makefile|Dockerfile):(\d{1,7})(?:[-–](\d{1,7}))?`)
	aQuote     = pattern.Lazy("^`?[\\s()\\[\\]:,*-]{0,6}(?:`([^`\\n]{1,300})`|\"([^\"\\n]{1,300})\")")
	beforeIt   = pattern.Lazy("(?:`([^`\\n]{1,300})`|\"([^\"\\n]{1,300})\")[^`\"\\n]{1,40}[`(]?$")
	justBefore = pattern.Lazy("(?:`([^`\\n]{1,300})`|\"([^\"\\n]{1,300})\")[\\s(\\[,]{0,4}$")
	aCommit    = pattern.Lazy(`(?i)\b(?:commits?|revision|sha)\s+[` + "`" + `"'(]?([0-9a-f]{7,40})\b|` + "`" + `([0-9a-f]{7,40})` + "`" + `|\b([0-9a-f]{40})\b`)
)

// hostName is what looks like a file and is a machine: example.com:443.
var hostName = pattern.Lazy(`^[\w.-]+\.(?:com|org|net|io|dev|internal)$`)

func places(text string, criteria []Criterion) []Citation {
	list := []Citation{}
	seen := map[Citation]bool{}
	of := about(text, criteria)
	for _, m := range aCitation().FindAllStringSubmatchIndex(text, -1) {
		file := path.Clean(text[m[2]:m[3]])
		n, err := strconv.Atoi(text[m[4]:m[5]])
		if err != nil || n == 0 || strings.HasPrefix(file, "../") || len(list) == maxCitations {
			continue
		}
		if hostName().MatchString(file) {
			continue
		}
		c := Citation{Path: file, Line: n, Criterion: of(m[2])}
		if m[6] >= 0 {
			if end, err := strconv.Atoi(text[m[6]:m[7]]); err == nil && end > n {
				c.End = end
			}
		}
		if seen[c] {
			continue
		}
		seen[c] = true
		rest := text[m[1]:]
		if q := aQuote().FindStringSubmatch(rest[:min(len(rest), 400)]); q != nil {
			c.Quote = q[1] + q[2]
		} else if q := beforeIt().FindStringSubmatch(text[max(0, m[2]-400):m[2]]); q != nil {
			c.Quote = q[1] + q[2]
		}
		list = append(list, c)
	}
	return list
}

// aParagraph is how one begins that is about a criterion (c1: …), or how one ends.
var aParagraph = pattern.Lazy(`(?m)^[ \t>*_#(\[` + "`" + `-]*([A-Za-z0-9_][A-Za-z0-9_-]{0,39})[*_)\]` + "`" + `]*:|^[ \t]*\n`)

// about finds the criterion that each place of a text is about; it is asked from the first
// place to the last.
func about(text string, criteria []Criterion) func(at int) string {
	marks := aParagraph().FindAllStringSubmatchIndex(text, -1)
	id := ""
	return func(at int) string {
		for len(marks) > 0 && marks[0][0] < at {
			m := marks[0]
			marks = marks[1:]
			if m[2] < 0 {
				id = ""
			} else if is := criterionOf(criteria, text[m[2]:m[3]]); is != "" {
				id = is
			}
		}
		return id
	}
}

func commits(text string, criteria []Criterion) []CitedCommit {
	var list []CitedCommit
	seen := map[CitedCommit]bool{}
	of := about(text, criteria)
	for _, m := range aCommit().FindAllStringSubmatchIndex(text, -1) {
		c := CitedCommit{Criterion: of(m[0])}
		for n := 2; n < len(m); n += 2 {
			if m[n] >= 0 {
				c.Commit = strings.ToLower(text[m[n]:m[n+1]])
			}
		}
		word := strings.ToLower(text[m[0]:m[1]])
		c.Sure = strings.HasPrefix(word, "commit") || strings.HasPrefix(word, "revision")
		if !strings.ContainsAny(c.Commit, "0123456789") || len(list) == maxCitations {
			continue
		}
		if seen[CitedCommit{Commit: c.Commit, Criterion: c.Criterion}] {
			continue
		}
		seen[CitedCommit{Commit: c.Commit, Criterion: c.Criterion}] = true
		rest := text[m[1]:]
		if q := aQuote().FindStringSubmatch(rest[:min(len(rest), 400)]); q != nil {
			c.Quote = saying(q[1], q[2])
		} else if q := justBefore().FindStringSubmatch(text[max(0, m[0]-400):m[0]]); q != nil {
			c.Quote = saying(q[1], q[2])
		}
		list = append(list, c)
	}
	return list
}

// aFile is what looks like the path of a file.
var aFile = pattern.Lazy(`^(?:[\w.@+-]+/)*[\w.@+-]*\.[A-Za-z]\w{0,9}$|^(?:[\w.@+-]+/)+[\w.@+-]+$`)

// saying is a quote about a commit: a text in double quotes, or a path in backquotes. Others in
// backquotes are commands, branches and the like.
func saying(backquoted, quoted string) string {
	if quoted != "" || aFile().MatchString(backquoted) {
		return quoted + backquoted
	}
	return ""
}

var quotes = pattern.Lazy("`([^`\n]{1,300})`|\"([^\"\n]{1,300})\"")

// OfCommit is what a commit must have that is cited for a criterion: files of which it changed
// one, and texts that it says or changes. Without an id it is for the only one that there is.
func OfCommit(criteria, id string) (files, texts []string) {
	list, _ := readCriteria(unwrapped(unwrapped(criteria))) // what was handed down is a text already
	is := criterionOf(list, id)
	for _, c := range list {
		if c.ID != is && (id != "" || len(list) > 1) {
			continue
		}
		files = c.Files
		for _, q := range quotes().FindAllStringSubmatch(c.Text, -1) {
			if text := saying(q[1], q[2]); text != "" {
				texts = append(texts, text)
			}
		}
	}
	return files, texts
}

// InFiles tells whether a file is one of those that patterns name.
func InFiles(patterns []string, file string) bool { return matches(patterns, file) }
