package task

import (
	"encoding/json"
	"fmt"
	"maps"
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
			{"claims", TypeAny, false, "The claims: a list of objects with `criterion`, with `path`, `line` and `quote` or with `commit` and `quote`. Where it plainly says the same in another form (`file`, `\"path\": \"a.go:12\"`, `\"line\": \"12-14\"`, a text such as ``c1: a.go:12 `x` ``, one object, an object by criterion), it is read."},
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
			r.claims(in.any("claims"), nil)
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

// claimKeys are the names under which agents give one thing; those of otherwise are read where
// none of the others is there.
type claimKeys struct{ names, otherwise []string }

func keysOfCriterion() claimKeys {
	return claimKeys{names: []string{"criterion", "criterion_id", "criteria"}}
}

func keysOfPath() claimKeys {
	return claimKeys{[]string{"path", "file", "file_path", "filename"}, []string{"location", "where"}}
}

func keysOfLine() claimKeys {
	return claimKeys{[]string{"line", "lines"}, []string{"line_number", "start_line"}}
}

func keysOfEnd() claimKeys    { return claimKeys{names: []string{"end", "end_line"}} }
func keysOfCommit() claimKeys { return claimKeys{[]string{"commit"}, []string{"commit_id", "sha"}} }
func keysOfQuote() claimKeys {
	return claimKeys{[]string{"quote", "quotes", "quoted"}, []string{"snippet", "excerpt"}}
}

// in are the texts that an object has under the keys, each once.
func (k claimKeys) in(o map[string]any) []string {
	var list []string
	for _, names := range [][]string{k.names, k.otherwise} {
		for _, key := range names {
			for _, s := range texts(o[key]) {
				if !slices.Contains(list, s) {
					list = append(list, s)
				}
			}
		}
		if len(list) > 0 {
			break
		}
	}
	return list
}

// claimReader reads claims of a report. What it cannot read it says.
type claimReader struct {
	criteria []Criterion
	all      []citing
	unread   []unread
}

// claims reads all of them; those that name no criterion are for the given ones.
func (r *claimReader) claims(v any, of []string) {
	switch v := unwrapped(v).(type) {
	case nil:
	case []any:
		for _, x := range v {
			r.claim(x, of)
		}
	case map[string]any:
		if r.isClaim(v) {
			r.claim(v, of)
			return
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if list, isList := unwrapped(v[name]).([]any); isList {
				for _, x := range list {
					r.claim(x, []string{name})
				}
			} else {
				r.claim(v[name], []string{name})
			}
		}
	default:
		r.claim(v, of)
	}
}

// isClaim tells whether an object is one claim, and not several by criterion.
func (r *claimReader) isClaim(o map[string]any) bool {
	low := lowered(o)
	return slices.ContainsFunc([]claimKeys{keysOfCriterion(), keysOfPath(), keysOfLine(), keysOfCommit(), keysOfQuote()}, func(k claimKeys) bool {
		return hasAny(low, k.names) || hasAny(low, k.otherwise)
	})
}

func (r *claimReader) claim(v any, of []string) {
	switch v := v.(type) {
	case nil: // it claims nothing
	case string:
		r.text(v, of)
	case map[string]any:
		r.object(v, of)
	default:
		r.cannot(of, "is no object", v)
	}
}

// cannot keeps a claim that nobody can look up.
func (r *claimReader) cannot(of []string, why string, v any) {
	for _, name := range orNone(of) {
		id := criterionOf(r.criteria, name)
		r.unread = append(r.unread, unread{id, line("a claim "+why+": "+line(textOf(v), 160), maxGoal)})
	}
}

func orNone(of []string) []string {
	if len(of) == 0 {
		return []string{""}
	}
	return of
}

// text reads a claim as it reads an answer.
func (r *claimReader) text(text string, of []string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	found := citedIn(text, r.criteria)
	if len(found) == 0 {
		r.cannot(r.about(text, of), "names no file and line", text)
	}
	for _, c := range found {
		_, criterion := c.what()
		of := of
		if criterion != "" {
			of = []string{criterion}
		}
		switch c := c.(type) {
		case Citation:
			if c.Quote == "" {
				r.cannot(of, "quotes nothing", text)
			} else {
				r.add(of, []string{c.Quote}, c)
			}
		case CitedCommit:
			c.Sure = true
			r.add(of, []string{c.Quote}, c)
		}
	}
}

// about is the criterion that a text begins with.
func (r *claimReader) about(text string, of []string) []string {
	if m := aParagraph().FindStringSubmatch(text); m != nil && criterionOf(r.criteria, m[1]) != "" {
		return []string{m[1]}
	}
	return of
}

// object reads a claim with keys.
func (r *claimReader) object(o map[string]any, of []string) {
	low := lowered(o)
	if names := keysOfCriterion().in(low); len(names) > 0 {
		of = names
	} else if id := first(low, "id", "for"); criterionOf(r.criteria, id) != "" {
		of = []string{id}
	}
	commits, paths, quotes := keysOfCommit().in(low), keysOfPath().in(low), keysOfQuote().in(low)
	c, why := placeOf(paths, keysOfLine().in(low), keysOfEnd().in(low))
	switch {
	case len(low) < len(o):
		r.cannot(of, "has a key twice", o)
	case len(commits) > 1:
		r.cannot(of, "names two commits", o)
	case len(paths) > 1:
		r.cannot(of, "names two files", o)
	case tooOdd(slices.Concat(commits, paths, quotes)):
		r.cannot(of, "has a text that is too long, or no text", o)
	case len(commits) == 1:
		if c.Path != "" { // it changed this file; which line that is now says nothing of it
			quotes = append(quotes, c.Path)
		}
		r.add(of, quotes, CitedCommit{Commit: commits[0], Sure: true})
	case why != "":
		r.cannot(of, why, o)
	case len(quotes) == 0:
		r.cannot(of, "quotes nothing", o)
	default:
		r.add(of, quotes, c)
	}
}

// add keeps a citation for each criterion and each quote.
func (r *claimReader) add(of, quotes []string, c citing) {
	for _, name := range orNone(of) {
		if id := criterionOf(r.criteria, name); id != "" {
			name = id
		}
		for _, quote := range orNone(quotes) {
			switch c := c.(type) {
			case Citation:
				c.Criterion, c.Quote = name, quote
				r.all = append(r.all, c)
			case CitedCommit:
				c.Criterion, c.Quote = name, quote
				r.all = append(r.all, c)
			}
		}
	}
}

// maxQuote is how long a quote may be: a program cannot be given much more.
const maxQuote = 10_000

// tooOdd tells whether some text cannot be given to a program.
func tooOdd(list []string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return len(s) > maxQuote || strings.ContainsRune(s, 0) })
}

// lowered is an object with its keys as they are known: in small letters, with _ between words.
func lowered(o map[string]any) map[string]any {
	low := make(map[string]any, len(o))
	for name, v := range o {
		low[strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(name)))] = v
	}
	return low
}

var (
	// pathAndLine is a path with the line behind it: a.go:12, a.go:12-14, a.go#L12-L14, a.go:12:5.
	pathAndLine = pattern.Lazy(`^(.+?)(?::L?|#L)(\d{1,7})(?:[-–—]L?(\d{1,7}))?(?::\d{1,5})?$`)
	// onlyLines is a line, or several: 12, L12, 12-14.
	onlyLines = pattern.Lazy(`^L?(\d{1,7})(?:\s*[-–—]\s*L?(\d{1,7}))?$`)
)

// placeOf is where a claim says that something stands, or why nobody can say where.
func placeOf(paths, lines, ends []string) (c Citation, why string) {
	if len(paths) == 0 && len(lines) == 0 {
		return c, "names no file and line"
	}
	if len(paths) == 0 {
		return c, "names no file"
	}
	c.Path = paths[0]
	if m := pathAndLine().FindStringSubmatch(c.Path); m != nil {
		said := span(m[2:])
		if len(lines) == 0 {
			c.Path, c.Line, c.End = m[1], said[0], said[1]
			return c.whole()
		}
		if is, ok := spanOf(lines, ends); ok && is[0] == said[0] {
			c.Path = m[1]
		}
	}
	if len(lines) == 0 {
		return c, "names no line"
	}
	is, ok := spanOf(lines, ends)
	if !ok {
		return c, "names no number of a line"
	}
	c.Line, c.End = is[0], is[1]
	return c.whole()
}

// whole is a place as it is looked up.
func (c Citation) whole() (Citation, string) {
	if c.Path = path.Clean(c.Path); c.Line < 1 {
		return c, "names no number of a line"
	}
	if c.End <= c.Line {
		c.End = 0
	}
	return c, ""
}

// spanOf is the first and the last of the lines that a claim names.
func spanOf(lines, ends []string) (is [2]int, ok bool) {
	if len(lines) == 2 && len(ends) == 0 { // [12, 14]
		lines, ends = lines[:1], lines[1:]
	}
	if len(lines) != 1 || len(ends) > 1 {
		return is, false
	}
	m := onlyLines().FindStringSubmatch(lines[0])
	if m == nil {
		return is, false
	}
	if is = span(m[1:]); len(ends) == 0 {
		return is, true
	}
	end, err := strconv.Atoi(ends[0])
	return [2]int{is[0], end}, err == nil && m[2] == ""
}

func span(m []string) (is [2]int) {
	is[0], _ = strconv.Atoi(m[0]) // digits, or nothing
	is[1], _ = strconv.Atoi(m[1])
	return is
}

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
