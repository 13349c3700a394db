package task

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/belay-run/belay/internal/pattern"
)

// maxCriteria is how many criteria a task has at most.
const maxCriteria = 50

// Criterion is one thing that must be so when a task is done.
type Criterion struct {
	ID    string   `json:"id"`
	Text  string   `json:"text"`
	Check string   `json:"check,omitempty"` // shell that Belay runs: exit 0 proves it
	Files []string `json:"files,omitempty"` // a change in one of these, with passing tests, proves it
}

var bullet = pattern.Lazy(`^\s*(?:[-*•]|\[[ xX]?\]|\d{1,3}[.)])\s+`)

// readCriteria reads criteria: a list of texts and objects, or lines.
func readCriteria(v any) (list []Criterion, warnings []string) {
	items, isList := unwrapped(v).([]any)
	if !isList {
		if o, ok := unwrapped(v).(map[string]any); ok {
			items = []any{o}
		} else {
			items = linesOf(textOf(v))
		}
	}
	known := ids{}
	for _, item := range items {
		if len(list) == maxCriteria {
			warnings = append(warnings, fmt.Sprintf("there are %d criteria; the first %d count", len(items), maxCriteria))
			break
		}
		c, wish, why := readCriterion(item)
		warnings = append(warnings, why...)
		if c.Text == "" {
			continue
		}
		c.ID = known.take(wish, "c"+strconv.Itoa(len(list)+1), func(n int) string { return "c" + strconv.Itoa(n) })
		list = append(list, c)
	}
	return list, warnings
}

func linesOf(text string) []any {
	var items []any
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(bullet().ReplaceAllString(l, "")); l != "" {
			items = append(items, l)
		}
	}
	return items
}

func readCriterion(item any) (c Criterion, wish string, warnings []string) {
	o, ok := item.(map[string]any)
	if !ok {
		return Criterion{Text: line(textOf(item), maxLine)}, "", nil
	}
	c.Text = line(first(o, "text", "criterion", "description", "name"), maxLine)
	c.Check = first(o, "check")
	if c.Text == "" && c.Check != "" {
		c.Text = line("passes: "+c.Check, maxLine)
	}
	if strings.ContainsRune(c.Check, 0) {
		c.Check = ""
		warnings = append(warnings, fmt.Sprintf("the check of %q has a NUL byte and is left out", cut(c.Text, 60)))
	}
	for _, f := range texts(o["files"]) {
		if clean := path.Clean(f); strings.ContainsAny(f, "\x00\n") || path.IsAbs(f) || clean == ".." || strings.HasPrefix(clean, "../") {
			warnings = append(warnings, fmt.Sprintf("%q is no place in the repository and proves nothing", line(f, 60)))
			continue
		}
		c.Files = append(c.Files, f)
	}
	return c, first(o, "id"), warnings
}
