package task

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/pattern"
)

// Status is the closed list of what a round amounts to, worst last.
type Status string

const (
	Achieved    Status = "ACHIEVED"     // every criterion met, each with evidence
	Partial     Status = "PARTIAL"      // some are, or only the reflecting agent says so
	NotAchieved Status = "NOT_ACHIEVED" // none is
	Hollow      Status = "HOLLOW"       // nothing was done where something had to be
)

// statuses is the order in which they are better than each other.
func statuses() []Status { return []Status{Achieved, Partial, NotAchieved, Hollow} }

func (s Status) rank() int {
	for i, other := range statuses() {
		if s == other {
			return i
		}
	}
	return len(statuses())
}

// reflection is what an agent that looked at a round said of it.
type reflection struct {
	status  Status // "" = nobody can read it
	why     string // that it cannot be read
	summary string
	missing []string
	met     map[string]bool // by the id of the criterion, as far as it says something
	note    map[string]string
	stray   []string // what it denies that is no criterion
}

var (
	statusLine = pattern.Lazy(`(?m)^[ \t*` + "`" + `]*GOAL_STATUS:(.*)$`)
	typedIn    = pattern.Lazy(`"goal_status"\s*:\s*"([^"]*)"`)
)

// readReflection reads a reflection. Exactly one status ends one: in a typed
// answer, on a line GOAL_STATUS: …, or on the last line. Where there is none, or
// where there are two that differ, nobody can read it.
func readReflection(v any, list []Criterion) reflection {
	r := reflection{met: map[string]bool{}, note: map[string]string{}}
	seen := map[Status]bool{}
	bad := false
	take := func(s Status, ok bool) {
		seen[s] = seen[s] || ok
		bad = bad || !ok
	}
	text, isText := v.(string)
	o, typed := objectIn(v, "goal_status")
	if typed {
		take(typedStatus(first(o, "goal_status")))
		r.summary = plain(first(o, "summary"))
		r.reads(list, o)
		if !isText {
			text = r.summary
		}
	}
	for _, m := range statusLine().FindAllStringSubmatch(text, -1) {
		take(typedStatus(strings.Trim(m[1], " \t\r*`")))
	}
	if isText {
		for _, m := range typedIn().FindAllStringSubmatch(text, -1) {
			take(typedStatus(m[1]))
		}
		closings(text, take, seen)
		if r.summary == "" {
			r.summary = plain(text)
		}
	}
	if r.settle(seen, bad); isText && differs(text, "goal_status") {
		r.status, r.why = "", "it has several answers that differ"
	}
	return r
}

// settle takes the one status that was seen.
func (r *reflection) settle(seen map[Status]bool, bad bool) {
	var all []Status
	for _, s := range statuses() {
		if seen[s] {
			all = append(all, s)
		}
	}
	switch {
	case bad:
		r.why = "its status is none of ACHIEVED, PARTIAL, NOT_ACHIEVED and HOLLOW"
	case len(all) == 0:
		r.why = "it has no status"
	case len(all) > 1:
		r.why = "it has two statuses, " + string(all[0]) + " and " + string(all[1])
	default:
		r.status = all[0]
	}
}

// closings looks for bare statuses. The last line gives one; those before it give
// none, but they can contradict.
func closings(text string, take func(Status, bool), seen map[Status]bool) {
	body := strings.TrimRight(text, " \t\r\n")
	start := strings.LastIndexByte(body, '\n') + 1
	var c belay.Closing
	if c.Read(body[start:]) {
		take(closed(c.Word))
	}
	for l := range strings.Lines(body[:start]) {
		if c.Read(strings.TrimRight(l, "\r\n")) {
			if s, ok := closed(c.Word); ok && len(seen) > 0 {
				take(s, true)
			}
		}
	}
}

// typedStatus reads a status that is all of a text, or all of it before " -- ".
// ACHIEVED has nothing after it: one that goes on takes something back.
func typedStatus(text string) (Status, bool) {
	word, more, _ := strings.Cut(strings.TrimSpace(text), " -- ")
	word = strings.ToUpper(strings.NewReplacer(" ", "_", "-", "_").Replace(strings.TrimSpace(word)))
	for _, s := range statuses() {
		if word == string(s) {
			return s, s != Achieved || strings.TrimSpace(more) == ""
		}
	}
	return "", false
}

// closed is the status of a closing word.
func closed(w belay.ClosingWord) (Status, bool) {
	switch w {
	case belay.ClosedAchieved:
		return Achieved, true
	case belay.ClosedPartial:
		return Partial, true
	case belay.ClosedNot, belay.ClosedInput:
		return NotAchieved, true
	case belay.ClosedHollow:
		return Hollow, true
	case belay.ClosedNothing, belay.ClosedUnclear:
	}
	return "", false
}

// judges reads what is said of single criteria: a list, or an object by their ids.
func (r *reflection) judges(list []Criterion, v any) {
	switch v := unwrapped(v).(type) {
	case []any:
		for _, item := range v {
			if text, isText := item.(string); isText && strings.Contains(text, ":") { // c1: met
				_, said, _ := strings.Cut(text, ":")
				r.says(list, text, said)
				continue
			}
			o, _ := item.(map[string]any)
			r.says(list, first(o, "id", "criterion", "name", "text"), item)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			r.says(list, name, v[name])
		}
	}
}

// says notes what is said of one criterion. What is said twice and differs counts as
// denied; so does what nobody can read. What is denied and is no criterion is kept.
func (r *reflection) says(list []Criterion, name string, v any) {
	is, note := yes(v), ""
	if o, ok := v.(map[string]any); ok {
		is, note = saysMet(o), line(first(o, "evidence", "why", "reason", "note"), maxLine)
	}
	id := criterionOf(list, name)
	if id == "" {
		if about := strings.TrimSuffix(line(name, maxGoal)+": "+note, ": "); !is {
			r.stray = append(r.stray, cmp.Or(strings.TrimPrefix(about, ": "), line(textOf(v), maxGoal)))
		}
		return
	}
	before, again := r.met[id]
	if r.met[id] = is && (!again || before); !is || note != "" && r.met[id] {
		r.note[id] = note
	}
}

// lacks reads what is said to be missing. What is said of a criterion denies it.
func (r *reflection) lacks(list []Criterion, v any) {
	v = unwrapped(v)
	if o, ok := v.(map[string]any); ok && first(o, "id", "criterion", "name", "text") == "" {
		for _, name := range slices.Sorted(maps.Keys(o)) {
			if !slices.Contains([]any{false, nil}, o[name]) {
				r.without(list, name, strings.TrimSuffix(name+": "+textOf(o[name]), ": true"))
			}
		}
		return
	}
	items, isList := v.([]any)
	if !isList {
		items = []any{v}
	}
	for _, x := range items {
		name, text := textOf(x), textOf(x)
		if o, ok := x.(map[string]any); ok {
			name = first(o, "id", "criterion", "name", "text")
			text = strings.Trim(name+": "+first(o, "why", "reason", "evidence", "note"), ": ")
		}
		r.without(list, name, text)
	}
}

func (r *reflection) without(list []Criterion, name, text string) {
	if text = line(text, maxLine); isNothing(text) {
		return
	}
	r.missing = append(r.missing, text)
	id := criterionOf(list, name)
	if id == "" {
		r.stray = append(r.stray, text)
		return
	}
	r.met[id], r.note[id] = false, text
}

// isNothing tells whether a text says that nothing is missing.
func isNothing(text string) bool {
	word := strings.ToLower(strings.Trim(text, " .-–"))
	return slices.Contains([]string{"", "none", "nothing", "n/a", "0", "false", "null", "no", "[]", "{}", "nothing is missing", "nothing missing", "none missing", "nothing else"}, word)
}

// criterionOf is the id of the criterion that a name or a text means: its id, in large or
// small letters, by itself or in front of other words, or its text. Empty where it is none,
// or could be two.
func criterionOf(list []Criterion, name string) string {
	name = strings.TrimSpace(name)
	head := name
	if m := headWord().FindStringSubmatch(name); m != nil {
		head = m[1]
	}
	found := ""
	for _, c := range list {
		switch {
		case c.ID == name, c.ID == head:
			return c.ID
		case strings.EqualFold(c.ID, name), strings.EqualFold(c.ID, head), strings.EqualFold(c.Text, name):
			if found != "" {
				return ""
			}
			found = c.ID
		}
	}
	return found
}

// headWord is the id in front of a text: c1, [c1], criterion c1.
var headWord = pattern.Lazy(`^(?i:criterion\s+)?[\[(]?([A-Za-z0-9_][A-Za-z0-9_-]{0,39})(?:[^A-Za-z0-9_-]|$)`)
