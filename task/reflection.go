package task

import (
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
}

var (
	statusLine = pattern.Lazy(`(?m)^[ \t*` + "`" + `]*GOAL_STATUS:(.*)$`)
	typedIn    = pattern.Lazy(`"goal_status"\s*:\s*"([^"]*)"`)
)

// readReflection reads a reflection. Exactly one status ends one: in a typed
// answer, on a line GOAL_STATUS: …, or on the last line. Where there is none, or
// where there are two that differ, nobody can read it.
func readReflection(v any) reflection {
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
		r.missing = texts(o["missing"])
		r.judges(o["criteria"])
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
	r.settle(seen, bad)
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
	if c, ok := belay.ReadClosing(body[start:]); ok {
		take(closed(c.Word))
	}
	for l := range strings.Lines(body[:start]) {
		if c, ok := belay.ReadClosing(strings.TrimRight(l, "\r\n")); ok {
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

// judges reads what is said of single criteria. What is said twice and differs
// counts as denied.
func (r *reflection) judges(v any) {
	list, _ := unwrapped(v).([]any)
	for _, item := range list {
		o, ok := item.(map[string]any)
		id := first(o, "id")
		if !ok || id == "" {
			continue
		}
		met, isFlag := o["met"].(bool)
		if !isFlag {
			met = strings.EqualFold(strings.TrimSpace(textOf(o["met"])), "true")
		}
		before, again := r.met[id]
		r.met[id] = met && (!again || before)
		r.note[id] = line(first(o, "evidence", "why"), maxLine)
	}
}
