package task

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/pattern"
)

// maxFindings is how many findings of one round are looked at.
const maxFindings = 500

// Finding is something that a reviewer objects to.
type Finding struct {
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
	Title    string   `json:"title"`
	Where    string   `json:"where,omitempty"`
	Why      string   `json:"why,omitempty"`
}

// Severity is the closed list of how bad a finding is, worst first.
type Severity string

const (
	Blocking Severity = "blocking"
	Major    Severity = "major"
	Minor    Severity = "minor"
)

// severityOf reads a severity in the words of others, too. One that nobody can
// read blocks: what is not understood is not approved.
func severityOf(word string) Severity {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "major", "medium", "moderate", "warning":
		return Major
	case "minor", "low", "nit", "info", "note", "trivial", "suggestion":
		return Minor
	}
	return Blocking
}

func (s Severity) rank() int { return slices.Index([]Severity{Blocking, Major, Minor}, s) }

// triaged are the findings of one round, beside those of the round before.
type triaged struct {
	Approved  bool      `json:"approved"`
	Why       string    `json:"why"`
	Blocking  int       `json:"blocking"`
	New       []Finding `json:"new"`
	ReRaised  []Finding `json:"re_raised"`
	Resolved  []Finding `json:"resolved"`
	Open      []Finding `json:"open"`
	Unread    int       `json:"unread"`
	Reviews   int       `json:"reviews"`
	Untouched bool      `json:"untouched"`
	Plan      string    `json:"plan"`
	Past      []string  `json:"past"`
}

func callTriage() Function {
	return Function{
		Name: "triage",
		Does: "Which findings of a review are new, raised again or resolved, and whether the plan is approved.",
		Inputs: []Field{
			{"reviews", TypeAny, true, "What the reviewers answered, a list with one for each: an object with `findings`, a list of findings, or a text with such JSON. What stands beside the findings under `blocking`, `blockers`, `blocking_findings`, `blocking_issues`, `critical` or `must_fix` is blocking; under `issues` or `problems` it is as bad as it says. null, and what nobody can read, is a reviewer that is missing."},
			{"reviewers", TypeNumber, false, "How many reviewers were asked; as many as there are reviews where it is left out."},
			{"last", TypeObject, false, "What triage gave in the round before; nothing in the first."},
			{"plan", TypeAny, false, "The plan that was reviewed: one that is the same as in the round before, with a blocking finding against it, is not approved."},
		},
		Outputs: []Field{
			{"approved", TypeFlag, true, "All reviewers can be read, no blocking finding is open, and the plan was touched where one was."},
			{"why", TypeText, true, "Why it is approved or not."},
			{"blocking", TypeNumber, true, "How many blocking findings are open."},
			{"new", TypeList, true, "Findings that nobody raised before."},
			{"re_raised", TypeList, true, "Findings of earlier rounds that are raised again."},
			{"resolved", TypeList, true, "Findings of the round before that nobody raises any more."},
			{"open", TypeList, true, "New ones and those raised again, with the ids by which the next round knows them, worst first."},
			{"unread", TypeNumber, true, "How many reviewers are missing or cannot be read. While one is, nothing counts as resolved; nor does a blocking finding while the plan is the same."},
			{"reviews", TypeNumber, true, "How many could be read."},
			{"untouched", TypeFlag, true, "The plan is the same as in the round before."},
			{"plan", TypeText, true, "A fingerprint of the plan."},
			{"past", TypeList, true, "What all findings so far are known by."},
		},
		Example: Example{
			With: json.RawMessage(`{"reviews": [{"findings": [{"severity": "blocking", "title": "No test for burst 10", "where": "plan:3"}]}, {"findings": []}],
				"last": {"open": [{"id": "f-1", "severity": "blocking", "title": "no test for burst 12", "where": "plan:9"}, {"id": "f-2", "severity": "minor", "title": "typo"}], "past": []}}`),
			Gives: json.RawMessage(`{"approved": false, "why": "1 blocking finding is open", "blocking": 1, "new": [],
				"re_raised": [{"id": "f-1", "severity": "blocking", "title": "No test for burst 10", "where": "plan:3"}],
				"resolved": [{"id": "f-2", "severity": "minor", "title": "typo"}],
				"open": [{"id": "f-1", "severity": "blocking", "title": "No test for burst 10", "where": "plan:3"}],
				"unread": 0, "reviews": 2, "untouched": false, "plan": "", "past": ["371cf10ff94be02a", "e43d601f3279828b"]}`),
		},
		do: triage,
	}
}

func triage(in *inputs) any {
	reviews, ok := unwrapped(in.any("reviews")).([]any)
	if !ok {
		reviews = []any{in.any("reviews")}
	}
	t := triaged{New: []Finding{}, ReRaised: []Finding{}, Resolved: []Finding{}, Open: []Finding{}, Past: []string{}}
	var raised []Finding
	for _, r := range reviews {
		list, ok := findingsIn(r)
		if !ok {
			t.Unread++
			continue
		}
		t.Reviews++
		raised = append(raised, list...)
	}
	if absent := in.number("reviewers", len(reviews)) - len(reviews); absent > 0 {
		t.Unread += absent
	}
	last := in.object("last")
	before, _ := findingsIn(last["open"])
	if p := in.any("plan"); p != nil {
		t.Plan = print16(textOf(unwrapped(p)))
		t.Untouched = t.Plan == first(last, "plan")
	}
	t.compare(merged(raised), before, texts(last["past"]))
	t.approve(before)
	return t
}

// findingsIn reads the findings of one reviewer: the list of them, and what stands beside it
// under another key that says that something is wrong.
func findingsIn(v any) ([]Finding, bool) {
	v = unwrapped(v)
	beside := map[string]any{}
	for range 2 { // the answer itself, or the result of who asked for it
		if text, _ := v.(string); differs(text, "findings") {
			return nil, false
		}
		if o, ok := objectIn(v, "findings"); ok {
			v = unwrapped(o["findings"])
			beside = o
		}
	}
	list, ok := v.([]any)
	if !ok {
		return nil, false
	}
	var all []Finding
	for _, x := range list[:min(len(list), maxFindings)] {
		f, ok := readFinding(x)
		if !ok {
			return nil, false
		}
		all = append(all, f)
	}
	return findingsBeside(all, beside)
}

// objections is the table of keys beside the findings under which reviewers say what is wrong,
// and how bad that is; "" = each says so itself.
func objections(key string) (severity Severity, known bool) {
	switch strings.ReplaceAll(word(key), "_", "") {
	case "blocking", "blockers", "blockingfindings", "blockingissues", "critical", "mustfix":
		return Blocking, true
	case "issues", "problems":
		return "", true
	}
	return "", false
}

// findingsBeside adds what is under such keys. What names a finding that is there is no other one.
func findingsBeside(all []Finding, o map[string]any) ([]Finding, bool) {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		severity, known := objections(name)
		if kindOf(name) == keyVerdict && no(o[name]) && !slices.ContainsFunc(all, func(f Finding) bool { return f.Severity == Blocking }) {
			all = append(all, Finding{Severity: Blocking, Title: line("the reviewer rejects it: "+name+": "+textOf(o[name]), maxGoal)})
		}
		if !known {
			continue
		}
		items, isList := unwrapped(o[name]).([]any)
		if !isList {
			var counts bool
			if items, counts = oneBeside(name, o[name], all, severity); !counts {
				continue
			}
		}
		for _, x := range items[:min(len(items), maxFindings)] {
			if all, known = objected(all, x, severity); !known {
				return nil, false
			}
		}
	}
	return all, true
}

// objected adds one of these, or makes the finding that it names as bad as it says; not ok where
// nobody can read it.
func objected(all []Finding, x any, severity Severity) (more []Finding, ok bool) {
	f, ok := readFinding(x)
	if o, isObject := x.(map[string]any); isObject && !ok {
		f = Finding{Title: line(first(o, "id"), maxGoal), Severity: severityOf(first(o, "severity"))}
	}
	if severity != "" {
		f.Severity = severity
	}
	at := slices.IndexFunc(all, func(other Finding) bool {
		bare := Finding{Title: other.Title}
		return f.Title != "" && (other.ID == f.Title || f.print() == other.print() || f.Where == "" && f.print() == bare.print())
	})
	if at < 0 {
		return append(all, f), ok
	}
	if f.Severity.rank() < all[at].Severity.rank() {
		all[at].Severity = f.Severity
	}
	return all, true
}

// oneBeside is what is said under such a key without a list: one finding, several by a name, or
// that or how many there are, which counts where none of these is in the list.
func oneBeside(name string, v any, all []Finding, severity Severity) (items []any, counts bool) {
	v = unwrapped(v)
	if o, ok := v.(map[string]any); ok {
		if _, one := readFinding(o); one {
			return []any{o}, true
		}
		for _, key := range slices.Sorted(maps.Keys(o)) {
			items = append(items, o[key])
		}
		return items, true
	}
	if isNothing(textOf(v)) {
		return nil, false
	}
	if text, ok := v.(string); ok && !yes(text) {
		return []any{text}, true
	}
	listed := len(all)
	if severity == Blocking {
		listed = blocking(all)
	}
	return []any{name + ": " + textOf(v)}, listed == 0
}

func readFinding(v any) (Finding, bool) {
	if s, ok := v.(string); ok {
		return Finding{Severity: Blocking, Title: line(s, maxGoal)}, strings.TrimSpace(s) != ""
	}
	o, ok := v.(map[string]any)
	f := Finding{
		ID: line(first(o, "id"), 60), Severity: severityOf(first(o, "severity")), Title: line(first(o, "title", "summary", "finding"), maxGoal),
		Where: line(first(o, "where", "location"), maxGoal), Why: line(first(o, "why", "reason", "description"), maxLine),
	}
	if f.Title == "" {
		f.Title = cut(f.Why, maxGoal)
	}
	return f, ok && f.Title != ""
}

var (
	lineNumber = pattern.Lazy(`(?::\d+(?:-\d+)?)+$`)
	noWord     = pattern.Lazy(`[^\p{L}#]+`)
)

// print is what a finding is known by: its title without numbers, signs and the
// difference of large and small letters, and its place without the line.
func (f Finding) print() string {
	title := noWord().ReplaceAllString(essence(f.Title, ""), " ")
	where := lineNumber().ReplaceAllString(strings.ToLower(f.Where), "")
	return print16(strings.TrimSpace(title) + "\x00" + where)
}

func print16(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// merged makes one of findings that are the same; the worst severity counts.
func merged(list []Finding) []Finding {
	at := map[string]int{}
	var all []Finding
	for _, f := range list {
		p := f.print()
		if i, again := at[p]; again {
			if f.Severity.rank() < all[i].Severity.rank() {
				all[i].Severity = f.Severity
			}
			continue
		}
		at[p] = len(all)
		all = append(all, f)
	}
	return all
}

// compare puts the findings of a round beside those of the rounds before.
func (t *triaged) compare(raised, before []Finding, past []string) {
	known := map[string]string{} // id or print, to the id
	seen := map[string]bool{}
	for _, p := range past {
		seen[p] = true
	}
	for _, f := range before {
		known[f.print()], known[f.ID] = f.ID, f.ID
		seen[f.print()] = true
	}
	delete(known, "")
	again := map[string]bool{}
	for _, f := range raised {
		id, open := known[f.print()]
		if !open {
			id, open = known[f.ID]
		}
		fresh := !open && !seen[f.print()]
		if f.ID = id; id == "" {
			f.ID = "f-" + f.print()[:8]
		}
		again[f.ID], seen[f.print()] = true, true
		if fresh {
			t.New = append(t.New, f)
		} else {
			t.ReRaised = append(t.ReRaised, f)
		}
	}
	for _, f := range before {
		switch {
		case again[f.ID]:
		case t.Unread > 0, t.Untouched && f.Severity == Blocking: // who is missing may be the one who raised it; silence mends no plan
			t.Open = append(t.Open, f)
		default:
			t.Resolved = append(t.Resolved, f)
		}
	}
	t.Open = append(append(t.Open, t.New...), t.ReRaised...)
	slices.SortStableFunc(t.Open, func(a, b Finding) int { return cmp.Compare(a.Severity.rank(), b.Severity.rank()) })
	for p := range seen {
		t.Past = append(t.Past, p)
	}
	slices.Sort(t.Past)
	t.Blocking = blocking(t.Open)
}

func blocking(list []Finding) int {
	n := 0
	for _, f := range list {
		if f.Severity == Blocking {
			n++
		}
	}
	return n
}

func (t *triaged) approve(before []Finding) {
	switch {
	case t.Reviews == 0:
		t.Why = "no review can be read"
	case t.Unread == 1:
		t.Why = "1 reviewer is missing or cannot be read"
	case t.Unread > 1:
		t.Why = fmt.Sprintf("%d reviewers are missing or cannot be read", t.Unread)
	case t.Untouched && blocking(before) > 0:
		t.Why = "the plan is the same as before, when a blocking finding was open"
	case t.Blocking == 1:
		t.Why = "1 blocking finding is open"
	case t.Blocking > 1:
		t.Why = fmt.Sprintf("%d blocking findings are open", t.Blocking)
	default:
		t.Approved, t.Why = true, "no blocking finding is open"
	}
}
