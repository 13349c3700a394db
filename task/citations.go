package task

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/belay-run/belay/internal/pattern"
)

// maxCitations is how many citations of an answer or a report are looked up.
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
			{"places", TypeList, true, "Objects with `path` and `line`, with `end`, `quote` and `criterion` where they are given; each once for each quote. One that leads out of the repository, or to line 0, is only there with a quote."},
			{"commits", TypeList, true, "Commits, as they are written; each once."},
			{"count", TypeNumber, true, "How many there are of both."},
			{"all", TypeList, true, "The places, and after them objects with `commit`, with `sure` where the text says that it is one, and with `quote` and `criterion` where they are given; 200 at most."},
			{"unread", TypeList, true, "What is not among these, as there is too much of it: objects with `wrong`, in words, and with `criterion` where it is for one."},
		},
		Example: Example{
			With: json.RawMessage("{\"text\": \"The limit is read in config/limit.go:12-14 (`max := 3`), since commit 1f0e9d8c.\"}"),
			Gives: json.RawMessage(`{"places": [{"path": "config/limit.go", "line": 12, "end": 14, "quote": "max := 3"}], "commits": ["1f0e9d8c"], "count": 2,
				"all": [{"path": "config/limit.go", "line": 12, "end": 14, "quote": "max := 3"}, {"commit": "1f0e9d8c", "sure": true}], "unread": []}`),
		},
		do: func(in *inputs) any {
			var out struct {
				Places  []Citation `json:"places"`
				Commits []string   `json:"commits"`
				Count   int        `json:"count"`
				All     []citing   `json:"all"`
				Unread  []unread   `json:"unread"`
			}
			list, _ := readCriteria(in.any("criteria"))
			text := in.text("text")
			out.All, out.Unread = atMost(citedIn(text, list))
			const overlap = 100 // of a citation that begins before the limit
			for at := maxLook - overlap; at+overlap < len(text); at += maxLook - overlap {
				if more := citedIn(text[at:], nil); len(more) > 0 {
					words, _ := more[0].what()
					out.Unread = append(out.Unread, unread{Wrong: line(fmt.Sprintf("the answer is too long: %s is behind its first %d bytes", words, maxLook), maxGoal)})
					break
				}
			}
			out.Places, out.Commits = []Citation{}, []string{}
			for _, c := range out.All {
				switch c := c.(type) {
				case Citation:
					out.Places = append(out.Places, c)
				case CitedCommit:
					if !slices.Contains(out.Commits, c.Commit) {
						out.Commits = append(out.Commits, c.Commit)
					}
				}
			}
			out.Count = len(out.Places) + len(out.Commits)
			return out
		},
	}
}

// citing is a place or a commit that is cited.
type citing interface {
	// what says it in a few words, and for which criterion it is.
	what() (words, criterion string)
}

func (c Citation) what() (words, criterion string) {
	return c.Path + ":" + strconv.Itoa(c.Line), c.Criterion
}

func (c CitedCommit) what() (words, criterion string) {
	return "commit " + cut(c.Commit, 12), c.Criterion
}

// citedIn is all that a text cites: places, and then commits.
func citedIn(text string, criteria []Criterion) []citing {
	text = text[:min(len(text), maxLook)]
	all := []citing{}
	for _, c := range places(text, criteria) {
		all = append(all, c)
	}
	for _, c := range commits(text, criteria) {
		all = append(all, c)
	}
	return all
}

// unread is what somebody claims and nobody can look up.
type unread struct {
	Criterion string `json:"criterion,omitempty"` // that it is for; "" = it was not said
	Wrong     string `json:"wrong"`               // what it is, in words
}

// atMost are as many citations as are looked up. That others are left is said once for each
// criterion: one of them may be wrong.
func atMost(all []citing) ([]citing, []unread) {
	left := []unread{}
	for _, c := range all[min(len(all), maxCitations):] {
		words, criterion := c.what()
		if !slices.ContainsFunc(left, func(u unread) bool { return u.Criterion == criterion }) {
			left = append(left, unread{criterion, line(fmt.Sprintf("there are more than %d citations: %s and what is behind it is not looked up", maxCitations, words), maxGoal)})
		}
	}
	return all[:min(len(all), maxCitations)], left
}

// aQuotation is a text that somebody says is there.
const aQuotation = "(?:`([^`\n]{1,300})`|\"([^\"\n]{1,300})\"|“([^”\n]{1,300})”)"

var (
	rightBehind = pattern.Lazy("^[\\s()\\[\\]:,*|—–→-]{0,6}" + aQuotation)
	beforeIt    = pattern.Lazy(aQuotation + "[^`\"“”\n]{1,40}[`(]?$")
	justBefore  = pattern.Lazy(aQuotation + `[\s(\[,]{0,4}$`)
	aCommit     = pattern.Lazy(`(?i)\b(?:commits?|revision|sha)\s+[` + "`" + `"'(]?([0-9a-f]{7,40})\b|` + "`" + `([0-9a-f]{7,40})` + "`" + `|\b([0-9a-f]{40})\b`)
)

// quoter finds the quotes that belong to what is cited in a text, from its begin to its end. A
// quote right behind one citation is not that of the next one, too.
type quoter struct {
	text   string
	used   int // up to here quotes belong to citations
	before func() *regexp.Regexp
	places map[int]int // where places are named, which are no quotes: from and to

	at, ticks int // how many backquotes there are up to here, in this line
}

// closed is where what is cited ends, with the backquote that closes it.
func (q *quoter) closed(to int) int {
	part := q.text[q.at:to]
	if n := strings.LastIndexByte(part, '\n'); n >= 0 {
		q.ticks, part = 0, part[n+1:]
	}
	q.at, q.ticks = to, q.ticks+strings.Count(part, "`")
	if q.ticks%2 == 1 && strings.HasPrefix(q.text[to:], "`") {
		return to + 1
	}
	return to
}

// of is the quote of what is cited between two places: in backquotes, or in others.
func (q *quoter) of(from, to int) (backquoted, other string) {
	const far = 400
	to = q.closed(to)
	if m := rightBehind().FindStringSubmatchIndex(q.text[to:min(len(q.text), to+far)]); m != nil {
		if backquoted, other = q.found(to, m); backquoted+other != "" {
			q.used = to + m[1]
			return backquoted, other
		}
	}
	begin := min(from, max(q.used, from-far))
	if m := q.before().FindStringSubmatchIndex(q.text[begin:from]); m != nil {
		return q.found(begin, m)
	}
	return "", ""
}

// found is a quote by where it was found; nothing where it is the name of a place.
func (q *quoter) found(begin int, m []int) (backquoted, other string) {
	for n := 2; n < len(m); n += 2 {
		if m[n] < 0 {
			continue
		}
		from, to := begin+m[n], begin+m[n+1]
		switch end, named := q.places[from]; {
		case named && end >= to:
			return "", ""
		case n == 2:
			return strings.TrimSpace(q.text[from:to]), ""
		}
		return "", strings.TrimSpace(q.text[from:to])
	}
	return "", ""
}

// aParagraph is how one begins that is about a criterion (c1: …), or how one ends.
var aParagraph = pattern.Lazy(`(?m)^(?:[ \t>*_#(\[|` + "`" + `-]|\d{1,3}[.)][ \t])*([A-Za-z0-9_][A-Za-z0-9_-]{0,39})[*_)\]` + "`" + `]*:|^[ \t]*\n`)

// about finds the criterion that each place of a text is about; it is asked from the first
// place to the last.
func about(text string, criteria []Criterion) func(at int) string {
	marks := aParagraph().FindAllStringSubmatchIndex(text, -1)
	id, heading := "", false // the paragraph below a heading is about the same
	return func(at int) string {
		for len(marks) > 0 && marks[0][0] < at {
			m := marks[0]
			marks = marks[1:]
			if m[2] < 0 {
				if !heading {
					id = ""
				}
				heading = false
			} else if is := criterionOf(criteria, text[m[2]:m[3]]); is != "" {
				rest, _, _ := strings.Cut(text[m[1]:], "\n")
				id, heading = is, strings.Contains(text[m[0]:m[2]], "#") || strings.Trim(rest, " *_\t\r") == ""
			}
		}
		return id
	}
}

func commits(text string, criteria []Criterion) []CitedCommit {
	var list []CitedCommit
	seen := map[CitedCommit]bool{}
	of := about(text, criteria)
	quotes := quoter{text: text, before: justBefore}
	for _, m := range aCommit().FindAllStringSubmatchIndex(text, -1) {
		c := CitedCommit{Criterion: of(m[0])}
		for n := 2; n < len(m); n += 2 {
			if m[n] >= 0 {
				c.Commit = strings.ToLower(text[m[n]:m[n+1]])
			}
		}
		word := strings.ToLower(text[m[0]:m[1]])
		c.Sure = strings.HasPrefix(word, "commit") || strings.HasPrefix(word, "revision")
		if !strings.ContainsAny(c.Commit, "0123456789") {
			continue
		}
		if c.Quote = saying(quotes.of(m[0], m[1])); !seen[c] {
			seen[c] = true
			list = append(list, c)
		}
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
