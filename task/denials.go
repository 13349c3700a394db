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
	keyOther   keyKind = iota // what it plainly denies of a criterion counts, and nothing else
	keyJudges                 // what is said of each criterion
	keyLacks                  // what is missing
	keyVerdict                // whether it is met
)

// kindOf is the closed list of keys whose meaning is known.
func kindOf(name string) keyKind {
	switch word(name) {
	case "criteria":
		return keyJudges
	case "missing", "unmet", "not_met", "unmet_criteria", "criteria_unmet", "criteria_not_met", "missing_criteria", "not_achieved", "not_satisfied", "unsatisfied",
		"failed", "failed_criteria", "criteria_failed", "failing", "unproven", "rejected", "denied", "gaps", "incomplete", "outstanding":
		return keyLacks
	case "met", "verdict", "status", "result", "passed", "ok", "achieved", "approved":
		return keyVerdict
	}
	return keyOther
}

// reads takes all that a typed reflection says, by its keys.
func (r *reflection) reads(list []Criterion, o map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		switch v := o[name]; kindOf(name) {
		case keyJudges:
			r.judges(list, v)
		case keyLacks:
			r.lacks(list, v)
		case keyVerdict:
			if no(v) {
				r.stray = append(r.stray, line(name+": "+textOf(v), maxGoal))
			}
			r.names(list, name, v)
		case keyOther:
			r.names(list, name, v)
		}
	}
}

// saysMet reads what an object says of one criterion: met must say yes, or another verdict where
// it is not there, and nothing in it may say no.
func saysMet(o map[string]any) bool {
	said := false
	for name, v := range o {
		if kindOf(name) == keyVerdict {
			said = said || yes(v)
			if word(name) == "met" && !yes(v) {
				return false
			}
		}
	}
	return said && !denied(o)
}

// denied tells whether a value plainly says no of what it is about.
func denied(v any) bool {
	o, ok := v.(map[string]any)
	if !ok {
		return no(v)
	}
	for name, v := range o {
		if kindOf(name) == keyVerdict && no(v) || kindOf(name) == keyLacks && !isNothing(textOf(v)) {
			return true
		}
	}
	return false
}

// names takes what a key that nobody knows plainly denies of a criterion by its id. What else it
// may mean is not guessed: agents add remarks.
func (r *reflection) names(list []Criterion, key string, v any) {
	v = unwrapped(v)
	if isID(list, key) {
		if denied(v) {
			r.denies(criterionOf(list, key), textOf(v))
		}
		return
	}
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			if o, ok := x.(map[string]any); ok && denied(o) {
				r.denies(criterionOf(list, first(o, "id", "criterion", "name", "text")), key+": "+textOf(x))
			}
			if id, said, ok := strings.Cut(textOf(x), ":"); ok && isID(list, id) && no(said) { // c1: not met
				r.denies(criterionOf(list, id), key+": "+textOf(x))
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if isID(list, name) && denied(v[name]) {
				r.denies(criterionOf(list, name), key+": "+textOf(v[name]))
			}
		}
	}
}

// isID tells whether a text is the id of a criterion, and nothing else.
func isID(list []Criterion, text string) bool {
	return slices.ContainsFunc(list, func(c Criterion) bool { return strings.EqualFold(c.ID, strings.TrimSpace(text)) })
}

// denies notes that a criterion is not met.
func (r *reflection) denies(id, why string) {
	if id == "" {
		return
	}
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
	case "false", "no", "unmet", "not_met", "fail", "failed", "not_ok", "missing", "incomplete", "rejected", "denied", "unproven", "not_satisfied", "unsatisfied",
		"partly", "partial", "partially", "reject", "request_changes", "changes_requested", "needs_work":
		return true
	}
	return false
}
