package task

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/belay-run/belay/internal/pattern"
)

func callClaims() Function {
	return Function{
		Name: "claims",
		Does: "What the claims of a report cite; what cannot be looked up is said, and not left out.",
		Inputs: []Field{
			{"claims", TypeAny, false, "The claims: a list of objects with `criterion`, with `path` (or `file`), `line` and `quote`, or with `commit` and `quote`. The line may stand behind the path (`a.go:12`), and may be several (`12-14`). A text is read as an answer is."},
			{"criteria", TypeAny, false, "The criteria, as task-type gives them."},
		},
		Outputs: []Field{
			{"all", TypeList, true, "Objects with `path`, `line` and `quote`, and `end` where there are several lines, or with `commit`, `sure` and `quote`, and with `criterion` where it is for one; 200 at most."},
			{"unread", TypeList, true, "Claims that cannot be looked up: objects with `wrong`, in words, and with `criterion` where it is for one."},
			{"count", TypeNumber, true, "How many there are of both."},
		},
		Example: Example{
			With: json.RawMessage(`{"claims": [{"criterion": "c1", "path": "config/limit.go", "line": 12, "quote": "max := 3"}, {"criterion": "c2", "path": "config/limit.go", "quote": "min := 1"}],
				"criteria": [{"id": "c1", "text": "the limit"}, {"id": "c2", "text": "the least"}]}`),
			Gives: json.RawMessage(`{"all": [{"path": "config/limit.go", "line": 12, "quote": "max := 3", "criterion": "c1"}],
				"unread": [{"criterion": "c2", "wrong": "a claim names no line: {\"criterion\":\"c2\",\"path\":\"config/limit.go\",\"quote\":\"min := 1\"}"}], "count": 2}`),
		},
		do: func(in *inputs) any {
			r := claimReader{}
			r.criteria, _ = readCriteria(in.any("criteria"))
			r.claims(in.any("claims"))
			var out struct {
				All    []citing `json:"all"`
				Unread []unread `json:"unread"`
				Count  int      `json:"count"`
			}
			all, left := atMost(r.all)
			out.All, out.Unread = append([]citing{}, all...), append(left, r.unread...)
			if n := len(out.Unread); n > maxCitations { // nothing is left out in silence: who reads them counts them
				out.Unread = append(out.Unread[:maxCitations], unread{Wrong: fmt.Sprintf("%d more claims cannot be looked up", n-maxCitations)})
			}
			out.Count = len(out.All) + len(out.Unread)
			return out
		},
	}
}

// claimReader reads claims of a report. What has not the form that the agent was asked for is
// said to be so: to guess more would never end.
type claimReader struct {
	criteria []Criterion
	all      []citing
	unread   []unread
}

func (r *claimReader) claims(v any) {
	v = unwrapped(v)
	items, isList := v.([]any)
	if !isList {
		items = []any{v}
	}
	for _, x := range items {
		switch x := x.(type) {
		case nil: // it claims nothing
		case string:
			r.text(x)
		case map[string]any:
			r.object(x)
		default:
			r.cannot("", "is no object", x)
		}
	}
}

// cannot keeps a claim that nobody can look up.
func (r *claimReader) cannot(of, why string, v any) {
	r.unread = append(r.unread, unread{criterionOf(r.criteria, of), line("a claim "+why+": "+line(textOf(v), 160), maxGoal)})
}

// text reads a claim as it reads an answer.
func (r *claimReader) text(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	of := ""
	if m := aParagraph().FindStringSubmatch(text); m != nil {
		of = m[1]
	}
	found := citedIn(text, r.criteria)
	if len(found) == 0 {
		r.cannot(of, "names no file and line", text)
	}
	for _, c := range found {
		if p, ok := c.(Citation); ok && p.Quote == "" {
			r.cannot(of, "quotes nothing", text)
		} else {
			r.all = append(r.all, c)
		}
	}
}

// pathAndLine is a path with the line behind it, or several.
var pathAndLine = pattern.Lazy(`^(.+?)(?::L?|#L)(\d{1,7})(?:[-–]L?(\d{1,7}))?$`)

// object reads a claim with keys.
func (r *claimReader) object(o map[string]any) {
	of := first(o, "criterion")
	if id := criterionOf(r.criteria, cmp.Or(of, first(o, "id"))); id != "" { // the id may be that of the claim
		of = id
	}
	file, at, quote, commit := first(o, "path", "file"), first(o, "line"), first(o, "quote"), first(o, "commit")
	place := file
	if at != "" {
		place += ":" + at
	}
	m := pathAndLine().FindStringSubmatch(place)
	n := 0
	if m != nil {
		n, _ = strconv.Atoi(m[2]) // digits
	}
	switch {
	case strings.ContainsRune(file+quote+commit, 0) || len(file)+len(quote)+len(commit) > maxQuote:
		r.cannot(of, "has a text that is too long, or no text", o)
	case commit != "":
		for _, words := range slices.Compact([]string{quote, cmp.Or(file, quote)}) { // it changed this file; which line that is now says nothing of it
			r.all = append(r.all, CitedCommit{Commit: commit, Sure: true, Quote: words, Criterion: of})
		}
	case file == "":
		r.cannot(of, "names no file and line", o)
	case n == 0:
		r.cannot(of, "names no line", o)
	case quote == "":
		r.cannot(of, "quotes nothing", o)
	default:
		c := Citation{Path: path.Clean(m[1]), Line: n, Quote: quote, Criterion: of}
		if end, _ := strconv.Atoi(m[3]); end > n {
			c.End = end
		}
		r.all = append(r.all, c)
	}
}

// maxQuote is how long a quote may be: a program cannot be given much more.
const maxQuote = 10_000

// readUnread reads what is cited and nobody can look up, and how many citations were not
// looked up. They belong to criteria as other citations do.
func (e *evidence) readUnread(in *inputs, criteria []Criterion) {
	list, _ := unwrapped(in.any("unread")).([]any)
	for _, x := range list {
		o, _ := x.(map[string]any)
		if text := line(first(o, "wrong"), maxGoal); text != "" {
			e.cannotSee(criteria, first(o, "criterion", "id"), text)
		}
	}
	if slices.ContainsFunc(in.list("citations"), func(x any) bool { return x == nil }) {
		e.cannotSee(criteria, "", "a citation could not be looked up")
	}
}

func (e *evidence) cannotSee(criteria []Criterion, name, text string) {
	id := criterionOf(criteria, name)
	if name == "" && len(criteria) == 1 {
		id = criteria[0].ID
	}
	e.unread[id] = append(e.unread[id], text)
	if _, ok := e.cited[id]; !ok { // more work can prove it
		e.cited[id] = false
	}
}

// falsely says what is cited for a criterion and is not so; "" = nothing. Nothing else that is
// cited for it proves it then. Without an id it is what is for none of several.
func (e *evidence) falsely(id string) string {
	of := "what is cited for it"
	if id == "" {
		of = "what is cited"
	}
	var all []string
	if wrong := e.wrong[id]; len(wrong) > 0 {
		all = append(all, of+" is not there: "+line(strings.Join(wrong, "; "), maxGoal))
	}
	if unread := e.unread[id]; len(unread) > 0 {
		all = append(all, of+" cannot be looked up: "+line(strings.Join(unread, "; "), maxGoal))
	}
	return strings.Join(all, "; ")
}
