package task

import (
	"maps"
	"slices"
	"strings"
)

// word is the name of a key without what people write differently: in small letters, with _
// between words.
func word(name string) string {
	return strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(name)))
}

// How a key of a reflection is read.
type keyKind int

const (
	keyOther   keyKind = iota // it denies the criteria that it names by their ids
	keyKnown                  // it is read by itself
	keyJudges                 // what is said of single criteria
	keyLacks                  // what is missing
	keyVerdict                // whether it is met
	keyQuiet                  // it says that what it names is met, or why; it denies nothing
)

// kindOf is the closed list of keys whose meaning is known.
func kindOf(name string) keyKind {
	switch word(name) {
	case "goal_status", "summary", "id", "criterion", "name", "text":
		return keyKnown
	case "criteria", "success_criteria", "criteria_results", "criteria_status", "results", "verdicts", "assessment", "assessments", "evaluation":
		return keyJudges
	case "missing", "unmet", "not_met", "unmet_criteria", "criteria_unmet", "criteria_not_met", "missing_criteria", "not_achieved", "not_satisfied", "unsatisfied",
		"failed", "failed_criteria", "criteria_failed", "failing", "unproven", "rejected", "denied":
		return keyLacks
	case "met", "verdict", "status", "result", "passed", "ok":
		return keyVerdict
	case "achieved", "satisfied", "fulfilled", "proven", "verified", "criteria_met", "met_criteria", "passed_criteria", "criteria_passed", "achieved_criteria",
		"evidence", "proof", "checks", "citations", "sources", "why", "reason", "reasons", "reasoning", "note", "notes", "comment", "comments", "confidence":
		return keyQuiet
	}
	return keyOther
}

// saysMet reads what an object says of one criterion: all that is there of met, verdict and
// the like must say yes, and nothing may be missing. Without any of these nobody can read it.
func saysMet(o map[string]any) bool {
	said := false
	for name, v := range o {
		switch kindOf(name) {
		case keyVerdict:
			if !yes(v) {
				return false
			}
			said = true
		case keyLacks:
			if !isNothing(textOf(v)) {
				return false
			}
		case keyOther, keyKnown, keyJudges, keyQuiet:
		}
	}
	return said
}

// hasVerdict tells whether an object says of something whether it is met.
func hasVerdict(o map[string]any) bool {
	for name := range o {
		if kindOf(name) == keyVerdict {
			return true
		}
	}
	return false
}

// maxNested is how deep keys of keys are looked at.
const maxNested = 5

// reads takes all that a typed reflection says, by its keys.
func (r *reflection) reads(list []Criterion, o map[string]any, depth int) {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		switch v := o[name]; kindOf(name) {
		case keyKnown:
		case keyJudges:
			stray := r.stray
			if r.judges(list, v); word(name) != "criteria" { // else it may be about something else
				r.stray = stray
			}
		case keyLacks:
			r.lacks(list, v)
		case keyVerdict, keyQuiet:
			r.agrees(list, name, v)
		case keyOther:
			r.names(list, name, v, depth)
		}
	}
}

// agrees reads a key that says that something is met: what it plainly says is not is denied.
func (r *reflection) agrees(list []Criterion, name string, v any) {
	v = unwrapped(v)
	if o, ok := v.(map[string]any); ok {
		for _, id := range slices.Sorted(maps.Keys(o)) {
			if is := criterionOf(list, id); is != "" && no(o[id]) {
				r.denies(is, name)
			}
		}
		return
	}
	items, _ := v.([]any)
	for _, x := range items {
		if o, ok := x.(map[string]any); ok && hasVerdict(o) {
			r.says(list, first(o, "id", "criterion", "name", "text"), x)
		}
	}
	if kindOf(name) == keyVerdict && no(v) || word(name) == "achieved" && no(v) {
		r.stray = append(r.stray, line(name+": "+textOf(v), maxGoal))
	}
}

// names denies the criteria that the value of a key names by their ids, when nobody knows
// what the key means. A text denies nothing, but where it is all ids.
func (r *reflection) names(list []Criterion, key string, v any, depth int) {
	switch v := unwrapped(v).(type) {
	case string:
		ids := strings.FieldsFunc(v, func(c rune) bool { return strings.ContainsRune(" ,;\n", c) })
		if slices.ContainsFunc(ids, func(id string) bool { return !isID(list, id) }) {
			return
		}
		for _, id := range ids {
			r.denies(criterionOf(list, id), key)
		}
	case []any:
		for _, x := range v {
			if text, isText := x.(string); isText {
				if id := criterionOf(list, text); id != "" {
					r.denies(id, key+": "+text)
				}
				continue
			}
			r.names(list, key, x, depth)
		}
	case map[string]any:
		r.namesIn(list, key, v, depth)
	}
}

func (r *reflection) namesIn(list []Criterion, key string, o map[string]any, depth int) {
	if id := first(o, "id", "criterion", "name", "text"); criterionOf(list, id) != "" {
		r.named(list, key, id, o)
		return
	}
	rest := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if isID(list, name) {
			r.named(list, key, name, o[name])
		} else {
			rest[name] = o[name]
		}
	}
	if depth < maxNested { // what is said there of something else is not about the goal
		stray, missing := r.stray, r.missing
		r.reads(list, rest, depth+1)
		r.stray, r.missing = stray, missing
	}
}

// named takes what an unknown key says of one criterion: its own verdict, where it has one.
func (r *reflection) named(list []Criterion, key, id string, v any) {
	if o, ok := v.(map[string]any); ok && hasVerdict(o) {
		r.says(list, id, v)
		return
	}
	text := key
	if said := textOf(v); said != "" {
		text += ": " + said
	}
	r.denies(criterionOf(list, id), text)
}

// isID tells whether a text is the id of a criterion, and nothing else.
func isID(list []Criterion, text string) bool {
	return slices.ContainsFunc(list, func(c Criterion) bool { return strings.EqualFold(c.ID, strings.TrimSpace(text)) })
}

// denies notes that a criterion is not met.
func (r *reflection) denies(id, why string) {
	if r.met[id] = false; r.note[id] == "" {
		r.note[id] = line(why, maxLine)
	}
}

// yes reads whether a criterion is met. Only a plain yes is one.
func yes(v any) bool {
	if is, ok := v.(bool); ok {
		return is
	}
	switch word(textOf(v)) {
	case "true", "yes", "met", "pass", "passed", "ok", "achieved", "satisfied", "fulfilled", "success", "succeeded", "done", "complete", "completed", "verified", "proven":
		return true
	}
	return false
}

// no reads whether something is plainly said not to be so.
func no(v any) bool {
	if is, ok := v.(bool); ok {
		return !is
	}
	if s, ok := typedStatus(textOf(v)); ok {
		return s != Achieved
	}
	switch word(textOf(v)) {
	case "false", "no", "unmet", "not_met", "fail", "failed", "not_ok", "missing", "incomplete", "rejected", "denied", "unproven", "not_satisfied", "unsatisfied":
		return true
	}
	return false
}
